// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

struct SessionTests {
    @Test func `a start is answered with the state that holds the session, and not pushed again`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        #expect(sender.member("player", "session")?.textValue == session)
        #expect(sender.member("sessions", session, "phase") == "loading")
        #expect(sender.changes.isEmpty)
        receiver.settle()
        try sender.read()
        #expect(sender.member("sessions", session, "phase") == "active")
        #expect(sender.member("sessions", session, "isReady") == true)
        #expect(sender.changes.last?.origin == .content)
    }

    @Test func `what was asked reaches the renderer`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let start = SessionStart(
            url: "https://media.example/a", headers: [HeaderField(name: "X-A", value: "b")],
            userAgent: "Test", allowsInvalidCertificate: true,
            startPosition: MediaTime(value: 3, timescale: 2), isPlaying: false)
        try sender.ask(.start(start))
        let expected = MediaItem(
            uri: "https://media.example/a", headers: [HeaderField(name: "X-A", value: "b")],
            userAgent: "Test", allowsInvalidCertificate: true,
            startPosition: MediaTime(value: 3, timescale: 2))
        let load = try #require(receiver.renderer.currentLoad)
        #expect(receiver.renderer.commands.contains(.load(load, expected, playing: false)))
        receiver.settle()
        receiver.renderer.forgetCommands()
        try sender.ask(.setPlaying(session: nil, true))
        try sender.ask(.setMuted(session: nil, true))
        #expect(
            receiver.renderer.commands == [
                .setPlaying(load, true), .setMediaVolume(load, Volume(level: 1, isMuted: true)),
            ])
    }

    @Test func `a second sender takes over and the loser is told who did`() throws {
        let receiver = try TestReceiver.running()
        let ada = TestSender(receiver)
        try ada.activate("Ada", id: "a")
        let first = try ada.start()
        receiver.settle()
        let bob = TestSender(receiver)
        try bob.activate("Bob", id: "b")
        let second = try bob.start("http://media.example/b.flac")
        receiver.settle()
        try ada.read()
        #expect(ada.ended == [.sessionEnded(session: first, reason: "preempted", by: "Bob", error: nil)])
        #expect(ada.member("player", "session")?.textValue == second)
        #expect(ada.member("sessions", first) == nil)
        #expect(ada.changes.contains { $0.origin == .sender(route: bob.route, name: "Bob") })
        // The policy is open: the loser may still control what plays.
        #expect(try ada.ask(.setPlaying(session: second, false))["outcome"] == "accepted")
        try bob.read()
        #expect(bob.member("sessions", second, "isPlaying") == false)
        #expect(bob.changes.last?.origin == .sender(route: ada.route, name: "Ada"))
    }

    @Test func `where takeover is refused the second sender is told`() throws {
        let receiver = try TestReceiver.running(
            configuration: .init(name: "Test", software: "t", refusesTakeover: true))
        let ada = TestSender(receiver)
        try ada.activate("Ada", id: "a")
        _ = try ada.start()
        let bob = TestSender(receiver)
        try bob.activate("Bob", id: "b")
        #expect(try bob.refusal(.start(SessionStart(url: "http://media.example/b"))) == .sessionBusy)
    }

    @Test func `a failed load ends the session with its reason`() throws {
        let receiver = try TestReceiver.running()
        receiver.renderer.script = { command in
            guard case .load(let load, _, _) = command else { return [] }
            return [.failed(load, MediaFailure(.httpStatus, "The server said no.", httpStatus: 403))]
        }
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        try sender.read()
        let failure = MediaFailure(.httpStatus, "", httpStatus: 403)
        #expect(sender.ended == [.sessionEnded(session: session, reason: "failed", by: nil, error: failure)])
    }

    @Test func `a load that is not answered ends after the load timeout`() throws {
        let receiver = try TestReceiver.running(
            configuration: .init(name: "Test", software: "t", loadTimeout: .seconds(10)))
        receiver.renderer.script = { _ in [] }
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.clock.advance(by: .seconds(9))
        try sender.read()
        #expect(sender.ended.isEmpty)
        receiver.clock.advance(by: .seconds(1))
        try sender.read()
        guard case .sessionEnded(session, "failed", _, let error, _) = sender.ended.first else {
            Issue.record("not ended: \(sender.ended)")
            return
        }
        #expect(error?.code == .timeout)
    }

    @Test func `a stop that is not answered restarts the renderer`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        _ = try sender.start()
        receiver.settle()
        receiver.renderer.script = { _ in [] }
        #expect(try sender.ask(.stop(session: nil))["outcome"] == "accepted")
        #expect(receiver.renderer.restarts.isEmpty)
        receiver.clock.advance(by: .seconds(2))
        #expect(receiver.renderer.restarts.count == 1)
        // An answered one does not.
        receiver.settle()
        receiver.renderer.script = FakeRenderer.playing(MediaTime(value: 60, timescale: 1))
        _ = try sender.start()
        receiver.settle()
        try sender.ask(.stop(session: nil))
        receiver.settle()
        #expect(receiver.clock.armed == 0)
        receiver.clock.advance(by: .seconds(60))
        #expect(receiver.renderer.restarts.count == 1)
    }

    @Test func `an out-of-range request is clamped and says to what`() throws {
        let receiver = try TestReceiver.running(
            configuration: .init(
                name: "Test", software: "t", volumeCap: 0.5, initialVolume: Volume(level: 0.25)))
        let sender = TestSender(receiver)
        try sender.activate()
        _ = try sender.start()
        receiver.settle()
        #expect(try sender.ask(.setSpeed(session: nil, 9)) == ["outcome": "clamped", "value": 4])
        #expect(
            try sender.ask(.setDeviceVolume(1)) == ["outcome": "clamped", "value": 0.5])
        #expect(try sender.ask(.setDeviceMuted(nil)) == ["outcome": "accepted", "value": true])
        let late = MediaTime(value: 999, timescale: 1)
        let result = try sender.ask(.seek(session: nil, position: late, tolerance: .zero))
        #expect(result["outcome"] == "clamped")
        #expect(result["value"]?["value"]?.integerValue != nil)
    }

    @Test func `reports of an even run are passed on once a second, changes at once`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        _ = try sender.start()
        receiver.settle()
        let load = try #require(receiver.renderer.currentLoad)
        let start: Int64 = 5_000_000_000
        func report(milliseconds: Int64, drift: Int64 = 0, rate: Double = 1) {
            receiver.renderer.report(
                .positionChanged(
                    load,
                    PlaybackPosition(
                        position: MediaTime(nanoseconds: (milliseconds + drift) * 1_000_000),
                        clockTime: start + milliseconds * 1_000_000, rate: rate)))
        }
        report(milliseconds: 0)
        try sender.read()
        sender.changes = []
        for tenth in 1...20 { report(milliseconds: Int64(tenth) * 100) }
        try sender.read()
        #expect(sender.changes.count == 2)
        report(milliseconds: 2_010, drift: 500)
        report(milliseconds: 2_020, rate: 0)
        try sender.read()
        #expect(sender.changes.count == 4)
    }

    @Test func `a mixer that is moved by hand is a change of local origin and is kept`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        receiver.renderer.report(.outputVolumeChanged(Volume(level: 0.125)))
        try sender.read()
        #expect(sender.changes.last?.origin == .local)
        #expect(sender.member("device", "volume") == 0.125)
        receiver.clock.advance(by: .seconds(1))
        #expect(receiver.store.saved?.volume == Volume(level: 0.125))
    }

    @Test func `a renderer that dies is counted and the output is seen again`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        receiver.renderer.output = OutputStatus(state: .null, device: "null")
        receiver.renderer.report(.exited(reason: "signal 11"))
        receiver.renderer.report(.started(receiver.renderer.output))
        try sender.read()
        #expect(sender.member("device", "output", "state") == "null")
        let page = try #require(receiver.listener.page(at: "/metrics"))
        #expect(String(decoding: page.body, as: UTF8.self).contains("linnet_renderer_restarts_total 1\n"))
    }
}
