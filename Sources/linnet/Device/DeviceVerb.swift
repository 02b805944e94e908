// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import Settings

extension Verb {
    static let deviceWords = ["settings", "button"]

    static let device = Verb(
        name: "device", arguments: "settings CARD DATA | button EVENT-DEVICE KEY SECONDS",
        summary: "Serves an appliance as it starts; its units run this.",
        options: [
            .init("remount", nil, .flag, "Have the card mounted for writing before the first write to it."),
            .init("restart", nil, .flag, "Restart when the firmware has to read what was chosen."),
            .init("data", "d", .string, "The data partition; /data by default.", argument: "FOLDER"),
        ], takesReceiver: false,
        examples: [
            (
                "linnet device settings /run/linnet/card /data",
                "Takes over what linnet.conf on the card says."
            ),
            (
                "linnet device button /dev/input/event0 KEY_408 10",
                "Resets the device when KEY_RESTART is held for 10 s."
            ),
        ]
    ) { invocation in
        switch invocation.line.rest.first {
        case "settings": return try await takeSettings(invocation)
        case "button": return try await watchButton(invocation)
        default:
            throw CommandFailure(
                .usage, "settings or button?", advice: "Add --help to see what belongs to them.")
        }
    }

    static let reset = Verb(
        name: "reset", arguments: "", summary: "Makes an appliance forget what it keeps, and restarts it.",
        options: [
            .init("yes", "y", .flag, "Do not ask."),
            .init("no-restart", nil, .flag, "Forget at the next start, whenever that is."),
            .init("data", "d", .string, "The data partition; /data by default.", argument: "FOLDER"),
        ], takesReceiver: false,
        examples: [("linnet reset", "Asks, forgets identity, pairings and settings, and restarts.")]
    ) { invocation in
        _ = try invocation.words(0, 0)
        let data = invocation.text("data") ?? "/data"
        try requireAppliance(data)
        if !invocation.has("yes") {
            Machine.write(
                "This device forgets its name, its networks, its pairings and its settings. Write yes: ",
                to: .output)
            guard readLine(strippingNewline: true) == "yes" else {
                throw CommandFailure(.interrupted, "nothing was changed")
            }
        }
        try askReset(data)
        if invocation.has("no-restart") {
            print("All is forgotten at the next start.")
            return .success
        }
        return try await restart()
    }

    private static func requireAppliance(_ data: String) throws(CommandFailure) {
        guard FileSystem.isDirectory(data) else {
            throw CommandFailure(
                .failure, "this machine has no data partition at \(data): it is no appliance",
                advice: "Its settings are in /etc/linnet, what the receiver keeps in /var/lib/linnet.")
        }
    }

    private static func askReset(_ data: String) throws(CommandFailure) {
        do {
            try DeviceReset(data: data).ask()
        } catch {
            throw CommandFailure(
                .failure, (error as? Failure)?.message ?? "\(error)",
                advice: Machine.isRoot ? nil : "Put sudo before the command.")
        }
    }

    @RouteActor private static func takeSettings(_ invocation: Invocation) async throws -> ExitCode {
        let words = try invocation.words(3, 3)
        var card = DeviceCard(card: words[1], data: words[2])
        if invocation.has("remount") {
            card.makeWritable = {
                let answer = try await ChildOutput.run(["mount", "-o", "remount,rw,sync", words[1]])
                guard answer.status == 0 else {
                    throw Failure(
                        domain: "mount", code: answer.status, message: answer.lines.last ?? "mount failed")
                }
            }
        }
        let outcome = await card.apply()
        for line in outcome.lines { print(TerminalText.clean(line)) }
        guard outcome.wantsRestart, invocation.has("restart") else {
            return outcome.isComplete ? .success : .failure
        }
        print("the firmware has to read what was chosen: restarting")
        return try await restart()
    }

    @RouteActor static func restart() async throws -> ExitCode {
        let answer = try await ChildOutput.run(["systemctl", "reboot"])
        guard answer.status == 0 else {
            throw CommandFailure(
                .failure, "it could not be restarted: \(answer.lines.last ?? "systemctl failed")",
                advice: "Take its power away and give it back.")
        }
        return .success
    }

    @RouteActor private static func watchButton(_ invocation: Invocation) async throws -> ExitCode {
        let words = try invocation.words(4, 4)
        let data = invocation.text("data") ?? "/data"
        guard let seconds = Int(words[3]), (1...60).contains(seconds) else {
            throw CommandFailure(.usage, "a button is held for 1 to 60 seconds")
        }
        try requireAppliance(data)
        guard try await DeviceButton.waitUntilHeld(words[1], key: words[2], for: .seconds(seconds)) else {
            throw CommandFailure(.failure, "\(words[1]) is gone")
        }
        try askReset(data)
        return try await restart()
    }
}
