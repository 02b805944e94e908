// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Settings
import Testing

@testable import RouteKit
@testable import linnet

private let secret = String(repeating: "A", count: 43)

private func document(_ phase: GroupDocument.Phase, reason: String? = nil) -> GroupDocument {
    GroupDocument(
        id: "group-1", name: "Party", epoch: 1, host: "kitchen", volume: 0.5,
        item: WireGroupItem(identifier: "song", title: "So What"),
        timelines: [
            "song": WireGroupTimeline(state: .playing, itemTime: 1_000, clockTime: 2_000, rate: 1),
            "other": WireGroupTimeline(state: .paused, itemTime: 0),
        ],
        members: [
            "bath": GroupMemberDocument(
                name: "Bath", joined: 2, addresses: ["192.0.2.2"], port: 7380,
                suspensions: ["stallRecovery"], volume: Volume(level: 0.25, isMuted: true)),
            "kitchen": GroupMemberDocument(
                name: "Kitchen", joined: 1, isReady: true,
                sync: SyncReport(error: -1_540, largestError: 2_060, cardDrift: 49.96, underruns: 2)),
            "phone": GroupMemberDocument(name: "Phone", kind: .player, joined: 3),
        ],
        view: .init(isHost: true, phase: phase, reason: reason, isClockKnown: true))
}

@RouteActor struct GroupControlTests {
    private func route(_ receiver: ScriptedReceiver) async throws -> Route {
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        return try await controller.activate(receiver.receiver)
    }

    @Test func `the group of a receiver is shown, member by member in the order of coming`() async throws {
        let receiver = try ScriptedReceiver()
        let route = try await route(receiver)
        #expect(route.group.state == nil)
        let updates = route.group.updates()
        receiver.change { $0.group = document(.joined) }
        #expect(await reached(updates) { route.group.state != nil })
        let state = try #require(route.group.state)
        #expect(state.members.map(\.name) == ["Kitchen", "Bath", "Phone"])
        #expect(state.members.map(\.isHost) == [true, false, false])
        #expect(state.members[1].addresses == [.init(host: "192.0.2.2", port: 7380)])
        #expect(state.members[1].suspensionReasons == [.stallRecovery])
        #expect(state.members[1].volume == Volume(level: 0.25, isMuted: true))
        #expect(state.members[2].kind == .player)
        #expect(state.timeline == .playing(PlaybackAnchor(itemTime: 1_000, clockTime: 2_000, rate: 1)))
        #expect((state.item, state.itemTitle, state.phase) == ("song", "So What", .joined))
        receiver.change { $0.group = nil }
        #expect(await reached(updates) { route.group.state == nil })
    }

