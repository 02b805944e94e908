// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Something short that is heard over whatever plays, such as a doorbell or speech.
package struct Announcement: Equatable, Sendable {
    /// What is left of what plays by itself: soft enough to understand speech over it, loud enough to know it goes on.
    package static let usualDucking = 20.0
    /// The ducking that leaves nothing.
    package static let fullDucking = 60.0

    package var item: MediaItem
    /// Its own loudness, within the device's.
    package var volume: Volume
    /// How far what plays is lowered meanwhile, in decibels within 0...60.
    package var ducking: Double {
        didSet { ducking = Self.clamp(ducking) }
    }

    package init(item: MediaItem, volume: Volume = .full, ducking: Double = usualDucking) {
        (self.item, self.volume, self.ducking) = (item, volume, Self.clamp(ducking))
    }

    private static func clamp(_ ducking: Double) -> Double {
        ducking.isNaN ? usualDucking : min(max(ducking, 0), fullDucking)
    }
}
