// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

struct ApplicationTests {
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

    /// What the end of a session said of its application.
    private func failure(_ session: String) throws -> ApplicationFailure? {
        try ada.read()
        for case .sessionEnded(session, "failed", _, _, let failure) in ada.ended { return failure }
        return nil
    }

    @Test func `a session is launched, greeted and stopped, and senders see it`() throws {
        #expect(
            ada.member("applications", "org.example.party", "icon")
                == "/v1/applications/org.example.party/icon")
        let session = try ada.open("", url: "echo:hi")
        #expect(ada.member("sessions", session, "mode") == "application")
        #expect(ada.member("sessions", session, "phase") == "launching")
        let application = try TestApplication(receiver)
        let greeting = try HelloResult(json: application.ask(.application(.hello())))
        #expect(greeting.application == "org.example.echo" && greeting.instance == application.instance.text)
        #expect(greeting.permissions == [] && greeting.limits == ApplicationManifest.Limits())
        try ada.read()
        #expect(ada.member("sessions", session, "phase") == "active")
        #expect(ada.member("instances", application.instance.text, "phase") == "running")
        #expect(try StateDocument(json: ada.state).applicationSessions.count == 1)
        try ada.ask(.stop(session: session))
        #expect(
            try application.takeNotices().suffix(2).map(\.method) == ["session.closed", "application.ending"])
        #expect(ada.ended == [.sessionEnded(session: session, reason: "stopped", by: nil, error: nil)])
        receiver.clock.advance(by: .seconds(3))
        #expect(try host.commands.last == .terminate(application.instance))
        receiver.settle()
        try ada.read()
        #expect(ada.member("instances", application.instance.text) == nil)
        #expect(try snapshot(receiver) == ada.state)
    }

    @Test func `one that says no hello fails with its last line`() throws {
        let session = try ada.open("org.example.echo")
        _ = try TestApplication(receiver)
        receiver.clock.advance(by: .seconds(10))
        receiver.settle()
        let failure = try failure(session)
        #expect(failure?.code == .launchTimeout && failure?.log == ["the last line"])
    }

    @Test func `an unknown application, and a receiver without applications, refuse`() throws {
        #expect(
            try ada.refusal(
                .start(SessionStart(url: "a:b", mode: .application, application: "org.example.no")))
                == .applicationUnknown)
        let plain = try TestReceiver.running()
        let bob = TestSender(plain)
        try bob.activate()
        #expect(
            try bob.refusal(
                .start(SessionStart(url: "a:b", mode: .application, application: "org.example.no")))
                == .modeUnsupported)
    }

    @Test func `an application plays for its senders, who control it by their own sessions`() throws {
        let session = try ada.open("org.example.party")
        let application = try TestApplication.running(receiver)
        let start = SessionStart(url: "http://media.example/a.flac", title: "One")
        let media = try #require(try application.ask(.start(start))["session"]?.textValue)
        receiver.settle()
        try ada.read()
        #expect(ada.member("player", "session")?.textValue == media)
        #expect(ada.member("sessions", session, "media")?.textValue == media)
        #expect(ada.member("sessions", media, "application")?.textValue == application.instance.text)
        try ada.ask(.setPlaying(session: session, false))
        #expect(try application.ask(.getState)["state"]?["sessions"]?[media]?["isPlaying"] == false)
        ada.changes = []
        let words = MetadataChange(
            words: .init(title: "Two"), segments: [Segment(range: .empty, kind: .advertisement)])
        try application.ask(.setMetadata(session: nil, words))
        try ada.read()
        #expect(ada.member("sessions", media, "metadata", "title") == "Two")
        let origin = WireOrigin.application(
            instance: application.instance.text, name: "The org.example.party")
        #expect(ada.changes.map(\.origin) == [origin])
        // Another's session ends it, and the application is told.
        let bob = TestSender(receiver)
        try bob.activate("Bob", id: "sender-2")
        _ = try bob.start()
        try application.read()
        #expect(
            application.ended == [.sessionEnded(session: media, reason: "preempted", by: "Bob", error: nil)])
        #expect(try application.refusal(.setPlaying(session: nil, true)) == .noSession)
    }

    @Test func `what is not permitted is refused`() throws {
        _ = try ada.open("org.example.echo")
        let application = try TestApplication(receiver)
        #expect(try application.refusal(.setDeviceVolume(1)) == .notPermitted)
        try application.ask(.application(.hello()))
        for request in [
            .start(SessionStart(url: "http://a/b")), .setPlaying(session: nil, true), .setDeviceMuted(nil),
            .stop(session: nil), .start(SessionStart(url: "echo:x", mode: .application, application: "")),
            .queue(session: nil, .clear),
        ] as [RouteRequest] {
            #expect(try application.refusal(request) == .notPermitted, "\(request.method)")
        }
        #expect(try application.refusal(.deactivate) == .routeRequired)
        for request in [.subscribe, .getState, .ping, .unsubscribe] as [RouteRequest] {
            try application.ask(request)
        }
        #expect(try ada.refusal(.application(.hello())) == .notPermitted)
    }

    @Test(arguments: [[], [1, 1], [UInt8](repeating: 0, count: 16)] as [[UInt8]])
    func `an application that speaks something else is ended, and its session fails`(_ bytes: [UInt8]) throws
    {
        let session = try ada.open("org.example.echo")
        let application = try TestApplication.running(receiver)
        application.client.say(binary: bytes)
        #expect(application.client.closing != nil)
        receiver.settle()
        #expect(try failure(session)?.code == .protocolViolation)
        #expect(receiver.shell.state.applications.instances.isEmpty)
    }

    @Test func `nonsense in text ends an application too, and so does not reading`() throws {
        let session = try ada.open("org.example.echo")
        let application = try TestApplication.running(receiver)
        for _ in 0..<8 { application.client.say("nonsense") }
        receiver.settle()
        #expect(try failure(session)?.code == .protocolViolation)
        let second = try ada.open("org.example.echo")
        let deaf = try TestApplication.running(receiver)
        deaf.client.stopReading()
        for number in 1...2_000 as ClosedRange<Int64> where deaf.client.closing == nil {
            deaf.client.say(RouteRequest.getState.text(id: number))
        }
        #expect(deaf.client.closing?.code == 1008)
        receiver.settle()
        #expect(try failure(second)?.code == .limitExceeded)
    }

    @Test func `an application ends a session with its own words`() throws {
        let session = try ada.open("org.example.echo")
        let application = try TestApplication.running(receiver)
        try application.ask(.application(.endSession(session: session, failure: "Not today.")))
        #expect(try failure(session) == ApplicationFailure(.refused, "Not today."))
    }

    @Test func `the route's own channel reaches an application that asks for it`() throws {
        try ada.client.say(0, 5, [1], endpoint: "org.example.party")
        try ada.client.say(0, 6, [2], endpoint: "org.example.echo")
        #expect(try ada.client.reasons() == ["endpointUnknown"])
        let application = try TestApplication.running(receiver)
        guard case .routeOpened(let channel, ada.route, _) = try application.takeNotices().first else {
            Issue.record("no channel")
            return
        }
        #expect(
            try application.client.frames()
                == [DataFrame(kind: .message, channel: channel, message: 1, payload: [1])])
        try application.client.say(.acknowledged, channel, 1)
        #expect(try ada.client.frames() == [DataFrame(kind: .acknowledged, message: 5)])
        try application.client.say(channel, 1, [7])
        #expect(
            try ada.client.frames()
                == [DataFrame(kind: .message, message: 1, endpoint: "org.example.party", payload: [7])])
        try ada.client.say(.refused, 0, 1, DataFrame.refusal("no", ""))
        #expect(try application.client.reasons() == ["no"])
        ada.client.vanish()
        #expect(try application.takeNotices() == [.routeClosed(channel: channel)])
        receiver.clock.advance(by: .seconds(10))
        #expect(try application.takeNotices().map(\.method) == ["application.ending"])
    }

    @Test func `the receiver says that it has applications, counts them and serves their icons`() throws {
        #expect(receiver.advertiser.advertised.last?.text.contains("cf=url,app") == true)
        let page = try #require(receiver.listener.page(at: "/v1/receiver"))
        let facts = try JSONText.decode(String(decoding: page.body, as: UTF8.self), limit: 1 << 16)
        #expect(try ReceiverDescription(json: facts).capabilities == ["url", "app"])
        try host.files["icon.png"] = Page(type: "image/png", body: [1])
        #expect(receiver.listener.page(at: "/v1/applications/org.example.party/icon")?.body == [1])
        for path in ["org.example.party/icon.png", "org.example.echo/icon", "org.example.no/icon", "/", ""] {
            #expect(receiver.listener.page(at: "/v1/applications/\(path)") == nil)
        }
        let session = try ada.open("org.example.echo")
        let application = try TestApplication.running(receiver)
        try ada.read()
        try ada.client.say(try ada.channel(session), 1)
        _ = application
        let metrics = try #require(receiver.listener.page(at: "/metrics"))
        let text = String(decoding: metrics.body, as: UTF8.self)
        for line in [
            "linnet_application_instances 1\n", "linnet_application_sessions 1\n",
            "linnet_application_launches_total 1\n", "linnet_relayed_messages_total{to=\"application\"} 1\n",
            "linnet_connections 1\n",
        ] { #expect(text.contains(line), "\(line)") }
    }

    @Test func `a page is opened with a token that is good once`() throws {
        let page = try ApplicationManifest.made("org.example.page") { $0.content = .page(path: "index.html") }
        let receiver = try TestReceiver.running(applications: [page])
        let host = try #require(receiver.applications)
        host.files["index.html"] = Page(type: "text/html", body: [2])
        let ada = TestSender(receiver)
        try ada.activate()
        _ = try ada.open("org.example.page")
        let instance = try #require(host.newest)
        let address = try #require(host.address)
        let root = "http://127.0.0.1:7380/v1/applications/\(instance.text)/"
        #expect(address.hasPrefix("\(root)index.html?token="))
        #expect(receiver.listener.page(at: "/v1/applications/\(instance.text)/index.html")?.body == [2])
        host.files["a b/c.js"] = Page(type: "text/javascript", body: [3])
        host.files["../secret"] = Page(type: "text/plain", body: [4])
        host.files[".hidden"] = Page(type: "text/plain", body: [5])
        #expect(receiver.listener.page(at: "/v1/applications/\(instance.text)/a%20b/c.js")?.body == [3])
        for path in [
            "", "../secret", "%2e%2e/secret", "%2E%2e%2fsecret", ".hidden", "a%00b", "%zz", "a//b", "a%5cb",
            "%",
        ] {
            #expect(receiver.listener.page(at: "/v1/applications/\(instance.text)/\(path)") == nil, "\(path)")
        }
        // Nothing that the page may reach is the socket of senders.
        let policy = try #require(
            receiver.listener.page(at: "/v1/applications/\(instance.text)/index.html")?
                .headers["Content-Security-Policy"])
        let reachable = policy.split(separator: ";").first { $0.hasPrefix(" connect-src ") }
        #expect(
            reachable
                == " connect-src http://127.0.0.1:7380/v1/applications/ ws://127.0.0.1:7380/v1/application")
        // The policy names the helper by the path at which it is served.
        #expect(policy.contains("http://127.0.0.1:7380/v1/linnet.js "))
        #expect(receiver.listener.page(at: "/v1/linnet.js") == nil)
        host.script = Page(type: "text/javascript", body: [6])
        #expect(receiver.listener.page(at: "/v1/linnet.js")?.body == [6])
        #expect(receiver.listener.connect(token: "guessed").closing?.code == 1008)
        let token = String(address.split(separator: "=").last ?? "")
        let client = receiver.listener.connect(token: token)
        client.say(RouteRequest.application(.hello()).text(id: 1))
        #expect(receiver.shell.state.applications.instances[instance]?.phase == .running)
        #expect(receiver.listener.connect(token: token).closing?.code == 1008)
        client.vanish()
        host.report(.exited(instance, ApplicationExit(.status(0))))
        #expect(receiver.listener.page(at: "/v1/applications/\(instance.text)/index.html") == nil)
    }

    @Test func `at shutdown the sessions end and the host ends the rest`() throws {
        let session = try ada.open("org.example.echo")
        let application = try TestApplication.running(receiver)
        var isOver = false
        receiver.shell.shutDown { isOver = true }
        #expect(try host.commands.last == .shutDown)
        #expect(
            try application.takeNotices().last
                == .sessionClosed(session: session, channel: 1, reason: "shutdown"))
        receiver.settle()
        #expect(isOver)
        try ada.read()
        #expect(
            ada.ended.contains(.sessionEnded(session: session, reason: "shutdown", by: nil, error: nil)))
    }
}
