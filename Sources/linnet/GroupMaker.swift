// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

/// Makes groups, and takes receivers into them.
@RouteActor enum GroupMaker {
    static func create(
        _ name: String, of wanted: [String], activity: GroupActivity
    ) async throws -> ExitCode {
        // All are found before anything is changed.
        var receivers: [Receiver] = []
        for word in wanted {
            let receiver = try await Finder.receiver(word)
            if !receivers.contains(where: { $0.id == receiver.id }) { receivers.append(receiver) }
        }
        guard let host = receivers.first else { return .usage }
        for receiver in receivers where !receiver.canGroup {
            throw CommandFailure(
                .refused, "\(TerminalText.clean(receiver.displayName)) cannot play in a group",
                advice: "Its administrator has switched groups off, or its software is older.")
        }
        let ticket = try await withRoute(to: host) { route, _ in
            try await route.group.create(named: name, activity: activity)
        }
        try TicketShelf().keep(ticket)
        print("\(TerminalText.clean(host.displayName)) is the host of '\(TerminalText.clean(name))'")
        return try await take(Array(receivers.dropFirst()), into: ticket)
    }

    static func take(_ wanted: [String], into ticket: GroupTicket) async throws -> ExitCode {
        var receivers: [Receiver] = []
        for word in wanted { receivers.append(try await Finder.receiver(word)) }
        return try await take(receivers, into: ticket)
    }

    /// Takes in whoever can be; says at the end if somebody could not.
    private static func take(_ receivers: [Receiver], into ticket: GroupTicket) async throws -> ExitCode {
        var code = ExitCode.success
        for receiver in receivers {
            do {
                try await withRoute(to: receiver) { route, controller in
                    try await route.group.join(ticket)
                    try await joined(route, controller)
                }
                print("\(TerminalText.clean(receiver.displayName)) takes part")
            } catch {
                let failure = CommandFailure(error, at: TerminalText.clean(receiver.displayName))
                Machine.write("linnet: \(failure)\n", to: .error)
                code = failure.code
            }
        }
        return code
    }

    /// Waits for 15 s at most: a receiver gives up by itself before.
    private static func joined(_ route: Route, _ controller: RouteController) async throws {
        let limit = Task { @RouteActor in
            try await Task.sleep(for: .seconds(15))
            await controller.leave(route)
        }
        defer { limit.cancel() }
        try await route.group.joined()
    }
}
