// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SessionCore
import SwitchingCore
import Testing

/// A receiver with phones, a line-in and senders.
private final class Living {
    let receiver: TestReceiver
    let sender: TestSender
    let phone = SourceAddress(0xA0_0000_0000_01)
    let laptop = SourceAddress(0xA0_0000_0000_02)
    let format = CaptureFormat(sampleRate: 44_100, channels: 2)

    init(
        saved: SavedState? = nil, _ change: (inout AccessoryConfiguration) -> Void = { _ in }
    ) throws {
        var accessory = AccessoryConfiguration(
            lineIns: [.init(device: "hw:Line", name: "Turntable")])
        change(&accessory)
        var configuration = ReceiverConfiguration(name: "Test", software: "linnet test")
        configuration.accessory = accessory
        receiver = try TestReceiver.running(configuration: configuration, saved: saved)
        sender = TestSender(receiver)
        try sender.activate()
        settle()
    }

    var renderer: FakeRenderer { receiver.renderer }
    var sources: FakeExternalSources { receiver.sources }

    func settle() {
        receiver.settle()
        try? sender.read()
    }

    func wait(_ time: Duration) {
        receiver.clock.advance(by: time)
        settle()
    }

    func report(_ events: ExternalSourceEvent...) {
        for event in events { sources.report(event) }
        settle()
    }

    /// The phone connects and plays, long enough to be heard.
    func phonePlays(_ address: SourceAddress? = nil) {
        let address = address ?? phone
        report(.connected(address, name: "Phone"), .streaming(address, format))
        wait(.milliseconds(1_400))
    }

    func member(_ path: String...) -> JSONValue? {
        path.reduce(sender.state as JSONValue?) { $0?[$1] }
    }

    var active: String? { member("accessory", "active")?.textValue }
    var reasons: [String] {
        member("accessory", "decisions")?.arrayValue?.compactMap { $0["reason"]?.textValue } ?? []
    }

    func session(_ id: String, _ key: String) -> JSONValue? { sender.state["sessions"]?[id]?[key] }

    /// What was told to the renderer that gives it something to play, or takes it away.
    var loads: [String] {
        renderer.commands.compactMap {
            switch $0 {
            case .load: "load"
            case .loadCapture: "capture"
            case .stop: "stop"
            default: nil
            }
        }
    }
}

@Suite("Switching between sources") struct SwitchingTests {
    @Test func `a phone that plays pauses the session, which goes on in its place afterwards`() throws {
        let living = try Living()
        let id = try living.sender.start()
        living.settle()
        let load = try #require(living.renderer.currentLoad)
        let place = PlaybackPosition(
            position: MediaTime(value: 30, timescale: 1), clockTime: living.receiver.clock.now, rate: 1)
        living.renderer.report(.positionChanged(load, place))
        living.settle()
        #expect(living.session(id, "isHeard") == nil)
        living.renderer.forgetCommands()
        living.phonePlays()
        #expect(living.active == living.phone.text)
        #expect(living.session(id, "isPlaying") == false)
        #expect(living.session(id, "isHeard") == false)
        #expect(living.sender.changes.contains { $0.origin == .switching })
        #expect(living.renderer.commands.contains(.setPlaying(load, false)))
        #expect(living.loads == ["capture"])
        #expect(living.receiver.renderer.descriptors.count == 1)
        living.renderer.forgetCommands()
        living.report(.disconnected(living.phone))
        #expect(living.session(id, "isPlaying") == true)
        #expect(living.session(id, "isHeard") == nil)
        #expect(living.loads == ["load"])
        guard
            case .load(_, let item, _) = living.renderer.commands.first(where: {
                if case .load = $0 { true } else { false }
            })
        else { return }
        // It was heard for a second until the phone took over.
        let start = try #require(item.startPosition.nanoseconds)
        #expect((30_900_000_000...31_500_000_000).contains(start))
        #expect(living.reasons.suffix(2) == ["ended", "cameBack"])
    }

