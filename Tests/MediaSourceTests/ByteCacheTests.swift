// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MediaSource

@Suite struct `The cache of bytes` {
    @Test func `gives what was put in, from any place`() {
        var cache = ByteCache(capacity: 1 << 20)
        cache.insert(pattern(0..<200_000), at: 0)
        #expect(cache.firstGap(from: 0) == 200_000)
        #expect(cache.firstGap(from: 150_000) == 200_000)
        #expect(cache.bytes(at: 70_000, maximum: 10) == pattern(70_000..<70_010))
        #expect(cache.bytes(at: 200_000, maximum: 10) == nil)
    }

    @Test func `fills a hole without doubling what is there`() {
        var cache = ByteCache(capacity: 1 << 20)
        cache.insert(pattern(1000..<2000), at: 1000)
        cache.insert(pattern(3000..<4000), at: 3000)
        #expect(cache.firstGap(from: 1500) == 2000)
        cache.insert(pattern(500..<5000), at: 500)
        #expect(cache.count == 4500)
        #expect(cache.firstGap(from: 500) == 5000)
        var all: [UInt8] = []
        while let bytes = cache.bytes(at: 500 + Int64(all.count), maximum: 5000) { all += bytes }
        #expect(all == pattern(500..<5000))
    }

    @Test func `drops what was used longest ago, and never holds more than it may`() {
        var cache = ByteCache(capacity: 10 * ByteCache.blockSize)
        let size = Int64(ByteCache.blockSize)
        cache.insert(pattern(0..<size), at: 0)
        for block in 1..<40 {
            let start = Int64(block) * size
            cache.insert(pattern(start..<start + size), at: start)
            // The beginning is visited now and then.
            if block % 4 == 0 { _ = cache.bytes(at: 0, maximum: 1) }
            #expect(cache.count <= cache.capacity)
        }
        #expect(cache.bytes(at: 0, maximum: 3) == pattern(0..<3))
        #expect(cache.bytes(at: size, maximum: 3) == nil)
        #expect(cache.bytes(at: 39 * size, maximum: 3) == pattern(39 * size..<39 * size + 3))
    }

    @Test func `agrees with a plain array for whatever is put in`() {
        for _ in 0..<4 {
            var cache = ByteCache(capacity: 1 << 20)
            var known = [Bool](repeating: false, count: 1000)
            for _ in 0..<12 {
                let start = Int64.random(in: 0..<800)
                let end = start + Int64.random(in: 0..<200)
                cache.insert(pattern(start..<end), at: start)
                for place in start..<end { known[Int(place)] = true }
            }
            #expect(cache.count == known.count { $0 })
            var right = true
            for place in known.indices {
                let bytes = cache.bytes(at: Int64(place), maximum: 16)
                let gap = known[place...].firstIndex(of: false) ?? known.count
                right = right && (bytes != nil) == known[place] && cache.firstGap(from: Int64(place)) == gap
                if let bytes { right = right && bytes == pattern(Int64(place)..<Int64(place + bytes.count)) }
            }
            #expect(right)
        }
    }
}
