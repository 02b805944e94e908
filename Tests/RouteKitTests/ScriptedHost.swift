// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupClock
import MediaModel
import MemberLink
import RouteWire
import Soup

@testable import RouteKit

/// A receiver that is the host of a group, with a clock of its own; what it says in the group is what a test tells it to.
@RouteActor final class ScriptedHost {
    let receiver: ScriptedReceiver
    let id: String
    private(set) var group: GroupDocument
    private let clock: ClockProvider
    private let ticket: GroupSecret
    private let secrets = SystemSecrets()
    private var version: Int64 = 1
    private var handshake: GroupHandshake?
    private var attachment: GroupAttachment?
    private weak var link: WebSocket?
    private var lastCommand: Int64 = 0
    /// The players that have proved themselves, in order.
    private(set) var attached: [GroupAttachment] = []
    /// What they said of themselves then.
    private(set) var presences: [GroupPresence] = []

    init(_ id: String = "kitchen", epoch: Int64 = 1, ticket: GroupSecret? = nil) throws {
        receiver = try ScriptedReceiver()
        clock = try ClockProvider(port: 0)
        self.id = id
        self.ticket = ticket ?? GroupSecret(bytes: Array(repeating: 9, count: 32))!
        group = GroupDocument(
            id: "group-1", name: "Party", epoch: epoch, host: id,
            clock: GroupClockDocument(id: "clock-of-\(id)", port: clock.port),
            members: [
                id: GroupMemberDocument(
                    name: id, joined: 1, addresses: ["127.0.0.1"], port: receiver.port, isReady: true)
            ])
        receiver.replies["group.admit"] = { [unowned self] in admit($0) }
        receiver.replies["group.attach"] = { [unowned self] in attach($0) }
        receiver.replies["group.prove"] = { [unowned self] in prove($0) }
        receiver.state.group = seen
    }

    isolated deinit { clock.stop() }

    /// As senders see it.
    private var seen: GroupDocument {
        var document = group
        document.view = .init(isHost: true, phase: .joined, isClockKnown: true)
        return document
    }

    private func pass(_ player: String) -> GroupSecret {
        GroupSecret(
            bytes: secrets.code(
                of: GroupHandshake.passMessage(group: group.id, player: player), key: ticket.bytes))!
    }

    private func admit(_ request: RouteRequest) -> ScriptedReceiver.Reply {
        guard case .group(.admit(let participant)) = request else { return .silence }
        return .result(
            GroupAdmission(
                group: group.id, name: group.name, pass: pass(participant),
                host: GroupHost(id: id, addresses: [], port: receiver.port)
            ).json)
    }

    private func attach(_ request: RouteRequest) -> ScriptedReceiver.Reply {
        guard case .link(.attach(let attachment)) = request, attachment.hasPass,
            let nonce = GroupSecret(bytes: secrets.random())
        else { return .refusal(RouteError(.invalidParams, "no player")) }
        let handshake = GroupHandshake(
            group: group.id, member: attachment.participant, host: id, epoch: group.epoch,
            memberNonce: attachment.nonce, hostNonce: nonce)
        (self.handshake, self.attachment) = (handshake, attachment)
        let proof = GroupSecret(
            bytes: secrets.code(of: handshake.message(of: .host), key: pass(attachment.participant).bytes))!
        return .result(GroupWelcome(host: id, epoch: group.epoch, nonce: nonce, proof: proof).json)
    }

    private func prove(_ request: RouteRequest) -> ScriptedReceiver.Reply {
        guard case .link(.prove(let proof, let presence)) = request, let handshake, let attachment,
            secrets.code(of: handshake.message(of: .member), key: pass(attachment.participant).bytes)
                == proof.bytes
        else { return .refusal(RouteError(.authorizationFailed, "another pass")) }
        link = receiver.asked.last?.socket
        attached.append(attachment)
        presences.append(presence)
        group.members[attachment.participant] = GroupMemberDocument(
            name: attachment.name, kind: .player, joined: 9)
        return .result(WireGroupSnapshot(version: version, group: group.json).json)
    }

    // MARK: Saying

    /// Sends a command and returns its number.
    @discardableResult
    func command(
        _ action: WireGroupCommand.Action, item: String = "song", by originator: String? = nil,
        overtakes: Bool = false
    ) -> Int64 {
        lastCommand += 1
        say(
            .command(
                WireGroupCommand(
                    id: lastCommand, item: item, originator: originator, action: action,
                    overtakes: overtakes)))
        return lastCommand
    }

    /// Changes the group, for its members and for senders.
    func change(_ body: (inout GroupDocument) -> Void) {
        let old = group.json
        body(&group)
        version += 1
        if let patch = MergePatch.diff(from: old, to: group.json) {
            say(.changed(version: version, base: version - 1, patch: patch))
        }
        receiver.change { $0.group = seen }
    }

    func close(_ reason: String) {
        say(.closed(reason: reason))
        receiver.change { $0.group = nil }
    }

    private func say(_ notice: GroupNotice) { link?.send(.text(JSONText.encode(notice.json))) }

    /// Gone, as a killed host is: nobody answers at its port any more.
    func die() {
        clock.stop()
        for method in ["group.attach", "group.admit", "group.prove"] {
            receiver.replies[method] = { _ in .refusal(RouteError(.groupUnavailable, "gone")) }
        }
        receiver.cut()
    }

    // MARK: Hearing

    /// How commands were completed so far.
    var completions: [String] {
        receiver.told.compactMap { word in
            if case .completed(let command, let outcome) = word { "\(command) \(outcome)" } else { nil }
        }
    }

    /// Waits until a member has said this.
    func hears(_ word: GroupLinkRequest) async { await receiver.until { receiver.told.contains(word) } }
}
