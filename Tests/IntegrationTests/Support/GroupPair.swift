// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import RouteKit
import RouteWire

/// Two receivers with a card each, in one group, over the real network of this machine.
@RouteActor struct GroupPair {
    let host: ReceiverUnderTest
    let member: ReceiverUnderTest
    let hostSender: GroupSender
    let memberSender: GroupSender
    let created: GroupCreated

    /// With settings for the member beside those that it needs; `prepare` is called before it starts.
    static func use(
        member settings: [String] = [], prepare: @escaping (SimulatedCard) throws -> Void = { _ in },
        _ body: @RouteActor @escaping (GroupPair) async throws -> Void
    ) async throws {
        try await ReceiverUnderTest.use(["--clock-port", "0"]) { host in
            try await ReceiverUnderTest.use(["--clock-port", "0"] + settings, prepare: prepare) { member in
                let hostSender = try await GroupSender("first", port: host.port)
                let memberSender = try await GroupSender("second", port: member.port)
                let created = try GroupCreated(
                    json: await hostSender.ask(
                        .group(.create(name: "Both", activity: nil, policy: nil))))
                let pair = GroupPair(
                    host: host, member: member, hostSender: hostSender, memberSender: memberSender,
                    created: created)
                try await body(pair)
                hostSender.close()
                memberSender.close()
            }
        }
    }

    func invitation(ticket: String, by addresses: [String] = ["127.0.0.1"]) -> RouteRequest {
        .group(
            .join(
                GroupInvitation(
                    group: created.group, name: "Both", ticket: ticket,
                    host: GroupHost(
                        id: created.hostID, addresses: addresses, port: host.port))))
    }

    func join() async throws {
        try await memberSender.ask(invitation(ticket: created.ticket))
        try await memberSender.wait("the member has joined and knows the clock") {
            $0?.view?.phase == .joined && $0?.view?.isClockKnown == true
        }
    }

    /// Starts an item by the member's sender; the default's tone tells its second.
    func play(_ name: String = "position.flac") async throws {
        try await memberSender.ask(.start(SessionStart(url: host.media.url(name))))
    }
}
