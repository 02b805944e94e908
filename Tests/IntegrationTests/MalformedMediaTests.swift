// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverTestKit
import RouteKit
import SeededNumbers
import Settings
import SystemProbe
import Testing

/// Ways in which files are broken, each by chance.
private enum Damage: CaseIterable {
    case bits, sizes, cut, gap, twice, nested, zeros

    func done(to media: [UInt8], _ random: inout SeededNumbers) -> [UInt8] {
        var bytes = media
        func place(_ limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }
        // Headers are where structure is; what follows is mostly sound.
        let reach = random.next() % 2 == 0 ? min(4096, bytes.count) : bytes.count
        switch self {
        case .bits: for _ in 0...place(16) { bytes[place(reach)] ^= 1 << UInt8(place(8)) }
        case .sizes:
            // A size of all ones is unknown or endless in most containers.
            let start = place(reach)
            for index in start..<min(start + 1 + place(8), bytes.count) { bytes[index] = 0xff }
        case .cut: bytes.removeLast(place(bytes.count))
        case .gap:
            let start = place(bytes.count)
            bytes.removeSubrange(start..<min(start + place(8192), bytes.count))
        case .twice:
            let start = place(bytes.count)
            let piece = Array(bytes[start..<min(start + place(8192), bytes.count)])
            bytes.insert(contentsOf: piece, at: place(bytes.count))
        case .nested:
            for _ in 0...place(4) { bytes.insert(contentsOf: bytes.prefix(place(512)), at: place(512)) }
        case .zeros:
            let start = place(reach)
            for index in start..<min(start + place(256), bytes.count) { bytes[index] = 0 }
        }
        return bytes
    }
}

extension Receiving {
    struct MalformedMediaTests {
        /// GStreamer's demuxers have been ended by such files: one that ends the renderer ends its own item at most.
        @Test(arguments: ["beeps.mkv", "video.webm", "video.mp4", "position.ogg"]) @RouteActor
        func `whatever is wrong with a file, it plays or is refused, and the next one plays`(_ name: String)
            async throws
        {
            let media = try FileSystem.read("\(Programs.build)/media/\(name)", maximum: 1 << 22)
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let count = Machine.environment("LINNET_DAMAGED_FILES").flatMap { Int($0) } ?? 14
            var random = SeededNumbers(seed: UInt64(media.count))
            try await ReceiverUnderTest.use { receiver in
                let server = try await MediaServer(folder: receiver.folder, serving: folder)
                defer { server.process.kill() }
                var outcomes: [String: Int] = [:]
                for number in 0..<count {
                    let kind = Damage.allCases[number % Damage.allCases.count]
                    let file = "\(number)-\(name)"
                    try FileSystem.write(kind.done(to: media, &random), to: "\(folder)/\(file)")
                    let session = RouteSession(url: server.url(file))
                    receiver.route.addSession(session)
                    let control = try await session.start().playbackControl
                    try await control.wait("\(kind), number \(number): ready or over", within: .seconds(60)) {
                        $0.isReady || $0.end != nil
                    }
                    switch control.end {
                    case .failed(let failure)?:
                        // The server gave all that was asked for.
                        #expect(
                            failure.code != .network && failure.code != .timeout,
                            "\(kind), number \(number): \(failure)")
                        outcomes["\(failure.code)", default: 0] += 1
                    case nil: outcomes["plays", default: 0] += 1
                    case let end?: outcomes["\(end)", default: 0] += 1
                    }
                    await session.stop()
                    try FileSystem.remove("\(folder)/\(file)")
                }
                print("\(name): \(outcomes.sorted { $0.key < $1.key })")
                var card = receiver.card
                let asked = SimulatedCard.now
                _ = try await receiver.playReady("position.flac")
                _ = try await card.beginning(ofSecond: 1, from: asked, within: .seconds(30))
                #expect(receiver.daemon.isRunning)
            }
        }
    }
}
