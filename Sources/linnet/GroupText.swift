// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit

/// A group as text.
enum GroupText {
    @RouteActor static func line(_ connection: ReceiverConnection, _ isJSON: Bool) -> String {
        guard let state = connection.group.state else { return isJSON ? "null" : "in no group" }
        if isJSON { return json(state).line }
        let heading = connection.player.map { ProgressLine($0, connection.device).heading }
        return people(state, heading: heading)
    }

    /// `heading`: what the receiver's session shows, where the group's item has no title.
    static func people(_ state: GroupState, heading: String? = nil) -> String {
        var facts = ["\(state.members.count) member\(state.members.count == 1 ? "" : "s")"]
        if let activity = state.activity {
            facts.append(activity.kind == .watch ? "watching together" : "listening together")
        }
        switch state.phase {
        case .waiting: facts.append("waiting for the host")
        case .joined: break
        case .invalidated(let reason): facts.append("over: \(TerminalText.clean(reason))")
        }
        var lines = ["\(TerminalText.clean(state.name)) (\(facts.joined(separator: ", ")))"]
        if let item = state.item {
            let title = state.itemTitle.map { TerminalText.clean($0) } ?? heading ?? TerminalText.clean(item)
            lines.append("  \(word(state.timeline)): \(title)")
        } else {
            lines.append("  nothing plays")
        }
        let width = state.members.map { TerminalText.clean($0.name).count }.max() ?? 0
        for member in state.members {
            let name = TerminalText.clean(member.name)
            let space = String(repeating: " ", count: width - name.count)
            lines.append("  \(name)\(space)  \(describe(member))")
        }
        return lines.joined(separator: "\n")
    }

    private static func word(_ timeline: GroupTimeline?) -> String {
        switch timeline {
        case .playing: "playing"
        case .waiting: "waiting"
        case .paused: "paused"
        case nil: "item"
        }
    }

    private static func describe(_ member: GroupMember) -> String {
        var facts: [String] = []
        if member.isHost { facts.append("host") }
        if member.kind == .player { facts.append("player") }
        if member.suspensionReasons.isEmpty {
            facts.append(member.isReadyToPlay ? "ready" : "not ready")
        } else {
            let reasons = member.suspensionReasons.map { TerminalText.clean($0.rawValue) }
            facts.append("suspended (\(reasons.joined(separator: ", ")))")
        }
        if let volume = member.volume {
            facts.append(
                "volume \(Int((volume.level * 100).rounded())) %\(volume.isMuted ? " (muted)" : "")")
        }
        if let sync = member.sync {
            facts.append("\(microseconds(sync.error)) µs off (at most \(microseconds(sync.largestError)))")
            facts.append("card \(tenths(sync.cardDrift)) ppm")
            if sync.resyncs > 0 { facts.append("\(sync.resyncs) resyncs") }
            if sync.underruns > 0 { facts.append("\(sync.underruns) underruns") }
        }
        return facts.joined(separator: ", ")
    }

    private static func microseconds(_ nanoseconds: Int64) -> String { tenths(Double(nanoseconds) / 1_000) }

    private static func tenths(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "?" }
        let tenths = Int64((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    static func json(_ state: GroupState) -> JSONText {
        let (phase, reason): (String, String?) =
            switch state.phase {
            case .waiting: ("waiting", nil)
            case .joined: ("joined", nil)
            case .invalidated(let reason): ("invalidated", reason)
            }
        return .object([
            ("id", .string(state.id)), ("name", .string(state.name)), ("state", .string(phase)),
            ("reason", .text(reason)), ("host", .string(state.hostID)), ("isHost", .bool(state.isHost)),
            ("item", .text(state.item)), ("title", .text(state.itemTitle)),
            ("playing", .string(word(state.timeline))), ("volume", state.volume.map { .number($0) } ?? .null),
            ("members", .array(state.members.map(json))),
        ])
    }

    private static func json(_ member: GroupMember) -> JSONText {
        .object([
            ("id", .string(member.id)), ("name", .string(member.name)),
            ("kind", .string(member.kind.rawValue)), ("isHost", .bool(member.isHost)),
            ("isReady", .bool(member.isReadyToPlay)),
            ("suspensions", .array(member.suspensionReasons.map { .string($0.rawValue) })),
            ("volume", member.volume.map { .number($0.level) } ?? .null),
            ("muted", member.volume.map { .bool($0.isMuted) } ?? .null),
            (
                "sync",
                member.sync.map { sync in
                    .object([
                        ("error", .integer(sync.error)), ("largestError", .integer(sync.largestError)),
                        ("cardDrift", .number(sync.cardDrift)), ("clockDrift", .number(sync.clockDrift)),
                        ("resyncs", .integer(Int64(sync.resyncs))),
                        ("underruns", .integer(Int64(sync.underruns))),
                    ])
                } ?? .null
            ),
        ])
    }
}
