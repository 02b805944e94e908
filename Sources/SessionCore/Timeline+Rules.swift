// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

extension Timeline {
    /// The most ranges that are taken over from the media.
    static let rangeLimit = 64

    /// The timeline with what is not finite, empty or too much left out: media is not to be trusted.
    var sound: Timeline {
        var sound = self
        if !range.isFinite { sound.range = .empty }
        sound.seekableRanges = seekableRanges.map { ranges in
            let usable = ranges.filter { $0.isFinite && $0.duration.value > 0 }.sorted { $0.start < $1.start }
            return Array(usable.prefix(Self.rangeLimit))
        }
        return sound
    }

    /// True while an item that is not live has no length: its elements still work it out.
    var isUnknown: Bool { !isLive && range.duration.value == 0 }

    /// The place where a seek ends up; nil if nothing can be sought.
    func place(for time: MediaTime) -> MediaTime? {
        guard capabilities.contains(.seek) else { return nil }
        let ranges = (seekableRanges ?? [range]).filter { $0.duration.isNumeric && $0.duration.value > 0 }
        guard let first = ranges.first, let last = ranges.last else { return nil }
        guard first.start < time else { return first.start }
        guard time < last.end else { return last.end }
        // Between two ranges the nearer end counts.
        var best = first.clamp(time)
        for range in ranges.dropFirst() {
            let place = range.clamp(time)
            if place.distance(to: time) < best.distance(to: time) { best = place }
        }
        return best
    }

    /// The position, moved into the range.
    func clamp(_ position: PlaybackPosition) -> PlaybackPosition {
        PlaybackPosition(
            position: range.clamp(position.position, isLive: isLive), clockTime: position.clockTime,
            rate: position.rate)
    }
}

extension TimeRange {
    var isFinite: Bool { start.isNumeric && duration.isNumeric && end.isNumeric }

    /// The nearest moment of the range. The range of an item that is not live and has no length yet has no end
    /// either: its length is not known.
    func clamp(_ time: MediaTime, isLive: Bool) -> MediaTime {
        guard duration.value == 0, !isLive else { return clamp(time) }
        return time < start ? start : time
    }
}

extension MediaTime {
    /// Nanoseconds between two times, for comparing.
    fileprivate func distance(to other: MediaTime) -> UInt64 {
        guard let one = nanoseconds, let other = other.nanoseconds else { return .max }
        return one < other ? UInt64(bitPattern: other &- one) : UInt64(bitPattern: one &- other)
    }
}

extension Segment {
    private func with(_ range: TimeRange) -> Segment {
        Segment(
            range: range, kind: kind, isMarked: isMarked, requiresLinearPlayback: requiresLinearPlayback,
            identifier: identifier)
    }

    /// The segments in order, without empty ones and without overlaps: what began first lasts until its end.
    static func ordered(_ segments: [Segment]) -> [Segment] {
        var ordered: [Segment] = []
        for segment in segments.sorted(by: { $0.range.start < $1.range.start }) {
            guard segment.range.isFinite else { continue }
            let start = max(segment.range.start, ordered.last?.range.end ?? segment.range.start)
            guard let range = TimeRange(from: start, to: segment.range.end) else { continue }
            ordered.append(range.start == segment.range.start ? segment : segment.with(range))
        }
        return ordered
    }

    /// Ordered segments with primary ones in the gaps, over all of `range`; none stay none.
    static func contiguous(_ segments: [Segment], over range: TimeRange) -> [Segment] {
        guard let last = segments.last else { return [] }
        var result: [Segment] = []
        var place = min(range.start, segments.first?.range.start ?? range.start)
        for segment in segments {
            if let gap = TimeRange(from: place, to: segment.range.start) {
                result.append(Segment(range: gap))
            }
            result.append(segment)
            place = segment.range.end
        }
        if let rest = TimeRange(from: last.range.end, to: range.end) { result.append(Segment(range: rest)) }
        return result
    }
}

extension TimeRange {
    /// What lies between two times; nil if that is nothing.
    fileprivate init?(from start: MediaTime, to end: MediaTime) {
        guard start < end, let first = start.nanoseconds, let last = end.nanoseconds else { return nil }
        let (length, overflow) = last.subtractingReportingOverflow(first)
        guard !overflow, length > 0 else { return nil }
        self.init(start: start, duration: MediaTime(nanoseconds: length))
    }
}

extension Session {
    /// The segment that plays: without segments one primary over the whole range.
    package var currentSegment: Segment { segment(at: position.position) }

    /// The segment at a time, or the nearest one; a segment that begins at the time comes before one that ends there.
    package func segment(at time: MediaTime) -> Segment {
        segments.last { !(time < $0.range.start) } ?? segments.first ?? Segment(range: timeline.range)
    }
}