    @Test func `a sender that starts takes the output from a phone, which is told to pause and not read`()
        throws
    {
        let living = try Living()
        living.phonePlays()
        living.sources.forgetCommands()
        let id = try living.sender.start()
        living.settle()
        #expect(living.session(id, "isPlaying") == true)
        #expect(living.session(id, "isHeard") == nil)
        #expect(living.sources.commands.contains(.pause(living.phone)))
        #expect(living.sources.commands.contains(.close(living.phone)))
        #expect(living.active != living.phone.text)
        #expect(living.member("accessory", "primary") != living.member("accessory", "secondary"))
        #expect(living.member("accessory", "secondary")?.textValue == living.phone.text)
        _ = try living.sender.ask(.stop(session: id))
        living.settle()
        // What was heard before comes back, and plays because it was told to.
        #expect(living.active == living.phone.text)
        #expect(living.sources.commands.contains(.play(living.phone)))
        #expect(living.sources.commands.last == .open(living.phone))
    }

    @Test func `a session that is begun in a call is not heard until the call is over`() throws {
        let living = try Living()
        living.report(.connected(living.phone, name: "Phone"), .inCall(living.phone, true))
        #expect(living.active == living.phone.text)
        living.renderer.forgetCommands()
        let id = try living.sender.start()
        living.settle()
        #expect(living.session(id, "isPlaying") == false)
        #expect(living.session(id, "isHeard") == false)
        #expect(living.loads == [])
        #expect(living.reasons.last == "callHasPriority")
        living.report(.inCall(living.phone, false))
        #expect(living.session(id, "isPlaying") == true)
        #expect(living.session(id, "isHeard") == nil)
        #expect(living.loads == ["load"])
    }

    @Test func `who pauses a session that is not heard does not get it back`() throws {
        let living = try Living()
        let id = try living.sender.start()
        living.settle()
        living.phonePlays()
        _ = try living.sender.ask(.setPlaying(session: id, false))
        living.report(.disconnected(living.phone))
        #expect(living.session(id, "isPlaying") == false)
        _ = try living.sender.ask(.setPlaying(session: id, true))
        living.settle()
        #expect(living.session(id, "isPlaying") == true)
        #expect(living.reasons.last == "started")
    }

    @Test func `a line-in is heard while sound comes from it`() throws {
        let living = try Living()
        #expect(living.renderer.commands.contains { if case .watchCapture = $0 { true } else { false } })
        living.renderer.report(.captureActivity(name: "hw:Line", isActive: true, reason: nil))
        living.settle()
        #expect(living.loads == ["capture"])
        let address = try #require(living.active)
        #expect(living.member("accessory", "sources", address, "kind") == "lineIn")
        living.renderer.report(.captureActivity(name: "hw:Line", isActive: false, reason: nil))
        living.wait(.seconds(8))
        #expect(living.active == nil)
        #expect(living.loads == ["capture", "stop"])
        living.renderer.report(.captureActivity(name: "hw:Line", isActive: false, reason: "it was unplugged"))
        living.settle()
        #expect(living.member("accessory", "sources", address, "state") == "unavailable")
        #expect(living.member("accessory", "sources", address, "fault") == "it was unplugged")
    }

