// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

extension Verb {
    /// The words that may stand first, for completion.
    static let sourceWords = ["take", "yield", "prefer", "forget", "pair", "disconnect"]

    static let sources = Verb(
        name: "sources",
        arguments:
            "[take SOURCE | yield [SOURCE] | prefer SOURCE [preferred|normal|manual] | forget SOURCE | pair | disconnect SOURCE]",
        summary: "Shows what the receiver can be heard from, and why; chooses; pairs phones.",
        options: [
            .init("json", "j", .flag, "Print one JSON object; with --watch one a line."),
            .init("watch", "w", .flag, "Go on and show every change."),
            .init("yes", "y", .flag, "Of pair: take the first phone without asking."),
            .init(
                "seconds", "s", .integer, "Of pair: how long phones find the receiver. Default: 120.",
                argument: "N"),
        ],
        examples: [
            ("linnet sources", "Sources, who is heard, and the last decisions."),
            ("linnet sources --watch", "Shows each change."),
            ("linnet sources take Phone", "Has that one heard at once."),
            ("linnet sources prefer Laptop", "Nothing that starts by itself takes the output from it."),
            ("linnet sources pair", "Lets a phone be paired, and asks whether it is the right one."),
        ]
    ) { invocation in
        var words = try invocation.words(0, 3)
        guard !words.isEmpty else { return try await showSources(invocation) }
        let action = words.removeFirst()
        func one() throws(CommandFailure) -> String {
            guard words.count == 1 else {
                throw CommandFailure(.usage, "which source?", advice: "linnet sources \(action) SOURCE")
            }
            return words[0]
        }
        switch action {
        case "take":
            let word = try one()
            return try await withSources(invocation) { route, state in
                let source = try source(word, of: state)
                try await route.sources.take(source.id)
                print("\(TerminalText.clean(source.name)) has the output")
                return .success
            }
        case "yield":
            let word = words.first
            return try await withSources(invocation) { route, state in
                try await route.sources.yield(word.map { try source($0, of: state).id })
                return .success
            }
        case "prefer":
            guard (1...2).contains(words.count) else {
                throw CommandFailure(
                    .usage, "which source?", advice: "linnet sources prefer SOURCE [preferred|normal|manual]")
            }
            let word = words[0]
            let text = words.count == 2 ? words[1] : "preferred"
            guard let preference = SourcePreference(rawValue: text) else {
                throw CommandFailure(
                    .usage, "'\(TerminalText.clean(text))' is no preference",
                    advice: "There are: preferred, normal, manual.")
            }
            return try await withSources(invocation) { route, state in
                let known = try knownSource(word, of: state)
                try await route.sources.prefer(known.id, preference)
                print("\(TerminalText.clean(known.name)): \(preference.rawValue)")
                return .success
            }
        case "forget":
            let word = try one()
            return try await withSources(invocation) { route, state in
                let known = try knownSource(word, of: state)
                try await route.sources.forget(known.id)
                print("forgot \(TerminalText.clean(known.name))")
                return .success
            }
        case "disconnect":
            let word = try one()
            return try await withSources(invocation) { route, state in
                let source = try source(word, of: state)
                try await route.sources.disconnect(source.id)
                print("disconnected \(TerminalText.clean(source.name))")
                return .success
            }
        case "pair":
            guard words.isEmpty else { throw CommandFailure(.usage, "'\(words[0])' is too much") }
            return try await pair(invocation)
        default:
            throw CommandFailure(
                .usage, "there is no 'sources \(TerminalText.clean(action))'",
                advice: "There are: \(sourceWords.joined(separator: ", ")).")
        }
    }
}

private let noSources = CommandFailure(
    .refused, "the receiver has no sources but the network", advice: "See [accessory] in receiver.conf(5).")

@RouteActor private func withSources(
    _ invocation: Invocation, _ body: @RouteActor (Route, AccessoryState) async throws -> ExitCode
) async throws -> ExitCode {
    try await withRoute(invocation) { route in
        guard let state = route.sources.state else { throw noSources }
        return try await body(route, state)
    }
}

