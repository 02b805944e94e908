// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GStreamer
import MediaModel
import RouteKit
import Settings

/// Takes part in the group of a receiver with an output of its own, and prints what happens, a line an event.
///
///     group-player --on HOST:PORT [--device ALSA-DEVICE] [--name NAME]
@main enum Program {
    static func main() async {
        Machine.prepareProcess()
        var options = ["--device": "default", "--name": "Group player"]
        var arguments = Swift.CommandLine.arguments.dropFirst()
        while let option = arguments.popFirst(), let value = arguments.popFirst() { options[option] = value }
        guard let place = options["--on"], let address = address(place) else {
            Machine.write(
                "usage: group-player --on HOST:PORT [--device ALSA-DEVICE] [--name NAME]\n", to: .error)
            Machine.exit(2)
        }
        Library.start()
        do {
            let reason = try await run(
                at: address, device: options["--device"] ?? "", name: options["--name"] ?? "")
            print("over: \(reason)")
        } catch {
            Machine.write("group-player: \(error)\n", to: .error)
            Machine.exit(1)
        }
    }

    private static func address(_ text: String) -> Receiver.Address? {
        let parts = text.split(separator: ":" as Character)
        guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
        return Receiver.Address(host: String(parts[0]), port: port)
    }

    private static func print(_ line: String) { Machine.write("\(line)\n", to: .output) }

    @RouteActor private static func run(
        at address: Receiver.Address, device: String, name: String
    ) async throws -> String {
        let news = Inbox<SyncReport>(on: RouteActor.loop, limit: 4)
        let pump = SamplePump(device: device) {
            news.yield($0)
        } failed: { reason in
            Machine.write("group-player: \(reason)\n", to: .error)
            Machine.exit(1)
        }
        guard let pump else {
            throw RoutingError(.unsupported, family: .playback, "GStreamer's elements are not installed")
        }
        pump.start()
        let player = GroupPlayer(named: name, pump: pump, log: print)
        news.open { player.report($0) }
        let ending = EventSource.signal(15) { player.leave() }
        defer {
            ending.destroy()
            news.close()
            pump.stop()
        }
        let controller = RouteController(sender: SenderIdentity(name: name))
        let route = try await controller.activate(try await Receiver.at(address))
        print("waiting for a group")
        for await session in route.group.sessions() { return try await player.play(session) }
        return "the receiver is gone"
    }
}
