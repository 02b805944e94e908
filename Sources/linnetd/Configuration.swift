// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Settings

/// What an administrator chose: the built-in values, then the files in order, then the options. The last one counts.
struct Configuration: Sendable {
    /// A fault in a file or an option, with its place.
    struct Mistake: Equatable, Sendable, CustomStringConvertible {
        /// `FILE:LINE`, or the option.
        let place: String
        let message: String
        /// False: the daemon starts all the same.
        let isFatal: Bool
        var description: String { "\(place): \(message)" }
    }

    private(set) var mistakes: [Mistake] = []
    private var values: [String: Setting.Value] = [:]

    /// The built-in values.
    init() {
        for setting in Setting.all { values[setting.name] = setting.value(of: setting.fallback) }
    }

    /// Reads `receiver.conf` and `receiver.conf.d/*.conf` in `folder`, sorted by name. A file that is not there is no
    /// mistake.
    mutating func read(folder: String) {
        let parts = "\(folder)/receiver.conf.d"
        let names = (FileSystem.names(in: parts) ?? []).filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
        for path in ["\(folder)/receiver.conf"] + names.sorted().map({ "\(parts)/\($0)" }) {
            switch FileSystem.text(of: path, limit: 1 << 20) {
            case .success(let text): apply(text, file: path)
            case .failure(.missing): break
            case .failure(let failure): fail("\(path):1", "cannot be read: \(failure)")
            }
        }
    }

    /// Takes the settings of one file.
    mutating func apply(_ text: String, file: String) {
        let parsed: KeyFile
        do {
            parsed = try KeyFile(parsing: text, file: file)
        } catch {
            return fail("\(error.file):\(error.line)", error.message)
        }
        for group in parsed.groups where !Setting.groups.contains(group.name) {
            warn("\(file):\(group.line)", "unknown group '\(group.name)'")
        }
        let known = Set(Setting.all.map(\.name))
        for entry in parsed.entries where !known.contains("\(entry.group).\(entry.key)") {
            guard Setting.groups.contains(entry.group) else { continue }
            warn("\(file):\(entry.line)", "unknown key '\(entry.key)' in group '\(entry.group)'")
        }
        for setting in Setting.all {
            guard let line = parsed.line(setting.group, setting.key) else { continue }
            let text = parsed.string(setting.group, setting.key)
            guard let value = text.flatMap(setting.value(of:)) else {
                fail("\(file):\(line)", "\(setting.key) must be \(setting.range)")
                continue
            }
            values[setting.name] = value
        }
    }

    /// Takes the settings that were given as options.
    mutating func apply(options: [String: String]) {
        for setting in Setting.all {
            guard let text = options[setting.option] else { continue }
            guard let value = setting.value(of: text) else {
                fail("--\(setting.option)", "must be \(setting.range)")
                continue
            }
            values[setting.name] = value
        }
    }

    subscript(_ setting: Setting) -> Setting.Value { values[setting.name] ?? .text("") }

    func text(_ setting: Setting) -> String { self[setting].description }
    func integer(_ setting: Setting) -> Int { if case .integer(let number) = self[setting] { number } else { 0 } }
    func number(_ setting: Setting) -> Double { if case .number(let number) = self[setting] { number } else { 0 } }
    func flag(_ setting: Setting) -> Bool { self[setting] == .boolean(true) }
    func words(_ setting: Setting) -> [String] { if case .list(let words) = self[setting] { words } else { [] } }

    private mutating func fail(_ place: String, _ message: String) {
        mistakes.append(Mistake(place: place, message: message, isFatal: true))
    }

    private mutating func warn(_ place: String, _ message: String) {
        mistakes.append(Mistake(place: place, message: message, isFatal: false))
    }
}
