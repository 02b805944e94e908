// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SeededNumbers
import SessionCore
import Testing

struct RobustnessTests {
    /// What a frame is answered with, as JSON.
    private func answer(_ text: String) throws -> JSONValue {
        let receiver = try TestReceiver.running()
        let client = receiver.listener.connect()
        client.say(text)
        #expect(client.closing == nil)
        let frames = client.takeTexts()
        let frame = try #require(frames.first)
        #expect(frames.count == 1)
        return try JSONText.decode(frame, limit: 1 << 20)
    }

    @Test(arguments: [
        ("", "parseError"), ("{", "parseError"), ("nonsense", "parseError"), ("\u{0}", "parseError"),
        ("42", "invalidRequest"), ("[]", "invalidRequest"), ("null", "invalidRequest"),
        (#"{"jsonrpc":"1.0","id":1,"method":"state.get"}"#, "invalidRequest"),
        (#"{"jsonrpc":"2.0","id":1}"#, "invalidRequest"),
        (#"{"jsonrpc":"2.0","id":{},"method":"state.get"}"#, "invalidRequest"),
        (#"{"jsonrpc":"2.0","id":1,"method":"state.destroy"}"#, "methodNotFound"),
        (#"{"jsonrpc":"2.0","id":1,"method":"device.setVolume"}"#, "invalidParams"),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"device.setVolume","params":{"volume":"loud"}}"#,
            "invalidParams"
        ),
        (#"{"jsonrpc":"2.0","id":1,"method":"device.setVolume","params":[1]}"#, "invalidParams"),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"playback.seek","params":{"position":{"value":1,"timescale":0}}}"#,
            "invalidParams"
        ),
        (#"{"jsonrpc":"2.0","id":1,"method":"session.start","params":{"url":7}}"#, "invalidParams"),
    ])
    func `what is no request is answered with its error and disturbs nothing`(
        text: String, reason: String
    ) throws {
        let error = try answer(text)["error"]
        #expect(error?["data"]?["reason"]?.textValue == reason)
        #expect(error?["data"]?["family"] == "connection")
        #expect(error?["message"]?.textValue?.isEmpty == false)
    }

    @Test func `what is too deep or too long is answered with a parse error`() throws {
        let deep = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
        for text in [
            deep, #"{"a":"# + deep + "}", String(repeating: "[", count: 60_000),
            "\"" + String(repeating: "x", count: 70_000) + "\"",
        ] {
            #expect(try answer(text)["error"]?["data"]?["reason"] == "parseError")
        }
    }

    @Test func `eight messages in a row that are no requests are answered, and close the connection`() throws
    {
        let receiver = try TestReceiver.running()
        let client = receiver.listener.connect()
        let nonsense = ["{", "42", "[]", "[1,2]", "", #"{"id":1}"#, "nonsense"]
        for text in nonsense { client.say(text) }
        #expect(client.closing == nil)
        // A request that is refused is a request: the count begins again.
        client.say(#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#)
        for text in nonsense { client.say(text) }
        client.say(#"[3, {"jsonrpc":"2.0","id":1,"method":"state.get"}]"#)
        for text in nonsense { client.say(text) }
        #expect(client.closing == nil)
        client.say("{")
        #expect(client.closing?.code == 1008)
        #expect(client.closing?.reason == "8 messages in a row were no requests")
        #expect(client.takeTexts().count == 24)
    }

    @Test func `senders that come and go without a word leave no more timers than routes`() throws {
        let receiver = try TestReceiver.running()
        let armed = receiver.clock.armed
        for _ in 0..<200 {
            let sender = TestSender(receiver)
            try sender.activate()
            sender.client.vanish()
        }
        #expect(receiver.shell.state.routes.count == 32)
        #expect(receiver.clock.armed - armed <= 33)
        receiver.clock.advance(by: .seconds(31))
        #expect(receiver.shell.state.routes.isEmpty)
    }

    @Test func `the answers of a batch leave together and before the state they caused`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        sender.client.say(
            "["
                + [
                    #"{"jsonrpc":"2.0","id":"a","method":"device.setVolume","params":{"volume":0.1}}"#,
                    #"{"jsonrpc":"2.0","method":"device.setVolume","params":{"volume":0.2}}"#,
                    #"{"jsonrpc":"2.0","id":"b","method":"no.such"}"#, "7",
                ].joined(separator: ",") + "]")
        let frames = try sender.client.takeTexts().map { try JSONText.decode($0, limit: 1 << 20) }
        try #require(frames.count == 2)
        let answers = try #require(frames[0].arrayValue)
        #expect(answers.map { $0["id"] } == ["a", "b", .null])
        #expect(frames[1]["method"] == "state.changed")
        #expect(frames[1]["params"]?["patch"]?["device"]?["volume"] == 0.2)
    }

    @Test func `a batch of more than sixteen is refused whole`() throws {
        let request = #"{"jsonrpc":"2.0","id":1,"method":"clock.ping"}"#
        func batch(_ count: Int) -> String {
            "[" + Array(repeating: request, count: count).joined(separator: ",") + "]"
        }
        #expect(try answer(batch(16)).arrayValue?.count == 16)
        #expect(try answer(batch(17))["error"]?["data"]?["reason"] == "invalidRequest")
    }

    @Test func `notifications are carried out and not answered`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        sender.client.say(#"{"jsonrpc":"2.0","method":"device.setVolume","params":{"volume":0.125}}"#)
        sender.client.say(
            #"{"jsonrpc":"2.0","method":"session.start","params":{"url":"http://a/b"}}"#)
        try sender.read()
        #expect(sender.member("device", "volume") == 0.125)
        #expect(sender.member("player", "session") != nil)
    }

    @Test func `a sender that asks and does not read is cut at the limit`() throws {
        let receiver = try TestReceiver.running()
        let client = receiver.listener.connect()
        client.stopReading()
        var asked = 0
        while client.closing == nil, asked < 10_000 {
            client.say(#"{"jsonrpc":"2.0","id":1,"method":"state.get"}"#)
            asked += 1
        }
        #expect(client.closing?.code == 1008)
        #expect(client.pendingBytes <= 256 * 1024)
        #expect(asked > 16)
        receiver.settle()
        // Another one is not disturbed.
        #expect(try TestSender(receiver).ask(.getState)["version"] != nil)
    }

    @Test func `a sender that reads late is not cut`() throws {
        let receiver = try TestReceiver.running()
        let client = receiver.listener.connect()
        for _ in 0..<200 {
            client.stopReading()
            for _ in 0..<32 { client.say(#"{"jsonrpc":"2.0","id":1,"method":"state.get"}"#) }
            client.resumeReading()
        }
        #expect(client.closing == nil)
    }

    @Test func `random bytes and damaged requests never disturb the receiver`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        var chance = SeededNumbers(seed: 7)
        let samples = [
            RouteRequest.start(SessionStart(url: "http://a/b")).text(id: 1),
            RouteRequest.seek(session: nil, position: .indefinite, tolerance: .zero).text(id: 2),
            RouteRequest.setSpeed(session: nil, .greatestFiniteMagnitude).text(id: 3),
            RouteRequest.changeDeviceVolume(steps: .max).text(id: 4),
        ]
        for _ in 0..<5_000 {
            var bytes = Array(samples.randomElement(using: &chance)?.utf8 ?? "".utf8)
            for _ in 0..<Int.random(in: 1...4, using: &chance) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &chance)] = UInt8.random(
                    in: 0...255, using: &chance)
            }
            let client = receiver.listener.connect()
            client.say(String(decoding: bytes, as: UTF8.self))
            client.say(binary: bytes)
            client.vanish()
        }
        receiver.settle()
        #expect(try sender.ask(.setDeviceVolume(0.5))["outcome"] == "accepted")
    }
}