    @Test func `an announcement is heard over a phone and takes nothing from it`() throws {
        let living = try Living()
        living.phonePlays()
        living.renderer.forgetCommands()
        _ = try living.sender.ask(.announce(AnnouncementRequest(url: "http://door.example/bell.wav")))
        var announced: LoadID?
        for case .announce(let load, _) in living.renderer.commands { announced = load }
        living.renderer.report(.announcementBegan(try #require(announced)))
        living.settle()
        #expect(living.reasons.last == "announced")
        living.renderer.report(.announcementEnded(try #require(announced)))
        living.settle()
        #expect(living.reasons.last == "announcementOver")
        #expect(living.active == living.phone.text)
        #expect(living.loads == [])
    }

    @Test func `a phone that cannot be read is no owner for long`() throws {
        let living = try Living()
        let id = try living.sender.start()
        living.settle()
        living.sources.failsToOpen = true
        living.phonePlays()
        for _ in 0..<4 { living.wait(.milliseconds(300)) }
        #expect(living.reasons.suffix(2) == ["failed", "cameBack"])
        #expect(living.session(id, "isPlaying") == true)
        #expect(living.session(id, "isHeard") == nil)
    }

    @Test func `a renderer that is new reads the phone again`() throws {
        let living = try Living()
        living.phonePlays()
        living.renderer.forgetCommands()
        living.sources.forgetCommands()
        living.renderer.restart(reason: "test")
        living.settle()
        #expect(living.sources.commands == [.close(living.phone), .open(living.phone)])
        #expect(living.loads == ["capture"])
        #expect(living.active == living.phone.text)
    }

    @Test func `a capture that ends while the phone plays on is opened again`() throws {
        let living = try Living()
        living.phonePlays()
        let load = try #require(living.renderer.currentLoad)
        living.sources.forgetCommands()
        living.renderer.report(.ended(load))
        living.wait(.milliseconds(250))
        #expect(living.sources.commands == [.close(living.phone), .open(living.phone)])
        #expect(living.loads == ["capture", "capture"])
    }

    @Test func `an adapter that goes takes its phones along`() throws {
        let living = try Living()
        let id = try living.sender.start()
        living.settle()
        living.phonePlays()
        living.report(.availabilityChanged(.off(reason: "It is switched off.")))
        #expect(living.member("accessory", "bluetooth", "state") == "off")
        #expect(living.member("accessory", "sources")?.objectValue?.count == 1)
        #expect(living.session(id, "isPlaying") == true)
        #expect(
            try living.sender.refusal(.accessory(.pair(seconds: 60))) == .sourcesUnavailable)
    }

    @Test func `the phone that is heard shows the volume, and sets it`() throws {
        let living = try Living()
        living.phonePlays()
        #expect(living.sources.commands.contains(.setVolume(living.phone, 0.5)))
        living.report(.volumeChanged(living.phone, 0.25))
        #expect(living.member("device", "volume") == 0.25)
        living.sources.forgetCommands()
        _ = try living.sender.ask(.setDeviceVolume(0.75))
        #expect(living.sources.commands == [.setVolume(living.phone, 0.75)])
        // One that is not heard sets nothing.
        living.report(.connected(living.laptop, name: "Laptop"), .volumeChanged(living.laptop, 1))
        #expect(living.member("device", "volume") == 0.75)
    }

    @Test func `a device without a sensor has no placement, whatever comes`() throws {
        let living = try Living()
        living.receiver.sensors.report(.placement(.offHead))
        living.settle()
        #expect(living.member("accessory", "placement") == nil)
        living.phonePlays()
        #expect(living.active == living.phone.text)
        #expect(
            try living.sender.refusal(.accessory(.register(["placement"]))) == .accessoryNotCapable)
    }

    @Test func `what is taken off pauses, and goes on when it is worn again`() throws {
        let living = try Living { $0.capabilities = [.audioSwitching, .placement] }
        let id = try living.sender.start()
        living.settle()
        living.receiver.sensors.report(.placement(.offHead))
        living.settle()
        #expect(living.session(id, "isPlaying") == false)
        #expect(living.member("accessory", "placement") == "offHead")
        #expect(living.active == nil)
        living.receiver.sensors.report(.placement(.inEar))
        living.settle()
        #expect(living.session(id, "isPlaying") == true)
        #expect(living.reasons.last == "wornAgain")
        living.receiver.sensors.report(.unavailable(reason: "The sensor is gone."))
        living.settle()
        #expect(living.member("accessory", "placement") == nil)
        #expect(living.member("accessory", "placementFault") == "The sensor is gone.")
    }

    @Test func `a jack that is used moves the output, also that of a renderer that is new`() throws {
        let living = try Living { ($0.jack, $0.jackDevice) = ("Headphone Jack", "hw:Phones") }
        func moves() -> [RendererCommand] {
            defer { living.renderer.forgetCommands() }
            return living.renderer.commands.filter { if case .setOutputDevice = $0 { true } else { false } }
        }
        living.renderer.report(.jackChanged(name: "Line Out Jack", isPlugged: true))
        living.settle()
        #expect(moves() == [] && living.member("accessory", "jack") == nil)
        living.renderer.report(.jackChanged(name: "Headphone Jack", isPlugged: true))
        living.settle()
        #expect(moves() == [.setOutputDevice("hw:Phones")] && living.member("accessory", "jack") == true)
        living.renderer.report(.exited(reason: "It crashed."))
        living.renderer.report(.started(OutputStatus(state: .closed, device: "hw:0")))
        living.renderer.report(.jackChanged(name: "Headphone Jack", isPlugged: true))
        living.settle()
        #expect(moves() == [.setOutputDevice("hw:Phones")])
        living.renderer.report(.jackChanged(name: "Headphone Jack", isPlugged: false))
        living.settle()
        #expect(moves() == [.setOutputDevice(nil)])
    }

    @Test func `a jack that is pulled pauses what is heard before the output moves, where that is wanted`()
        throws
    {
        let living = try Living {
            ($0.jack, $0.jackDevice, $0.policy.pausesWhenUnplugged) = ("Headphone Jack", "hw:Phones", true)
        }
        let id = try living.sender.start()
        living.renderer.report(.jackChanged(name: "Headphone Jack", isPlugged: true))
        living.settle()
        let load = try #require(living.renderer.currentLoad)
        living.renderer.forgetCommands()
        living.renderer.report(.jackChanged(name: "Headphone Jack", isPlugged: false))
        living.settle()
        #expect(living.session(id, "isPlaying") == false)
        let commands = living.renderer.commands
        let paused = try #require(commands.firstIndex(of: .setPlaying(load, false)))
        #expect(paused < (try #require(commands.firstIndex(of: .setOutputDevice(nil)))))
    }

    @Test func `a sender registers, asks, updates, and is told when nothing is known of it`() throws {
        let living = try Living { $0.capabilities = [.audioSwitching, .placement] }
        living.report(.connected(living.phone, name: "Phone"), .connected(living.laptop, name: "Laptop"))
        let answer = try living.sender.ask(.accessory(.register(["audioSwitching"])))
        let registered = try AccessoryAnswer(json: answer)
        #expect(registered.primary == living.phone.text)
        #expect(registered.secondary == living.laptop.text)
        #expect(registered.placement == nil)
        let id = registered.registration
        let updated = try AccessoryAnswer(
            json: try living.sender.ask(.accessory(.update(id, .init(primary: living.laptop.text)))))
        #expect(updated.primary == living.laptop.text)
        #expect(
            try living.sender.refusal(.accessory(.update(id, .init(placement: "inEar"))))
                == .accessoryNotCapable)
        _ = try living.sender.ask(
            .accessory(.update(id, .init(capabilities: ["audioSwitching", "placement"]))))
        #expect(
            try living.sender.refusal(.accessory(.update(id, .init(placement: "inEar")))) == .invalidRequest)
        #expect(try living.sender.refusal(.accessory(.update(id, .init()))) == .invalidRequest)
        #expect(try living.sender.refusal(.accessory(.register([]))) == .invalidRequest)
        #expect(try living.sender.refusal(.accessory(.register(["headTracking"]))) == .accessoryNotCapable)
        #expect(try living.sender.refusal(.accessory(.current("nobody"))) == .invalidated)
        for _ in 0..<64 { _ = try living.sender.ask(.accessory(.register(["placement"]))) }
        #expect(try living.sender.refusal(.accessory(.current(id))) == .invalidated)
    }

