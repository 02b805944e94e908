// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import Synchronization

/// A place in the ring whose being heard is reported.
struct Cue: Equatable, Sendable {
    let stream: StreamID
    let number: Int
    /// The first frame behind it.
    var frame: Int64
}

extension FrameRing.State {
    /// The sound in the ring lasts less than half a second: more cues than this are told of at once.
    private static let cueLimit = 32

    /// Puts a cue behind the frames of the stream so far. False if they are no place in the ring.
    mutating func cue(_ number: Int, in stream: StreamID) -> Bool {
        guard writer == stream, cues.count < Self.cueLimit else { return false }
        cues.append(Cue(stream: stream, number: number, frame: head))
        return true
    }

    /// Takes out the cues that were reached: those up to `heard`, where frames are kept that were heard.
    mutating func takeCues(heard: Int64? = nil) -> [Cue] {
        let place = max(kept, heard ?? kept)
        guard let first = cues.first, first.frame <= place else { return [] }
        let reached = cues.prefix { $0.frame <= place }
        cues.removeFirst(reached.count)
        return Array(reached)
    }

    /// Forgets the frames before the cues: nothing remains to be waited for.
    mutating func reachAllCues() {
        for index in cues.indices { cues[index].frame = min(cues[index].frame, kept) }
    }
}

extension AudioOutput {
    /// Has `cueReached` reported when the next frame of `stream` is heard; at the latest when what was before it was
    /// forgotten. False, and no report, if the stream's turn has not come, or too many cues wait.
    package func cue(_ number: Int, in stream: StreamID) -> Bool {
        let isSet = ring.state.withLock { $0.cue(number, in: stream) }
        if isSet { ring.readerWake.signal() }
        return isSet
    }
}
