// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Where the group is in an item. Times are nanoseconds, of the item and of the group's clock.
package enum GroupTimeline: Equatable, Hashable, Sendable {
    /// Stands at this place. Leaves for `waiting` or `playing` when somebody asks for a rate.
    case paused(at: Int64)
    /// Stands at this place until those who take part are ready to play at the rate, or the bound has passed. Leaves for
    /// `playing` then, for `paused` when somebody pauses.
    case waiting(at: Int64, rate: Double)
    /// Leaves for `paused` by a pause or the end of the item, for `waiting` by a seek.
    case playing(PlaybackAnchor)

    /// The item's time that belongs to a moment of the group's clock, never before the item's start.
    package func itemTime(at clockTime: Int64) -> Int64 {
        switch self {
        case .paused(let time), .waiting(let time, _): time
        case .playing(let anchor): max(0, anchor.itemTime(at: clockTime))
        }
    }

    /// What is heard; 0 while it stands.
    package var rate: Double {
        if case .playing(let anchor) = self { anchor.rate } else { 0 }
    }

    /// What is asked for: that of `waiting` too.
    package var wantedRate: Double {
        switch self {
        case .paused: 0
        case .waiting(_, let rate): rate
        case .playing(let anchor): anchor.rate
        }
    }
}

/// Where somebody who goes over to an item would have it begin. It counts if the group has no timeline for that item yet.
package struct TimingProposal: Equatable, Hashable, Sendable {
    package var itemTime: Int64
    /// 0: paused.
    package var rate: Double
    /// The moment of the group's clock at which the place is heard. Nil with a rate: when all are ready.
    package var clockTime: Int64?
    package init(itemTime: Int64, rate: Double = 0, clockTime: Int64? = nil) {
        (self.itemTime, self.rate, self.clockTime) = (itemTime, rate, clockTime)
    }
}
