// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
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
    /// Where a value comes from that is not built in.
    private var places: [String: String] = [:]

    /// The built-in values.
    init() {
        for setting in Setting.all { values[setting.name] = setting.value(of: setting.fallback) }
    }

    /// Reads `receiver.conf` and `receiver.conf.d/*.conf` in `folder`, sorted by name. A file that is not there is no
    /// mistake.
    mutating func read(folder: String, isRequired: Bool) {
        if isRequired, !FileSystem.isDirectory(folder) { fail("--config-dir", "\(folder) is no folder") }
        let parts = "\(folder)/receiver.conf.d"
        var paths = ["\(folder)/receiver.conf"]
        if FileSystem.exists(parts) {
            do {
                let names = try FileSystem.list(parts)
                paths += names.filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }.map { "\(parts)/\($0)" }
            } catch {
                fail("\(parts):1", "cannot be read: \(error.message)")
            }
        }
        for path in paths where FileSystem.exists(path) {
            do {
                apply(try KeyFile(path: path), path: path)
            } catch let fault as KeyFile.Fault {
                fail("\(fault.file):\(fault.line)", fault.message)
            } catch {
                fail("\(path):1", "cannot be read: \(error)")
            }
        }
    }

    /// Takes the settings of one file. Its mistakes are told in the order of its lines.
    private mutating func apply(_ file: KeyFile, path: String) {
        let unknownGroups = file.unknownGroups(known: Set(Setting.groups))
        let strangers = unknownGroups.map { $0.message.dropFirst("unknown group '".count).dropLast() + "." }
        let unknownKeys = file.unknownKeys(known: Set(Setting.all.map(\.name))).filter { fault in
            !strangers.contains { fault.message.hasPrefix("unknown key '\($0)") }
        }
        var faults = (unknownGroups + unknownKeys).map { ($0, isFatal: false) }
        for setting in Setting.all where file.has(setting.group, setting.key) {
            do throws(KeyFile.Fault) {
                let text = try file.string(setting.group, setting.key) ?? ""
                guard let value = setting.value(of: text) else {
                    throw file.fault(setting.group, setting.key, "\(setting.key) must be \(setting.range)")
                }
                values[setting.name] = value
                places[setting.name] = "\(path):\(file.fault(setting.group, setting.key, "").line)"
            } catch {
                faults.append((error, isFatal: true))
            }
        }
        for (fault, isFatal) in faults.sorted(by: { $0.0.line < $1.0.line }) {
            mistakes.append(
                Mistake(place: "\(path):\(fault.line)", message: fault.message, isFatal: isFatal))
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
            places[setting.name] = "--\(setting.option)"
        }
    }

    /// A mistake that shows when settings are seen together; what is wrong is left out of what the receiver does.
    func mistake(_ setting: Setting, _ message: String) -> Mistake {
        let place = places[setting.name] ?? "[\(setting.group)] \(setting.key)"
        return Mistake(place: place, message: message, isFatal: false)
    }

    subscript(_ setting: Setting) -> Setting.Value { values[setting.name] ?? .text("") }

    func text(_ setting: Setting) -> String { self[setting].description }
    func integer(_ setting: Setting) -> Int {
        if case .integer(let number) = self[setting] { number } else { 0 }
    }
    func number(_ setting: Setting) -> Double {
        if case .number(let number) = self[setting] { number } else { 0 }
    }
    func flag(_ setting: Setting) -> Bool { self[setting] == .boolean(true) }
    func words(_ setting: Setting) -> [String] {
        if case .list(let words) = self[setting] { words } else { [] }
    }

    private mutating func fail(_ place: String, _ message: String) {
        mistakes.append(Mistake(place: place, message: message, isFatal: true))
    }
}
