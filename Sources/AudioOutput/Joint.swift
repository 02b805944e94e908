// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The stream that is to be heard after the one that is heard, while none of its frames are in the ring.
struct Follower: Equatable, Sendable {
    let stream: StreamID
    /// The rate of its frames; nil until the first of them is there.
    var rate: Int32?
    /// True if it ended before its turn came.
    var hasEnded = false
}

/// The place in the ring where one stream ends and the next begins.
struct Joint: Equatable, Sendable {
    let stream: StreamID
    /// The first frame of `stream`.
    let frame: Int64
    /// Where the stream before ended, in nanoseconds of its media.
    let end: Double?
}

// Two streams meet in the ring: the frames of the second stand right behind those of the first, if they have the same rate, and
// are given to the card like any others. Which of them is heard is told by the place of the joint. Streams of different
// rates do not meet: the second begins when the first was heard, with the card set to its rate.
extension FrameRing.State {
    /// The stream that may put frames in.
    var writer: StreamID? { isFading ? nil : joint?.stream ?? stream }

    /// Lets the stream that follows put its frames in, if the one before has ended and the card need not be set anew.
    mutating func join() {
        guard hasEnded, !hasDrained, joint == nil, let follower, follower.rate == rate else { return }
        joint = Joint(stream: follower.stream, frame: head, end: marks.place(of: head)?.position)
        marks.cut()
        (hasEnded, isFinished, self.follower) = (false, false, nil)
    }

    /// Takes back what followed, if it was `stream`. What of it is in the ring is forgotten.
    mutating func unfollow(_ stream: StreamID) {
        if follower?.stream == stream { follower = nil }
        guard let joint, joint.stream == stream else { return }
        self.joint = nil
        // The card holds some of it: it is given the rest of the stream before once more.
        if next > joint.frame { mustRewind = true }
        (head, next, hasEnded) = (joint.frame, min(next, joint.frame), true)
        marks.forget(from: joint.frame)
        cues.removeAll { $0.stream == joint.stream }
    }

    /// The stream that is heard from now on, if its first frame is; and the one before.
    mutating func passJoint() -> (from: StreamID, to: StreamID)? {
        guard let joint, let stream, kept >= joint.frame else { return nil }
        // What was heard is a place of the stream before.
        (self.stream, self.joint, heard) = (joint.stream, nil, nil)
        return (stream, joint.stream)
    }

    /// Everything of the stream was heard: the next one's turn, though none of its frames are there. Nil if none follows.
    mutating func takeTurn() -> (from: StreamID, to: StreamID)? {
        guard let follower, let stream else { return nil }
        (self.stream, self.follower, heard) = (follower.stream, nil, nil)
        (hasEnded, isFinished) = (follower.hasEnded, false)
        marks.removeAll()
        return (stream, follower.stream)
    }
}

extension AudioOutput {
    /// Says that the frames of `next` are to be heard after those of `stream`, without a gap where both have one rate. Frames
    /// of `next` are held back until the other stream has ended; `advanced` is reported when its first frame is heard.
    /// In place of what followed before.
    package func follow(_ next: StreamID, after stream: StreamID) {
        ring.change {
            guard $0.stream == stream else { return }
            if let joint = $0.joint { $0.unfollow(joint.stream) }
            $0.follower = Follower(stream: next)
        }
    }
}
