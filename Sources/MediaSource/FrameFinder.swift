// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Finds the first frame of coded sound that has no container, MPEG audio or AAC with headers of ADTS, behind bytes that
/// are none: what a server, or a stream that was cut, left in front of it.
package enum FrameFinder {
    /// So far is looked for the first frame.
    package static let window = 64 * 1024
    /// Frames in a row of which each says where the next one begins, and is of its kind.
    static let row = 3
    /// Tags at the beginning that are passed over.
    static let tags = 8

    /// Where the first frame of `bytes` begins that others follow; nil if there is none within the window. What is cut off
    /// behind two frames is taken for the end of a row if the bytes `end` there.
    static func firstFrame(in bytes: [UInt8], end: Bool) -> Int? {
        for place in bytes.indices.prefix(window) where bytes[place] == 0xFF {
            if isRow(in: bytes, at: place, end: end) { return place }
        }
        return nil
    }

    private static func isRow(in bytes: [UInt8], at place: Int, end: Bool) -> Bool {
        guard let first = CodedFrame(bytes[place...]) else { return false }
        var next = place + first.length
        for count in 1..<row {
            guard next + CodedFrame.header <= bytes.count else { return end && count > 1 }
            guard let frame = CodedFrame(bytes[next...]), frame.kind == first.kind else { return false }
            next += frame.length
        }
        return true
    }

    /// The length of a tag of ID3v2 at the beginning of `bytes`; nil if there is none.
    static func tagLength(_ bytes: [UInt8]) -> Int64? {
        guard bytes.count >= 10, bytes.starts(with: Array("ID3".utf8)), bytes[3] < 0xFF,
            bytes[6..<10].allSatisfy({ $0 < 0x80 })
        else { return nil }
        let size = bytes[6..<10].reduce(Int64(0)) { $0 << 7 | Int64($1) }
        return 10 + size + (bytes[5] & 0x10 != 0 ? 10 : 0)
    }
}

/// The header of one frame.
struct CodedFrame: Equatable {
    /// As many bytes as are read of one.
    static let header = 6

    /// What does not change from frame to frame.
    var kind: [UInt8]
    var length: Int

    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= Self.header else { return nil }
        let bytes = Array(bytes.prefix(Self.header))
        guard bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return nil }
        if bytes[1] & 0xF6 == 0xF0 { self.init(adts: bytes) } else { self.init(mpeg: bytes) }
    }

    private init?(adts bytes: [UInt8]) {
        guard bytes[2] >> 2 & 15 < 13 else { return nil }
        kind = [bytes[1], bytes[2] & 0xFD, bytes[3] & 0xC0]
        length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        guard length > (bytes[1] & 1 != 0 ? 7 : 9) else { return nil }
    }

    private init?(mpeg bytes: [UInt8]) {
        let (version, layer) = (Int(bytes[1] >> 3 & 3), 4 - Int(bytes[1] >> 1 & 3))
        let (rateIndex, bitRateIndex) = (Int(bytes[2] >> 2 & 3), Int(bytes[2] >> 4))
        guard version != 1, layer < 4, rateIndex < 3, (1..<15).contains(bitRateIndex), bytes[3] & 3 != 2
        else { return nil }
        let isFirst = version == 3
        let rate = [44_100, 48_000, 32_000][rateIndex] / (isFirst ? 1 : version == 2 ? 2 : 4)
        let bitRate = 1000 * Self.bitRate(index: bitRateIndex, layer: layer, isFirst: isFirst)
        let padding = Int(bytes[2] >> 1 & 1)
        length =
            switch layer {
            case 1: (12 * bitRate / rate + padding) * 4
            case 3 where !isFirst: 72 * bitRate / rate + padding
            default: 144 * bitRate / rate + padding
            }
        kind = [bytes[1] & 0xFE, bytes[2] & 0x0C]
    }

    /// Thousands of bits a second, of the first version of MPEG audio or a later one.
    private static func bitRate(index: Int, layer: Int, isFirst: Bool) -> Int {
        let rates: [Int] =
            switch (layer, isFirst) {
            case (1, true): [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
            case (2, true): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
            case (_, true): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
            case (1, false): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
            case (_, false): [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
            }
        return rates[index - 1]
    }
}

extension SourceReader {
    /// Where the first frame of sound without a container begins, behind tags and what else stands in front of it. Nil if
    /// there is none in the first 64 KiB, or the server does not bring them.
    package func findFrames() -> Int64? {
        var start: Int64 = 0
        for _ in 0..<FrameFinder.tags {
            let (bytes, _) = bytes(at: start, count: 10)
            guard let length = FrameFinder.tagLength(bytes) else { break }
            // One that ends behind the end is no tag, but the sound may follow its head.
            if let total = source.facts?.length, start + length >= total {
                start += 10
                break
            }
            start += length
        }
        // The last row may begin at the end of the window.
        let (bytes, isEnd) = bytes(at: start, count: FrameFinder.window + FrameFinder.row * 8192)
        return FrameFinder.firstFrame(in: bytes, end: isEnd).map { start + Int64($0) }
    }

    /// The bytes from `offset` on, `count` of them unless they end before.
    private func bytes(at offset: Int64, count: Int) -> (bytes: [UInt8], isEnd: Bool) {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let place = offset + Int64(bytes.count)
            guard case .bytes(let more) = read(at: place, maximum: count - bytes.count) else {
                return (bytes, true)
            }
            bytes += more
        }
        return (bytes, false)
    }
}
