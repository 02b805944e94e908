// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Names one stream of frames into the output: one load of an item.
package struct StreamID: Equatable, Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// How the output is set up.
package struct AudioOutputConfiguration: Equatable, Sendable {
    /// Which control follows the output volume.
    package enum MixerChoice: Equatable, Sendable {
        /// Samples are multiplied.
        case software
        /// The card's own, where it has one with a scale in decibels; else `software`.
        case automatic
        /// The control of this name.
        case control(String)
    }

    /// An ALSA name such as `hw:CARD=Foo`, `null` for none, or `auto`.
    package var device: String
    package var mixer: MixerChoice
    /// No louder than this, whatever is asked for.
    package var maximumLevel: Double
    /// After a stop, or after the end, the device is given up so that others can use it.
    package var closeDelay: Duration
    /// What the card has queued at most: the longer, the fewer gaps on a busy machine, and the later a change of a volume
    /// that is made in software is heard. 50 ms to 2 s.
    package var buffer: Duration
    /// The first and the longest wait before a device that was lost is tried again.
    package var retryDelays: ClosedRange<Duration>

    package init(
        device: String = "auto", mixer: MixerChoice = .software, maximumLevel: Double = 1,
        closeDelay: Duration = .seconds(5), buffer: Duration = .milliseconds(150),
        retryDelays: ClosedRange<Duration> = .milliseconds(500)...(.seconds(5))
    ) {
        (self.device, self.mixer, self.maximumLevel) = (device, mixer, maximumLevel)
        (self.closeDelay, self.retryDelays) = (closeDelay, retryDelays)
        self.buffer = min(max(buffer, .milliseconds(50)), .seconds(2))
    }
}

/// What the output reports, on its own thread: the receiver of a report must return at once.
package enum AudioOutputEvent: Equatable, Sendable {
    case statusChanged(OutputStatus)
    /// Sound of the stream began to be heard, or stopped to be: position reports change their rate here.
    case soundingChanged(StreamID, Bool)
    /// Playing is wanted, and there are no frames, or there are some again.
    case starvationChanged(StreamID, Bool)
    /// The last frame was heard.
    case drained(StreamID)
    /// The first frame of the stream that followed is heard; or all of the one before was heard, and it is waited for.
    case advanced(StreamID, to: StreamID)
    /// The frame behind this cue is heard, or will never be: see `AudioOutput.cue`.
    case cueReached(StreamID, Int)
    /// The first frame of the overlay is heard.
    case overlayBegan(StreamID)
    /// The overlay is over: its last frame was heard, or it was closed. Nothing of it is heard any more.
    case overlayEnded(StreamID)
    /// Whether a bound stream could begin within the usual lead.
    case readinessChanged(StreamID, Bool)
    /// How exactly a bound stream follows its group.
    case syncChanged(StreamID, SyncReport)
    /// What is to be heard of a bound stream, at a place in nanoseconds, is not in the ring and will not come by itself; the
    /// ring begins at `first`.
    case strayed(StreamID, wanted: Int64, first: Int64)
    /// Somebody else moved the mixer.
    case volumeChanged(Volume)
}

/// What is heard at one moment.
package struct HeardPosition: Equatable, Sendable {
    /// Nanoseconds on the media timeline.
    package var position: Int64
    /// Nanoseconds of the monotonic clock.
    package var clockTime: Int64
    /// Media seconds in a second; 0 while nothing is heard.
    package var rate: Double

    package init(position: Int64, clockTime: Int64, rate: Double) {
        (self.position, self.clockTime, self.rate) = (position, clockTime, rate)
    }
}

/// What came of giving frames to the output.
package enum WriteOutcome: Equatable, Sendable {
    case written
    /// The stream is being flushed: the frames are not wanted.
    case flushing
    /// The stream is over.
    case closed
}
