// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    struct QueueTests {
        /// All that was heard, both channels, without the silence behind it.
        private func sound(_ recording: CardRecording) -> [Int16] {
            var heard: [Int16] = []
            for segment in recording.segments {
                let end = min(segment.endFrame ?? recording.frameCount, recording.frameCount)
                heard += recording.samples[segment.firstFrame * 2..<max(end, segment.firstFrame) * 2]
            }
            return heard
        }

        @Test @RouteActor func `a queue plays without a gap, and each item's facts come with its sound`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                var second = QueueItem(url: receiver.media.url("joint/second.flac"))
                second.title = "The second half"
                (options.following, options.isPlaying) = ([second], false)
                let control = try await receiver.playReady("joint/first.flac", options: options)
                // The end is near, so the second one is made ready. The first alone may be too short for that.
                #expect(
                    await Programs.poll(within: .seconds(30)) {
                        receiver.media.requests.contains { $0.contains("joint/second.flac") }
                    })
                try await control.perform(.setPlaying(true))
                try await control.wait("the second item") { $0.queue.currentID == "2" }
                #expect(control.metadata.title == "The second half")
                #expect(control.isReady && !control.isBuffering)
                try await control.wait("its sound") {
                    $0.timeRange.duration.seconds > 0 && $0.playbackPosition.rate == 1
                }
                let told = control.playbackPosition
                try await control.wait("the end") { $0.end != nil }
                #expect(control.end == .finished)
                let bytes = try FileSystem.read("\(Programs.build)/media/joint/whole.wav", maximum: 1 << 24)
                let whole = stride(from: 44, to: bytes.count - 1, by: 2).map {
                    Int16(truncatingIfNeeded: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
                }
                let recording = card.recording()
                #expect(Array(sound(recording).prefix(whole.count)) == whole)
                // Where the second item begins, by what was told and by what was heard.
                let segment = try #require(recording.segments.first)
                let begun = segment.start + Int64(57_737 / segment.rate * 1e9)
                let late = told.clockTime - Int64(told.position.seconds * 1e9) - begun
                #expect(late.magnitude < 20_000_000, "\(late) ns")
            }
        }

        @Test @RouteActor func `an item that is not there is shown as failed and passed over`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var options = RouteSession.Options()
                options.following = ["nothing.flac", "position.flac"].map {
                    QueueItem(url: receiver.media.url($0))
                }
                let control = try await receiver.play("position.wav", options: options).playbackControl
                try await control.wait("ready") { $0.isReady }
                // The next item is looked at in the last ten seconds.
                try await control.perform(.seek(to: .seconds(51), tolerance: .zero))
                try await control.wait("the failure") { $0.queue.items.dropFirst().first?.error != nil }
                #expect(control.queue.currentID == "1" && control.error == nil)
                #expect(control.queue.items[1].error?.httpStatus == 404)
                try await control.wait("the third item") { $0.queue.currentID == "3" }
                try await control.queue.next()
                try await control.wait("the end") { $0.end != nil }
                #expect(control.end == .finished)
            }
        }

        @Test @RouteActor func `a crash in the second item comes back to it, and goes on to the third`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                var options = RouteSession.Options()
                options.following = ["position.flac", "position.mp3"].map {
                    QueueItem(url: receiver.media.url($0))
                }
                let control = try await receiver.play("short.flac", options: options).playbackControl
                try await control.wait("the second item") {
                    $0.queue.currentID == "2" && $0.timeRange.duration.seconds > 0
                }
                let victim = try #require(receiver.renderer)
                _ = try ChildProcess(["kill", "-9", "\(victim)"]).wait(milliseconds: 20_000)
                try await control.wait("the fault") { $0.error?.code == .rendererCrashed }
                try await control.wait("its end") { $0.error == nil && $0.playbackPosition.rate == 1 }
                #expect(control.queue.currentID == "2")
                try await control.perform(.seek(to: .seconds(58), tolerance: .zero))
                try await control.wait("the third item") { $0.queue.currentID == "3" }
                try await control.queue.next()
                try await control.wait("the end") { $0.end != nil }
                #expect(control.end == .finished)
            }
        }

        @Test @RouteActor func `next, previous, jump and remove are heard`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                let control = try await receiver.playReady("position.wav")
                var far = QueueItem(url: receiver.media.url("position.flac"))
                far.startPosition = .seconds(10)
                let names = try await control.queue.insert([
                    far, QueueItem(url: receiver.media.url("position.mp3")),
                ])
                #expect(names == ["2", "3"])
                var asked = SimulatedCard.now
                try await control.queue.next()
                _ = try await card.beginning(ofSecond: 10, from: asked)
                try await control.wait("the second item") {
                    $0.queue.currentID == "2" && $0.playbackPosition.rate == 1
                }
                try await control.perform(.seek(to: .seconds(20), tolerance: .zero))
                try await control.wait("20 s") { $0.playbackPosition.position.seconds >= 20 }
                // Far inside: from its beginning, which is not where it began.
                asked = SimulatedCard.now
                try await control.queue.previous()
                _ = try await card.beginning(ofSecond: 0, from: asked)
                #expect(control.queue.currentID == "2")
                try await control.queue.jump(to: "3")
                try await control.wait("the third item") {
                    $0.metadata.title == "Position MP3" && $0.playbackPosition.rate == 1
                }
                try await control.queue.move("1", to: .end)
                try await control.queue.remove(["3"])
                try await control.wait("the first item") {
                    $0.queue.currentID == "1" && $0.playbackPosition.rate == 1
                }
                #expect(control.queue.items.map(\.id) == ["2", "1"])
                #expect(control.metadata.title != "Position MP3")
            }
        }
    }
}
