// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import Testing

@testable import Soup

struct FrameTrackerTests {
    private func frame(_ first: UInt8, _ size: Int, isMasked: Bool) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes = [first]
        switch size {
        case ..<126: bytes.append(mask | UInt8(size))
        case ..<65_536: bytes += [mask | 126, UInt8(size >> 8), UInt8(size & 0xff)]
        default:
            bytes.append(mask | 127)
            bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: size >> $0) }
        }
        // Contents that look like headers.
        return bytes + [UInt8](repeating: 0x81, count: size + (isMasked ? 4 : 0))
    }

    @Test(arguments: [true, false])
    func `messages are counted when their last byte has left, in pieces of any size`(_ isMasked: Bool) {
        var random = SeededNumbers(seed: 5)
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for size in [0, 1, 125, 126, 127, 65_535, 65_536, 0, 3] {
            // A ping between the frames, and a first half of a message.
            bytes += frame(0x89, 4, isMasked: isMasked) + frame(0x02, size, isMasked: isMasked)
            bytes += frame(0x8a, 0, isMasked: isMasked) + frame(0x80, size, isMasked: isMasked)
            ends.append(bytes.count)
            bytes += frame(0x82, size, isMasked: isMasked)
            ends.append(bytes.count)
        }
        for most in [1, 3, 1_000, UInt64(bytes.count)] {
            var tracker = FrameTracker()
            var place = 0
            while place < bytes.count {
                let next = min(bytes.count, place + 1 + Int(random.next() % most))
                unsafe bytes[place..<next].withUnsafeBytes { unsafe tracker.follow($0) }
                place = next
                #expect(tracker.messages == ends.count { $0 <= place })
            }
        }
    }
}
