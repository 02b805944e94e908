// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import SystemProbe

/// What is written down of a message. A stream is what one process sends on one channel.
struct SoakRecord: Equatable {
    enum Kind: UInt64 {
        /// By who received it, before it is acknowledged.
        case handled = 1
        /// By who sent it, when the acknowledgement came.
        case acknowledged
        /// By who received it: its contents are not what was sent.
        case damaged
        /// A connection was cut.
        case dropped
        /// By who sent it: it was refused, or the session ended before an answer came.
        case unanswered
        /// A session could not be started, or ended early.
        case failed
    }

    static let size = 32
    let kind: Kind
    var stream: UInt64 = 0
    var number: UInt64 = 0
    var check: UInt64 = 0

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        for word in [kind.rawValue, stream, number, check] { append(word, to: &bytes) }
        return bytes
    }

    /// The records of a file; a last one that was cut off is none.
    static func read(_ path: String) -> [SoakRecord] {
        let bytes = readBytes(path, limit: 1 << 30) ?? []
        return (0..<(bytes.count / size)).compactMap { index in
            let start = index * size
            guard let kind = Kind(rawValue: word(bytes, start)) else { return nil }
            return SoakRecord(
                kind: kind, stream: word(bytes, start + 8), number: word(bytes, start + 16),
                check: word(bytes, start + 24))
        }
    }
}

private func append(_ word: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
    }
}

private func word(_ bytes: [UInt8], _ start: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<8 { word |= UInt64(bytes[start + index]) << UInt64(index * 8) }
    return word
}

/// A message: stream, number, how many the stream has, a checksum of what follows, and that.
struct SoakMessage {
    static let headLength = 32
    let stream: UInt64
    let number: UInt64
    let count: UInt64
    let check: UInt64

    /// The bytes of a message of random size: most are small, some have up to 1 MiB.
    static func make(
        stream: UInt64, number: UInt64, count: UInt64, from numbers: inout SeededNumbers
    ) -> (message: SoakMessage, bytes: [UInt8]) {
        let most =
            switch numbers.next() % 1_000 {
            case 0..<2: 1 << 20
            case 2..<60: 1 << 15
            case 60..<500: 1 << 10
            default: 64
            }
        let length = max(Int(numbers.next() % UInt64(most + 1)), headLength)
        var body: [UInt8] = []
        body.reserveCapacity(length)
        for word in [stream, number, count, 0] { append(word, to: &body) }
        while body.count + 8 <= length { append(numbers.next(), to: &body) }
        while body.count < length { body.append(UInt8(truncatingIfNeeded: body.count)) }
        let check = checksum(body)
        for index in 0..<8 { body[24 + index] = UInt8(truncatingIfNeeded: check >> UInt64(index * 8)) }
        return (SoakMessage(stream: stream, number: number, count: count, check: check), body)
    }

    /// Nil if it is not what was sent.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength else { return nil }
        let check = word(bytes, 24)
        guard Self.checksum(bytes) == check else { return nil }
        self.init(stream: word(bytes, 0), number: word(bytes, 8), count: word(bytes, 16), check: check)
    }

    private init(stream: UInt64, number: UInt64, count: UInt64, check: UInt64) {
        (self.stream, self.number, self.count, self.check) = (stream, number, count, check)
    }

    /// FNV-1a over all but its own place.
    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        for byte in bytes[..<24] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in bytes[32...] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    func record(_ kind: SoakRecord.Kind) -> SoakRecord {
        SoakRecord(kind: kind, stream: stream, number: number, check: check)
    }
}
