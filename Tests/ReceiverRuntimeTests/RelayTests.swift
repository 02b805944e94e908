// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

struct RelayTests {
    private let receiver: TestReceiver
    private let ada: TestSender

    init() throws {
        receiver = try TestReceiver.running(applications: [try .echo(), try .party()])
        ada = TestSender(receiver)
        try ada.activate()
    }

    private var host: FakeApplicationHost {
        get throws { try #require(receiver.applications) }
    }

    /// A session with an application that runs.
    private func opened(
        _ name: String = "org.example.echo"
    ) throws -> (TestApplication, session: String, channel: UInt32) {
        let session = try ada.open(name)
        let application = try TestApplication.running(receiver)
        try ada.read()
        return (application, session, try ada.channel(session))
    }

    @Test func `messages go both ways, and each is answered by the other end`() throws {
        let (application, _, channel) = try opened()
        try ada.client.say(channel, 1, [1, 2, 3])
        #expect(try ada.client.frames().isEmpty)
        #expect(
            try application.client.frames()
                == [DataFrame(kind: .message, channel: channel, message: 1, payload: [1, 2, 3])])
        try application.client.say(.acknowledged, channel, 1)
        #expect(
            try ada.client.frames() == [DataFrame(kind: .acknowledged, channel: channel, message: 1)])
        try application.client.say(channel, 1, [9])
        #expect(
            try ada.client.frames()
                == [DataFrame(kind: .message, channel: channel, message: 1, payload: [9])])
        let words = DataFrame.refusal("full", "no more")
        try ada.client.say(.refused, channel, 1, words)
        #expect(
            try application.client.frames()
                == [DataFrame(kind: .refused, channel: channel, message: 1, payload: words)])
        // An answer to nothing goes nowhere.
        try ada.client.say(.acknowledged, channel, 1)
        try application.client.say(.acknowledged, channel, 7)
        #expect(try application.client.frames().isEmpty && ada.client.frames().isEmpty)
    }

    @Test func `what is said before hello waits for it`() throws {
        let session = try ada.open("org.example.echo")
        let channel = try ada.channel(session)
        for message in 1...3 as ClosedRange<UInt64> { try ada.client.say(channel, message, [7]) }
        let application = try TestApplication(receiver)
        #expect(try application.client.frames().isEmpty)
        try application.ask(.application(.hello()))
        #expect(try application.client.frames().map(\.message) == [1, 2, 3])
        #expect(
            try application.takeNotices() == [
                .sessionOpened(
                    session: session, channel: channel, url: "echo:x",
                    sender: SenderInfo(identifier: "sender-1", name: "Ada"), isAttached: true)
            ])
    }

    @Test func `only the two ends have a channel`() throws {
        let (_, _, channel) = try opened()
        let bob = TestSender(receiver)
        try bob.client.say(channel, 1)
        #expect(try bob.client.reasons() == ["routeRequired"])
        try bob.activate("Bob", id: "sender-2")
        try bob.client.say(channel, 1)
        #expect(try bob.client.reasons() == ["channelUnknown"])
        let second = try bob.open("org.example.echo")
        let other = try TestApplication.running(receiver)
        try bob.read()
        try other.client.say(channel, 1)
        #expect(try other.client.reasons() == ["channelUnknown"])
        #expect(try bob.channel(second) != channel)
        try other.client.say(0, 1, endpoint: "org.linnet.echo")
        #expect(try other.client.reasons() == ["channelUnknown"])
    }

    @Test func `no more than a window is unanswered`() throws {
        let (application, _, channel) = try opened()
        for message in 1...17 as ClosedRange<UInt64> { try ada.client.say(channel, message) }
        #expect(try ada.client.reasons() == ["tooManyMessages"])
        #expect(try application.client.frames().count == 16)
        try application.client.say(.acknowledged, channel, 1)
        try ada.client.say(channel, 17)
        #expect(try application.client.frames().map(\.message) == [17])
        for message in 1...17 as ClosedRange<UInt64> { try application.client.say(channel, message) }
        #expect(try application.client.reasons() == ["tooManyMessages"])
        // A large window is bounded in bytes.
        let large = [UInt8](repeating: 1, count: 1 << 20)
        let (second, _, next) = try opened()
        for message in 1...3 as ClosedRange<UInt64> { try ada.client.say(next, message, large) }
        #expect(try ada.client.reasons() == ["tooManyMessages"])
        _ = second
    }

    @Test func `a slow application slows its senders, and states still reach it`() throws {
        let (application, _, channel) = try opened("org.example.party")
        try application.ask(.subscribe)
        application.client.stopReading()
        let payload = [UInt8](repeating: 1, count: 400 << 10)
        for message in 1...5 as ClosedRange<UInt64> { try ada.client.say(channel, message, payload) }
        #expect(application.client.pendingBytes <= 1 << 20)
        try ada.ask(.setDeviceVolume(0.25))
        #expect(application.client.texts.isEmpty)
        #expect(application.client.binaries.count == 2)
        application.client.readOnce()
        // The state comes before the messages that wait.
        #expect(application.client.texts.count == 1)
        #expect(application.client.binaries.count == 4)
        application.client.resumeReading()
        #expect(try application.client.frames().map(\.message) == [1, 2, 3, 4, 5])
    }

    @Test func `a slow sender slows the application, and other senders are not held up`() throws {
        let (application, _, channel) = try opened("org.example.party")
        let bob = TestSender(receiver)
        try bob.activate("Bob", id: "sender-2")
        let second = try bob.channel(try bob.open("org.example.party"))
        ada.client.stopReading()
        let payload = [UInt8](repeating: 1, count: 1 << 20)
        for message in 1...3 as ClosedRange<UInt64> { try application.client.say(channel, message, payload) }
        #expect(try application.client.reasons() == ["tooManyMessages"])
        #expect(ada.client.binaries.count == 1)
        try application.client.say(second, 1, [5])
        #expect(try bob.client.frames().map(\.payload) == [[5]])
        ada.client.resumeReading()
        #expect(try ada.client.frames().map(\.message) == [1, 2])
    }

    @Test func `what is held for an instance is bounded`() throws {
        let (application, _, first) = try opened("org.example.party")
        var channels = [first]
        for _ in 1..<10 {
            let session = try ada.open("org.example.party")
            try ada.read()
            channels.append(try ada.channel(session))
        }
        let payload = [UInt8](repeating: 1, count: 1 << 20)
        for channel in channels {
            try ada.client.say(channel, 1, payload)
            try ada.client.say(channel, 2, payload)
        }
        #expect(try ada.client.reasons() == ["busy", "busy", "busy", "busy"])
        try application.client.say(.acknowledged, first, 1)
        try ada.client.say(channels[9], 2, payload)
        #expect(try ada.client.reasons().isEmpty)
    }

    @Test func `a message longer than the manifest allows is refused, and so is an endpoint`() throws {
        let small = try ApplicationManifest.made("org.example.small") { $0.limits.message = 1_024 }
        let receiver = try TestReceiver.running(applications: [small])
        let ada = TestSender(receiver)
        try ada.activate()
        let channel = try ada.channel(try ada.open("org.example.small"))
        let application = try TestApplication.running(receiver)
        try ada.client.say(channel, 1, [UInt8](repeating: 0, count: 1_025))
        try ada.client.say(channel, 2, endpoint: "org.example.x")
        #expect(try ada.client.reasons() == ["tooLong", "endpointUnknown"])
        try application.client.say(channel, 1, [UInt8](repeating: 0, count: 1_025))
        #expect(try application.client.reasons() == ["tooLong"])
        try ada.client.say(channel, 3, [UInt8](repeating: 0, count: 1_024))
        // What was refused for good leaves no gap at the other end.
        try application.client.say(channel, 2, [1])
        #expect(try application.client.frames().map(\.message) == [1])
        try application.client.say(.acknowledged, channel, 1)
        #expect(
            try ada.client.frames() == [
                DataFrame(kind: .message, channel: channel, message: 1, payload: [1]),
                DataFrame(kind: .acknowledged, channel: channel, message: 3),
            ])
        // Sent again it is refused again.
        try ada.client.say(channel, 1)
        #expect(try ada.client.reasons() == ["tooLong"])
    }

    @Test func `after a refusal that is not for good the order is kept`() throws {
        let (application, _, channel) = try opened()
        for message in 1...18 as ClosedRange<UInt64> { try ada.client.say(channel, message) }
        #expect(try ada.client.reasons() == ["tooManyMessages", "outOfOrder"])
        _ = try application.client.frames()
        try application.client.say(.acknowledged, channel, 1)
        try application.client.say(.acknowledged, channel, 2)
        try ada.client.say(channel, 18)
        try ada.client.say(channel, 17)
        try ada.client.say(channel, 18)
        #expect(try ada.client.reasons() == ["outOfOrder"])
        #expect(try application.client.frames().map(\.message) == [17, 18])
    }

    @Test func `what a crashed application had sent counts until the sender has it`() throws {
        let (application, _, channel) = try opened()
        for message in 1...16 as ClosedRange<UInt64> { try application.client.say(channel, message) }
        application.client.vanish()
        try host.report(.exited(application.instance, ApplicationExit(.signal(11))))
        let next = try TestApplication.running(receiver)
        try next.client.say(channel, 1, [1])
        #expect(try next.client.reasons() == ["tooManyMessages"])
        try ada.client.say(.acknowledged, channel, 1)
        try next.client.say(channel, 1, [1])
        #expect(try next.client.frames().isEmpty)
        #expect(try ada.client.frames().map(\.message) == Array(1...17))
    }

    @Test func `the largest numbers end nothing`() throws {
        let (application, _, channel) = try opened()
        for client in [ada.client, application.client] {
            try client.say(channel, .max)
            try client.say(channel, .max)
            try client.say(channel, 1)
            try client.say(.acknowledged, channel, .max)
        }
        #expect(try ada.client.reasons() == ["outOfOrder"])
        #expect(try application.client.reasons() == ["outOfOrder"])
    }

    @Test func `a resumed route loses nothing and has nothing twice`() throws {
        let (application, session, channel) = try opened()
        try ada.client.say(channel, 1, [1])
        try ada.client.say(channel, 2, [2])
        try application.client.say(channel, 1, [11])
        _ = try application.client.frames()
        ada.client.vanish()
        #expect(try application.takeNotices().last == .sessionAttached(session: session, isAttached: false))
        // Answers and messages of meanwhile.
        try application.client.say(.acknowledged, channel, 1)
        try application.client.say(channel, 2, [12])
        let again = TestSender(receiver)
        try again.activate(resume: ada.resumeToken)
        #expect(try application.takeNotices() == [.sessionAttached(session: session, isAttached: true)])
        // Both messages of the application come, the first once more.
        #expect(try again.client.frames().map(\.payload) == [[11], [12]])
        // The sender sends again what it has no answer to: one is answered from memory, one is under way.
        try again.client.say(channel, 1, [1])
        try again.client.say(channel, 2, [2])
        #expect(
            try again.client.frames() == [DataFrame(kind: .acknowledged, channel: channel, message: 1)])
        #expect(try application.client.frames().isEmpty)
        try application.client.say(.acknowledged, channel, 2)
        #expect(
            try again.client.frames() == [DataFrame(kind: .acknowledged, channel: channel, message: 2)])
        try again.client.say(.acknowledged, channel, 1)
        try again.client.say(.acknowledged, channel, 2)
        #expect(try application.client.frames().map(\.message) == [1, 2])
        try again.client.say(channel, 1)
        try again.client.say(channel, 3)
        #expect(try application.client.frames().map(\.message) == [3])
    }

    @Test func `after a crash the channel goes on with the next process`() throws {
        let (application, session, channel) = try opened()
        try ada.client.say(channel, 1, [1])
        try application.client.say(channel, 1, [11])
        _ = try ada.client.frames()
        application.client.vanish()
        try ada.client.say(channel, 2, [2])
        try host.report(.exited(application.instance, ApplicationExit(.signal(11))))
        #expect(try ada.client.reasons() == ["applicationRestarted"])
        let next = try TestApplication.running(receiver)
        #expect(next.instance == application.instance)
        guard case .sessionOpened(session, channel, _, _, true) = try next.takeNotices().first else {
            Issue.record("not opened again")
            return
        }
        // What the first one had not taken reaches the second; what the first had sent is answered to nobody.
        #expect(try next.client.frames().map(\.payload) == [[2]])
        try ada.client.say(.acknowledged, channel, 1)
        #expect(try next.client.frames().isEmpty)
        // It counts from 1, and the sender sees numbers that rise.
        try next.client.say(channel, 1, [12])
        #expect(try ada.client.frames().map(\.message) == [2])
        try ada.client.say(.acknowledged, channel, 2)
        #expect(try next.client.frames() == [DataFrame(kind: .acknowledged, channel: channel, message: 1)])
        try next.client.say(channel, .max)
        #expect(try next.client.reasons() == ["outOfOrder"])
        #expect(receiver.shell.state.applications.instances[next.instance]?.restarts == 1)
    }

    @Test func `with the session its channel ends on both sides`() throws {
        let (application, session, channel) = try opened("org.example.party")
        try ada.client.say(channel, 1)
        try application.client.say(channel, 1)
        _ = try (ada.client.frames(), application.client.frames())
        try ada.ask(.stop(session: session))
        #expect(try ada.client.reasons() == ["channelUnknown"])
        #expect(try application.client.reasons() == ["channelUnknown"])
        #expect(
            try application.takeNotices().last
                == .sessionClosed(session: session, channel: channel, reason: "stopped"))
        try ada.client.say(channel, 2)
        #expect(try ada.client.reasons() == ["channelUnknown"])
    }

    @Test func `a session that stays without its sender takes no messages for it`() throws {
        let (application, _, channel) = try opened("org.example.party")
        try application.client.say(channel, 1)
        ada.client.vanish()
        try application.client.say(channel, 2)
        receiver.clock.advance(by: .seconds(31))
        #expect(try application.client.reasons() == ["noSender", "noSender"])
        try application.client.say(channel, 3)
        #expect(try application.client.reasons() == ["noSender"])
    }
}
