// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
package import GLibLoop
import MediaModel

// Sound that comes by itself, from a line input or from a phone, has no pipeline: a `CaptureFeed` reads it into a live stream of the
// output. To everything else its load is one like any other, live and without a length. See `Docs/captures.md`.
extension GStreamerRenderer {
    /// Descriptors that wait for their load at most, and how long.
    private static let handedLimit = 8
    private static let patience = Duration.seconds(10)

    /// Gives a descriptor to a load that names it by `token`. It is closed with the load, or if none comes. From any thread.
    package nonisolated func hand(over descriptor: SharedDescriptor, token: UInt64) {
        inputs.yield(.handed(descriptor, token: token))
    }

    func keep(_ descriptor: SharedDescriptor, token: UInt64) {
        guard handed.count < Self.handedLimit || handed[token] != nil else { return }
        handedCount += 1
        handed[token] = (descriptor, handedCount)
        later(Self.patience, .handedDue(token: token, number: handedCount))
    }

    /// No load came for it.
    func giveUpHanded(_ token: UInt64, number: UInt64) {
        if handed[token]?.number == number { handed[token] = nil }
    }

    func loadCapture(_ id: LoadID, _ source: CaptureSource, playing: Bool) {
        giveUp()
        playback = Playback(id: id, item: MediaItem(uri: ""), playing: playing)
        guard source.isPlayable else {
            return fail(MediaFailure(.unsupportedFormat, "The source is of a form that is not played."))
        }
        var descriptor: SharedDescriptor?
        switch source.kind {
        case .descriptor(let token):
            descriptor = handed.removeValue(forKey: token)?.descriptor
            guard descriptor != nil else {
                return fail(MediaFailure(.notFound, "The source was not handed over."))
            }
        case .device(let name): inputWatch?.yield(to: name)
        }
        pipelineCount += 1
        let stream = StreamID(pipelineCount)
        let (inputs, watch) = (self.inputs, inputWatch)
        var listener: (@Sendable ([Float], Int32) -> Void)?
        if descriptor == nil { listener = { frames, rate in watch?.hear(frames, rate: rate) } }
        playback?.stream = stream
        let feed = CaptureFeed(
            source, descriptor: descriptor?.number, stream: stream, playing: playing, output: output,
            listener: listener, report: { event in inputs.yield(.capture(stream, event)) })
        guard let feed else {
            return fail(MediaFailure(.internalFailure, "The system has no threads or descriptors left."))
        }
        playback?.capture = feed
        if playing { setBuffering(true) }
    }

    func captured(_ stream: StreamID, _ event: CaptureFeed.Event) {
        guard let current = playback, current.stream == stream, current.capture != nil else { return }
        switch event {
        case .began:
            playback?.timeline = .capture
            playback?.hasReportedLoaded = true
            playback?.phase = .ready
            setBuffering(false)
            report(
                .loaded(current.id, LoadedMedia(timeline: .capture, hasAudio: true, hasVideo: false)))
            reportPosition()
        // The output tells when the last of it was heard.
        case .ended: inputWatch?.yield(to: nil)
        case .failed(let failure): fail(failure)
        }
    }

    /// Nothing more is read of what is current.
    func endCapture(of current: Playback) {
        guard let capture = current.capture else { return }
        capture.stop()
        inputWatch?.yield(to: nil)
    }

    /// Refuses what cannot be done with a load that captures. False of any other command or load.
    func isRefused(_ command: RendererCommand) -> Bool {
        guard let current = playback, current.capture != nil else { return false }
        switch command {
        case .seek(let id, let seek, _, _):
            guard id == current.id else { return false }
            let failure = MediaFailure(.unsupportedFormat, "The media cannot be moved on.")
            report(.seekFinished(id, seek, failure: failure))
        case .bind(let id, _):
            guard id == current.id else { return false }
            fail(MediaFailure(.unsupportedFormat, "What comes by itself is not played in a group."))
        case .setSpeed(let id, _), .setScan(let id, _), .selectTrack(let id, _, _), .prepareNext(let id, _),
            .unbind(let id):
            return id == current.id
        case .load, .loadCapture, .setPlaying, .setMediaVolume, .setOutputVolume, .stop, .announce,
            .cancelAnnouncement, .warmUp, .setGroupClock, .setOutputTrim, .setCardDrift,
            .setOutputDevice, .watchCapture:
            return false
        }
        return true
    }

    // MARK: Listening

    /// Made when there is something to listen to.
    private func listening() -> InputWatch? {
        if let inputWatch { return inputWatch }
        let inputs = inputs
        inputWatch = InputWatch { inputs.yield(.heard($0)) }
        return inputWatch
    }

    func watch(_ watches: [CaptureWatch]) {
        if watches.isEmpty, inputWatch == nil { return }
        listening()?.listen(to: watches)
    }

    /// The output's device was looked at.
    func followJacks(_ status: OutputStatus, before: OutputStatus?) {
        func isThere(_ status: OutputStatus?) -> Bool { status?.state == .closed || status?.state == .open }
        guard isThere(status), !isThere(before) || before?.device != status.device else { return }
        // The jack is one of the usual card, wherever the sound goes.
        if status.device != otherDevice { usualDevice = status.device }
        listening()?.follow(jacksOf: usualDevice ?? status.device)
    }

    func heard(_ event: InputWatch.Event) {
        switch event {
        case .activity(let name, let isActive, let reason):
            report(.captureActivity(name: name, isActive: isActive, reason: reason))
        case .jack(let name, let isPlugged): report(.jackChanged(name: name, isPlugged: isPlugged))
        }
    }
}