/// The source by its name or address.
private func source(_ word: String, of state: AccessoryState) throws(CommandFailure) -> AccessorySource {
    let named = state.sources.filter { isNamed(word, $0.id, $0.name) }
    if named.count == 1 { return named[0] }
    throw notOne(word, named.count, of: state.sources.map(\.name))
}

/// A source that is there, or a phone that is paired.
private func knownSource(
    _ word: String, of state: AccessoryState
) throws(CommandFailure) -> (id: String, name: String) {
    var known = state.sources.map { (id: $0.id, name: $0.name) }
    known += state.paired.filter { one in !known.contains { $0.id == one.id } }.map { ($0.id, $0.name) }
    let named = known.filter { isNamed(word, $0.id, $0.name) }
    if named.count == 1 { return named[0] }
    throw notOne(word, named.count, of: known.map(\.name))
}

private func isNamed(_ word: String, _ id: String, _ name: String) -> Bool {
    id == word.uppercased() || name.lowercased() == word.lowercased()
}

private func notOne(_ word: String, _ count: Int, of names: [String]) -> CommandFailure {
    let list = names.map { "'\(TerminalText.clean($0))'" }.joined(separator: ", ")
    return CommandFailure(
        .refused, "there is \(count == 0 ? "no" : "more than one") source '\(TerminalText.clean(word))'",
        advice: names.isEmpty ? "No source is there." : "There are: \(list). An address names one, too.")
}

// MARK: Pairing

@RouteActor private func pair(_ invocation: Invocation) async throws -> ExitCode {
    var seconds = 120
    if let number = invocation.line.integers["seconds"] {
        guard (1...600).contains(number) else {
            throw CommandFailure(.usage, "--seconds takes 1 to 600")
        }
        seconds = number
    }
    let interruption = Interruption()
    return try await withSources(invocation) { route, _ in
        let updates = route.sources.updates()
        try await route.sources.pair(for: seconds)
        print("phones find the receiver for \(seconds) s")
        let stop = Task { @RouteActor in
            await interruption.wait()
            if interruption.isRequested { try? await route.sources.stopPairing() }
        }
        defer { stop.cancel() }
        var asked = ""
        var wasOpen = false
        for await _ in updates {
            switch route.sources.state?.pairing {
            case .open: wasOpen = true
            case .asked(let source, let name, let passkey):
                wasOpen = true
                guard asked != source else { continue }
                asked = source
                let code = passkey.map { ", which shows \(TerminalText.clean($0))" } ?? ""
                print("\(TerminalText.clean(name)) (\(source))\(code) wants to be paired")
                let isWanted = invocation.has("yes") || answersYes()
                try await route.sources.confirm(source, isWanted)
            case .paired(let source):
                print("paired with \(TerminalText.clean(source))")
                return .success
            case .failed(let reason):
                throw CommandFailure(.refused, "it was not paired: \(TerminalText.clean(reason))")
            case .closed:
                if wasOpen { return interruption.isRequested ? .interrupted : .refused }
            case nil: throw noSources
            }
        }
        throw CommandFailure(.refused, "the connection ended")
    }
}

/// Asks at the terminal; without one nobody can say yes.
private func answersYes() -> Bool {
    guard Machine.isTerminal(.output) else { return false }
    Machine.write("Is it the right one? [y/N] ", to: .output)
    guard let answer = readLine(strippingNewline: true) else { return false }
    return ["y", "yes"].contains(answer.lowercased())
}

// MARK: Showing

@RouteActor private func showSources(_ invocation: Invocation) async throws -> ExitCode {
    try await showing(invocation, else: noSources, isThere: { $0.sources.state != nil }) {
        SourcesText.text($0.sources.state, $1)
    }
}

/// The sources of a receiver as text.
enum SourcesText {
    /// So many decisions are shown to people.
    private static let decisionCount = 5

