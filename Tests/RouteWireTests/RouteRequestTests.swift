// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import RouteWire

struct RouteRequestTests {
    private static let item = QueueItemRequest(
        url: "http://a/2", headers: [HeaderField(name: "X-A", value: "b")], userAgent: "u",
        allowsInvalidCertificate: true, startPosition: MediaTime(value: 3, timescale: 2), title: "t",
        subtitle: "s", segments: [Segment(range: .empty)], identifier: "i")
    static let requests: [RouteRequest] =
        [
            .activate(
                Activation(
                    sender: SenderInfo(identifier: "id", name: "Phone"), capabilities: ["urlPlayback"],
                    resume: "t")),
            .deactivate, .subscribe, .unsubscribe, .getState, .ping,
            .start(
                SessionStart(
                    url: "http://a/b", headers: [HeaderField(name: "X-A", value: "b\tc")], userAgent: "u",
                    allowsInvalidCertificate: true, startPosition: MediaTime(value: 3, timescale: 2),
                    isPlaying: false, title: "t", subtitle: "s",
                    segments: [
                        Segment(
                            range: TimeRange(start: .zero, duration: MediaTime(value: 9, timescale: 1)),
                            kind: .advertisement, isMarked: true, requiresLinearPlayback: true,
                            identifier: "ad")
                    ], identifier: "i", items: [Self.item, QueueItemRequest(url: "http://a/c")], repeats: .all
                )),
            .queue(session: "s", .insert([Self.item], .after("7"))),
            .queue(session: nil, .insert([QueueItemRequest(url: "http://a/c")], .end)),
            .queue(session: nil, .remove(["1", "2"])), .queue(session: nil, .move("1", .start)),
            .queue(session: nil, .jump("3")), .queue(session: nil, .next(from: nil)),
            .queue(session: "s", .next(from: "1")), .queue(session: nil, .previous(from: "2")),
            .queue(session: nil, .setRepeat(.one)), .queue(session: "s", .clear),
            .announce(
                AnnouncementRequest(
                    url: "http://a/bell", headers: [HeaderField(name: "A", value: "b")], userAgent: "door",
                    volume: 0.5,
                    ducking: 6)),
            .announce(AnnouncementRequest(url: "http://a/bell")), .cancelAnnouncement("a"),
            .cancelAnnouncement(nil),
            .stop(session: nil), .stop(session: "s"), .setPlaying(session: nil, true),
            .seek(
                session: "s", position: MediaTime(value: .max, timescale: .max), tolerance: .positiveInfinity),
            .setSpeed(session: nil, 1.5), .setState(session: nil, .scanning, scanSpeed: -4),
            .setState(session: "s", .normal, scanSpeed: nil),
            .selectTrack(session: nil, .legible, option: nil),
            .selectTrack(session: nil, .audio, option: "a"), .setVolume(session: nil, 0.25),
            .setMuted(session: nil, true), .setMetadata(session: "s", MetadataChange()),
            .setMetadata(
                session: nil,
                MetadataChange(words: .init(title: "t"), segments: [Segment(range: .empty, kind: .intro)])),
            .setMetadata(session: nil, MetadataChange(words: .init(), segments: [])), .setDeviceVolume(1),
            .changeDeviceVolume(steps: -3),
            .setDeviceMuted(nil), .setDeviceMuted(false), .rename("Küche 🎵"), .setOutputTrim(-20_000_000),
        ] + GroupFixtures.requests + accessory.map { .accessory($0) }

    private static let accessory: [WireAccessoryRequest] = [
        .register(["audioSwitching", "placement"]), .register([]), .current("r"),
        .update("r", .init(capabilities: ["placement"], placement: "inEar", primary: address)),
        .update("r", .init()), .take(address), .yield(address), .yield(nil), .prefer(address, .manual),
        .forget(address), .pair(seconds: 0), .pair(seconds: 600), .confirm(address, false),
        .disconnect(address),
    ]
    private static let address = "A0:B1:C2:D3:E4:F5"

    @Test(arguments: requests)
    func `a request written is the request read`(_ request: RouteRequest) throws {
        let incoming = IncomingText.decode(request.text(id: 7))
        #expect(incoming == .single(IncomingRequest(id: .number(7), request: .success(request))))
    }

    @Test func `every method of the list is written by some request`() {
        #expect(Set(Self.requests.map(\.method)) == Set(RouteRequest.methods))
    }

    private func fault(_ method: String, _ params: String) -> (path: String?, message: String)? {
        let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        guard case .single(let incoming) = IncomingText.decode(text),
            case .failure(let error) = incoming.request
        else { return nil }
        return (error.details["path"]?.textValue, error.message)
    }

