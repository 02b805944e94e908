// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverTestKit
import RouteKit
import RouteWire
import SystemProbe
import Testing

extension Receiving {
    struct GroupQueueTests {
        /// Items of an album, which begin at these seconds of a minute whose tone tells the second.
        @RouteActor private func items(_ pair: GroupPair, _ starts: [Double]) -> [QueueItemRequest] {
            zip(["position.flac", "position.wav", "position.flac"], starts).map { name, start in
                QueueItemRequest(url: pair.host.media.url(name), startPosition: .seconds(start))
            }
        }

        @RouteActor private func start(_ items: [QueueItemRequest], by sender: GroupSender) async throws {
            try await sender.ask(
                .start(
                    SessionStart(
                        url: items[0].url, startPosition: items[0].startPosition,
                        items: Array(items.dropFirst()))))
        }

        @Test @RouteActor func `an album is heard on both receivers, in its order and in step`() async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                try await start(items(pair, [57, 57, 57]), by: pair.memberSender)
                var (one, other) = (pair.host.card, pair.member.card)
                var place: Int64 = 0
                for _ in 1...3 {
                    let first = try await one.beginning(ofSecond: 58, from: place, within: .seconds(60))
                    let second = try await other.beginning(ofSecond: 58, from: place, within: .seconds(60))
                    // A tone tells the place to a few milliseconds.
                    #expect(abs(first - second) < 15_000_000)
                    // Behind the second that was found, and before the next item.
                    place = max(first, second) + 1_500_000_000
                }
                try await pair.hostSender.wait("the end", played: { $0 == nil })
                try await pair.memberSender.wait("the end", played: { $0 == nil })
                #expect(pair.hostSender.currents == ["1", "2", "3"])
                #expect(pair.memberSender.currents == ["1", "2", "3"])
            }
        }

        @Test @RouteActor func `a queue outlives its host, and goes on to the last item`() async throws {
            try await GroupPair.use { pair in
                try await pair.join()
                try await start(items(pair, [0, 50, 30]), by: pair.memberSender)
                var (one, other) = (pair.host.card, pair.member.card)
                _ = try await other.beginning(ofSecond: 1, from: 0, within: .seconds(60))
                // By the other's sender: both go on.
                try await pair.hostSender.ask(.queue(session: nil, .next(from: nil)))
                let first = try await one.beginning(ofSecond: 51, from: 0, within: .seconds(60))
                let second = try await other.beginning(ofSecond: 51, from: 0, within: .seconds(60))
                #expect(abs(first - second) < 15_000_000)
                pair.host.daemon.kill()
                try await pair.memberSender.wait("the member is the host") {
                    $0?.view?.isHost == true && $0?.id == pair.created.group
                }
                let third = try await other.beginning(ofSecond: 31, from: second, within: .seconds(60))
                // Nine seconds of the second item were left, and one of the third is over.
                #expect(third - second > 9_900_000_000)
                #expect(pair.memberSender.currents == ["1", "2", "3"])
                #expect(pair.memberSender.session?.queue?.order == ["1", "2", "3"])
            }
        }

        @Test @RouteActor func `files and the queue are told to any member, as to one receiver alone`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                let host = "--on=127.0.0.1:\(pair.host.port)"
                let member = "--on=127.0.0.1:\(pair.member.port)"
                let file = "\(Programs.build)/media/position.flac"
                let run = try await ProgramRun.start("linnet", ["play", file, file, file, member])
                _ = try #require(await run.line(with: "playing: "))
                try await pair.hostSender.wait("the item", played: { $0?.isReady == true })
                _ = try await linnet("pause", host)
                try await pair.memberSender.wait("the pause", played: { $0?.isPlaying == false })
                let name = "position.flac"
                let all = "* 1  \(name)\n  2  \(name)\n  3  \(name)"
                #expect(try await linnet("queue", host) == all)
                #expect(try await linnet("queue", member) == all)
                _ = try await linnet("queue", "add", "http://127.0.0.1:9/encore.flac", member)
                #expect(try await linnet("queue", "remove", "2", member) == "removed \(name)")
                #expect(try await linnet("queue", "next", member) == "next")
                let rest = "  1  \(name)\n* 2  \(name)\n  3  encore.flac"
                #expect(try await linnet("queue", host) == rest)
                #expect(try await linnet("queue", member) == rest)
                #expect(try await linnet("queue", "clear", host) != "")
                #expect(try await linnet("queue", "next", host) == "next")
                #expect(await run.exit() == .status(0))
            }
        }

        @RouteActor private func linnet(_ words: String...) async throws -> String {
            let (lines, exit) = try await ProgramRun.output(of: "linnet", words)
            #expect(exit == .status(0))
            return lines.joined(separator: "\n")
        }
    }
}
