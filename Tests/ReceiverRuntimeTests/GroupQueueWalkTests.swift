// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RouteWire
import SeededNumbers
import SessionCore
import Testing

extension TestRooms {
    /// Lets time pass while the renderers tell where they are.
    func play(_ seconds: Int) {
        for _ in 0..<seconds {
            for room in rooms { room.clock.advance(by: .seconds(1)) }
            settle()
            for (index, room) in rooms.enumerated() {
                guard let load = room.renderer.currentLoad, let place = place(index), place > 0 else {
                    continue
                }
                room.renderer.report(
                    .positionChanged(
                        load,
                        PlaybackPosition(
                            position: MediaTime(nanoseconds: place), clockTime: room.clock.now,
                            rate: anchor(index)?.rate ?? 0)))
            }
            settle()
        }
    }
}

struct GroupQueueWalkTests {
    private func items(_ names: String...) -> [QueueItemRequest] {
        names.map { QueueItemRequest(url: "http://media.example/\($0)") }
    }

    /// From 10,000 on members are cut off, too.
    @Test(arguments: [1, 2, 3, 10_067, 10_159, 10_218, 10_318] as [UInt64])
    func `whatever happens, all show one queue and play its current item in the end`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let cuts = seed > 10_000
        let rooms = try TestRooms.grouped(3)
        for index in 0..<3 { rooms.spoil(index, index == 2 ? ["b", "s"] : ["b"]) }
        try rooms.playAlbum(at: 1)
        let places: [WireQueuePlace] = [.start, .next, .end]
        for _ in 0..<40 {
            let index = Int(random.next() % 3)
            let number = String(random.next() % 12)
            let isIdle = rooms.rooms[index].shell.state.player == nil
            let choice = random.next() % 16
            let command: QueueCommand? =
                switch choice {
                case 0, 1: .insert(items("i", "s", "b"), places[Int(random.next() % 3)])
                case 2: .remove([number])
                case 3: .move(number, .end)
                case 4: .jump(number)
                case 5: .next(from: nil)
                case 6: .previous(from: nil)
                case 7: .setRepeat(WireRepeat.allCases[Int(random.next() % 3)])
                default: nil
                }
            if let command { _ = rooms.senders[index].say(.queue(session: nil, command)) }
            switch choice {
            case 8, 9, 10: for index in 0..<3 where rooms.loaded(index) != nil { try rooms.end(index) }
            case 11: try rooms.end(index)
            case 12: _ = rooms.senders[index].say(.setPlaying(session: nil, random.next() % 4 > 0))
            case 13 where cuts:
                rooms.network.cut(TestRooms.port(index))
                rooms.settle()
                if random.next() % 2 == 0 { rooms.play(2) }
                rooms.network.heal(TestRooms.port(index))
            case 14, 15:
                guard isIdle else { break }
                _ = rooms.senders[index].say(
                    .start(SessionStart(url: "http://media.example/a", items: items("b", "c"))))
            default: break
            }
            rooms.play(Int(random.next() % 3))
        }
        // Those that were cut off find each other again.
        rooms.play(cuts ? 25 : 3)
        let group = try #require(try rooms.state(0))
        #expect(Set(try (0..<3).map { try rooms.state($0)?.host }) == [group.host])
        #expect(group.members.count == 3)
        // Where the last item cannot be played the session is over.
        let parts = try (0..<3).filter {
            let isOut = group.item != nil && group.members["room-\($0)"]?.suspensions.isEmpty == false
            return try !isOut || rooms.session($0) != nil
        }
        let queues = Set(try parts.map { try rooms.queue($0) })
        #expect(queues.count == 1, "\(queues)")
        guard let name = queues.first??.first(where: { $0.hasPrefix("[") }) else { return }
        for index in 0..<3 { #expect("[\(rooms.loaded(index) ?? "")]" == name) }
    }
}
