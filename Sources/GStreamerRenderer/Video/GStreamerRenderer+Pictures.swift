// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamer
import MediaModel

extension GStreamerRenderer {
    /// Displays that may be lost before no more are opened: each may keep some threads that never end.
    private static let lostLimit = 8

    /// The part of a new pipeline that is there for pictures; nil if they are not wanted, or cannot be shown.
    func makePictures(for current: Playback, pipeline number: UInt64) -> PictureBranch? {
        guard configuration.video != .none, !current.isWithoutPictures, let screen = usableScreen() else {
            return nil
        }
        let texts = PictureBranch.Texts()
        let feed = PictureFeed(
            stream: current.stream, output: output, screen: screen, texts: { texts.text(at: $0) },
            onNews: { [inputs] in inputs.yield(.pictures(pipeline: number, $0)) })
        return PictureBranch(feed: feed, screen: screen, texts: texts)
    }

    private func usableScreen() -> Screen? {
        if let screen { return screen }
        guard lostScreens < Self.lostLimit else { return nil }
        let made = Screen(configuration.video) { [inputs] in inputs.yield(.screenLost($0)) }
        screen = made
        return made
    }

    func screenLost(_ reason: String) {
        // The next item looks for a display again.
        screen = nil
        lostScreens += 1
        guard let current = playback else { return }
        if current.table.hasVideo, !current.table.hasAudio {
            return fail(
                MediaFailure(.output, "The media has no sound, and its pictures cannot be shown. \(reason)"))
        }
        setPicture(PictureStatus(.noDisplay, reason: reason))
    }

    func handle(_ news: PictureFeed.News) {
        switch news {
        case .shown: setPicture(PictureStatus(.shown))
        case .finished:
            // What was put in for sound need not be played out.
            if let current = playback, current.pipeline?.pictures?.isSilent == true {
                output.finish(current.stream)
            }
        }
    }

    func setPicture(_ status: PictureStatus) {
        guard let current = playback, current.picture != status else { return }
        playback?.picture = status
        reportPicture()
    }

    /// Reports the state of the pictures, once it is known that there are any.
    func reportPicture() {
        // A stream that cannot be decoded may not even be counted among those that there are.
        guard let current = playback, current.hasReportedLoaded,
            current.table.hasVideo || current.picture.state == .undecodable,
            current.reportedPicture != current.picture
        else { return }
        playback?.reportedPicture = current.picture
        report(.pictureChanged(current.id, current.picture))
    }

    /// A decoder for pictures is not installed: the sound goes on without.
    func pictureDecoderMissing(_ description: String) {
        playback?.pipeline?.pictures?.feed.close()
        setPicture(PictureStatus(.undecodable, reason: MediaFailure.missing(description).message))
    }

    /// Shows the texts of the track that is chosen.
    func showText() {
        guard let current = playback else { return }
        current.pipeline?.pictures?.show(text: current.table.selectedTextStream)
    }
}
