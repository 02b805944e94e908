// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import Settings

/// Takes over what the owner wrote on the card, as the device starts. What is kept is on the disk before anything is taken off the card,
/// and each step may be the last: the next start takes up where this one ended.
struct DeviceCard {
    static let file = "linnet.conf"
    static let log = "linnet-boot.log"
    /// Read by the firmware of boards that have DACs, from its own settings.
    static let overlay = "linnet-dac.txt"
    /// Asks for a reset.
    static let reset = "linnet-reset"

    /// The card's file system, and the data partition.
    let card: String
    let data: String
    /// Called before the first write to the card.
    var makeWritable: @RouteActor () async throws -> Void = {}
    /// Replaces a file. Tests count the steps.
    var write: ([UInt8], String, UInt32) throws -> Void = { try FileSystem.write($0, to: $1, mode: $2) }

    var overwrite: ([UInt8], Int, String) throws -> Void = { try FileSystem.overwrite($0, at: $1, of: $2) }

    struct Outcome: Equatable {
        var lines: [String] = []
        /// What the firmware reads has changed.
        var wantsRestart = false
        var wasReset = false
        /// False: something could not be read or written, and is to be tried again.
        var isComplete = true
    }

    private var own: String { "\(data)/device" }

    @RouteActor func apply() async -> Outcome {
        var outcome = Outcome()
        outcome.wasReset = await takeReset(&outcome)
        guard let entry = FileSystem.entry("\(card)/\(Self.file)") else {
            outcome.lines.append("there is no \(Self.file); what was chosen before counts")
            return outcome
        }
        do {
            guard entry.kind == .file else {
                throw Failure(domain: "card", code: 0, message: "it is no file")
            }
            let bytes = try FileSystem.read("\(card)/\(Self.file)", maximum: CardFile.sizeLimit * 2)
            try await take(bytes, &outcome)
        } catch {
            outcome.isComplete = false
            outcome.lines.append("\(Self.file): \((error as? Failure)?.message ?? "\(error)")")
        }
        return outcome
    }

    @RouteActor private func take(_ bytes: [UInt8], _ outcome: inout Outcome) async throws {
        let before = DeviceSettings(kept: (try? FileSystem.read("\(own)/settings", maximum: 65_536)) ?? [])
        let reading = before.reading(CardFile(bytes), overlays: overlays)
        var notes: [String] = []
        var isKept = true
        do {
            try keep(reading.settings)
        } catch {
            isKept = false
            outcome.isComplete = false
            notes.append(
                "Nothing could be kept: \((error as? Failure)?.message ?? "\(error)"). It is tried at the next start."
            )
        }
        outcome.lines += reading.mistakes.map { "\(Self.file): \($0)" } + notes
        do {
            try await answer(reading, bytes, notes, isKept, &outcome)
        } catch {
            outcome.isComplete = false
            outcome.lines.append("the card cannot be written: \((error as? Failure)?.message ?? "\(error)")")
        }
    }

    /// What the programs of the device read, and before it what it is made from.
    private func keep(_ settings: DeviceSettings) throws {
        try FileSystem.makeDirectory("\(own)/receiver.conf.d")
        try replace("\(own)/settings", settings.kept, mode: 0o600)
        let receiver = settings.receiver
        let fragment =
            receiver.isEmpty ? "" : "# Made from linnet.conf on the card.\n" + KeyFile.text(of: receiver)
        try replace("\(own)/receiver.conf.d/50-card.conf", fragment.isEmpty ? nil : Array(fragment.utf8))
        try replace("\(own)/wpa_supplicant.conf", settings.wireless.map { Array($0.utf8) }, mode: 0o600)
        try replace("\(own)/authorized_keys", settings.authorizedKeys.map { Array($0.utf8) }, mode: 0o600)
        let update = settings.update
        try replace(
            "\(own)/update.conf", update.isEmpty ? nil : Array(KeyFile.text(of: [("update", update)]).utf8))
    }

    /// Takes secrets off the card and says what became of the file. Nothing is written that is there already: cards wear.
    @RouteActor private func answer(
        _ reading: DeviceSettings.Reading, _ bytes: [UInt8], _ notes: [String], _ isKept: Bool,
        _ outcome: inout Outcome
    ) async throws {
        var files: [(path: String, bytes: [UInt8])] = []
        let day = Self.day(Machine.secondsSinceEpoch)
        let blanks = CardFile.blanks(for: isKept ? reading.secrets : [], in: bytes, day: day)
        if isKept, overlays != nil {
            files.append(("\(card)/\(Self.overlay)", Array(reading.settings.overlayLine.utf8)))
        }
        let log = reading.settings.log(mistakes: reading.mistakes, notes: notes)
        files.append(("\(card)/\(Self.log)", Array(log.utf8)))
        let due = files.filter { file in
            (try? FileSystem.read(file.path, maximum: 1 << 20)) != file.bytes
        }
        guard !due.isEmpty || !blanks.isEmpty else { return }
        try await makeWritable()
        for blank in blanks { try overwrite(blank.bytes, blank.offset, "\(card)/\(Self.file)") }
        for file in due {
            try write(file.bytes, file.path, 0o644)
            if file.path.hasSuffix("/\(Self.overlay)") { outcome.wantsRestart = true }
        }
    }

    /// The overlays of the board's firmware; nil where it reads none.
    private var overlays: Set<String>? {
        guard FileSystem.exists("\(card)/config.txt"), let names = try? FileSystem.list("\(card)/overlays")
        else { return nil }
        return Set(names.filter { $0.hasSuffix(".dtbo") }.map { String($0.dropLast(5)) })
    }

    private func replace(_ path: String, _ bytes: [UInt8]?, mode: UInt32 = 0o644) throws {
        guard let bytes else {
            if FileSystem.exists(path) { try FileSystem.remove(path) }
            return
        }
        if (try? FileSystem.read(path, maximum: 1 << 20)) == bytes { return }
        try write(bytes, path, mode)
    }

    /// Takes the wish off the card before it is fulfilled: a card that cannot be written would ask again at each start.
    @RouteActor private func takeReset(_ outcome: inout Outcome) async -> Bool {
        let reset = DeviceReset(data: data, write: write)
        do {
            if FileSystem.exists("\(card)/\(Self.reset)") {
                try reset.ask()
                do {
                    try await makeWritable()
                    try FileSystem.remove("\(card)/\(Self.reset)")
                } catch {
                    try? reset.withdraw()
                    throw error
                }
            }
            guard reset.isAsked else { return false }
            try reset.run()
            outcome.lines.append("everything that was kept is forgotten")
            return true
        } catch {
            outcome.isComplete = false
            outcome.lines.append("the reset failed: \((error as? Failure)?.message ?? "\(error)")")
            return false
        }
    }

    /// The day in UTC, as in 2026-12-01, by the civil calendar's rules.
    static func day(_ seconds: Int64) -> String {
        let days = seconds / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))"
    }
}
