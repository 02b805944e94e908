// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe
import Testing

extension Receiving {
    struct CrashTests {
        @Test @RouteActor func `what plays goes on when the renderer is killed`() async throws {
            try await ReceiverUnderTest.use { receiver in
                var card = receiver.card
                var options = RouteSession.Options()
                options.startPosition = .seconds(10)
                let control = try await receiver.playReady("position.flac", options: options)
                _ = try await card.beginning(ofSecond: 11, from: 0)
                let renderer = try #require(receiver.renderer)
                // Second 11 has just begun; what is told may lag behind what is heard by the bound that is checked below.
                let next = max(Int(control.position().seconds + 0.1), 11) + 1
                let killed = SimulatedCard.now
                _ = try ChildProcess(["kill", "-9", "\(renderer)"]).wait(milliseconds: 20_000)
                let back = try await card.soundAfterDeath(at: killed)
                let change = try await card.beginning(ofSecond: next, from: back)
                #expect(change - killed < 10_000_000_000)
                #expect(control.end == nil)
                try await control.wait(untilTold: Double(next), at: change)
                #expect(receiver.renderer != renderer)
                // It obeys as before.
                let asked = SimulatedCard.now
                try await control.perform(.seek(to: .seconds(40.5), tolerance: .zero))
                _ = try await card.beginning(ofSecond: 41, from: asked)
            }
        }

        @Test @RouteActor func `identity, name and volume outlive a killed daemon, its renderer does not`()
            async throws
        {
            try await ReceiverUnderTest.use { receiver in
                _ = try await receiver.playReady("position.flac")
                let before = try await receiver.identity()
                let renderer = try #require(receiver.renderer)
                try await receiver.route.device.perform(.rename("Kitchen \"2\""))
                try await receiver.route.device.perform(.setVolume(0.375))
                let state = "\(receiver.folder)/state/state.conf"
                #expect(
                    await Programs.poll(within: .seconds(30)) {
                        readText(state).contains("Kitchen") && readText(state).contains("0.375")
                    })
                try await receiver.killAndStartAgain()
                #expect(
                    await Programs.poll(within: .seconds(30)) { readText("/proc/\(renderer)/comm").isEmpty })
                let after = try await receiver.identity()
                #expect(after.id == before.id)
                #expect(after.displayName == "Kitchen \"2\"")
                #expect(receiver.route.device.volume == 0.375)
                #expect(receiver.route.player == nil)
                _ = try await receiver.playReady("position.flac")
            }
        }

        @Test @RouteActor func `a client that is not ours gets along with the receiver`() async throws {
            try await ReceiverUnderTest.use { receiver in
                let sources = Programs.build.split(separator: "/").dropLast().joined(separator: "/")
                let output = "\(receiver.folder)/converse.out"
                let conversation = try ChildProcess(
                    [
                        "/usr/bin/python3", "/\(sources)/Tests/Support/python/converse.py",
                        "127.0.0.1:\(receiver.port)", receiver.media.url("position.flac"),
                    ], output: output)
                let ended = await Programs.poll(within: .seconds(60)) { !conversation.isRunning }
                let code = ended ? conversation.wait(milliseconds: 0) : nil
                conversation.kill()
                #expect(code == 0, "\(readText(output))")
            }
        }
    }
}
