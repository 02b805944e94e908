// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import SeededNumbers
import Testing

/// The short form of `make soak-data`, without kills: what is acknowledged and what comes back over a route that is cut and resumed all the time.
@Suite(.timeLimit(.minutes(2))) struct DataSoakTests {
    /// What one session sends, and what became of it.
    @RouteActor private final class Stream {
        private let media: MediaSession
        private let channel: SessionDataChannel
        let box: Mailbox
        private(set) var sent: [[UInt8]] = []
        private(set) var acknowledged = 0
        private(set) var refused: [RoutingError] = []
        private var numbers: SeededNumbers
        private let name: UInt8

        init(_ route: Route, name: UInt8, seed: UInt64) async throws {
            media = try await route.open("echo:\(name)")
            box = try Mailbox(media)
            channel = try #require(media.dataChannel)
            numbers = SeededNumbers(seed: seed)
            self.name = name
        }

        /// Small ones, most often.
        private func make(_ number: Int) -> [UInt8] {
            let most: UInt64 = numbers.next() % 50 == 0 ? 40_000 : 300
            let head = [name, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
            return head
                + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(numbers.next() % most))
        }

        /// Sends so many, and cuts the connection after some of them.
        func send(_ count: Int, over route: Route, cutting one: UInt64) async throws -> Int {
            var cuts = 0
            for number in 0..<count {
                let message = make(number)
                sent.append(message)
                try await channel.post(message) { [self] in
                    switch $0 {
                    case .success: acknowledged += 1
                    case .failure(let error): refused.append(error)
                    }
                }
                if numbers.next() % one == 0, case .active = route.state {
                    route.dropConnection()
                    cuts += 1
                }
            }
            return cuts
        }

        func sendLast() async throws {
            sent.append([name])
            try await channel.send([name])
        }
    }

    @Test @RouteActor func `over a route that is cut again and again each of many messages is handled once`()
        async throws
    {
        try await ApplicationStage.use { folder in
            try await ApplicationStage.makeSamples(in: folder)
        } _: { stage in
            // There and back, in two sessions: 20,000.
            let count = 5_000
            let route = try await stage.sender("Ada")
            let streams = [
                try await Stream(route, name: 1, seed: 41), try await Stream(route, name: 2, seed: 42),
            ]
            let senders = streams.map { stream in
                Task { try await stream.send(count, over: route, cutting: 600) }
            }
            var cuts = 0
            for sender in senders { cuts += try await sender.value }
            for stream in streams {
                // Messages are taken in order, so what came before it was answered.
                try await stream.sendLast()
                try await stream.box.wait("all of them", within: .seconds(60)) { $0.messages.count > count }
                #expect(stream.acknowledged == count && stream.refused.isEmpty)
                // Compared one by one, since a difference of all of them takes long to print.
                #expect(stream.box.messages.count == count + 1)
                let first = zip(stream.box.messages, stream.sent).enumerated().first { $1.0 != $1.1 }
                #expect(first?.offset == nil, "the first that is another")
            }
            #expect(cuts > 5)
        }
    }
}