    @Test(arguments: [
        ("playback.seek", #"{"position":{"value":1,"timescale":"x"}}"#, "params.position.timescale"),
        ("playback.seek", #"{"position":{"value":1,"timescale":0}}"#, "params.position.timescale"),
        ("playback.seek", #"{"position":{"value":1.5,"timescale":1}}"#, "params.position.value"),
        ("playback.seek", #"{"position":{"name":"later"}}"#, "params.position.name"),
        ("playback.seek", #"{}"#, "params.position"), ("playback.seek", #"[]"#, "params"),
        ("playback.setSpeed", #"{"speed":true}"#, "params.speed"),
        ("playback.setPlaying", #"{"playing":1}"#, "params.playing"),
        ("playback.setState", #"{"state":"flying"}"#, "params.state"),
        ("playback.selectTrack", #"{"kind":"smell"}"#, "params.kind"),
        ("session.start", #"{"url":5}"#, "params.url"), ("session.start", #"{"url":""}"#, "params.url"),
        (
            "session.start", #"{"url":"http://a","headers":[{"name":"A B","value":""}]}"#,
            "params.headers[0].name"
        ),
        (
            "session.start", #"{"url":"http://a","headers":[{"name":"A","value":"x\r\ny"}]}"#,
            "params.headers[0].value"
        ),
        ("session.start", #"{"url":"http://a","headers":[7]}"#, "params.headers[0]"),
        ("session.start", #"{"url":"http://a","userAgent":"x\ny"}"#, "params.userAgent"),
        (
            "session.start", #"{"url":"http://a","allowInvalidCertificate":"yes"}"#,
            "params.allowInvalidCertificate"
        ),
        (
            "session.start",
            #"{"url":"http://a","segments":[{"range":{"start":{"value":0,"timescale":1}}}]}"#,
            "params.segments[0].range.duration"
        ),
        ("device.changeVolume", #"{"steps":100000}"#, "params.steps"),
        ("device.setMuted", #"{"muted":"maybe"}"#, "params.muted"),
        ("device.rename", #"{"name":""}"#, "params.name"),
        ("route.activate", #"{"version":1,"sender":{"id":"x"}}"#, "params.sender.name"),
    ])
    func `a wrong member is named by its path`(_ method: String, _ params: String, _ path: String) throws {
        let fault = try #require(self.fault(method, params))
        #expect(fault.path == path)
        #expect(fault.message.hasPrefix("\(path): expected"))
    }

    @Test func `another version is refused with the versions that are spoken`() throws {
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"route.activate","params":{"version":2,"sender":{"id":"a","name":"b"}}}"#
        guard case .single(let incoming) = IncomingText.decode(text),
            case .failure(let error) = incoming.request
        else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .versionUnsupported)
        #expect(error.details["supported"] == [1])
    }

    @Test func `a request without id is a notification`() {
        let text = #"{"jsonrpc":"2.0","method":"clock.ping"}"#
        #expect(IncomingText.decode(text) == .single(IncomingRequest(id: nil, request: .success(.ping))))
    }

    @Test(arguments: [
        (#"7"#, RouteError.Code.invalidRequest), (#"{}"#, .invalidRequest), (#"[]"#, .invalidRequest),
        (#"{"jsonrpc":"1.0","id":1,"method":"clock.ping"}"#, .invalidRequest),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"clock.ping"}"#, .invalidRequest),
        (#"{"jsonrpc":"2.0","id":1,"method":7}"#, .invalidRequest),
        (#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#, .methodNotFound), (#"{"#, .parseError),
    ])
    func `what is no request is told apart`(_ text: String, _ code: RouteError.Code) {
        guard case .single(let incoming) = IncomingText.decode(text),
            case .failure(let error) = incoming.request
        else {
            Issue.record("taken")
            return
        }
        #expect(error.code == code)
    }

    @Test func `a batch of sixteen is taken and of seventeen is refused`() {
        let one = #"{"jsonrpc":"2.0","id":1,"method":"clock.ping"}"#
        func batch(_ count: Int) -> String {
            "[\(Array(repeating: one, count: count).joined(separator: ","))]"
        }
        guard case .batch(let requests) = IncomingText.decode(batch(16)) else {
            Issue.record("not a batch")
            return
        }
        #expect(requests.count == 16)
        guard case .single(let refused) = IncomingText.decode(batch(17)) else {
            Issue.record("taken")
            return
        }
        #expect(refused.request == .failure(RouteError(.invalidRequest, "a batch has at most 16 requests")))
    }

    @Test func `error numbers are distinct and lead back to their codes`() {
        for code in RouteError.Code.allCases { #expect(RouteError.Code(number: code.number) == code) }
        let error = RouteError(.linearPlayback, "no", details: ["segment": "ad"])
        #expect(RouteError(json: error.json) == error)
    }
}
