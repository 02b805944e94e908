// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import Testing

struct DeviceTests {
    /// A scene with Anna's route on connection 1.
    private func scene(cap: Double = 1, level: Double = 0.5) -> Scene {
        var scene = Scene(.init(volumeCap: cap), level: level)
        scene.joins(1, .anna)
        return scene
    }

    @Test func `a volume is told to the output and written down`() {
        var scene = scene()
        let effects = scene.asks(device: .setVolume(0.75))
        #expect(effects.commands == [.setOutputVolume(Volume(level: 0.75))])
        #expect(effects.contains(.persist))
        #expect(effects.answer == .accepted)
        #expect(scene.asks(device: .setVolume(0.75)).count == 1)
    }

    @Test func `nobody gets above the cap`() {
        var scene = scene(cap: 0.75, level: 1)
        #expect(scene.state.device.volume.level == 0.75)
        #expect(scene.asks(device: .setVolume(1)).answer == .clampedNumber(0.75))
        #expect(scene.asks(device: .changeVolume(steps: .max)).answer == .clampedNumber(0.75))
        #expect(
            scene.reports(.outputVolumeChanged(Volume(level: 0.9))).commands
                == [.setOutputVolume(Volume(level: 0.75))])
        #expect(scene.state.device.volume.level == 0.75)
    }

    @Test func `a step is a sixteenth and answers with the level`() {
        var scene = scene()
        #expect(scene.asks(device: .changeVolume(steps: 2)).answer == .level(0.625))
        #expect(scene.asks(device: .changeVolume(steps: -1)).answer == .level(0.5625))
        #expect(scene.asks(device: .changeVolume(steps: .min)).answer == .clampedNumber(0))
    }

    @Test func `a change of volume does not end the mute, nor the other way round`() {
        var scene = scene()
        #expect(scene.asks(device: .toggleMute).answer == .muted(true))
        scene.asks(device: .setVolume(0.25))
        scene.asks(device: .changeVolume(steps: 1))
        #expect(scene.state.device.volume == Volume(level: 0.3125, isMuted: true))
        #expect(scene.asks(device: .toggleMute).answer == .muted(false))
        scene.asks(device: .setMuted(true))
        #expect(scene.state.device.volume == Volume(level: 0.3125, isMuted: true))
    }

    @Test func `what is done at the mixer counts, as done here`() {
        var scene = scene()
        let effects = scene.reports(.outputVolumeChanged(Volume(level: 0.125, isMuted: true)))
        #expect(effects == [.persist])
        #expect(scene.state.device.volume == Volume(level: 0.125, isMuted: true))
        #expect(scene.state.lastOrigin == .local)
    }

    @Test func `a renderer that comes back is told the volume`() {
        var scene = scene()
        scene.reports(.exited(reason: "signal 11"))
        #expect(scene.asks(device: .setVolume(0.25)).commands.isEmpty)
        #expect(scene.reports(.started(.lost)).commands == [.setOutputVolume(Volume(level: 0.25))])
        #expect(scene.state.device.output == .lost)
    }

    @Test func `a renderer that is gone has closed the output`() {
        var scene = scene()
        scene.reports(.outputChanged(OutputStatus(state: .open, device: "hw", sampleRate: 48_000)))
        scene.reports(.exited(reason: "signal 11"))
        #expect(scene.state.device.output.state == .closed)
        #expect(scene.state.device.output.sampleRate == nil)
    }

    @Test func `a new name is written down and advertised`() {
        var scene = scene()
        let effects = scene.asks(device: .rename("Küche 🎶"))
        #expect(effects.answer == .accepted)
        #expect(effects.contains(.persist) && effects.contains(.advertise(name: "Küche 🎶")))
        #expect(scene.asks(device: .rename("Küche 🎶")).count == 1)
    }

    @Test(arguments: [
        (String(repeating: "a", count: 64), String(repeating: "a", count: 63)),
        (String(repeating: "ä", count: 32), String(repeating: "ä", count: 31)),
        (String(repeating: "a", count: 60) + "👩‍👩‍👧", String(repeating: "a", count: 60)),
        (String(repeating: "e\u{301}", count: 22), String(repeating: "e\u{301}", count: 21)),
        ("a" + String(repeating: "\u{301}", count: 40), "a" + String(repeating: "\u{301}", count: 31)),
    ])
    func `a long name is cut at a character`(_ asked: String, _ name: String) {
        var scene = scene()
        #expect(scene.asks(device: .rename(asked)).answer == .clampedText(name))
        #expect(scene.state.device.name == name)
    }

    @Test(arguments: ["", "  ", "a\nb", "a\0", "\u{9f}", "\u{2003}"])
    func `a name that nobody could read is refused`(_ name: String) {
        var scene = scene()
        #expect(scene.asks(device: .rename(name)).refusal == .invalidParams)
        #expect(scene.state.device.name == "Kitchen")
    }

    @Test func `the advertisement's state and name are kept apart from the device's name`() {
        var scene = scene()
        let status = AdvertisementStatus(state: .registered, name: "Kitchen (2)")
        #expect(scene.happens(.advertisementChanged(status)).isEmpty)
        #expect(scene.state.device.advertisement == status)
        #expect(scene.state.device.name == "Kitchen")
    }
}
