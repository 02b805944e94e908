// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

extension Verb {
    /// The words that may stand first, for completion.
    static let groupWords = ["create", "add", "remove", "leave", "status", "volume", "dissolve"]

    static let group = Verb(
        name: "group",
        arguments:
            "create NAME RECEIVER… | add RECEIVER… | remove MEMBER… | leave | status | volume N | dissolve",
        summary: "Has several receivers play in step.",
        options: [
            .init("json", "j", .flag, "Of status: print one JSON object; with --watch one a line."),
            .init("watch", "w", .flag, "Of status: go on and show every change."),
            .init("keep-playing", "k", .flag, "Of leave: the receiver goes on alone with what is heard."),
            .init(
                "watch-together", nil, .flag, "Of create: people watch together; else they listen together."),
        ],
        examples: [
            ("linnet group create Party Kitchen Bath", "The first one's clock is the group's."),
            ("linnet play song.flac --on Kitchen", "Plays on all of them; any member will do."),
            (
                "linnet group add Garden --on Kitchen",
                "Takes one more in, which falls in where the others are."
            ),
            ("linnet group status --watch --on Bath", "Who takes part, and how exactly each plays."),
            ("linnet group leave --on Garden", "Takes one out."),
        ]
    ) { invocation in
        var words = try invocation.words(1, 70)
        let action = words.removeFirst()
        func expect(_ count: ClosedRange<Int>) throws(CommandFailure) {
            if words.count < count.lowerBound {
                throw CommandFailure(.usage, "something is missing", advice: "Add --help to see what.")
            }
            if words.count > count.upperBound {
                throw CommandFailure(.usage, "'\(TerminalText.clean(words[count.upperBound]))' is too much")
            }
        }
        switch action {
        case "create":
            try expect(2...65)
            guard (1...63).contains(words[0].utf8.count) else {
                throw CommandFailure(.usage, "a name has 1 to 63 bytes")
            }
            return try await GroupMaker.create(
                words[0], of: Array(words.dropFirst()),
                activity: GroupActivity(invocation.has("watch-together") ? .watch : .listen, title: words[0]))
        case "add":
            try expect(1...64)
            return try await withGroup(invocation) { route, state in
                guard let secret = TicketShelf().secret(of: state.id) else {
                    throw CommandFailure(
                        .refused, "this user did not make the group '\(TerminalText.clean(state.name))'",
                        advice: "Who made it has its ticket, and can take receivers in.")
                }
                var addresses = state.members.first { $0.isHost }?.addresses ?? []
                if state.isHost { addresses = route.receiver.addresses + addresses }
                let ticket = GroupTicket(
                    group: state.id, name: state.name, secret: secret, hostID: state.hostID,
                    hostAddresses: addresses)
                return try await GroupMaker.take(words, into: ticket)
            }
        case "remove":
            try expect(1...64)
            return try await withGroup(invocation) { route, state in
                for word in words {
                    let member = try member(word, of: state)
                    try await route.group.remove(member.id)
                    print("removed \(TerminalText.clean(member.name))")
                }
                return .success
            }
        case "leave":
            try expect(0...0)
            return try await withGroup(invocation) { route, state in
                try await route.group.leave(keepsPlaying: invocation.has("keep-playing"))
                print("left '\(TerminalText.clean(state.name))'")
                return .success
            }
        case "dissolve":
            try expect(0...0)
            return try await withGroup(invocation) { route, state in
                try await route.group.dissolve()
                TicketShelf().forget(state.id)
                print("dissolved '\(TerminalText.clean(state.name))'")
                return .success
            }
        case "volume":
            try expect(1...1)
            guard case .level(let volume)? = ValueText.volume(words[0]) else {
                throw CommandFailure(
                    .usage, "'\(TerminalText.clean(words[0]))' is no volume", advice: "Write 0 to 100.")
            }
            return try await withGroup(invocation) { route, _ in
                try await route.group.setVolume(volume)
                print("volume \(Int((volume * 100).rounded())) % at the loudest member")
                return .success
            }
        case "status":
            try expect(0...0)
            return try await groupStatus(invocation)
        default:
            throw CommandFailure(
                .usage, "there is no 'group \(TerminalText.clean(action))'",
                advice: "There are: \(groupWords.joined(separator: ", ")).")
        }
    }
}

/// A command on the group of the receiver that was named.
@RouteActor private func withGroup(
    _ invocation: Invocation, _ body: @RouteActor (Route, GroupState) async throws -> ExitCode
) async throws -> ExitCode {
    try await withRoute(invocation) { route in
        guard let state = route.group.state else { throw notGrouped }
        return try await body(route, state)
    }
}

private let notGrouped = CommandFailure(
    .refused, "the receiver is in no group", advice: "Make one: linnet group create NAME RECEIVER…")

/// The member by its name or identifier.
private func member(_ word: String, of state: GroupState) throws(CommandFailure) -> GroupMember {
    let named = state.members.filter { $0.id == word || $0.name.lowercased() == word.lowercased() }
    if named.count == 1 { return named[0] }
    let names = state.members.map { "'\(TerminalText.clean($0.name))'" }.joined(separator: ", ")
    throw CommandFailure(
        .refused, "the group has \(named.isEmpty ? "no" : "more than one") '\(TerminalText.clean(word))'",
        advice: "There are: \(names).")
}

// MARK: Status

@RouteActor private func groupStatus(_ invocation: Invocation) async throws -> ExitCode {
    try await showing(invocation, else: notGrouped, isThere: { $0.group.state != nil }) {
        GroupText.line($0, $1)
    }
}