    static func text(_ state: AccessoryState?, _ isJSON: Bool) -> String {
        guard let state else { return isJSON ? "null" : "the network is the only source" }
        return isJSON ? json(state).line : people(state)
    }

    static func people(_ state: AccessoryState) -> String {
        var lines: [String] = []
        let width = state.sources.map { TerminalText.clean($0.name).count }.max() ?? 0
        for source in state.sources {
            let name = TerminalText.clean(source.name)
            let space = String(repeating: " ", count: width - name.count)
            var facts = [source.kind, source.state]
            if source.id == state.primary { facts.append("primary") }
            if source.id == state.secondary { facts.append("secondary") }
            if source.preference != .normal { facts.append(source.preference.rawValue) }
            if let title = source.title { facts.append("“\(TerminalText.clean(title))”") }
            if let fault = source.fault { facts.append(TerminalText.clean(fault)) }
            let sign = source.isActive ? "▶" : " "
            lines.append(
                "\(sign) \(name)\(space)  \(source.id)  \(facts.map { TerminalText.clean($0) }.joined(separator: ", "))"
            )
        }
        if lines.isEmpty { lines.append("  no source is there") }
        if let placement = state.placement {
            lines.append("  placement: \(TerminalText.clean(placement.rawValue))")
        }
        if let isPlugged = state.isPlugged { lines.append("  jack: \(isPlugged ? "plugged in" : "free")") }
        if let fault = state.bluetoothFault { lines.append("  Bluetooth: \(TerminalText.clean(fault))") }
        switch state.pairing {
        case .open: lines.append("  phones can be paired now")
        case .asked(_, let name, _): lines.append("  \(TerminalText.clean(name)) wants to be paired")
        case .closed, .paired, .failed: break
        }
        for decision in state.decisions.suffix(decisionCount) {
            let name = decision.name.isEmpty ? decision.source ?? "" : decision.name
            let subject = name.isEmpty ? "" : "\(TerminalText.clean(name)) "
            lines.append(
                "  \(subject)\(TerminalText.clean(decision.outcome)): \(TerminalText.clean(decision.message))"
            )
        }
        return lines.joined(separator: "\n")
    }

    static func json(_ state: AccessoryState) -> JSONText {
        .object([
            ("capabilities", .array(state.capabilities.map(\.rawValue).sorted().map { .string($0) })),
            ("placement", .text(state.placement?.rawValue)),
            ("jack", state.isPlugged.map { .bool($0) } ?? .null), ("active", .text(state.active?.id)),
            ("primary", .text(state.primary)), ("secondary", .text(state.secondary)),
            ("sources", .array(state.sources.map(json))), ("bluetoothFault", .text(state.bluetoothFault)),
            ("pairing", .string(word(state.pairing))),
            (
                "paired",
                .array(
                    state.paired.map {
                        .object([
                            ("id", .string($0.id)), ("name", .string($0.name)),
                            ("isConnected", .bool($0.isConnected)), ("isTrusted", .bool($0.isTrusted)),
                        ])
                    })
            ),
            (
                "decisions",
                .array(
                    state.decisions.map {
                        .object([
                            ("number", .integer($0.number)), ("outcome", .string($0.outcome)),
                            ("reason", .string($0.reason)), ("message", .string($0.message)),
                            ("source", .text($0.source)), ("name", .string($0.name)),
                            ("previous", .text($0.previous)),
                        ])
                    })
            ),
        ])
    }

    private static func json(_ source: AccessorySource) -> JSONText {
        .object([
            ("id", .string(source.id)), ("kind", .string(source.kind)), ("name", .string(source.name)),
            ("state", .string(source.state)), ("isActive", .bool(source.isActive)),
            ("preference", .string(source.preference.rawValue)), ("title", .text(source.title)),
            ("subtitle", .text(source.subtitle)), ("fault", .text(source.fault)),
        ])
    }

    private static func word(_ pairing: PairingProgress) -> String {
        switch pairing {
        case .closed: "closed"
        case .open: "open"
        case .asked: "asked"
        case .paired: "paired"
        case .failed: "failed"
        }
    }
}
