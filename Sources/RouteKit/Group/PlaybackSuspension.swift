// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel

/// A time in which a player takes no part in its group. Shared with the others.
@RouteActor public final class PlaybackSuspension {
    /// Why.
    public let reason: SuspensionReason
    /// When it began.
    public let beginDate = ContinuousClock.now
    private var finish: ((Int64?) -> Void)?

    init(reason: SuspensionReason, finish: @escaping (Int64?) -> Void) {
        (self.reason, self.finish) = (reason, finish)
    }

    isolated deinit { finish?(nil) }

    /// Takes part again; with the last suspension that ends the player is told where the group is. Once.
    public func end() { end(at: nil) }

    /// The same, and has all go to this place; they go on as they did. Without effect on them while other suspensions of this player
    /// are open, or for what is no place.
    public func end(proposingNewTime time: MediaTime) { end(at: time.placeInItem) }

    private func end(at time: Int64?) {
        let finish = finish
        self.finish = nil
        finish?(time)
    }
}
