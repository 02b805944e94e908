// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import RouteWire

/// Values of groups with every member set.
enum GroupFixtures {
    static let ticket = "mC4bWvZ1Yy7Gk3Qh0nX9pRtUaLs2DfEeJjIiOoKkMm8"
    static let nonce = GroupSecret(bytes: Array(0..<32))!
    static let activity = WireGroupActivity(kind: .watch, title: "Film", identifier: "f-1")
    static let policy = WireGroupPolicy(
        waitsFor: ["stallRecovery"], limits: ["stallRecovery": 2], pauseSnapsToOriginator: true,
        lead: 300_000_000, readinessLimit: 0, suspensionLimit: 1)
    static let item = WireGroupItem(
        identifier: "x", title: "t", subtitle: "s",
        media: QueueItemRequest(
            url: "http://a/b?secret", headers: [HeaderField(name: "A", value: "b")], title: "t",
            subtitle: "s",
            identifier: "x"))
    static let timelines = [
        "x": WireGroupTimeline(state: .playing, itemTime: -1, clockTime: .max, rate: 1.5),
        "y": WireGroupTimeline(state: .waiting, itemTime: 5, rate: 1),
        "z": WireGroupTimeline(state: .paused, itemTime: 7),
    ]
    static let proposal = WireGroupProposal(itemTime: 4, rate: 1, clockTime: -9)
    static let presence = GroupPresence(
        item: "x", proposal: proposal, isReady: true,
        suspensions: [.init(id: 0, reason: "stallRecovery"), .init(id: 7, reason: "me")])
    static let sync = SyncReport(
        error: -1_500, largestError: 9_000, cardDrift: 12.5, clockDrift: -3.25, resyncs: 1, underruns: 2)
    static let created = GroupCreated(
        group: "g", ticket: ticket, hostID: "h", hostName: "Den", port: 7380, clockPort: 7381)
    static let admission = GroupAdmission(
        group: "g", name: "Down", pass: nonce, host: GroupHost(id: "h", addresses: [], port: 7380))

    static let requests: [RouteRequest] = [
        .group(.create(name: "Down", activity: activity, policy: policy)),
        .group(.create(name: "Down", activity: nil, policy: nil)),
        .group(
            .join(
                GroupInvitation(
                    group: "g", name: "Down", ticket: ticket,
                    host: GroupHost(id: "h", addresses: ["192.0.2.7", "fe80::1"], port: 7380)))),
        .group(.leave(keepsPlaying: true)), .group(.leave(keepsPlaying: false)),
        .group(.remove(member: "m")), .group(.dissolve), .group(.setActivity(activity)),
        .group(.setActivity(nil)), .group(.setPolicy(policy)), .group(.setPolicy(.init())),
        .group(.setVolume(0.25)), .group(.admit(participant: "p")),
    ]

    static let links: [GroupLinkRequest] = [
        .attach(
            GroupAttachment(
                group: "g", participant: "p", name: "Den", kind: .receiver, nonce: nonce, port: 7380,
                epoch: 3,
                volume: Volume(level: 0.5, isMuted: true))),
        .attach(GroupAttachment(group: "g", participant: "p", name: "", kind: .player, nonce: nonce)),
        .attach(
            GroupAttachment(
                group: "g", participant: "p", name: "", kind: .player, nonce: nonce, hasPass: true)),
        .prove(nonce, presence), .prove(nonce, GroupPresence()), .ask(.item(item, proposal)),
        .ask(.item(nil, nil)), .ask(.item(WireGroupItem(identifier: "y", title: "t"), nil)),
        .ask(.item(item, proposal, following: [QueueItemRequest(url: "http://a/c")], repeats: .all)),
        .ask(.queue(.insert([QueueItemRequest(url: "http://a/c", title: "c")], .after("3")), of: "x")),
        .ask(.queue(.remove(["1", "2"]), of: "x")), .ask(.queue(.move("1", .next), of: "x")),
        .ask(.queue(.jump("1"), of: "x")), .ask(.queue(.next(from: "1"), of: "x")),
        .ask(.queue(.previous(from: nil), of: "x")), .ask(.queue(.setRepeat(.one), of: "x")),
        .ask(.queue(.clear, of: "x")),
        .ask(.rate(0, item: "x", itemTime: 5, immediately: true)),
        .ask(.rate(1.25, item: "x", itemTime: nil, immediately: false)),
        .ask(.seek(itemTime: .min, item: "x", resumesImmediately: true)), .ask(.name("Up")),
        .ask(.remove(member: "m")), .ask(.dissolve), .ask(.activity(activity)), .ask(.activity(nil)),
        .ask(.policy(policy)), .ask(.volume(1)), .completed(command: .max, .suspended),
        .moved(item: "x", proposal), .moved(item: nil, nil), .ready(true),
        .suspend(7, reason: "stallRecovery"), .resume(7, itemTime: 5), .resume(8, itemTime: nil),
        .stopped(item: "x", itemTime: 12), .finished(item: "x"), .reapply, .report(Volume(level: 0.25), sync),
        .report(nil, nil),
    ]

