// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel
import Soup
import Synchronization

/// What adaptive streams need: freezes, holes and ends.
extension GStreamerRenderer {
    /// How often a demuxer is looked at that is to end.
    private static let look = Duration.milliseconds(10)
    /// Longer than a server's silence lasts before a request to it fails, in nanoseconds.
    private static let patience: Int64 = 12_000_000_000
    /// Pipelines that wait for their end at most; an older one is ended as it is.
    private static let endingLimit = 6

    /// Time without any news after which a demuxer is frozen, and beginnings without sound before it is given up.
    private static let freezeLimit = Duration.seconds(3)
    private static let freezeCount = 2
    /// A move to here, in nanoseconds before the end, may end at once.
    private static let lastOfStream: Int64 = 2_000_000_000

    // MARK: Freezes

    /// Looks after `freezeLimit` whether a move, or sound that ran dry, leads anywhere.
    func watchForFreeze() {
        guard let current = playback, let pipeline = current.pipeline, pipeline.demuxer != nil else { return }
        later(Self.freezeLimit, .freezeDue(pipeline: pipeline.number, seek: current.seekCount))
    }

    /// Begins again if the demuxer neither gives nor fetches anything.
    func endFreeze(seek: UInt64) {
        guard let current = playback, current.seekCount == seek, current.outage == nil,
            let demuxer = current.pipeline?.demuxer
        else { return }
        let isStuck = current.seek.map { !$0.isExecuting } ?? (current.isBuffering && current.phase == .ready)
        guard isStuck, current.isPlaying || current.seek != nil else { return }
        // A live stream has nothing to fetch until there is news.
        guard !current.timeline.isLive, demuxer.isQuiet(for: Int64(Self.freezeLimit / .nanoseconds(1)) / 2)
        else {
            return watchForFreeze()
        }
        guard current.freezes < Self.freezeCount else {
            return fail(MediaFailure(.decode, "The stream does not go on here."))
        }
        playback?.freezes += 1
        reload(at: current.seek?.position ?? place())
    }

    /// Begins again at a move that ended at once: moves back over a jump of the media's times do, in the demuxers of
    /// GStreamer 1.22. False if this is no such end.
    func beginAgainAtMove() -> Bool {
        guard let current = playback, let seek = current.seek, !seek.hasArrived,
            current.pipeline?.demuxer != nil,
            let end = current.timeline.range.end.nanoseconds, seek.position < end - Self.lastOfStream,
            current.freezes < Self.freezeCount
        else { return false }
        playback?.freezes += 1
        reload(at: seek.position)
        return true
    }

    // MARK: Holes

    /// Serves an empty file to the demuxer, in place of a segment that is not there: it then goes on with the next one
    /// instead of giving up; and the lists of relayed manifests. Nobody else can reach it; if it cannot be served, a
    /// missing segment ends the playback.
    func openStandIn() {
        guard standIn == nil, let port = ManifestRelay.port else { return }
        let server = Server()
        server.handle(below: ManifestRelay.folder) { ManifestRelay.answer($0.path) }
        server.handle(below: "/") { _ in Response(200, "application/octet-stream", []) }
        guard (try? server.listen(at: port)) != nil else { return }
        standIn = server
        RequestTap.shared.setStandIn("http://127.0.0.1:\(port.number)/")
    }

    /// Takes the port for that, in a process that will not be allowed to later. Starts no thread.
    package static func takePort() { _ = ManifestRelay.port }

    // MARK: Ends

    /// Ends a pipeline, which is silent from now on, when that is safe.
    func end(_ pipeline: MediaPipeline) {
        pipeline.close()
        guard let demuxer = pipeline.demuxer, !demuxer.canEnd else { return pipeline.tearDown() }
        if ending.count >= Self.endingLimit { ending.removeFirst().pipeline.tearDown() }
        ending.append((pipeline, AudioOutput.now() + Self.patience))
        if ending.count == 1 { later(Self.look, .endDue) }
    }

    func endReadyOnes() {
        let now = AudioOutput.now()
        ending.removeAll { one in
            guard one.pipeline.demuxer?.canEnd ?? true || now > one.until else { return false }
            one.pipeline.tearDown()
            return true
        }
        if !ending.isEmpty { later(Self.look, .endDue) }
    }
}
