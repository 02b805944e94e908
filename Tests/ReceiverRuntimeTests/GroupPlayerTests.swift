// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

/// A player in a test: a connection to a host, with a pass.
private final class TestPlayer {
    let client: FakeClient
    private(set) var notices: [GroupNotice] = []
    private var requests: Int64 = 0

    init(at host: TestReceiver) { client = host.listener.connect() }

    func ask(_ request: GroupLinkRequest) throws -> Result<JSONValue, RouteError> {
        requests += 1
        client.say(request.text(id: requests))
        var answer: Result<JSONValue, RouteError>?
        for message in try read() { if case .response(requests, let result) = message { answer = result } }
        return try #require(answer)
    }

    func tell(_ request: GroupLinkRequest) { client.say(request.text(id: nil)) }

    @discardableResult
    func read() throws -> [ServerMessage] {
        let messages = try client.takeTexts().flatMap { try ServerMessage.decode($0) }
        for case .group(let notice) in messages { notices.append(notice) }
        return messages
    }

    /// Comes in with a pass; what came of the proof.
    func attach(
        as id: String, _ admission: GroupAdmission, on network: FakeNetwork
    ) throws -> Result<JSONValue, RouteError> {
        let nonce = try #require(GroupSecret(bytes: Array(repeating: 3, count: 32)))
        let welcome = try GroupWelcome(
            json: ask(
                .attach(
                    GroupAttachment(
                        group: admission.group, participant: id, name: "Desk", kind: .player, nonce: nonce,
                        hasPass: true))
            ).get())
        let handshake = GroupHandshake(
            group: admission.group, member: id, host: welcome.host, epoch: welcome.epoch, memberNonce: nonce,
            hostNonce: welcome.nonce)
        let proof = network.code(of: handshake.message(of: .member), key: admission.pass.bytes)
        return try ask(.prove(try #require(GroupSecret(bytes: proof)), GroupPresence()))
    }
}

struct GroupPlayerTests {
    @Test(arguments: [0, 1])
    func `any member gives a player a pass, and the host lets it in`(asked: Int) throws {
        let rooms = try TestRooms.grouped(2)
        let admission = try GroupAdmission(
            json: rooms.senders[asked].ask(.group(.admit(participant: "desk"))))
        #expect(admission.group == rooms.group && admission.host.id == "room-0")
        // The host does not know at which of its addresses it was asked.
        #expect(admission.host.addresses == (asked == 0 ? [] : ["192.0.2.9"]))
        let player = TestPlayer(at: rooms.rooms[0])
        let joined = try player.attach(as: "desk", admission, on: rooms.network).get()
        #expect(try WireGroupSnapshot(json: joined).version > 0)
        rooms.settle()
        #expect(try rooms.state(1)?.members["desk"]?.kind == .player)
        // On the group's item it is told what all are told.
        _ = try rooms.senders[1].start()
        rooms.settle()
        rooms.pass(1)
        let item = try #require(try rooms.state(0)?.item?.identifier)
        player.tell(.moved(item: item, nil))
        rooms.settle()
        try player.read()
        let commands = player.notices.compactMap {
            if case .command(let command) = $0 { command } else { nil }
        }
        guard case .play = commands.last?.action else {
            Issue.record("told \(commands)")
            return
        }
    }

    @Test func `a pass is good for one participant, and for players alone`() throws {
        let rooms = try TestRooms.grouped(1)
        let admission = try GroupAdmission(
            json: rooms.senders[0].ask(.group(.admit(participant: "desk"))))
        let other = TestPlayer(at: rooms.rooms[0])
        guard case .failure(let error) = try other.attach(as: "chair", admission, on: rooms.network) else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .authorizationFailed)
        #expect(other.client.closing?.code == 1008)
        let receiver = TestPlayer(at: rooms.rooms[0])
        let attachment = GroupAttachment(
            group: rooms.group, participant: "desk", name: "Desk", kind: .receiver, nonce: admission.pass,
            hasPass: true)
        guard case .failure(let refusal) = try receiver.ask(.attach(attachment)) else {
            Issue.record("taken")
            return
        }
        #expect(refusal.code == .invalidParams)
        // Nor does it take a receiver in: that needs the ticket.
        #expect(GroupSecret(rooms.ticket) != admission.pass)
    }

    @Test func `who is in no group has no pass to give, and one without a route gets none`() throws {
        let rooms = try TestRooms(1)
        #expect(try rooms.senders[0].refusal(.group(.admit(participant: "desk"))) == .groupUnknown)
        try rooms.create()
        let stranger = TestSender(rooms.rooms[0])
        #expect(try stranger.refusal(.group(.admit(participant: "desk"))) == .routeRequired)
    }

    @Test(arguments: [true, false])
    func `an application with a network gets a pass, and nothing else of groups`(hasNetwork: Bool) throws {
        let network = FakeNetwork()
        let manifest = try ApplicationManifest.made("org.example.desk") {
            $0.patterns = [URLPattern("desk:*")].compactMap(\.self)
            $0.permissions = hasNetwork ? [.network] : []
        }
        let receiver = TestReceiver(applications: [manifest], network: network)
        _ = try receiver.shell.start()
        receiver.settle()
        let ada = TestSender(receiver)
        try ada.activate()
        let created = try GroupCreated(
            json: ada.ask(.group(.create(name: "Down", activity: nil, policy: nil))))
        _ = try ada.open("org.example.desk", url: "desk:x")
        let application = try TestApplication.running(receiver)
        if hasNetwork {
            let admission = try GroupAdmission(json: application.ask(.group(.admit(participant: "desk"))))
            #expect(admission.group == created.group)
        } else {
            #expect(try application.refusal(.group(.admit(participant: "desk"))) == .notPermitted)
        }
        #expect(try application.refusal(.group(.dissolve)) == .routeRequired)
    }
}
