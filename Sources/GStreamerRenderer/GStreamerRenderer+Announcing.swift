// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel
import Settings

/// The announcement that is under way.
struct Announcing {
    let load: LoadID
    let announcement: Announcement
    var stream = StreamID(0)
    var pipeline: MediaPipeline?
    /// True once frames of it are in the output.
    var hasArrived = false
    /// True once its end was reported, or is nobody's business any more, while it may still be heard to fade.
    var isOver = false
    var hasBegun = false
    /// What it ended with, while what came before is still to be heard.
    var failure: MediaFailure?
    /// What an element said is not installed.
    var missing: String?
    var beginnings = 0
}

// An announcement has a pipeline of its own, whose sound is the overlay of the output. The load, its pipeline and its stream
// know nothing of it. There is one at a time; one that is asked for while another is there takes its place once that has faded.
extension GStreamerRenderer {
    /// So often is it tried.
    private static let beginningCount = 2

    func announce(_ load: LoadID, _ announcement: Announcement) {
        let wanted = Announcing(load: load, announcement: announcement)
        if announcing == nil { return begin(wanted) }
        if let load = nextAnnouncing?.load { report(.announcementEnded(load)) }
        nextAnnouncing = wanted
        endAnnouncement()
    }

    func cancelAnnouncement(_ load: LoadID) {
        if nextAnnouncing?.load == load {
            nextAnnouncing = nil
            report(.announcementEnded(load))
        } else if announcing?.load == load {
            endAnnouncement()
        }
    }

    private func begin(_ wanted: Announcing) {
        announcing = wanted
        guard let scheme = Library.scheme(of: wanted.announcement.item.uri) else {
            return announcementFailed(MediaFailure(.invalidURL, "The media's address is not valid."))
        }
        guard configuration.schemes.contains(scheme) else {
            return announcementFailed(
                MediaFailure(.unsupportedScheme, "Addresses that begin with \(scheme): are not played."))
        }
        startAnnouncement()
    }

    /// Builds its pipeline and starts it, also for another time.
    func startAnnouncement() {
        guard let current = announcing, !current.isOver else { return }
        guard !isCrowded else {
            return announcementFailed(MediaFailure(.internalFailure, "Too many pipelines do not end."))
        }
        pipelineCount += 1
        let stream = StreamID(pipelineCount)
        announcing?.stream = stream
        announcing?.beginnings += 1
        let announcement = current.announcement
        output.openOverlay(
            stream, levels: OverlayLevels(volume: announcement.volume, ducking: announcement.ducking))
        do throws(MediaFailure) {
            let start = announcement.item.startPosition.nanoseconds ?? 0
            let pipeline = try makePipeline(
                announcement.item, audio: nil,
                feed: feed(for: stream, beginning: start > 0 ? Double(start) : nil),
                rates: outputStatus?.sampleRate.map { [$0] })
            announcing?.pipeline = pipeline
            pipeline.start()
            later(Self.beginningLimit, .beginningDue(pipeline: pipeline.number, reads: 0))
        } catch { announcementFailed(error) }
    }

    /// What its pipeline says.
    func handleAnnouncement(_ input: Input) {
        guard let current = announcing, !current.isOver else { return }
        switch input {
        case .arrived: announcing?.hasArrived = true
        case .beginningDue(_, let reads): beginAnnouncementAgainIfStuck(reads: reads)
        case .message(_, let message): handleAnnouncement(message)
        default: break
        }
    }

