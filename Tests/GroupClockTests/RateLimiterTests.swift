// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Datagrams
import Testing

@testable import GroupClock

struct RateLimiterTests {
    private static let second: Int64 = 1_000_000_000

    private static func host(_ number: UInt64) -> DatagramAddress.Host {
        .init(high: 0x2001_0db8_0000_0000, low: number)
    }

    @Test func `one address gets as much as is stated`() {
        var limiter = RateLimiter()
        let admitted = (0..<2_000).count { index in
            limiter.admit(Self.host(1), at: 7 * Self.second + Int64(index) * 500_000) == .admitted
        }
        #expect(admitted == ClockProvider.addressLimit)
        // The next second is another one.
        let after = limiter.admit(Self.host(1), at: 9 * Self.second)
        #expect(after == .admitted)
    }

    @Test func `a flood from one address does not keep the others from their answers`() {
        var limiter = RateLimiter()
        for _ in 0..<1_000 { _ = limiter.admit(Self.host(1), at: Self.second) }
        let others = (2..<66).count { limiter.admit(Self.host(UInt64($0)), at: Self.second) == .admitted }
        // One of them may share the place of the flood in the table.
        #expect(others >= 60)
    }

    @Test func `a flood from everywhere is answered up to the limit of all`() {
        var limiter = RateLimiter()
        var admitted = 0
        var until: Int64?
        for index in 0..<100_000 {
            switch limiter.admit(Self.host(UInt64(index)), at: Self.second) {
            case .admitted: admitted += 1
            case .refused: break
            case .exhausted(let time): until = time
            }
        }
        #expect(admitted <= ClockProvider.limit / 10)
        #expect(until == Self.second + Self.second / 10)
    }

    @Test func `this machine is not limited by its address`() {
        var limiter = RateLimiter()
        let own = DatagramAddress.Host(high: 0, low: 1)
        let admitted = (0..<1_000).count { _ in limiter.admit(own, at: 0) == .admitted }
        #expect(admitted == 1_000)
    }
}
