// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SeededNumbers
import SessionCore
import Testing

/// An end of a channel that keeps to the rules: it numbers, remembers what is unanswered, and handles nothing twice.
private struct End {
    var window = MessageWindow()
    var unanswered: [(id: UInt64, payload: [UInt8])] = []
    var reception = MessageReception()
    /// Handled and not answered yet.
    var open: [UInt64] = []
    var handled: [[UInt8]] = []
    var acknowledged: [[UInt8]] = []
    var refused: [String] = []
    /// Something was not taken and is to be sent again, in order.
    var repeats = false

    mutating func say(_ payload: [UInt8], _ channel: UInt32, _ client: FakeClient) throws {
        guard let id = window.send(payload.count) else { return }
        unanswered.append((id, payload))
        try client.say(channel, id, payload)
    }

    mutating func again(_ channel: UInt32, _ client: FakeClient) throws {
        repeats = false
        for (id, payload) in unanswered { try client.say(channel, id, payload) }
    }

    mutating func answer(_ channel: UInt32, _ client: FakeClient) throws {
        guard !open.isEmpty else { return }
        let id = open.removeFirst()
        _ = reception.answer(id, .acknowledged)
        try client.say(.acknowledged, channel, id)
    }

    mutating func read(_ client: FakeClient) throws {
        for frame in try client.frames() {
            switch frame.kind {
            case .message:
                switch reception.receive(frame.message, frame.payload.count) {
                case .deliver:
                    handled.append(frame.payload)
                    open.append(frame.message)
                case .answer: try client.say(.acknowledged, frame.channel, frame.message)
                case .pending: break
                case .tooMany, .outOfOrder: Issue.record("the receiver broke the rules")
                }
            case .acknowledged, .refused:
                if frame.kind == .refused {
                    let words = String(decoding: frame.payload, as: UTF8.self)
                    let reason = try JSONText.decode(words, limit: 4_096)["reason"]?.textValue ?? ""
                    if ["busy", "tooManyMessages", "outOfOrder"].contains(reason) {
                        repeats = true
                        continue
                    }
                    refused.append(reason)
                }
                guard window.answered(frame.message),
                    let index = unanswered.firstIndex(where: { $0.id == frame.message })
                else { continue }
                let payload = unanswered.remove(at: index).payload
                if frame.kind == .acknowledged { acknowledged.append(payload) }
            }
        }
    }
}