    @Test func `who makes a group gets the ticket, and others come in with it`() async throws {
        let receiver = try ScriptedReceiver()
        receiver.replies["group.create"] = { _ in
            .result(
                GroupCreated(
                    group: "group-1", ticket: secret, hostID: "kitchen", hostName: "Kitchen", port: 7380,
                    clockPort: 7381
                ).json)
        }
        let route = try await route(receiver)
        var policy = GroupPolicy()
        policy.lead = .milliseconds(500)
        policy.suspensionReasonsThatTriggerWaiting = [.playingInterstitial]
        let ticket = try await route.group.create(
            named: "Party", activity: GroupActivity(.watch, title: "A film"), policy: policy)
        #expect(
            receiver.requests("group.create").first?.request
                == .group(
                    .create(
                        name: "Party", activity: WireGroupActivity(kind: .watch, title: "A film"),
                        policy: WireGroupPolicy(waitsFor: ["playingInterstitial"], lead: 500_000_000))))
        #expect(ticket.secret == secret && ticket.hostID == "kitchen")
        #expect(ticket.hostAddresses == [.init(host: "127.0.0.1", port: 7380)])
        try await route.group.join(ticket)
        let invitation = GroupInvitation(
            group: "group-1", name: "Party", ticket: secret,
            host: GroupHost(id: "kitchen", addresses: ["127.0.0.1"], port: 7380))
        #expect(receiver.requests("group.join").first?.request == .group(.join(invitation)))
    }

    @Test func `coming in is waited for, and a failure says why`() async throws {
        let receiver = try ScriptedReceiver()
        let route = try await route(receiver)
        receiver.change { $0.group = document(.waiting) }
        let waiting = Task { @RouteActor in try await route.group.joined() }
        receiver.change { $0.group = document(.joined) }
        try await waiting.value
        receiver.change { $0.group = document(.invalidated, reason: "refused") }
        #expect(
            await reached(route.group.updates()) {
                route.group.state?.phase == .invalidated(reason: "refused")
            })
        await #expect(throws: RoutingError(.groupUnavailable, family: .session, "")) {
            try await route.group.joined()
        }
        receiver.cut()
    }

    @Test func `what is asked of the group is sent, and a refusal is thrown`() async throws {
        let receiver = try ScriptedReceiver()
        let route = try await route(receiver)
        try await route.group.leave(keepsPlaying: true)
        try await route.group.remove("bath")
        try await route.group.setVolume(0.75)
        try await route.group.setActivity(nil)
        try await route.group.dissolve()
        let sent = receiver.asked.compactMap { asked -> WireGroupRequest? in
            if case .group(let request) = asked.request { request } else { nil }
        }
        #expect(
            sent == [
                .leave(keepsPlaying: true), .remove(member: "bath"), .setVolume(0.75), .setActivity(nil),
                .dissolve,
            ])
        receiver.replies["group.join"] = { _ in .refusal(RouteError(.groupBusy, "it is in another group")) }
        let ticket = GroupTicket(
            group: "g", name: "n", secret: secret, hostID: "h",
            hostAddresses: [.init(host: "192.0.2.1", port: 1)])
        await #expect(throws: RoutingError(.groupBusy, family: .session, "")) {
            try await route.group.join(ticket)
        }
    }

    @Test func `the trim is set, and shown as the receiver has it`() async throws {
        let receiver = try ScriptedReceiver()
        let route = try await route(receiver)
        try await route.device.perform(.setOutputTrim(.milliseconds(35)))
        #expect(receiver.requests("device.setOutputTrim").first?.request == .setOutputTrim(35_000_000))
        let updates = route.device.updates()
        receiver.change { $0.device.outputTrim = 35_000_000 }
        #expect(await reached(updates) { route.device.outputTrim == .milliseconds(35) })
    }

    @Test func `a group is told to people line by line`() throws {
        let state = try #require(GroupState(document(.joined), base: ""))
        #expect(
            GroupText.people(state) == """
                Party (3 members)
                  playing: So What
                  Kitchen  host, ready, -1.5 µs off (at most 2.1), card 50.0 ppm, 2 underruns
                  Bath     suspended (stallRecovery), volume 25 % (muted)
                  Phone    player, not ready
                """)
        let json = GroupText.json(state).line
        #expect(json.hasPrefix("{\"id\":\"group-1\",\"name\":\"Party\",\"state\":\"joined\""))
        #expect(json.hasSuffix("\"sync\":null}]}"))
    }
}

struct TicketShelfTests {
    @Test func `a ticket is kept in a file of its own, and found again`() throws {
        let folder = "/tmp/linnet-tickets-\(Machine.makeUUID())"
        defer {
            for path in ["/state/groups", "/state", ""] { try? FileSystem.removeDirectory(folder + path) }
        }
        let shelf = TicketShelf(folder: "\(folder)/state/groups")
        #expect(shelf.secret(of: "group-1") == nil)
        let ticket = GroupTicket(
            group: "group-1", name: "Party", secret: secret, hostID: "h", hostAddresses: [])
        try shelf.keep(ticket)
        #expect(shelf.secret(of: "group-1") == secret)
        shelf.forget("group-1")
        #expect(shelf.secret(of: "group-1") == nil)
        #expect(shelf.secret(of: "../../../etc/hostname") == nil)
    }

    @Test func `where nothing can be kept it is said`() {
        let shelf = TicketShelf(folder: "/proc/no/groups")
        let ticket = GroupTicket(group: "g", name: "Party", secret: secret, hostID: "h", hostAddresses: [])
        #expect(throws: CommandFailure.self) { try shelf.keep(ticket) }
    }
}
