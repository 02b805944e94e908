// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

extension Verb {
    /// The words that may stand first, for completion.
    static let queueWords = [
        "list", "add", "remove", "move", "jump", "next", "previous", "repeat", "clear",
    ]

    static let queue = Verb(
        name: "queue",
        arguments: "[list|add URL…|remove N…|move N PLACE|jump N|next|previous|repeat MODE|clear]",
        summary: "Shows or changes what plays after the current item.",
        options: [
            .init("json", "j", .flag, "Print the list as a JSON object."),
            .init("next", "x", .flag, "Add after the current item instead of at the end."),
            .init(
                "header", "H", .list, "Send this with every request for what is added. May be repeated.",
                argument: "'NAME: VALUE'"),
            .init(
                "allow-invalid-certificate", nil, .flag,
                "Trust the hosts of what is added, whatever certificates they show."),
        ],
        examples: [
            ("linnet queue", "Lists it; * marks what plays."),
            ("linnet queue add https://example.org/2.flac --next", "Plays it after the current item."),
            ("linnet queue move 5 next", "PLACE is start, next, end, or the number to stand after."),
            ("linnet queue remove 2 3", "Takes items out, by their numbers in the list."),
            ("linnet queue repeat all", "MODE is off, one or all."),
        ]
    ) { invocation in
        let words = try invocation.words(0, 1001)
        guard let word = words.first, word != "list" else {
            return try await list(invocation)
        }
        let rest = Array(words.dropFirst())
        let change = try QueueChange(word, rest, invocation)
        return try await withRoute(invocation) { route in
            let player = try await playing(on: route)
            print(try await change.perform(on: player.queue))
            return .success
        }
    }
}

@RouteActor private func list(_ invocation: Invocation) async throws -> ExitCode {
    try await watching(invocation) { connection in
        guard let player = connection.player else {
            throw RoutingError(.noSession, family: .session, "nothing plays")
        }
        print(invocation.has("json") ? QueueText.json(player.queue).line : QueueText.list(player))
        return .success
    }
}

/// What the user asks of the queue.
private enum QueueChange {
    case add([QueueItem], QueuePlace)
    case remove([Int])
    case move(Int, PlaceWord)
    case jump(Int)
    case next
    case previous
    case setRepeat(RepeatMode)
    case clear

    enum PlaceWord {
        case place(QueuePlace)
        case after(Int)
    }

    init(_ word: String, _ rest: [String], _ invocation: Invocation) throws(CommandFailure) {
        func count(_ range: ClosedRange<Int>) throws(CommandFailure) {
            guard rest.count >= range.lowerBound else {
                throw CommandFailure(.usage, "something is missing", advice: "Add --help to see what.")
            }
            guard rest.count <= range.upperBound else {
                throw CommandFailure(.usage, "'\(TerminalText.clean(rest[range.upperBound]))' is too much")
            }
        }
        switch word {
        case "add":
            try count(1...1000)
            self = .add(try Self.items(rest, invocation), invocation.has("next") ? .next : .end)
        case "remove":
            try count(1...1000)
            var numbers: [Int] = []
            for word in rest { numbers.append(try Self.number(word)) }
            self = .remove(numbers)
        case "move":
            try count(2...2)
            let place: PlaceWord =
                switch rest[1] {
                case "start": .place(.start)
                case "next": .place(.next)
                case "end": .place(.end)
                default: .after(try Self.number(rest[1]))
                }
            self = .move(try Self.number(rest[0]), place)
        case "jump":
            try count(1...1)
            self = .jump(try Self.number(rest[0]))
        case "repeat":
            try count(1...1)
            guard let mode = RepeatMode(rawValue: rest[0]) else {
                throw CommandFailure(
                    .usage, "'\(TerminalText.clean(rest[0]))' is no way to repeat",
                    advice: "Write off, one or all.")
            }
            self = .setRepeat(mode)
        case "next", "previous", "clear":
            try count(0...0)
            self = word == "next" ? .next : word == "previous" ? .previous : .clear
        default:
            throw CommandFailure(
                .usage, "there is no 'queue \(TerminalText.clean(word))'",
                advice: "There are: \(Verb.queueWords.joined(separator: ", ")).")
        }
    }