    @Test func `requests about sources that are not there are refused`() throws {
        let living = try Living()
        let stranger = "00:00:00:00:00:07"
        for request: WireAccessoryRequest in [
            .take(stranger), .yield(stranger), .prefer(stranger, .preferred), .forget(stranger),
            .disconnect(stranger),
        ] {
            #expect(try living.sender.refusal(.accessory(request)) == .sourceUnknown)
        }
        #expect(try living.sender.refusal(.accessory(.take("no address at all"))) == .invalidParams)
        #expect(try living.sender.refusal(.accessory(.confirm(stranger, true))) == .invalidRequest)
        let watcher = TestSender(living.receiver)
        #expect(try watcher.refusal(.accessory(.pair(seconds: 5))) == .routeRequired)
    }

    @Test func `a receiver whose only source is the network says so`() throws {
        let receiver = try TestReceiver.running()
        let sender = TestSender(receiver)
        try sender.activate()
        #expect(sender.member("accessory") == nil)
        #expect(try sender.refusal(.accessory(.register(["audioSwitching"]))) == .sourcesUnavailable)
    }

    @Test func `what is wanted of a source is kept over a restart`() throws {
        let living = try Living()
        living.report(.connected(living.phone, name: "Phone"))
        _ = try living.sender.ask(.accessory(.prefer(living.phone.text, .manual)))
        #expect(living.member("accessory", "sources", living.phone.text, "preference") == "manual")
        living.wait(.seconds(1))
        let saved = try #require(living.receiver.store.load())
        #expect(saved.preferences == [living.phone: .manual])
        let next = try Living(saved: saved)
        next.phonePlays()
        #expect(next.active == nil)
        #expect(next.reasons.last == "onlyWhenAsked")
        _ = try next.sender.ask(.accessory(.take(next.phone.text)))
        next.settle()
        #expect(next.active == next.phone.text)
    }

