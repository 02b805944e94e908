// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe
import Testing

extension Receiving {
    struct OutputTests {
        /// Sound comes again, of the position that is told.
        @RouteActor private func expectSound(
            of control: PlaybackControl, on card: SimulatedCard, from time: Int64
        ) async throws {
            var card = card
            let start = try await card.sound(from: time).start
            let recording = await card.recording(within: .seconds(30)) {
                $0.second(at: start + 50_000_000) != nil
            }
            let heard = try #require(recording?.second(at: start + 50_000_000))
            let change = try await card.beginning(ofSecond: heard + 1, from: start)
            try await control.wait(untilTold: Double(heard + 1), at: change)
        }

        @Test @RouteActor func `an output that is unplugged is told, and playing goes on when it is back`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: 0)
                try card.setUnplugged(true)
                try await receiver.route.wait("the output lost") { $0.device.output.state == .lost }
                #expect(receiver.route.device.output.reason != nil)
                #expect(control.end == nil && control.isPlaying)
                let plugged = SimulatedCard.now
                try card.setUnplugged(false)
                try await receiver.route.wait("the output open") { $0.device.output.state == .open }
                try await expectSound(of: control, on: card, from: plugged)
            }
        }

        @Test @RouteActor func `an output that is busy is told, and sounds when it is free`() async throws {
            try await ReceiverUnderTest.use(prepare: { try $0.setBusy(true) }) { receiver in
                let card = receiver.card
                let control = try await receiver.play("position.flac").playbackControl
                try await receiver.route.wait("the output busy") { $0.device.output.state == .busy }
                let freed = SimulatedCard.now
                try card.setBusy(false)
                try await receiver.route.wait("the output open") { $0.device.output.state == .open }
                try await expectSound(of: control, on: card, from: freed)
            }
        }

        /// Without ALSA's own pages, which tell it to a confined renderer as well, what is left are the open files of others, and
        /// those a confined one does not see.
        ///
        /// A line for the shell that gives the machine a card 0 whose device a process holds.
        private static func heldCard(_ folder: String) -> String {
            """
            mkdir \(folder)/dev \(folder)/dev/snd
            for node in null zero full random urandom; do
                : >\(folder)/dev/$node; mount --bind /dev/$node \(folder)/dev/$node
            done
            mount --rbind \(folder)/dev /dev
            : >/dev/snd/pcmC0D0p
            setpriv --pdeathsig KILL sleep 1000 5</dev/snd/pcmC0D0p &
            """
        }

        @Test(
            .enabled(
                if: MountNamespace.isAllowed, "NOT RUN: needs a mount namespace (root, or unprivileged ones)")
        )
        @RouteActor func `who holds a busy card is named`() async throws {
            try await ReceiverUnderTest.use(
                ["--device", SimulatedCard.hardwareDevice, "--confine", "no"],
                mixer: .init(lowest: -6000, steps: 120),
                inside: Self.heldCard, prepare: { try $0.setBusy(true) }
            ) { receiver in
                try await receiver.route.wait("the output busy") { $0.device.output.state == .busy }
                let holder = try #require(
                    ProcessTable.family(of: receiver.daemon.pid).first {
                        readText("/proc/\($0)/comm").hasPrefix("sleep")
                    })
                #expect(receiver.route.device.output.reason == "held by sleep (\(holder))")
                try receiver.card.setBusy(false)
                _ = try await receiver.playReady("position.flac")
                try await receiver.route.wait("the output open") { $0.device.output.state == .open }
            }
        }

        @Test @RouteActor func `without a device playing is paced by the clock, and the state says so`()
            async throws
        {
            try await ReceiverUnderTest.use(["--device", "null"]) { receiver in
                let control = try await receiver.playReady("position.flac")
                try await receiver.route.wait("the null output") { $0.device.output.state == .null }
                try await control.wait("a running position") { $0.playbackPosition.rate == 1 }
                let begun = control.playbackPosition
                try await control.wait("a later position") {
                    $0.playbackPosition.clockTime > begun.clockTime + 500_000_000
                }
                let expected = begun.position(atClockTime: control.playbackPosition.clockTime).seconds
                #expect(abs(control.playbackPosition.position.seconds - expected) < 0.05)
                #expect(try await receiver.play("short.wav").ended() == .finished)
            }
        }

        @Test @RouteActor func `the device is given up some time after the end`() async throws {
            try await ReceiverUnderTest.use(["--close-after-seconds", "3"]) { receiver in
                var card = receiver.card
                #expect(try await receiver.play("short.wav").ended() == .finished)
                #expect(card.recording().isOpen)
                try await receiver.route.wait("the output closed") { $0.device.output.state == .closed }
                #expect(await card.recording(within: .seconds(30)) { !$0.isOpen } != nil)
            }
        }

        // MARK: Volume

        /// Waits until the loudest sample is so many decibels below the source's.
        @RouteActor private func attenuation(
            of card: inout SimulatedCard, becomes decibels: Double
        ) async -> Bool {
            // Ten to the power -d/20 by the ratio of one decibel.
            var factor = 1.0
            for _ in 0..<Int(decibels) { factor /= 1.122018454 }
            let expected = 16000 * factor
            return await card.recording(within: .seconds(30)) {
                let peak = Double(
                    $0.heard(from: SimulatedCard.now - 120_000_000, for: .milliseconds(100)).peak)
                return peak < expected * 1.122 && peak > expected / 1.122
            } != nil
        }

        @Test @RouteActor
        func `the volumes of device and session follow the curve, and mute leaves them alone`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let device = receiver.route.device
                let control = try await receiver.playReady("position.flac")
                #expect(await attenuation(of: &card, becomes: 0))
                try await device.perform(.setVolume(0.75))
                #expect(await attenuation(of: &card, becomes: 15))
                try await control.perform(.setVolume(0.8))
                #expect(await attenuation(of: &card, becomes: 27))
                try await device.perform(.setVolume(1))
                #expect(await attenuation(of: &card, becomes: 12))
                try await device.perform(.setMuted(true))
                #expect(
                    await card.recording(within: .seconds(30)) {
                        $0.heard(from: SimulatedCard.now - 120_000_000, for: .milliseconds(100)).peak == 0
                    } != nil)
                #expect(device.volume == 1 && device.isMuted)
                try await device.perform(.setMuted(false))
                #expect(await attenuation(of: &card, becomes: 12))
                try await control.perform(.setMuted(true))
                #expect(
                    await card.recording(within: .seconds(30)) {
                        $0.heard(from: SimulatedCard.now - 120_000_000, for: .milliseconds(100)).peak == 0
                    } != nil)
                try await control.perform(.setMuted(false))
                #expect(await attenuation(of: &card, becomes: 12))
            }
        }

        @Test @RouteActor func `nobody sets the volume above the cap`() async throws {
            try await ReceiverUnderTest.use(["--volume-cap", "0.5"]) { receiver in
                var card = receiver.card
                let device = receiver.route.device
                #expect(device.volumeCap == 0.5 && device.volume <= 0.5)
                #expect(try await device.perform(.setVolume(0.9)) == .clampedNumber(0.5))
                _ = try await receiver.playReady("position.flac")
                #expect(await attenuation(of: &card, becomes: 30))
            }
        }

        @Test @RouteActor func `neither process has threads that wake by a clock, after playing as before`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                let end = try await receiver.play("short.wav").ended()
                #expect(end == .finished)
                // Dispatch names its threads after their quality of service; its manager wakes each second.
                for process in ProcessTable.family(of: receiver.daemon.pid) {
                    let names = ProcessTable.entries("/proc/\(process)/task").map {
                        readText("/proc/\(process)/task/\($0)/comm")
                    }
                    #expect(!names.isEmpty && names.allSatisfy { !$0.contains("qos") })
                }
            }
        }
    }
}
