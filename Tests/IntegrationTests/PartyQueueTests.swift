// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    struct PartyQueueTests {
        @RouteActor private func useParty(
            _ body: @RouteActor (ReceiverUnderTest) async throws -> Void
        ) async throws {
            let folder = try ScratchFolder()
            try await ApplicationStage.makeSamples(in: folder.path)
            try await ReceiverUnderTest.use([
                "--applications-system-folder", folder.path, "--applications-local-folder", "",
            ]) { try await body($0) }
        }

        @Test @RouteActor func `guests add to one queue, hear it, and each of them controls it`() async throws
        {
            try await useParty { receiver in
                var card = receiver.card
                let ada = try await receiver.route.open("party:tonight")
                let ben = try await (try await receiver.anotherSender("Ben")).open("party:tonight")
                let (adas, bens) = (try Mailbox(ada), try Mailbox(ben))
                func say(_ guest: MediaSession, _ text: String) async throws {
                    try await #require(guest.dataChannel).send(Array(text.utf8))
                }
                await #expect(throws: RoutingError.self) { try await say(ada, "dance") }
                await #expect(throws: RoutingError.self) { try await say(ada, "skip") }
                let asked = SimulatedCard.now
                try await say(ada, "add \(receiver.media.url("position.wav")) Counting Up")
                _ = try await card.beginning(ofSecond: 1, from: asked)
                try await say(ben, "add \(receiver.media.url("position.flac")) The Other One")
                try await say(ben, "add \(receiver.media.url("position.mp3"))")
                for box in [adas, bens] {
                    try await box.wait("what plays") {
                        $0.texts.contains("playing Counting Up (First sender)")
                            && $0.texts.contains("Ben added position.mp3")
                    }
                }
                try await say(ben, "list")
                try await bens.wait("the list") {
                    $0.texts.contains(
                        "* Counting Up (First sender)\n  The Other One (Ben)\n  position.mp3 (Ben)")
                }
                // What the application plays is what both sessions show, and either of them controls it.
                for control in [ada.playbackControl, ben.playbackControl] {
                    try await control.wait("the queue") { $0.isReady && $0.queue.items.count == 3 }
                    #expect(
                        control.queue.items.map(\.title) == ["Counting Up", "The Other One", "position.mp3"])
                }
                try await ben.playbackControl.perform(.setPlaying(false))
                try await ada.playbackControl.wait("the pause") { !$0.isPlaying }
                let resumed = SimulatedCard.now
                try await ada.playbackControl.perform(.seek(to: .seconds(30), tolerance: .zero))
                try await ada.playbackControl.perform(.setPlaying(true))
                _ = try await card.beginning(ofSecond: 31, from: resumed)
                let skipped = SimulatedCard.now
                try await say(ada, "skip")
                _ = try await card.beginning(ofSecond: 1, from: skipped)
                for (box, guest) in [(adas, ada), (bens, ben)] {
                    try await box.wait("who skipped, and then what plays") {
                        $0.texts.suffix(2) == ["First sender skipped", "playing The Other One (Ben)"]
                    }
                    try await guest.playbackControl.wait("the second") { $0.queue.currentID == "2" }
                }
                // Whoever leaves leaves the music.
                await receiver.controller.deactivate(receiver.route)
                try await bens.wait("who left") { $0.texts.contains("First sender is gone") }
                #expect(ben.playbackControl.isPlaying && ben.endReason == nil)
                try await say(ben, "skip")
                try await bens.wait("the last track") { $0.texts.contains("playing position.mp3 (Ben)") }
                try await ben.playbackControl.wait("the third") { $0.queue.currentID == "3" }
                try await ben.playbackControl.queue.next()
                try await bens.wait("the end") { $0.texts.contains("the queue is empty") }
                #expect(
                    bens.texts.suffix(3)
                        == ["Ben skipped", "playing position.mp3 (Ben)", "the queue is empty"])
                #expect(ben.endReason == nil)
                // And once more.
                let again = SimulatedCard.now
                try await say(ben, "add \(receiver.media.url("position.wav")) Encore")
                _ = try await card.beginning(ofSecond: 1, from: again)
            }
        }
    }
}
