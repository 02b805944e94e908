// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import Settings

extension Verb {
    static let updateWords = ["status", "rollback", "check"]
    /// The owner's choice on the card, then the image's.
    private static let serverFiles = ["/data/device/update.conf", "/etc/linnet/update.conf"]

    static let update = Verb(
        name: "update", arguments: "FILE.raucb|URL|status|rollback|check",
        summary: "Updates an appliance, shows its slots, goes back.",
        options: [
            .init("json", "j", .flag, "Print one JSON object (status, check)."),
            .init("allow-older", nil, .flag, "Install also what is older than what runs."),
            .init("restart", "r", .flag, "Restart when it is done."),
            .init(
                "url", "u", .string, "The server to ask (check), instead of the chosen one.", argument: "URL"),
            .init("save", nil, .string, "Write what is newer to a file (check).", argument: "FILE"),
            .init(
                "due", nil, .string, "Ask only when the last time, kept in FILE, is long enough ago (check).",
                argument: "FILE"),
            .init("found", nil, .flag, "FILE is what check --save wrote: install what it names."),
        ], takesReceiver: false,
        examples: [
            (
                "linnet update linnet-rpi-arm64-1.2.raucb",
                "Checks it, and installs it in the slot that does not run."
            ),
            ("linnet update status", "Versions, which slot runs, whether there is a fallback."),
            ("linnet update rollback --restart", "Goes back to what ran before."),
            ("linnet update check", "Asks the server that was chosen whether there is something newer."),
        ]
    ) { invocation in
        let word = try invocation.words(1, 1)[0]
        let updater = Updater()
        try updater.requireSlots()
        switch word {
        case "status": return try await showSlots(updater, isJSON: invocation.has("json"))
        case "rollback":
            let slot = try await updater.rollBack()
            print(
                "Slot \(slot.name) (\(slot.version ?? "as it was written first")) is taken at the next start."
            )
        case "check": return try await check(invocation, updater)
        default:
            guard let place = try await place(word, invocation, updater) else { return .success }
            let version = try await updater.install(
                place, allowsOlder: invocation.has("allow-older"), progress: UpdateText.showProgress())
            print("Version \(version) is installed. It runs after a restart, and stays if it proves itself.")
        }
        return invocation.has("restart") ? try await restart() : .success
    }

    /// What to install; nil if what was found is no newer.
    @RouteActor private static func place(
        _ word: String, _ invocation: Invocation, _ updater: Updater
    ) async throws -> String? {
        guard invocation.has("found") else {
            if word.hasPrefix("https://") || word.hasPrefix("http://") { return word }
            guard let path = FileSystem.absolute(word) else {
                throw CommandFailure(.failure, "there is no file '\(TerminalText.clean(word))'")
            }
            return path
        }
        guard let bytes = try? FileSystem.read(word, maximum: 4096),
            let offer = UpdateServer.Offer(text: bytes)
        else { throw CommandFailure(.failure, "'\(word)' does not say what was found") }
        // What is in a slot already waits for a restart there, or was left for a reason.
        let isThere = try await updater.slots().slots.contains { $0.version == offer.version }
        return updater.isNewer(offer) && !isThere ? offer.place : nil
    }

    @RouteActor private static func showSlots(_ updater: Updater, isJSON: Bool) async throws -> ExitCode {
        let slots = try await updater.slots()
        print(isJSON ? UpdateText.json(slots).line : UpdateText.people(slots).joined(separator: "\n"))
        return .success
    }

    @RouteActor private static func check(_ invocation: Invocation, _ updater: Updater) async throws
        -> ExitCode
    {
        let given = invocation.text("url").map { UpdateServer(url: $0) }
        guard let server = given ?? UpdateServer.chosen(in: serverFiles), let board = updater.board else {
            throw CommandFailure(
                .failure, "no server is chosen",
                advice: "Write [update] url to linnet.conf on the card, or add --url.")
        }
        let now = Machine.secondsSinceEpoch
        if let path = invocation.text("due") {
            let last = FileSystem.firstLine(path).flatMap { Int64($0) } ?? 0
            // A clock that was set back does not put it off.
            if last <= now, now - last < Int64(server.hours) * 3600 { return .success }
        }
        let offer = try await server.newest(for: board)
        if let path = invocation.text("due") { try? FileSystem.write(Array("\(now)\n".utf8), to: path) }
        let isNewer = updater.isNewer(offer)
        if let path = invocation.text("save"), isNewer {
            do {
                try FileSystem.write(Array(offer.text.utf8), to: path)
            } catch {
                throw CommandFailure(.failure, error.message)
            }
        }
        let running = updater.runningVersion
        if invocation.has("json") {
            let object: [(String, JSONText)] = [
                ("running", .text(running)), ("newest", .string(offer.version)), ("isNewer", .bool(isNewer)),
                ("bundle", .string(offer.place)),
            ]
            print(JSONText.object(object).line)
        } else {
            print(
                isNewer
                    ? "Version \(offer.version) is there; \(running ?? "an unknown one") runs. Install it: linnet update \(offer.place)"
                    : "Nothing newer than \(running ?? offer.version) is there.")
        }
        return .success
    }
}

extension Updater {
    func isNewer(_ offer: UpdateServer.Offer) -> Bool {
        runningVersion.map { BundleVersion($0) < BundleVersion(offer.version) } ?? true
    }
}

/// What is said about slots and progress.
enum UpdateText {
    static func people(_ slots: Slots) -> [String] {
        let rows = slots.slots.map { slot in
            var words = [slot.runs ? "runs" : "waits", slot.isGood ? "good" : "does not start"]
            if slots.next == slot.name { words.append("taken at the next start") }
            if let installed = slot.installed { words.append("installed \(installed)") }
            let version = slot.version ?? (slot.isGood || slot.runs ? "as it was written first" : "empty")
            return "Slot \(slot.name)  \(version)  \(words.joined(separator: ", "))"
        }
        return ["\(TerminalText.clean(slots.compatible))"] + rows
            + slots.remarks.map { TerminalText.clean($0) }
    }

    static func json(_ slots: Slots) -> JSONText {
        .object([
            ("compatible", .string(slots.compatible)), ("running", .text(slots.running?.name)),
            ("next", .text(slots.next)), ("hasFallback", .bool(slots.other?.isGood == true)),
            ("reason", .text(slots.leftStill?.reason)),
            (
                "slots",
                .array(
                    slots.slots.map { slot in
                        .object([
                            ("name", .string(slot.name)), ("version", .text(slot.version)),
                            ("installed", .text(slot.installed)), ("runs", .bool(slot.runs)),
                            ("isGood", .bool(slot.isGood)),
                        ])
                    })
            ), ("remarks", .array(slots.remarks.map { .string($0) })),
        ])
    }

    /// On a terminal one line that changes, else one for each ten percent.
    @RouteActor static func showProgress() -> @RouteActor (Int, String) -> Void {
        let isLive = Machine.isTerminal(.output)
        var last = -1
        return { percent, what in
            if isLive {
                Machine.write("\r\u{1b}[K\(percent) %  \(what)\(percent == 100 ? "\n" : "")", to: .output)
            } else if percent / 10 != last {
                last = percent / 10
                print("\(percent) %  \(what)")
            }
        }
    }
}
