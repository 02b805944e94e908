// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// Frames on their way from one writing thread to one reading thread: plain storage, addressed by the number of
/// the frame. Who may touch which frames when is the owner's business.
@safe package final class FrameStore: @unchecked Sendable {
    // Written by one thread and read by another, never the same frames at the same time: the owner hands
    // stretches over under its own lock.
    private let samples: UnsafeMutablePointer<Float>
    package let channels: Int
    /// How many frames there is room for.
    package let capacity: Int

    package init(capacity: Int, channels: Int) {
        (self.capacity, self.channels) = (max(capacity, 1), max(channels, 1))
        unsafe samples = .allocate(capacity: self.capacity * self.channels)
        unsafe samples.initialize(repeating: 0, count: self.capacity * self.channels)
    }

    deinit { unsafe samples.deallocate() }

    /// Copies `count` frames of `source`, beginning with its frame `offset`, to the frames from `frame` on.
    package func store(_ source: Span<Float>, offset: Int, count: Int, at frame: Int64) {
        guard offset >= 0, count > 0, count <= capacity, (offset + count) * channels <= source.count else {
            return
        }
        let start = Int(frame % Int64(capacity))
        let first = min(count, capacity - start)
        unsafe source.withUnsafeBufferPointer { from in
            guard let from = from.baseAddress else { return }
            unsafe (samples + start * channels).update(
                from: from + offset * channels, count: first * channels)
            unsafe samples.update(from: from + (offset + first) * channels, count: (count - first) * channels)
        }
    }

    /// Copies `count` frames from `frame` on to `target` from its frame `place` on, which must have room.
    package func load(_ count: Int, from frame: Int64, into target: inout [Float], at place: Int = 0) {
        guard count > 0, count <= capacity, place >= 0, (place + count) * channels <= target.count else {
            return
        }
        let start = Int(frame % Int64(capacity))
        let first = min(count, capacity - start)
        unsafe target.withUnsafeMutableBufferPointer { to in
            guard let base = to.baseAddress else { return }
            let to = unsafe base + place * channels
            unsafe to.update(from: samples + start * channels, count: first * channels)
            unsafe (to + first * channels).update(from: samples, count: (count - first) * channels)
        }
    }
}
