// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The bytes of a resource that are at hand, as blocks at their places. It never holds more than its capacity: what was
/// neither read nor received for longest goes first, so that places that were visited stay while others are read past.
struct ByteCache: Equatable, Sendable {
    private struct Block: Equatable, Sendable {
        var offset: Int64
        var bytes: [UInt8]
        /// The newest use of it, as a number that grows.
        var used: UInt64
        var end: Int64 { offset + Int64(bytes.count) }
    }

    /// Blocks grow up to this size: small enough to drop one without loss, large enough to have few.
    static let blockSize = 64 * 1024
    /// Blocks of any size that are kept, for resources read in very small pieces.
    private static let blockLimit = 1024

    let capacity: Int
    private(set) var count = 0
    private var blocks: [Block] = []
    private var uses: UInt64 = 0

    init(capacity: Int) { self.capacity = max(capacity, Self.blockSize) }

    // MARK: Looking

    /// The block that holds the byte at `offset`.
    private func index(at offset: Int64) -> Int? {
        let next = firstIndex(after: offset)
        guard next > 0, blocks[next - 1].end > offset else { return nil }
        return next - 1
    }

    /// The first block that begins behind `offset`.
    private func firstIndex(after offset: Int64) -> Int {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The first place from `offset` on whose byte is not here.
    func firstGap(from offset: Int64) -> Int64 {
        guard var index = index(at: offset) else { return offset }
        while index + 1 < blocks.count, blocks[index + 1].offset == blocks[index].end { index += 1 }
        return blocks[index].end
    }

    /// The bytes from `offset` on that lie in one piece, at most `maximum`; nil if there are none.
    mutating func bytes(at offset: Int64, maximum: Int) -> [UInt8]? {
        guard maximum > 0, let index = index(at: offset) else { return nil }
        uses += 1
        blocks[index].used = uses
        let start = Int(offset - blocks[index].offset)
        let end = min(blocks[index].bytes.count, start + maximum)
        if start == 0, end == blocks[index].bytes.count { return blocks[index].bytes }
        return Array(blocks[index].bytes[start..<end])
    }

    // MARK: Filling

    /// Takes up `bytes`, which stand at `offset`. What is here already stays.
    mutating func insert(_ bytes: [UInt8], at offset: Int64) {
        guard offset >= 0 else { return }
        uses += 1
        var (place, taken) = (offset, 0)
        while taken < bytes.count {
            if let known = index(at: place) {
                let step = min(Int(blocks[known].end - place), bytes.count - taken)
                (place, taken) = (place + Int64(step), taken + step)
                continue
            }
            let next = firstIndex(after: place)
            let room = next < blocks.count ? blocks[next].offset - place : Int64.max
            let step = min(Int(clamping: room), bytes.count - taken)
            add(bytes[taken..<taken + step], at: place, before: next)
            (place, taken) = (place + Int64(step), taken + step)
        }
        while count > capacity || blocks.count > Self.blockLimit { dropOldest() }
    }

    /// Adds bytes that belong between the block before `index` and the one at it.
    private mutating func add(_ bytes: ArraySlice<UInt8>, at offset: Int64, before index: Int) {
        var (index, place, rest) = (index, offset, bytes)
        if index > 0, blocks[index - 1].end == offset, blocks[index - 1].bytes.count < Self.blockSize {
            let part = rest.prefix(Self.blockSize - blocks[index - 1].bytes.count)
            blocks[index - 1].bytes += part
            blocks[index - 1].used = uses
            place += Int64(part.count)
            rest = rest.dropFirst(part.count)
        }
        while !rest.isEmpty {
            let part = rest.prefix(Self.blockSize)
            blocks.insert(Block(offset: place, bytes: Array(part), used: uses), at: index)
            (index, place, rest) = (index + 1, place + Int64(part.count), rest.dropFirst(part.count))
        }
        count += bytes.count
    }

    private mutating func dropOldest() {
        guard let oldest = blocks.indices.min(by: { blocks[$0].used < blocks[$1].used }) else { return }
        count -= blocks[oldest].bytes.count
        blocks.remove(at: oldest)
    }

    /// Forgets everything.
    mutating func removeAll() { (blocks, count) = ([], 0) }
}
