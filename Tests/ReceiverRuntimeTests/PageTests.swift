// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import Testing

struct PageTests {
    private func text(_ receiver: TestReceiver, _ path: String) throws -> String {
        String(decoding: try #require(receiver.listener.page(at: path)).body, as: UTF8.self)
    }

    /// A receiver that plays, and the load it plays.
    private func playing() throws -> (TestReceiver, TestSender, session: String, LoadID) {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        try sender.read()
        return (receiver, sender, session, try #require(receiver.renderer.currentLoad))
    }

    private func pictures(_ sender: TestSender, _ session: String) throws -> [JSONValue] {
        try sender.read()
        return sender.member("sessions", session, "metadata", "artwork")?.arrayValue ?? []
    }

    @Test func `the receiver describes itself`() throws {
        let receiver = try TestReceiver.running()
        let page = try #require(receiver.listener.page(at: "/v1/receiver"))
        #expect(page.type == "application/json")
        let json = try JSONText.decode(try text(receiver, "/v1/receiver"), limit: 1 << 20)
        let facts = try ReceiverDescription(json: json)
        #expect(facts.id == receiver.shell.status?.identifier)
        #expect(facts.name == "Test")
        #expect(facts.httpPort == 7380)
        #expect(facts.clock?.id == receiver.clock.identifier)
    }

    @Test func `health is one word and unknown paths are not there`() throws {
        let receiver = try TestReceiver.running()
        #expect(try text(receiver, "/healthz") == "ok\n")
        for path in ["/", "", "/v1/artwork/", "/v1/artwork/none", "/v1/artwork/../healthz", "/metrics/"] {
            #expect(receiver.listener.page(at: path) == nil)
        }
    }

    @Test func `metrics are OpenMetrics and count what happened`() throws {
        let (receiver, sender, _, _) = try playing()
        _ = try sender.refusal(.seek(session: "nobody", position: .zero, tolerance: .zero))
        _ = try sender.refusal(.setSpeed(session: nil, 99))
        sender.client.say("nonsense")
        let page = try #require(receiver.listener.page(at: "/metrics"))
        #expect(page.type == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        let body = try text(receiver, "/metrics")
        #expect(body.hasSuffix("\n# EOF\n"))
        for line in [
            "linnet_connections 1", "linnet_routes 1", "linnet_sessions 1",
            #"linnet_requests_total{method="session.start",outcome="accepted"} 1"#,
            #"linnet_requests_total{method="playback.seek",outcome="sessionUnknown"} 1"#,
            #"linnet_requests_total{method="playback.setSpeed",outcome="clamped"} 1"#,
            #"linnet_requests_total{method="invalid",outcome="parseError"} 1"#,
            #"linnet_output_state{linnet_output_state="closed"} 1"#,
            #"linnet_output_state{linnet_output_state="lost"} 0"#, "linnet_states_skipped_total 0",
        ] {
            #expect(body.contains(line + "\n"), "\(line)")
        }
        // Every sample belongs to the family announced before it.
        var family = ""
        for line in body.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") { family = String(line.split(separator: " ")[2]) }
            #expect(line.hasPrefix("#") || line.hasPrefix(family), "\(line)")
        }
    }

    @Test func `a picture of the media is named by the state and served`() throws {
        let (receiver, sender, session, load) = try playing()
        let picture = Artwork(
            bytes: [0xff, 0xd8, 1], type: "image/jpeg", size: PixelSize(width: 3, height: 2))
        receiver.renderer.report(.artworkFound(load, picture))
        let shown = try #require(try pictures(sender, session).first)
        #expect(shown["type"] == "image/jpeg")
        #expect(shown["width"] == 3)
        let path = try #require(shown["url"]?.textValue)
        let page = try #require(receiver.listener.page(at: path))
        #expect(page.body == picture.bytes)
        #expect(page.type == "image/jpeg")
        #expect(page.headers["ETag"] != nil)
        #expect(page.headers["X-Content-Type-Options"] == "nosniff")
        try sender.ask(.stop(session: nil))
        #expect(receiver.listener.page(at: path) == nil)
    }

    @Test func `a picture that could hold a script is not served as a picture`() throws {
        let (receiver, sender, session, load) = try playing()
        receiver.renderer.report(
            .artworkFound(load, Artwork(bytes: Array("<script>".utf8), type: "image/svg+xml", size: nil)))
        let path = try #require(try pictures(sender, session).first?["url"]?.textValue)
        #expect(receiver.listener.page(at: path)?.type == "application/octet-stream")
    }

    @Test func `pictures are held within fixed bounds, and the state names only those that are there`() throws
    {
        let (receiver, sender, session, load) = try playing()
        for byte in 1...20 {
            let bytes = [UInt8](repeating: UInt8(byte), count: Artwork.maximumBytes)
            receiver.renderer.report(.artworkFound(load, Artwork(bytes: bytes, type: "image/png", size: nil)))
        }
        receiver.renderer.report(
            .artworkFound(
                load,
                Artwork(
                    bytes: [UInt8](repeating: 0, count: Artwork.maximumBytes + 1), type: "image/png",
                    size: nil)))
        let shown = try pictures(sender, session)
        #expect(shown.count <= 4)
        for picture in shown {
            #expect(receiver.listener.page(at: try #require(picture["url"]?.textValue)) != nil)
        }
        let held = try text(receiver, "/metrics").split(separator: "\n")
            .first { $0.hasPrefix("linnet_artwork_bytes ") }?.split(separator: " ").last
        #expect(try #require(held.flatMap { Int($0) }) <= 16 * 1024 * 1024)
    }
}
