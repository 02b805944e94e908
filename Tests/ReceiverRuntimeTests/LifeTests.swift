// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import Testing

struct LifeTests {
    @Test func `a first start makes an identity and keeps it`() throws {
        let receiver = try TestReceiver.running()
        let saved = try #require(receiver.store.saved)
        #expect(saved.name == nil)
        #expect(saved.identifier == receiver.shell.status?.identifier)
        let again = try TestReceiver.running(saved: saved)
        #expect(again.shell.status?.identifier == saved.identifier)
        #expect(again.store.saves == 0)
    }

    @Test func `name, volume and trim survive a restart, the cap holds`() throws {
        let saved = SavedState(
            identifier: "device", name: "Kitchen", volume: Volume(level: 0.75, isMuted: true),
            outputTrim: 1_500)
        let receiver = try TestReceiver.running(
            configuration: .init(name: "Test", software: "t", volumeCap: 0.5), saved: saved)
        #expect(receiver.shell.status?.name == "Kitchen")
        #expect(receiver.shell.state.device.volume == Volume(level: 0.5, isMuted: true))
        #expect(receiver.renderer.commands.contains(.setOutputVolume(Volume(level: 0.5, isMuted: true))))
        let sender = TestSender(receiver)
        try sender.activate()
        try sender.ask(.setDeviceVolume(0.25))
        receiver.clock.advance(by: .seconds(1))
        #expect(
            receiver.store.saved
                == SavedState(
                    identifier: "device", name: "Kitchen", volume: Volume(level: 0.25, isMuted: true),
                    outputTrim: 1_500))
    }

    @Test func `many changes are written down together`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let before = receiver.store.saves
        for step in 1...50 {
            try sender.ask(.setDeviceVolume(Double(step) / 100))
            receiver.clock.advance(by: .milliseconds(10))
        }
        // Half a second: two whole delays have passed.
        #expect(receiver.store.saves - before == 2)
        receiver.clock.advance(by: .milliseconds(200))
        #expect(receiver.store.saves - before == 3)
        #expect(receiver.store.saved?.volume.level == 0.5)
        receiver.clock.advance(by: .seconds(10))
        #expect(receiver.store.saves - before == 3)
    }

    @Test func `the advertisement carries identity and port`() throws {
        let receiver = try TestReceiver.running()
        let service = try #require(receiver.advertiser.advertised.first)
        #expect(service.name == "Test")
        #expect(service.port == 7380)
        let facts = try #require(
            ReceiverDescription(textEntries: service.text, name: service.name, port: service.port))
        #expect(facts.id == receiver.shell.status?.identifier)
        #expect(facts.type == "speaker")
    }

    @Test func `a collision is told in the state, a rename is advertised and kept`() throws {
        let receiver = TestReceiver()
        receiver.advertiser.taken = ["Test"]
        _ = try receiver.shell.start()
        receiver.settle()
        let sender = TestSender(receiver)
        try sender.activate()
        #expect(sender.member("device", "name") == "Test")
        #expect(sender.member("device", "advertisement", "name") == "Test #2")
        #expect(receiver.shell.status?.advertisedName == "Test #2")
        try sender.ask(.rename("Kitchen"))
        receiver.settle()
        try sender.read()
        #expect(receiver.advertiser.advertised.last?.name == "Kitchen")
        #expect(sender.member("device", "advertisement", "name") == "Kitchen")
        receiver.clock.advance(by: .seconds(1))
        #expect(receiver.store.saved?.name == "Kitchen")
    }

    @Test func `without a DNS-SD daemon the state says that it waits`() throws {
        let receiver = TestReceiver()
        receiver.advertiser.isAvailable = false
        _ = try receiver.shell.start()
        receiver.settle()
        #expect(try snapshot(receiver)["device"]?["advertisement"]?["state"] == "waiting")
        let silent = try TestReceiver.running(
            configuration: .init(name: "T", software: "t", advertises: false))
        #expect(try snapshot(silent)["device"]?["advertisement"]?["state"] == "off")
        #expect(silent.advertiser.advertised.isEmpty)
    }

    @Test func `a taken port is an error`() {
        let receiver = TestReceiver()
        receiver.listener.isPortTaken = true
        #expect(throws: FakeListener.PortTaken.self) { try receiver.shell.start() }
        #expect(receiver.advertiser.advertised.isEmpty)
    }

    @Test func `at the end senders are told first, and the goodbye comes before the port closes`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        let session = try sender.start()
        receiver.settle()
        try sender.ask(.setDeviceVolume(0.1))
        let watcher = TestSender(receiver)
        var isDone = false
        receiver.shell.shutDown { isDone = true }
        try sender.read()
        #expect(
            sender.ended.contains(.sessionEnded(session: session, reason: "shutdown", by: nil, error: nil)))
        #expect(
            sender.ended.contains { message in
                if case .routeEnded(sender.route, "shutdown", _) = message { true } else { false }
            })
        #expect(sender.client.closing?.code == 1001)
        #expect(watcher.client.closing?.code == 1001)
        #expect(receiver.order.happened("advertiser.withdraw", before: "listener.stop"))
        #expect(receiver.order.happened("listener.stop", before: "client.close 1001"))
        #expect(receiver.renderer.isShutDown)
        #expect(receiver.store.saved?.volume.level == 0.1)
        #expect(!isDone)
        receiver.settle()
        #expect(isDone)
    }

    @Test func `a client that does not say goodbye holds the end up to its limit`() throws {
        let receiver = try TestReceiver.running()
        let client = receiver.listener.connect()
        client.isDeaf = true
        var ends = 0
        receiver.shell.shutDown { ends += 1 }
        receiver.shell.shutDown { ends += 1 }
        receiver.clock.advance(by: .milliseconds(1_999))
        #expect(ends == 0)
        receiver.clock.advance(by: .milliseconds(1))
        #expect(ends == 2)
        receiver.shell.shutDown { ends += 1 }
        #expect(ends == 3)
        // Nobody is served any more, and nothing traps.
        client.say(#"{"jsonrpc":"2.0","id":1,"method":"state.get"}"#)
        #expect(client.texts.isEmpty)
        #expect(receiver.listener.connect().closing?.code == 1001)
        #expect(receiver.clock.armed == 0)
    }

    @Test func `the actor runs ports on the executor that it was given`() async throws {
        let loop = GLibLoop(named: "test")
        let log = RecordingLog()
        let receiver = Receiver(
            executor: loop, configuration: .init(name: "Test", software: "t", port: 0), log: log)
        await #expect(throws: Receiver.NotInstalled.self) { try await receiver.start() }
        await receiver.install {
            loop.checkIsolated()
            return ReceiverPorts(
                renderer: FakeRenderer(), listener: FakeListener(), advertiser: FakeAdvertiser(),
                store: MemoryStore(), clock: ManualClock(), identifiers: FixedIdentifiers())
        }
        #expect(try await receiver.start() == 40000)
        #expect(await receiver.status?.name == "Test")
        await receiver.shutDown()
        #expect(await receiver.status == nil)
        #expect(log.lines.last?.message == "ended")
    }
}