    static let notices: [GroupNotice] = [
        .command(
            WireGroupCommand(
                id: 1, item: "x", originator: "p", action: .play(itemTime: 1, clockTime: .min, rate: 1.5))),
        .command(WireGroupCommand(id: 2, item: "x", action: .pause(anticipatedRate: 1), overtakes: true)),
        .command(
            WireGroupCommand(id: 3, item: "x", action: .seek(itemTime: 5, anticipatedRate: 2, due: -1))),
        .command(WireGroupCommand(id: 4, item: "x", action: .buffer(anticipatedRate: 1, due: nil))),
        .changed(version: 2, base: 1, patch: ["members": ["p": .null]]), .level(0.5),
        .closed(reason: "dissolved"),
    ]

    static let queue = WireGroupQueue(
        id: "x", current: 3,
        entries: [
            .init(id: 7, item: QueueItemRequest(url: "http://a/c"), error: MediaFailure(.notFound, "gone")),
            .init(id: 3, item: QueueItemRequest(url: "http://a/b?secret", title: "t")),
        ], repeats: .all, last: 9)

    /// As the host tells it.
    static let told = GroupDocument(
        id: "g", name: "Down", epoch: 4, host: "h", clock: GroupClockDocument(id: "c", port: 7381),
        activity: activity, policy: policy, volume: 0.75, item: item, queue: queue,
        timelines: timelines,
        members: [
            "h": GroupMemberDocument(
                name: "Den", joined: 1, addresses: ["192.0.2.7"], port: 7380, item: "x", isReady: true,
                suspensions: ["x"], volume: Volume(level: 0.75, isMuted: true), sync: sync),
            "p": GroupMemberDocument(name: "App", kind: .player, joined: 2),
        ])

    /// As a sender sees it.
    static var seen: GroupDocument {
        var seen = told
        seen.item = WireGroupItem(identifier: "x", title: "t", subtitle: "s")
        seen.queue = nil
        seen.view = .init(isHost: true, phase: .joined, reason: "r", isClockKnown: true)
        return seen
    }
}

