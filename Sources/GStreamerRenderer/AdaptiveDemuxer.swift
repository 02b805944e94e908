// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import Soup
import Synchronization

/// The demuxer of an adaptive stream within a pipeline, and its requests.
///
/// GStreamer's demuxers (1.22) end the process when a move takes back a request that is on its way to the thread that
/// sends it, and when they are ended while they read their manifest. So a move waits for that thread, which takes no
/// longer than its turn, and an end until nothing is under way (Docs/decisions/0012).
final class AdaptiveDemuxer: Sendable {
    /// Coded media that are read ahead: enough for a bad moment of the network, little memory.
    private static let readAhead = "10000000000"
    /// With anything at all read ahead no other segment is asked for.
    private static let noReadAhead = "1"
    /// Longer than `RequestTap` holds back a request to a server that fails.
    private static let sendingLimit = Duration.seconds(2)
    /// Until the thread that sends requests runs, in nanoseconds: one that is ended before waits for itself for ever.
    private static let startLimit: Int64 = 250_000_000

    /// Between the end of a request and the next one that the demuxer makes, if it does, in nanoseconds: two of its threads
    /// must have had their turn, on a busy machine, too.
    private static let settling: Int64 = 100_000_000

    private let element: Element
    private let line: String
    private let offers = Atomic<Int>(0)
    private let begun = AudioOutput.now()
    private let closing = Closing()

    /// Takes an element that was just made. `isHeld`: asks for no more than is needed to know the media.
    init(_ element: Element, line: RequestTap.Line, isHeld: Bool) {
        self.element = element
        self.line = RequestTap.shared.open(line)
        element.announceUserAgent(self.line) { [closing] in closing.isDone }
        element.beforeMoves { Self.awaitSending() }
        if isHeld { hold() } else { release() }
    }

    deinit { RequestTap.shared.close(line) }

    /// Begins no more downloads while there is something to play.
    private func hold() { element.set("max-buffering-time", Self.noReadAhead) }

    func release() { if !closing.isDone { element.set("max-buffering-time", Self.readAhead) } }

    /// Begins nothing more. It may end once `canEnd`.
    func close() {
        closing.isDone = true
        hold()
    }

    /// True once nothing is under way: what is then would never be let go of, with its connection.
    var canEnd: Bool {
        let hasAsked = RequestTap.shared.activity(of: line).changed > 0
        guard hasAsked || AudioOutput.now() - begun > Self.startLimit else { return false }
        return !element.takesManifest && !CancelledRequests.shared.areSending && isQuiet(for: Self.settling)
    }

    /// Waits until what was asked for is with the thread that sends it. Then it can be taken back.
    static func awaitSending() { CancelledRequests.shared.awaitSending(atMost: sendingLimit) }

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

    /// True if no request was under way for so many nanoseconds.
    func isQuiet(for time: Int64) -> Bool {
        let activity = RequestTap.shared.activity(of: line)
        return activity.inFlight <= 0 && AudioOutput.now() - activity.changed > time
    }

    /// True if all that was asked for was given.
    var hasAllAnswers: Bool { RequestTap.shared.activity(of: line).failures == 0 }

    /// Segments that were not there and were passed over.
    var skipped: Int { RequestTap.shared.activity(of: line).skipped }
}

/// Whether the pipeline is over, for threads of the demuxer.
private final class Closing: Sendable {
    private let value = Atomic<Bool>(false)
    var isDone: Bool {
        get { value.load(ordering: .acquiring) }
        set { value.store(newValue, ordering: .releasing) }
    }
}