    @Test func `a phone is paired, shown, and forgotten`() throws {
        let living = try Living()
        _ = try living.sender.ask(.accessory(.pair(seconds: 60)))
        living.settle()
        #expect(living.member("accessory", "pairing", "state") == "open")
        living.report(.pairingChanged(.asked(living.phone, name: "Phone", passkey: 4_711)))
        #expect(living.member("accessory", "pairing", "passkey") == "004711")
        _ = try living.sender.ask(.accessory(.confirm(living.phone.text, true)))
        living.settle()
        #expect(living.member("accessory", "pairing", "state") == "paired")
        let known = KnownSource(address: living.phone, name: "Phone", isConnected: false, isTrusted: true)
        living.report(.known([known]))
        #expect(living.member("accessory", "known")?.arrayValue?.count == 1)
        _ = try living.sender.ask(.accessory(.forget(living.phone.text)))
        #expect(living.sources.commands.contains(.forget(living.phone)))
    }

    @Test func `two senders take turns with a phone, and each knows when it is heard`() throws {
        let living = try Living()
        let other = TestSender(living.receiver)
        try other.activate("Bob", id: "sender-2")
        let first = try living.sender.start()
        living.settle()
        living.phonePlays()
        let second = try other.start("http://media.example/b.flac")
        living.settle()
        try other.read()
        // The first one's session made way for good, as without phones.
        #expect(living.sender.state["sessions"]?[first] == nil)
        #expect(other.state["sessions"]?[second]?["isHeard"] == nil)
        #expect(other.state["sessions"]?[second]?["isPlaying"] == true)
        #expect(living.member("accessory", "sources")?.objectValue?.count == 2)
        _ = try other.ask(.accessory(.yield(nil)))
        living.settle()
        try other.read()
        #expect(living.active == living.phone.text)
        #expect(other.state["sessions"]?[second]?["isPlaying"] == false)
        #expect(other.state["sessions"]?[second]?["isHeard"] == false)
    }

    @Test func `the end of the receiver ends its sources`() throws {
        let living = try Living()
        living.phonePlays()
        living.receiver.shell.shutDown {}
        #expect(living.sources.isShutDown)
        living.report(.streaming(living.phone, nil), .disconnected(living.phone))
    }
}
