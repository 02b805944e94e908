// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The message of GStreamer's network clock: two numbers of eight bytes, the highest first. Whoever asks writes the first,
/// which comes back as it is; the answer's second is the provider's clock in nanoseconds.
enum ClockPacket {
    static let size = 16
    /// What stands in the place of the answer when there is none yet: GStreamer writes the first, others the second.
    private static let blanks: [UInt64] = [.max, 0]

    static func request(_ mark: UInt64, into bytes: inout [UInt8]) {
        put(mark, into: &bytes, at: 0)
        put(.max, into: &bytes, at: 8)
    }

    /// Writes the answer over a request. False for what is none: two providers that answered each other's answers would
    /// never come to an end.
    static func answer(_ bytes: inout [UInt8], count: Int, time: Int64) -> Bool {
        guard count == size, bytes.count >= size, blanks.contains(number(bytes, at: 8)) else { return false }
        put(UInt64(bitPattern: time), into: &bytes, at: 8)
        return true
    }

    /// The mark of the request, and the provider's clock; nil for what is no answer.
    static func read(_ bytes: [UInt8], count: Int) -> (mark: UInt64, time: Int64)? {
        guard count == size, bytes.count >= size else { return nil }
        // The clock's nanoseconds since its start are far from the sign.
        let time = number(bytes, at: 8)
        return time > UInt64(Int64.max) ? nil : (number(bytes, at: 0), Int64(time))
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in place..<place + 8 { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    private static func put(_ number: UInt64, into bytes: inout [UInt8], at place: Int) {
        for index in 0..<8 {
            bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index))
        }
    }
}