struct GroupWireTests {
    @Test(arguments: GroupFixtures.links)
    func `what a member says is read as it was written`(_ request: GroupLinkRequest) {
        for id in [nil, RequestIdentifier.number(3)] {
            let text = request.text(id: id == nil ? nil : 3)
            #expect(
                IncomingText.decode(text)
                    == .single(IncomingRequest(id: id, request: .success(.link(request)))))
        }
    }

    @Test func `every method of links is written by some request`() {
        #expect(Set(GroupFixtures.links.map(\.method)) == Set(GroupLinkRequest.methods))
    }

    @Test(arguments: GroupFixtures.notices)
    func `what a host says is read as it was written`(_ notice: GroupNotice) throws {
        #expect(try ServerMessage.decode(JSONText.encode(notice.json)) == [.group(notice)])
    }

    @Test func `a group is read as it was written, by members and by senders`() throws {
        #expect(try GroupDocument(json: GroupFixtures.told.json) == GroupFixtures.told)
        #expect(try GroupDocument(json: GroupFixtures.seen.json) == GroupFixtures.seen)
    }

    @Test func `senders are not shown where the media is`() {
        var seen = GroupFixtures.told
        seen.view = .init(isHost: false, phase: .joined)
        let text = JSONText.encode(seen.json)
        #expect(!text.contains("secret"))
    }

    @Test(
        arguments: [
            ["id": nil], ["id": ""], ["id": .text(String(repeating: "x", count: 1_025))], ["current": nil],
            ["current": "4"], ["current": 3], ["current": "-3"], ["current": "03"], ["current": "x"],
            ["last": nil], ["last": "6"], ["last": "9223372036854775808"], ["last": "18446744073709551616"],
            ["repeat": nil], ["repeat": "some"], ["order": nil], ["order": []], ["order": ["3"]],
            ["order": ["3", "3"]], ["order": ["3", "8"]], ["order": ["3", 7]], ["order": [["3"], "7"]],
            ["order": .array((0..<1_001).map { .text(String($0)) })], ["items": nil], ["items": []],
            ["items": ["3": "x", "7": "y"]], ["items": ["3": [:], "7": [:]]],
            ["items": ["3": ["url": "http://a"], "7": ["url": "http://a", "error": "none"]]],
            ["items": ["3": ["url": "http://a"], "7": ["url": "http://a"], "8": ["url": "http://a"]]],
            ["items": ["3": ["url": "http://a"], "7": ["url": .text(String(repeating: "x", count: 8_193))]]],
        ] as [[String: JSONValue?]])
    func `a queue that is none makes the whole no group`(_ changes: [String: JSONValue?]) throws {
        guard case .object(var queue) = GroupFixtures.queue.json,
            case .object(var group) = GroupFixtures.told.json
        else { return }
        for (key, value) in changes { queue[key] = value }
        group["queue"] = .object(queue)
        let json = JSONValue.object(group)
        #expect(throws: RouteError.self) { try GroupDocument(json: json) }
        // Where the queue is known it is not read.
        #expect(try GroupDocument(json: json, keeping: GroupFixtures.queue) == GroupFixtures.told)
    }

    @Test(
        arguments: [
            ["kind": "queue", "queue": "x"], ["kind": "queue", "queue": "x", "method": "queue.jump"],
            ["kind": "queue", "queue": "x", "method": "playback.seek", "params": [:]],
            ["kind": "queue", "method": "queue.next", "params": [:]],
            ["kind": "queue", "queue": "x", "method": "queue.insert", "params": ["items": "x"]],
            ["kind": "item", "items": .array((0..<1_001).map { _ in ["url": "http://a"] })],
            ["kind": "item", "items": [["url": 1]]], ["kind": "item", "repeat": "some"],
        ] as [JSONValue])
    func `what is asked of a queue is read with the same care as from senders`(_ ask: JSONValue) {
        let text = JSONText.encode(["jsonrpc": "2.0", "id": 1, "method": "group.ask", "params": ["ask": ask]])
        guard case .single(let incoming) = IncomingText.decode(text),
            case .failure(let error) = incoming.request
        else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .invalidParams || error.code == .limitReached)
    }

    @Test func `failures do not make a queue too long to be told`() {
        let entries = (1...1_000).map { number in
            WireGroupQueue.Entry(
                id: UInt64(number), item: QueueItemRequest(url: String(repeating: "x", count: 450)),
                error: MediaFailure(
                    .unsupportedFormat, String(repeating: "\u{1}", count: 256), httpStatus: 404))
        }
        let queue = WireGroupQueue(id: "x", current: 1, entries: entries, last: 1_000)
        #expect(!queue.isTellable)
        #expect(JSONText.encode(queue.withoutWords.json).utf8.count < WireLimits.groupQueue + 131_072)
    }

    @Test func `a group of more than 64 members is refused`() {
        var group = GroupFixtures.told
        for index in 0..<65 { group.members["m\(index)"] = GroupMemberDocument(name: "") }
        let json = group.json
        #expect(throws: RouteError.self) { try GroupDocument(json: json) }
    }

    @Test func `answers on the link are read as they were written`() throws {
        let welcome = GroupWelcome(
            host: "h", epoch: 9, nonce: GroupFixtures.nonce, proof: GroupFixtures.nonce)
        #expect(try GroupWelcome(json: welcome.json) == welcome)
        let snapshot = WireGroupSnapshot(version: 3, group: GroupFixtures.told.json)
        #expect(try WireGroupSnapshot(json: snapshot.json) == snapshot)
        #expect(try GroupCreated(json: GroupFixtures.created.json) == GroupFixtures.created)
        #expect(try GroupAdmission(json: GroupFixtures.admission.json) == GroupFixtures.admission)
    }

    @Test func `a secret is 43 characters of base64url and nothing else`() throws {
        let all = GroupSecret(bytes: (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) })
        let secret = try #require(all)
        #expect(secret.text.utf8.count == 43)
        #expect(GroupSecret(secret.text)?.bytes == secret.bytes)
        #expect(
            GroupSecret(bytes: Array(repeating: 255, count: 32))?.text == String(repeating: "_", count: 42)
                + "8")
        for wrong in [
            "", String(repeating: "A", count: 42), String(repeating: "A", count: 44),
            String(repeating: "A", count: 42) + "B", String(repeating: "A", count: 42) + "=",
            String(repeating: "A", count: 42) + "+",
        ] { #expect(GroupSecret(wrong) == nil, "\(wrong)") }
        #expect(GroupSecret(bytes: []) == nil)
        #expect(secret != GroupFixtures.nonce)
    }

    @Test func `what is signed has the bytes that the page says`() {
        let handshake = GroupHandshake(
            group: "g1", member: "mm", host: "h", epoch: 258, memberNonce: GroupFixtures.nonce,
            hostNonce: GroupSecret(bytes: Array(repeating: 7, count: 32))!)
        let words = Array("linnet-group-1".utf8) + [0, 4] + Array("host".utf8)
        let names = [0, 2] + Array("g1".utf8) + [0, 2] + Array("mm".utf8) + [0, 1] + Array("h".utf8)
        let rest = [0, 0, 0, 0, 0, 0, 1, 2] + Array(0..<32) + [UInt8](repeating: 7, count: 32)
        #expect(handshake.message(of: .host) == words + names + rest)
        #expect(
            GroupHandshake.passMessage(group: "g1", player: "mm")
                == Array("linnet-player-1".utf8) + [0, 2] + Array("g1".utf8) + [0, 2] + Array("mm".utf8))
        #expect(handshake.message(of: .member) != handshake.message(of: .host))
    }
}
