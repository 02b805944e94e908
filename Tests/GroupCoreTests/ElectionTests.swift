// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import Testing

private func member(_ id: String, _ number: UInt64, _ kind: ParticipantKind = .receiver) -> GroupMember {
    GroupMember(id: ParticipantID(id), name: id, kind: kind, joinNumber: number)
}

@Suite struct ElectionTests {
    @Test func `the receiver that joined first goes on, of those that are left`() {
        let roster = GroupRoster([member("a", 3), member("c", 1), member("b", 2, .player), member("d", 4)])
        #expect(Election.successor(in: roster, lost: []) == ParticipantID("c"))
        #expect(Election.successor(in: roster, lost: [ParticipantID("c")]) == ParticipantID("a"))
        #expect(
            Election.successor(in: roster, lost: [ParticipantID("c"), ParticipantID("a")])
                == ParticipantID("d"))
    }

    @Test func `a player never becomes the host`() {
        let roster = GroupRoster([member("a", 1), member("b", 2, .player)])
        #expect(Election.successor(in: roster, lost: [ParticipantID("a")]) == nil)
    }

    @Test func `two hosts come to the same survivor, whoever asks`() {
        let claims = [(1, "a"), (1, "b"), (2, "b"), (2, "c"), (7, "a")].map {
            Election.Claim(epoch: $0.0, host: ParticipantID($0.1))
        }
        for one in claims {
            for other in claims {
                let survivor = Election.survivor(of: one, and: other)
                #expect(survivor == Election.survivor(of: other, and: one))
                #expect(survivor == one || survivor == other)
                #expect(survivor.epoch == max(one.epoch, other.epoch))
            }
        }
        #expect(Election.survivor(of: claims[0], and: claims[1]) == claims[0])
    }

    @Test func `a carried anchor is heard at the same place at that moment`() {
        let anchor = PlaybackAnchor(itemTime: 5_000_000_000, clockTime: 1_000_000_000, rate: 1.5)
        let old = ClockLine(local: 0, remote: 900_000_000, skew: 40e-6)
        let new = ClockLine(local: 0, remote: -7_000_000_000, skew: -30e-6)
        let now: Int64 = 60_000_000_000
        let carried = Election.carryOver(anchor, from: old, to: new, at: now)
        #expect(carried.itemTime(at: new.remote(at: now)) == anchor.itemTime(at: old.remote(at: now)))
        #expect(carried.rate == 1.5)
    }
}
