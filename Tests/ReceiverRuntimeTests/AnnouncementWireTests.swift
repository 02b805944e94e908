// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

@Suite("Announcements on the wire") struct AnnouncementWireTests {
    private let receiver: TestReceiver
    private let sender: TestSender

    init() throws {
        receiver = try TestReceiver.running()
        sender = TestSender(receiver)
        try sender.activate()
    }

    private func announce(_ request: AnnouncementRequest) throws -> String {
        try #require(try sender.ask(.announce(request))["value"]?.textValue)
    }

    private var told: [(LoadID, Announcement)] {
        receiver.renderer.commands.compactMap {
            if case .announce(let load, let announcement) = $0 { (load, announcement) } else { nil }
        }
    }

    private var phases: [String] {
        sender.member("announcements", "queue")?.arrayValue?.compactMap { $0["phase"]?.textValue } ?? []
    }

    private func report(_ event: RendererEvent) throws {
        receiver.renderer.report(event)
        receiver.settle()
        try sender.read()
    }

    @Test func `one is answered with its name, shown while it lasts, and its end is told`() throws {
        #expect(sender.member("announcements") == nil)
        let id = try announce(
            AnnouncementRequest(
                url: "http://door.example/bell.wav?key=secret", volume: 0.5, ducking: 12))
        let (load, announcement) = try #require(told.first)
        #expect(announcement.volume.level == 0.5 && announcement.ducking == 12)
        receiver.settle()
        try sender.read()
        #expect(phases == ["loading"])
        try report(.announcementBegan(load))
        #expect(phases == ["playing"])
        #expect(!JSONText.encode(sender.state).contains("secret"))
        try report(.announcementEnded(load))
        #expect(phases == [])
        #expect(sender.member("announcements", "last", "reason") == "finished")
        #expect(
            sender.ended.last
                == .announcementEnded(announcement: id, reason: "finished", by: nil, error: nil))
    }

    @Test func `a failure comes to its sender with its reason`() throws {
        let id = try announce(AnnouncementRequest(url: "http://door.example/bell.wav"))
        #expect(told.first?.1.ducking == Announcement.usualDucking)
        let failure = MediaFailure(.notFound, "There is nothing there.")
        try report(.announcementFailed(try #require(told.first?.0), failure))
        #expect(
            sender.ended.last
                == .announcementEnded(announcement: id, reason: "failed", by: nil, error: failure))
        #expect(sender.member("announcements", "last", "error", "code") == "notFound")
    }

    @Test func `one that is not heard within ten seconds has failed`() throws {
        _ = try announce(AnnouncementRequest(url: "http://door.example/bell.wav"))
        let load = try #require(told.first?.0)
        receiver.clock.advance(by: .milliseconds(9_900))
        receiver.settle()
        try sender.read()
        #expect(phases == ["loading"])
        receiver.clock.advance(by: .milliseconds(200))
        receiver.settle()
        try sender.read()
        #expect(phases == [])
        #expect(receiver.renderer.commands.contains(.cancelAnnouncement(load)))
        #expect(sender.member("announcements", "last", "error", "code") == "timeout")
    }

    @Test func `one is cut off after five minutes`() throws {
        _ = try announce(AnnouncementRequest(url: "http://door.example/speech.mp3"))
        try report(.announcementBegan(try #require(told.first?.0)))
        receiver.clock.advance(by: .seconds(299))
        receiver.settle()
        try sender.read()
        #expect(phases == ["playing"])
        receiver.clock.advance(by: .seconds(2))
        receiver.settle()
        try sender.read()
        #expect(phases == [])
    }

    @Test func `the ninth is refused`() throws {
        for _ in 0..<Announcements.limit {
            _ = try announce(AnnouncementRequest(url: "http://door.example/bell.wav"))
        }
        let ninth = RouteRequest.announce(AnnouncementRequest(url: "http://door.example/bell.wav"))
        #expect(try sender.refusal(ninth) == .limitReached)
        try sender.ask(.cancelAnnouncement(nil))
        receiver.settle()
        try sender.read()
        #expect(phases == [] && sender.ended.count == Announcements.limit)
    }
}
