// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import MediaModel

// A load of a group. The output decides what is heard of it and when; here it is seen to that what it needs is decoded: a place
// that the output does not have is sought, as far ahead of the group as the move takes. See `Docs/synchronised-output.md`.
extension GStreamerRenderer {
    /// How far ahead of the group a place is sought at first, in nanoseconds, and at most.
    private static let usualLead: Int64 = 250_000_000
    private static let longestLead: Int64 = 5_000_000_000
    /// Places are sought by this measure: a whole number of frames at every usual rate, so that no rounding of the media's times
    /// moves the sound by a frame.
    private static let measure: Int64 = 10_000_000

    /// Nothing lasts ten years.
    private static let farthest: Int64 = 315_360_000_000_000_000

    /// How a load is bound to its group.
    struct Bond: Equatable, Sendable {
        /// Nil: it stands.
        var anchor: PlaybackAnchor?
        var isReady = false
        /// How far ahead of the group the next place is sought, in nanoseconds, and when that of the move under way began.
        var lead = GStreamerRenderer.usualLead
        var soughtAt: Int64?
        /// What was sought last, and the place that it led to was not before it.
        var sought: Int64?
    }

    func setGroupClock(_ line: ClockLine?) {
        groupClock = line
        output.setGroupClock(line)
    }

    func setOutputTrim(_ nanoseconds: Int64) {
        outputTrim = min(max(nanoseconds, -2_000_000_000), 2_000_000_000)
        output.setOutputTrim(outputTrim)
    }

    func bind(to anchor: PlaybackAnchor?) {
        guard let current = playback else { return }
        var anchor = anchor
        if let rate = anchor?.rate, !rate.isFinite || !Self.speeds.contains(rate) { anchor = nil }
        cancelPreparation()
        var bond = current.bond ?? Bond()
        (bond.anchor, bond.sought) = (anchor, nil)
        playback?.bond = bond
        playback?.scan = nil
        playback?.isPlaying = anchor != nil
        playback?.pausedSince = anchor == nil ? AudioOutput.now() : nil
        output.bind(current.stream, to: anchor)
        if anchor == nil { setBuffering(false) } else if current.phase == .loading { setBuffering(true) }
        if let rate = anchor?.rate, rate != current.speed || current.scan != nil {
            playback?.speed = rate
            if current.phase == .ready || current.seek != nil { seekGroup() }
        } else if current.phase == .ended, anchor != nil {
            seekGroup()
        }
    }

    func unbind() {
        guard let current = playback, current.bond != nil else { return }
        playback?.bond = nil
        applyPlaying()
        output.unbind(current.stream)
        considerNext()
    }

    func readinessChanged(_ isReady: Bool) {
        guard let current = playback, current.bond != nil, current.bond?.isReady != isReady else { return }
        playback?.bond?.isReady = isReady
        report(.readinessChanged(current.id, isReady))
    }

    /// The output does not have what is to be heard, which is `wanted` in nanoseconds, and has frames from `first` on.
    func strayed(wanted: Int64, first: Int64) {
        guard let current = playback, let bond = current.bond, current.outage == nil, current.seek == nil,
            current.nextSeek == nil, current.failure == nil, current.phase != .ended
        else { return }
        // The item has nothing there, such as a beginning that comes a little after 0.
        if let sought = bond.sought ?? (current.place <= wanted ? current.place : nil), wanted < first,
            sought <= wanted
        {
            return
        }
        if current.hasReportedLoaded, !current.timeline.capabilities.contains(.seek),
            !current.timeline.isUnfinished
        {
            return
        }
        seekGroup()
    }

    private func seekGroup() {
        guard let current = playback, let place = groupPlace() else { return }
        playback?.bond?.soughtAt = AudioOutput.now()
        playback?.bond?.sought = place
        // An item that is over begins again with a move.
        if current.phase == .ended { playback?.phase = .ready }
        queueSeek(Playback.Seek(id: nil, position: place, isAccurate: true))
    }

    /// Where the group will be when a move that begins now is done, in nanoseconds; nil if it stands, or its time is not known.
    func groupPlace() -> Int64? {
        guard let current = playback, let bond = current.bond, let anchor = bond.anchor, let groupClock
        else { return nil }
        let time = groupClock.remote(at: AudioOutput.now() + bond.lead + outputTrim)
        // Before its beginning, the place is that of the beginning.
        let exact = anchor.itemTime(at: max(time, anchor.clockTime))
        var place = min(max(0, exact), Self.farthest) / Self.measure * Self.measure
        if time > anchor.clockTime, place < exact { place += Self.measure }
        guard current.timeline.range != .empty, !current.timeline.isLive,
            let end = current.timeline.range.end.nanoseconds
        else { return place }
        return min(place, end)
    }

    /// A move is done: the next one is begun as early as this one would have needed.
    func learnLead() {
        guard let bond = playback?.bond, let since = bond.soughtAt else { return }
        playback?.bond?.soughtAt = nil
        let took = AudioOutput.now() - since
        playback?.bond?.lead = min(max(Self.usualLead, took + took / 2), Self.longestLead)
    }
}
