// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

struct RouteTests {
    @Test func `an activation is answered with route, token, clock and the whole state`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        let result = try sender.activate()
        #expect(result["resumed"] == false)
        #expect(result["graceSeconds"] == 30)
        #expect(result["clock"]?["id"]?.textValue == receiver.clock.identifier)
        #expect(result["clock"]?["now"]?.integerValue == receiver.clock.now)
        #expect(sender.member("device", "name") == "Test")
        #expect(sender.member("device", "output", "state") == "closed")
        #expect(sender.member("device", "advertisement", "state") == "registered")
        #expect(sender.member("routes", sender.route, "attached") == true)
        #expect(sender.member("routes", sender.route, "sender", "name") == "Ada")
        // The typed form that senders use reads it.
        let document = try StateDocument(json: sender.state)
        #expect(document.device.name == "Test")
    }

    @Test func `an activation subscribes, and other senders see it with its origin`() throws {
        let receiver = try TestReceiver.running()
        let observer = TestSender(receiver)
        try observer.ask(.subscribe)
        let sender = TestSender(receiver)
        try sender.activate("Bob")
        try observer.read()
        #expect(observer.changes.map(\.origin) == [.sender(route: sender.route, name: "Bob")])
        try sender.ask(.setDeviceVolume(0.25))
        try sender.read()
        #expect(sender.member("device", "volume") == 0.25)
        #expect(sender.changes.count == 1)
    }

    @Test func `another version of the protocol is refused with the versions spoken`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        let error = #expect(throws: RouteError.self) {
            try sender.ask(.activate(Activation(version: 2, sender: SenderInfo(identifier: "s", name: "n"))))
        }
        #expect(error?.code == .versionUnsupported)
        #expect(error?.details["supported"] == [1])
    }

    @Test func `an unknown resume token is refused`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        let activation = Activation(sender: SenderInfo(identifier: "s", name: "n"), resume: "nonsense")
        #expect(try sender.refusal(.activate(activation)) == .routeUnknown)
    }

    @Test func `writes without a route are refused, reads are not`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        #expect(try sender.refusal(.setDeviceVolume(0.1)) == .routeRequired)
        #expect(try sender.refusal(.start(SessionStart(url: "http://a/b"))) == .routeRequired)
        #expect(try sender.ask(.getState)["version"] != nil)
    }

    @Test func `an application session is refused`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let start = SessionStart(url: "http://a/b", mode: .application, application: "org.example")
        #expect(try sender.refusal(.start(start)) == .modeUnsupported)
    }

    @Test func `a ping is answered with readings of the receiver's clock`() throws {
        let receiver = try TestReceiver.running()
        let result = try PingResult(json: TestSender(receiver).ask(.ping))
        #expect(result.id == receiver.clock.identifier)
        #expect(result.received == receiver.clock.now)
        #expect(result.sent == receiver.clock.now)
    }

    @Test func `a lost sender resumes its route within the grace time`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        sender.client.vanish()
        receiver.clock.advance(by: .seconds(29))
        let again = TestSender(receiver)
        let result = try again.activate(resume: sender.resumeToken)
        #expect(result["resumed"] == true)
        #expect(again.route == sender.route)
        #expect(again.resumeToken != sender.resumeToken)
        #expect(again.member("sessions", session, "route")?.textValue == sender.route)
        // The old timer ends nothing.
        receiver.clock.advance(by: .seconds(60))
        #expect(receiver.shell.state.routes.count == 1)
    }

    @Test func `after the grace time the route is gone and playing goes on`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        sender.client.vanish()
        receiver.clock.advance(by: .seconds(30))
        let state = try snapshot(receiver)
        #expect(state["routes"] == [:])
        #expect(state["sessions"]?[session]?["route"] == nil)
        #expect(state["player"]?["session"]?.textValue == session)
        let again = TestSender(receiver)
        let activation = Activation(
            sender: SenderInfo(identifier: "sender-1", name: "Ada"), resume: sender.resumeToken)
        #expect(try again.refusal(.activate(activation)) == .routeUnknown)
    }

    @Test func `where playing is not kept it ends with the grace time`() throws {
        let receiver = try TestReceiver.running(
            configuration: .init(name: "Test", software: "t", keepsPlaying: false, graceTime: .seconds(5)))
        let observer = TestSender(receiver)
        try observer.ask(.subscribe)
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        sender.client.vanish()
        receiver.clock.advance(by: .seconds(5))
        try observer.read()
        #expect(
            observer.ended == [.sessionEnded(session: session, reason: "routeEnded", by: nil, error: nil)])
    }

    @Test func `a resume while the old connection stands closes the old one with 4000`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let again = TestSender(receiver)
        let result = try again.activate(resume: sender.resumeToken)
        #expect(result["resumed"] == true)
        #expect(sender.client.closing?.code == 4000)
        try sender.read()
        guard case .routeEnded(sender.route, "resumedElsewhere", _) = sender.ended.first else {
            Issue.record("the old connection was not told: \(sender.ended)")
            return
        }
        receiver.settle()
        // The end of the old connection does not end the route.
        receiver.clock.advance(by: .seconds(60))
        #expect(receiver.shell.state.routes.count == 1)
    }

    @Test func `deactivation ends the route's sessions and tells why`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        try sender.read()
        #expect(try sender.ask(.deactivate)["outcome"] == "accepted")
        try sender.read()
        #expect(
            sender.ended.contains(.sessionEnded(session: session, reason: "routeEnded", by: nil, error: nil)))
        #expect(sender.member("routes") == [:])
        #expect(try sender.refusal(.setDeviceVolume(0.1)) == .routeRequired)
        #expect(sender.client.closing == nil)
    }

    @Test func `the most routes are kept, and one more is refused`() throws {
        let receiver = try TestReceiver.running(
            configuration: .init(name: "Test", software: "t", routeLimit: 2))
        for number in 1...2 { try TestSender(receiver).activate(id: "sender-\(number)") }
        let activation = Activation(sender: SenderInfo(identifier: "sender-3", name: "C"))
        #expect(try TestSender(receiver).refusal(.activate(activation)) == .limitReached)
    }

    @Test func `connections beyond the limit are closed`() throws {
        let receiver = try TestReceiver.running(
            configuration: .init(name: "Test", software: "t", connectionLimit: 2))
        let clients = (1...3).map { _ in receiver.listener.connect() }
        #expect(clients.map { $0.closing?.code } == [nil, nil, 1008])
    }
}
