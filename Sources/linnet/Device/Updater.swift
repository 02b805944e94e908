// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import RouteWire
import Settings

/// Updates by slots. RAUC does the work: this asks it by its program, and says what it says in plain words.
@RouteActor struct Updater {
    /// Where things are; tests have them elsewhere.
    var rauc = "rauc"
    var release = "/etc/os-release"
    var data = "/data"
    nonisolated init() {}

    /// Fails in words where there is nothing to update.
    func requireSlots() throws(CommandFailure) {
        let isThere = rauc.contains("/") ? FileSystem.isExecutable(rauc) : ChildOutput.hasProgram(rauc)
        guard isThere, board != nil else {
            throw CommandFailure(
                .failure, "this machine is not updated by slots",
                advice: "Where Linnet was installed from packages, use apt: apt update && apt upgrade.")
        }
    }

    /// The name of the image that runs, such as `linnet-rpi-arm64`; nil on a machine that none was written to.
    var board: String? { fact("IMAGE_ID") }
    var runningVersion: String? { fact("IMAGE_VERSION") }

    private func fact(_ name: String) -> String? {
        guard let bytes = try? FileSystem.read(release, maximum: 65_536) else { return nil }
        for line in bytes.split(separator: 10) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("\(name)=") else { continue }
            let value = text.dropFirst(name.count + 1).filter { $0 != "\"" && $0 != "'" }
            return value.isEmpty ? nil : String(value)
        }
        return nil
    }

    func slots() async throws -> Slots {
        let answer = try await ChildOutput.run([rauc, "status", "--detailed", "--output-format=json"])
        guard answer.status == 0, let line = answer.lines.last(where: { $0.first == "{" }),
            let value = try? RouteWire.JSONText.decode(line, limit: 1 << 20),
            var slots = Self.slots(in: value)
        else {
            throw CommandFailure(
                .failure,
                "the updater does not answer: \(TerminalText.clean(answer.lines.last ?? "nothing was said"))",
                advice: Machine.isRoot ? "systemctl status rauc" : "Put sudo before the command.")
        }
        slots.left = (try? FileSystem.read("\(data)/health/left", maximum: 4096)).flatMap { Slots.Left($0) }
        if let running = slots.slots.firstIndex(where: \.runs), slots.slots[running].version == nil {
            slots.slots[running].version = runningVersion
        }
        return slots
    }

    /// Slots that can be started; those that belong to one of them are not named.
    nonisolated static func slots(in value: JSONValue) -> Slots? {
        guard let compatible = value["compatible"]?.textValue, let list = value["slots"]?.arrayValue else {
            return nil
        }
        var (slots, names): ([Slots.Slot], [String: String]) = ([], [:])
        for case .object(let entry) in list {
            guard let (key, slot) = entry.first, let name = slot["bootname"]?.textValue else { continue }
            names[key] = name
            slots.append(
                Slots.Slot(
                    name: TerminalText.clean(name),
                    version: slot["slot_status"]?["bundle"]?["version"]?.textValue.map(TerminalText.clean),
                    installed: slot["slot_status"]?["installed"]?["timestamp"]?.textValue.map(
                        TerminalText.clean),
                    runs: slot["state"]?.textValue == "booted",
                    isGood: slot["boot_status"]?.textValue == "good"))
        }
        let next = value["boot_primary"]?.textValue.flatMap { names[$0] }
        return Slots(compatible: compatible, slots: slots.sorted { $0.name < $1.name }, next: next)
    }

    struct Bundle: Equatable, Sendable {
        var compatible: String?
        var version: String?
    }

    /// What a bundle says of itself, once its signature was found to be right.
    func bundle(_ place: String) async throws -> Bundle {
        let answer = try await ChildOutput.run([rauc, "info", "--output-format=json", place])
        guard answer.status == 0, let line = answer.lines.last(where: { $0.first == "{" }),
            let value = try? RouteWire.JSONText.decode(line, limit: 1 << 20)
        else {
            throw CommandFailure(.refused, TerminalText.clean(UpdateRefusal.words(for: complaint(answer))))
        }
        return Bundle(compatible: value["compatible"]?.textValue, version: value["version"]?.textValue)
    }

    /// The last line that is no report of progress.
    private func complaint(_ answer: ChildOutput.Answer) -> String {
        let lines = answer.lines.filter { !$0.hasPrefix("rauc-Message") }
        return lines.last { $0.hasPrefix("LastError: ") }.map { String($0.dropFirst(11)) } ?? lines.last ?? ""
    }

    /// Writes the slot that does not run. Returns the version that is in it then.
    func install(
        _ place: String, allowsOlder: Bool,
        progress: @escaping @RouteActor (_ percent: Int, _ what: String) -> Void
    ) async throws -> String {
        let slots = try await slots()
        let bundle = try await bundle(place)
        if let refusal = slots.refusal(
            compatible: bundle.compatible, version: bundle.version, running: runningVersion,
            allowsOlder: allowsOlder)
        {
            throw CommandFailure(
                .refused, TerminalText.clean(refusal),
                advice: bundle.compatible == slots.compatible
                    ? "--allow-older installs it all the same." : nil)
        }
        let answer = try await ChildOutput.run([rauc, "install", place]) { line in
            let text = line.drop { $0 == " " }
            guard let sign = text.firstIndex(of: "%"), let percent = Int(text[..<sign]) else { return }
            progress(percent, TerminalText.clean(String(text[text.index(after: sign)...].drop { $0 == " " })))
        }
        guard answer.status == 0 else {
            throw CommandFailure(
                .failure,
                "it was not installed: \(TerminalText.clean(UpdateRefusal.words(for: complaint(answer))))",
                advice:
                    "The system that runs is untouched; linnet update status tells whether there is a fallback."
            )
        }
        return bundle.version ?? ""
    }

    /// Has the next start take the other slot.
    func rollBack() async throws -> Slots.Slot {
        let slots = try await slots()
        guard let other = slots.other else { throw CommandFailure(.failure, "there is no other slot") }
        guard other.isGood else {
            throw CommandFailure(
                .refused, "slot \(other.name) holds nothing that starts",
                advice: "linnet update FILE.raucb installs something there.")
        }
        let answer = try await ChildOutput.run([rauc, "status", "mark-active", "other"])
        guard answer.status == 0 else {
            throw CommandFailure(.failure, "it was not changed: \(TerminalText.clean(complaint(answer)))")
        }
        return other
    }
}
