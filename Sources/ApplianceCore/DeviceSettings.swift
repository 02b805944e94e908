// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What was chosen on the card and is kept on the device, and the files that follow from it.
package struct DeviceSettings: Equatable, Sendable {
    /// By the names of `CardSetting.all`.
    package private(set) var values: [String: String] = [:]
    package init() {}

    /// What was kept: `NAME=VALUE` a line, values as they are. Lines that make no sense are passed over.
    package init(kept bytes: [UInt8]) {
        for line in bytes.split(separator: 10) {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: line[..<equals], as: UTF8.self)
            let text = String(decoding: line[line.index(after: equals)...], as: UTF8.self)
            guard let setting = CardSetting.all.first(where: { $0.name == name }),
                let value = setting.value(text)
            else { continue }
            values[name] = value
        }
    }

    package var kept: [UInt8] {
        Array(values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined().utf8)
    }

    subscript(_ name: String) -> String? { values[name] }

    /// What the card says now, over what counted before.
    package struct Reading: Equatable, Sendable {
        package var settings: DeviceSettings
        package var mistakes: [CardFile.Mistake]
        /// The lines of the card's file that hold secrets which `settings` has, too.
        package var secrets: Set<Int> = []
    }

    /// Takes over what is right. What is wrong leaves what counted before, for Wi-Fi as a whole; what is not there any more
    /// does not count any more, except for a secret, which leaves the card when it was taken over. `overlays` are those that the
    /// board has for DACs, nil if it has no place for one.
    package func reading(_ file: CardFile, overlays: Set<String>?) -> Reading {
        var (next, mistakes) = (DeviceSettings(), file.mistakes)
        // A file that cannot be read as a whole says nothing.
        if mistakes.contains(where: { $0.line == 0 }) { return Reading(settings: self, mistakes: mistakes) }
        var (faulty, lines): (Set<String>, [String: [Int]]) = ([], [:])
        for entry in file.entries {
            let name = "\(entry.group).\(entry.key)"
            guard let setting = CardSetting.all.first(where: { $0.name == name }) else {
                mistakes.append(Self.unknown(entry))
                continue
            }
            lines[name, default: []].append(entry.line)
            faulty.remove(name)
            guard let value = setting.value(entry.value) else {
                faulty.insert(name)
                mistakes.append(
                    .init(line: entry.line, "[\(entry.group)] \(entry.key): must be \(setting.range)"))
                continue
            }
            next.values[name] = value
        }
        if let fault = next.dacFault(overlays: overlays), let line = lines["output.dac"]?.last {
            mistakes.append(.init(line: line, fault))
            faulty.insert("output.dac")
        }
        for name in faulty { next.values[name] = values[name] }
        let wirelessIsRight = next.settleWireless(
            before: self, lines: lines, hasFaults: faulty.contains { $0.hasPrefix("wifi.") }, &mistakes)
        // None is no secret.
        let hasSecret = wirelessIsRight && next["wifi.key"]?.isEmpty == false
        let secrets = hasSecret ? Set(lines["wifi.key"] ?? []) : []
        return Reading(settings: next, mistakes: mistakes.sorted { $0.line < $1.line }, secrets: secrets)
    }

    private static func unknown(_ entry: CardFile.Entry) -> CardFile.Mistake {
        let keys = CardSetting.all.filter { $0.group == entry.group }.map(\.key)
        if keys.isEmpty {
            var groups: [String] = []
            for setting in CardSetting.all where !groups.contains(setting.group) {
                groups.append(setting.group)
            }
            return .init(
                line: entry.line,
                "there is no [\(clean(entry.group))]; there are \(groups.map { "[\($0)]" }.joined(separator: ", "))"
            )
        }
        return .init(
            line: entry.line,
            "[\(entry.group)] has no '\(clean(entry.key))'; it has \(keys.joined(separator: ", "))")
    }

    /// Short, and without what would move a terminal.
    private static func clean(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }.prefix(40)))
    }

    private func dacFault(overlays: Set<String>?) -> String? {
        guard let dac = values["output.dac"], dac != "none" else { return nil }
        guard let overlays else { return "[output] dac: this board has no connector for one" }
        if overlays.contains(dac) { return nil }
        return
            "[output] dac: there is no '\(dac)'; there are none, \(overlays.sorted().joined(separator: ", "))"
    }

    /// Wi-Fi counts as a whole: half of it would be a device that nobody reaches.
    private mutating func settleWireless(
        before: DeviceSettings, lines: [String: [Int]], hasFaults: Bool, _ mistakes: inout [CardFile.Mistake]
    ) -> Bool {
        let names = CardSetting.all.map(\.name).filter { $0.hasPrefix("wifi.") }
        var fault: (line: Int?, message: String)?
        let given = names.compactMap { lines[$0]?.last }.min()
        if given == nil {
            for name in names { values[name] = nil }
            return true
        }
        if !hasFaults {
            if values["wifi.ssid"] == nil, lines["wifi.key"] != nil || lines["wifi.hidden"] != nil {
                fault = (given, "[wifi] ssid is missing: the network's name")
            } else if values["wifi.ssid"] != nil, values["wifi.country"] == nil {
                fault = (lines["wifi.ssid"]?.last, "[wifi] country is missing: two letters, such as DE")
            } else if let ssid = values["wifi.ssid"], values["wifi.key"] == nil {
                if before["wifi.ssid"] == ssid, let key = before["wifi.key"] {
                    values["wifi.key"] = key
                } else {
                    fault = (
                        lines["wifi.ssid"]?.last,
                        "[wifi] key is missing; 'key =' alone stands for an open network"
                    )
                }
            }
        }
        guard hasFaults || fault != nil else { return true }
        if let fault { mistakes.append(.init(line: fault.line ?? 1, fault.message)) }
        for name in names { values[name] = before[name] }
        return false
    }
}
