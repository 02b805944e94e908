// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import Soup
import Synchronization

/// The demuxer of an adaptive stream within a pipeline, and its requests.
///
/// GStreamer's demuxers (before 1.24) end the process, about once in a hundred times, when a move or an end cancels a request
/// that is under way: mostly one that was given to the thread that sends it, and not sent yet, which then is in use and not
/// in use at a time. So neither is done before the demuxer is quiet, and it is held back until it is.
final class AdaptiveDemuxer: Sendable {
    /// Coded media that are read ahead: enough for a bad moment of the network, little memory.
    private static let readAhead = "10000000000"
    /// With anything at all read ahead no other segment is asked for.
    private static let noReadAhead = "1"
    /// Between the end of a request and the next one that the demuxer makes, if it does, in nanoseconds: two of its threads must
    /// have had their turn, on a busy machine, too.
    private static let settling: Int64 = 100_000_000
    private static let look = Duration.milliseconds(5)

    private let element: Element
    private let line: String
    private let offers = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    /// When it began, or went on after a move, in nanoseconds: it is about to ask for something, which is seen later.
    private let wentOn = Atomic<Int64>(AudioOutput.now())

    /// Takes an element that was just made. `isHeld`: asks for no more than is needed to know the media.
    init(_ element: Element, line: RequestTap.Line, isHeld: Bool) {
        self.element = element
        self.line = RequestTap.shared.open(line)
        element.announceUserAgent(self.line)
        if isHeld { hold() } else { release() }
    }

    deinit { RequestTap.shared.close(line) }

    /// Begins no more downloads while there is something to play.
    func hold() { element.set("max-buffering-time", Self.noReadAhead) }

    /// Lets it go on, after it was moved, too.
    func release() {
        wentOn.store(AudioOutput.now(), ordering: .sequentiallyConsistent)
        element.set("max-buffering-time", Self.readAhead)
        if isOver.load(ordering: .sequentiallyConsistent) { hold() }
    }

    /// Holds it for good, whatever moves are still to be made.
    func retire() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        hold()
    }

    /// Chooses what is downloaded, before anything is. A choice that comes later would cancel requests; what follows in
    /// later periods the demuxer finds by itself.
    func select(_ streams: [String]) {
        let isFirst = offers.add(1, ordering: .relaxed).oldValue == 0
        guard !streams.isEmpty, isFirst else { return }
        _ = element.selectStreams(streams)
    }

    /// True once the streams were offered again. The demuxers of GStreamer 1.22 then wait for ever after a move into
    /// the period that they read while an earlier one is heard.
    var hasPeriods: Bool { offers.load(ordering: .relaxed) > 1 }

    /// True if no request is under way.
    var isQuiet: Bool { isQuiet(for: Self.settling) }

    /// True if no request was under way for so many nanoseconds.
    func isQuiet(for time: Int64) -> Bool {
        let activity = RequestTap.shared.activity(of: line)
        let last = max(activity.changed, wentOn.load(ordering: .sequentiallyConsistent))
        return activity.inFlight <= 0 && AudioOutput.now() - last > time
    }

    /// Waits until no request is under way, `limit` at most. On a worker: it may have been some time since somebody saw that
    /// the demuxer is quiet.
    func awaitQuiet(atMost limit: Duration) {
        let gate = Gate()
        let end = AudioOutput.now() + Int64(limit / .nanoseconds(1))
        while !isQuiet, AudioOutput.now() < end { gate.pass(gate.ticket, timeout: Self.look) }
    }

    /// True if all that was asked for was given.
    var hasAllAnswers: Bool { RequestTap.shared.activity(of: line).failures == 0 }

    /// Segments that were not there and were passed over.
    var skipped: Int { RequestTap.shared.activity(of: line).skipped }
}
