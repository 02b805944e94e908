// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

extension Verb {
    static let browse = Verb(
        name: "browse", arguments: "", summary: "Lists the receivers in the network.",
        options: [
            .init("timeout", "T", .real, "Listen this long; 2 seconds by default.", argument: "SECONDS"),
            .init("json", "j", .flag, "Print a JSON array."),
        ], takesReceiver: false,
        examples: [
            ("linnet browse", "Names, addresses and models."),
            ("linnet browse --json --timeout 5", "For a script, on a slow network."),
        ]
    ) { invocation in
        _ = try invocation.words(0, 0)
        let seconds = invocation.line.reals["timeout"] ?? 2
        guard seconds > 0, seconds <= 3600 else {
            throw CommandFailure(.usage, "a time is above 0 and at most 3600 seconds")
        }
        let receivers = try await Finder.all(within: .seconds(seconds))
        if invocation.has("json") {
            print(JSONText.array(receivers.map(json)).line)
        } else {
            for line in table(receivers) { print(line) }
        }
        guard receivers.isEmpty else { return .success }
        throw CommandFailure(
            .receiverNotFound, "no receiver was found",
            advice: "`linnet doctor` looks closer; --on HOST[:PORT] needs no discovery.")
    }

    private static func json(_ receiver: Receiver) -> JSONText {
        .object([
            ("id", .string(receiver.id)), ("name", .string(receiver.displayName)),
            ("model", .string(receiver.model)), ("type", .string(receiver.deviceType)),
            ("addresses", .array(receiver.addresses.map { .string($0.description) })),
            ("versions", .array(receiver.protocolVersions.map { .integer(Int64($0)) })),
            ("volumeMode", .string(receiver.volumeMode.rawValue)), ("canMute", .bool(receiver.canMute)),
            ("sessionLimit", .integer(Int64(receiver.sessionLimit))),
            ("access", .string(receiver.accessPolicy)),
        ])
    }

    private static func table(_ receivers: [Receiver]) -> [String] {
        let names = receivers.map { TerminalText.clean($0.displayName) }
        let places = receivers.map { $0.addresses.first?.description ?? "–" }
        let nameWidth = names.map(TerminalText.width).max() ?? 0
        let placeWidth = places.map(\.count).max() ?? 0
        return receivers.indices.map { index in
            let receiver = receivers[index]
            let pad = String(repeating: " ", count: nameWidth - TerminalText.width(names[index]))
            let gap = String(repeating: " ", count: placeWidth - places[index].count)
            let note = receiver.isCompatible ? "" : "  speaks another version"
            return "\(names[index])\(pad)  \(places[index])\(gap)  "
                + "\(TerminalText.clean(receiver.model)) \(TerminalText.clean(receiver.deviceType))\(note)"
        }
    }
}