    private func handleAnnouncement(_ message: PipelineMessage) {
        guard let current = announcing else { return }
        switch message {
        case .failed(let failure):
            let reason =
                current.pipeline?.sourceFailure(failure) ?? MediaFailure(failure, missing: current.missing)
            if reason.code == .missingPlugin, addPluginsAndAnnounce() { return }
            guard current.hasArrived else { return announcementFailed(reason) }
            // What came before the damage is heard to its end.
            announcing?.failure = current.failure ?? reason
            output.end(current.stream)
        case .pluginMissing(let description, isForPictures: false):
            if current.missing == nil { announcing?.missing = description }
            if !description.hasPrefix("text/"), !current.hasArrived { _ = addPluginsAndAnnounce() }
        case .streamsSelected(let identifiers) where identifiers.isEmpty && current.missing != nil:
            announcementFailed(.missing(current.missing))
        case .streamsFound(let set) where isSilent(set):
            announcementFailed(MediaFailure(.unsupportedFormat, "The media has no sound."))
        case .contextMade(let context): keep(context)
        default: break
        }
    }

    /// A first list of streams may be empty.
    private func isSilent(_ set: StreamSet) -> Bool {
        let table = TrackTable(set.streams)
        return !table.hasAudio && table.hasVideo
    }

    /// Begins again if the pipeline has read and stands, as `beginAgainIfStuck` does for a load.
    private func beginAnnouncementAgainIfStuck(reads: Int) {
        guard let current = announcing, !current.hasArrived, let pipeline = current.pipeline,
            pipeline.demuxer == nil
        else { return }
        if pipeline.stands(since: reads) {
            guard current.beginnings < Self.beginningCount else { return }
            Journal.log(.warning, "renderer", "an announcement is begun again")
            end(pipeline)
            return startAnnouncement()
        }
        later(
            Self.beginningLimit, .beginningDue(pipeline: pipeline.number, reads: pipeline.reading?.reads ?? 0)
        )
    }

    /// Loads the fallback plugins, if that was not done, and begins again. False if it was.
    private func addPluginsAndAnnounce() -> Bool {
        guard !hasAddedPlugins, let folder = configuration.fallbackPlugins, let current = announcing else {
            return false
        }
        if let pipeline = current.pipeline { end(pipeline) }
        announcing?.pipeline = nil
        announcing?.missing = nil
        addPlugins(in: folder, for: current.load)
        return true
    }

    // MARK: Ends

    private func announcementFailed(_ failure: MediaFailure) {
        guard let current = announcing, !current.isOver else { return }
        announcing?.isOver = true
        report(.announcementFailed(current.load, failure))
        silenceAnnouncement()
    }

    private func endAnnouncement() {
        guard let current = announcing, !current.isOver else { return }
        announcing?.isOver = true
        report(.announcementEnded(current.load))
        silenceAnnouncement()
    }

    /// Lets what is heard of it fade away; the output says when that is done.
    private func silenceAnnouncement() {
        guard let current = announcing else { return }
        if let pipeline = current.pipeline { end(pipeline) }
        announcing?.pipeline = nil
        // Without a stream the output knows nothing of it.
        if current.stream == StreamID(0) { announcementGone() } else { output.close(current.stream) }
    }

    func overlayBegan(_ stream: StreamID) {
        guard let current = announcing, current.stream == stream, !current.isOver else { return }
        announcing?.hasBegun = true
        report(.announcementBegan(current.load))
    }

    /// Nothing of it is heard any more.
    func overlayEnded(_ stream: StreamID) {
        guard let current = announcing, current.stream == stream else { return }
        if !current.isOver {
            if let pipeline = current.pipeline { end(pipeline) }
            let silence = MediaFailure(.decode, "Nothing of the media could be heard.")
            if let failure = current.failure ?? (current.hasBegun ? nil : silence) {
                report(.announcementFailed(current.load, failure))
            } else {
                report(.announcementEnded(current.load))
            }
        }
        announcementGone()
    }

    private func announcementGone() {
        announcing = nil
        guard let next = nextAnnouncing else { return }
        nextAnnouncing = nil
        begin(next)
    }

    /// Ends it without a word, with everything else.
    func giveUpAnnouncements() {
        nextAnnouncing = nil
        guard let current = announcing else { return }
        announcing = nil
        output.close(current.stream)
        current.pipeline?.tearDown()
    }
}