struct RelaySoakTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `over lost connections and crashes nothing acknowledged is lost and nothing is handled twice`(
        _ seed: UInt64
    ) throws {
        var random = SeededNumbers(seed: seed)
        let receiver = try TestReceiver.running(applications: [try .party(restart: .onFailure)])
        let host = try #require(receiver.applications)
        var ada = TestSender(receiver)
        try ada.activate()
        let session = try ada.open("org.example.party")
        let channel = try ada.channel(session)
        var application = try TestApplication.running(receiver)
        var (sender, program) = (End(), End())
        var (toProgram, toSender) = ([[UInt8]](), [[UInt8]]())
        var (number, losses, crashes) = (0, 0, 0)
        func payload() -> [UInt8] {
            number += 1
            return digits(number)
                + [UInt8](repeating: 0, count: Int(random.next() % (random.next() % 8 == 0 ? 300_000 : 100)))
        }
        for _ in 0..<3_000 {
            switch random.next() % 64 {
            case 0..<12: try sender.say(payload(), channel, ada.client)
            case 12..<24: try program.say(payload(), channel, application.client)
            case 24..<38: try sender.answer(channel, ada.client)
            case 38..<52: try program.answer(channel, application.client)
            case 52..<54: ada.client.stopReading()
            case 54..<56: ada.client.resumeReading()
            case 56..<58: application.client.stopReading()
            case 58..<60: application.client.readOnce()
            case 60: application.client.resumeReading()
            case 61:
                // What was on its way to the sender is lost with the connection.
                losses += 1
                ada.client.vanish()
                let again = TestSender(receiver)
                try again.activate(resume: ada.resumeToken)
                ada = again
                try sender.again(channel, ada.client)
            case 62 where random.next() % 8 == 0:
                crashes += 1
                application.client.vanish()
                host.report(.exited(application.instance, ApplicationExit(.signal(11))))
                toProgram += program.handled
                toSender += program.acknowledged
                program = End()
                application = try TestApplication.running(receiver)
                receiver.clock.advance(by: .seconds(60))
            default: break
            }
            try sender.read(ada.client)
            try program.read(application.client)
            if sender.repeats { try sender.again(channel, ada.client) }
            if program.repeats, random.next() % 4 == 0 { try program.again(channel, application.client) }
        }
        // Everybody reads and answers what is left.
        ada.client.resumeReading()
        application.client.resumeReading()
        for _ in 0..<200 {
            try sender.read(ada.client)
            try program.read(application.client)
            try sender.answer(channel, ada.client)
            try program.answer(channel, application.client)
            if program.repeats { try program.again(channel, application.client) }
        }
        toProgram += program.handled
        toSender += program.acknowledged
        #expect(sender.unanswered.isEmpty && program.unanswered.isEmpty)
        #expect(Set(toProgram).count == toProgram.count, "handled twice")
        #expect(Set(sender.handled).count == sender.handled.count, "handled twice")
        #expect(Set(sender.acknowledged).isSubset(of: Set(toProgram)), "acknowledged and lost")
        #expect(Set(toSender).isSubset(of: Set(sender.handled)), "acknowledged and lost")
        #expect(Set(sender.refused).isSubset(of: ["applicationRestarted"]))
        #expect(program.refused.isEmpty)
        // The walk is worth something only if it gets somewhere.
        #expect(losses > 10 && crashes > 1 && sender.acknowledged.count > 150 && toSender.count > 100)
    }

    private func digits(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    @Test(arguments: [4, 5] as [UInt64])
    func `whatever frames both ends send, the receiver stands and holds no more than it may`(
        _ seed: UInt64
    ) throws {
        var random = SeededNumbers(seed: seed)
        let receiver = try TestReceiver.running(applications: [try .echo(), try .party(restart: .never)])
        let ada = TestSender(receiver)
        try ada.activate()
        var application: TestApplication?
        var ended = 0
        for _ in 0..<2_000 {
            if receiver.shell.state.applications.instances.isEmpty {
                _ = try ada.open("org.example.party")
                application = try TestApplication.running(receiver)
                ended += 1
            }
            let kinds: [DataFrame.Kind] = [.message, .message, .acknowledged, .refused]
            let kind = kinds[Int(random.next() % 4)]
            let name = kind == .message && random.next() % 3 == 0 ? "org.example.party" : ""
            let number = random.next() % 10 == 0 ? UInt64.max - random.next() % 2 : 1 + random.next() % 40
            let frame = DataFrame(
                kind: kind, channel: UInt32(random.next() % 12), message: number, endpoint: name,
                payload: [UInt8](repeating: 7, count: Int(random.next() % 20_000)))
            var bytes = try #require(frame.bytes)
            let isSenders = random.next() % 2 == 0
            // Broken frames from the application alone: a sender's connection would be over.
            if !isSenders, random.next() % 200 == 0 { bytes[1] = 9 }
            (isSenders ? ada.client : application?.client)?.say(binary: bytes)
            receiver.settle()
            if random.next() % 50 == 0 {
                (_, _) = (ada.client.takeBinaries(), application?.client.takeBinaries())
            }
            try ada.read()
        }
        #expect(ended > 3)
        #expect(ada.client.closing == nil)
        try ada.ask(.deactivate)
        #expect(receiver.shell.state.applications.sessions.isEmpty)
    }
}

extension ApplicationManifest {
    fileprivate static func party(restart: Restart) throws -> ApplicationManifest {
        var manifest = try party()
        manifest.restart = restart
        return manifest
    }
}