    private static func number(_ word: String) throws(CommandFailure) -> Int {
        guard let number = Int(word), number > 0 else {
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(word))' is no number of an item",
                advice: "`linnet queue` lists them.")
        }
        return number
    }

    private static func items(
        _ words: [String], _ invocation: Invocation
    ) throws(CommandFailure) -> [QueueItem] {
        let headers = try invocation.headers()
        var items: [QueueItem] = []
        for word in words {
            guard ValueText.isURL(word) else {
                throw CommandFailure(
                    .usage, "'\(TerminalText.clean(word))' is no URL",
                    advice: "Local files are served by `linnet play A B C`, which stays until the end.")
            }
            var item = QueueItem(url: word)
            item.headers = headers
            item.allowsInvalidCertificate = invocation.has("allow-invalid-certificate")
            items.append(item)
        }
        return items
    }

    /// Does it and says what was done.
    @RouteActor func perform(on queue: QueueControl) async throws -> String {
        func item(_ number: Int) throws -> QueuedItem {
            guard number <= queue.items.count else {
                throw RoutingError(
                    .itemUnknown, family: .playback, "the queue has \(queue.items.count) items", number: 36)
            }
            return queue.items[number - 1]
        }
        func name(_ item: QueuedItem) -> String { TerminalText.clean(item.displayName) }
        switch self {
        case .add(let items, let place):
            let names = try await queue.insert(items, at: place)
            return names.count == 1 ? "added one item" : "added \(names.count) items"
        case .remove(let numbers):
            let items = try numbers.map(item)
            try await queue.remove(items.map(\.id))
            return "removed \(items.map(name).joined(separator: ", "))"
        case .move(let number, let place):
            let moved = try item(number)
            switch place {
            case .place(let place): try await queue.move(moved.id, to: place)
            case .after(let other): try await queue.move(moved.id, to: .after(try item(other).id))
            }
            return "moved \(name(moved))"
        case .jump(let number):
            let target = try item(number)
            try await queue.jump(to: target.id)
            return "playing \(name(target))"
        case .next:
            try await queue.next()
            return "next"
        case .previous:
            try await queue.previous()
            return "previous"
        case .setRepeat(let mode):
            try await queue.perform(.setRepeat(mode))
            return "repeat \(mode.rawValue)"
        case .clear:
            try await queue.clear()
            return "cleared; what plays goes on"
        }
    }
}

/// The queue, for people and for programs.
enum QueueText {
    @RouteActor static func list(_ player: PlaybackControl) -> String {
        let queue = player.queue
        let width = String(queue.items.count).count
        var lines = queue.items.enumerated().map { index, item in
            let isCurrent = item.id == queue.currentID
            let number = String(index + 1)
            // The media knows the title of what plays, if nobody else does.
            let title = item.title ?? (isCurrent ? player.metadata.title : nil) ?? item.displayName
            var line = isCurrent ? "* " : "  "
            line += String(repeating: " ", count: width - number.count) + number + "  "
            line += ([title] + (item.subtitle.map { [$0] } ?? [])).map(TerminalText.clean)
                .joined(separator: " — ")
            if let error = item.error { line += "  (failed: \(TerminalText.clean(error.message)))" }
            return line
        }
        if queue.repeatMode != .off { lines.append("repeat \(queue.repeatMode.rawValue)") }
        return lines.joined(separator: "\n")
    }

    /// Which of how many items plays; nil for one alone.
    @RouteActor static func place(_ queue: QueueControl) -> String? {
        let index = queue.items.firstIndex { $0.id == queue.currentID }
        guard let index, queue.items.count > 1 || queue.repeatMode != .off else { return nil }
        let mode = queue.repeatMode == .off ? "" : ", repeat \(queue.repeatMode.rawValue)"
        return "item \(index + 1) of \(queue.items.count)\(mode)"
    }

    @RouteActor static func json(_ queue: QueueControl) -> JSONText {
        .object([
            ("current", .text(queue.currentID)), ("repeat", .string(queue.repeatMode.rawValue)),
            (
                "items",
                .array(
                    queue.items.map { item in
                        .object([
                            ("id", .string(item.id)), ("name", .string(item.name)),
                            ("title", .text(item.title)), ("subtitle", .text(item.subtitle)),
                            ("identifier", .text(item.identifier)),
                            ("error", .text(item.error?.code.rawValue)),
                        ])
                    })
            ),
        ])
    }
}
