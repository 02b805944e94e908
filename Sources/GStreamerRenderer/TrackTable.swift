// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import MediaModel

/// The streams of an item as alternatives that a listener chooses among.
struct TrackTable: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        var option: TrackOption
        var stream: MediaStream
    }
    /// No more of a kind are offered.
    private static let limit = 32
    private var audio: [Entry] = []
    private var text: [Entry] = []
    /// The name of the stream of pictures.
    private(set) var videoStream: String?
    var hasVideo: Bool { videoStream != nil }
    var isEmpty: Bool { audio.isEmpty && text.isEmpty && !hasVideo }
    var hasAudio: Bool { !audio.isEmpty }
    /// Sound and nothing else, so that what is said of the track is said of the item.
    var isSingle: Bool { audio.count == 1 && text.isEmpty && !hasVideo }
    /// What is chosen, by the identifiers of options.
    var currentAudio: String?
    var currentText: String?

    init() {}

    init(_ streams: [MediaStream]) {
        let isAlone = streams.count { $0.kind == .audio } < 2
        for stream in streams {
            switch stream.kind {
            case .audio where audio.count < Self.limit:
                audio.append(Self.entry(stream, kind: "audio", number: audio.count, isAlone: isAlone))
            // Subtitles that are pictures cannot be shown.
            case .text where text.count < Self.limit && !stream.mediaType.hasPrefix("subpicture/"):
                text.append(Self.entry(stream, kind: "text", number: text.count, isAlone: false))
            case .video where videoStream == nil && !stream.isStill: videoStream = stream.identifier
            default: break
            }
        }
        currentAudio = (audio.first { $0.stream.isSelectedByDefault } ?? audio.first)?.option.identifier
    }

    /// The place among its kind names a stream: it is the same each time the item is loaded.
    private static func entry(_ stream: MediaStream, kind: String, number: Int, isAlone: Bool) -> Entry {
        let language = stream.language.flatMap(LanguageName.init)
        // The title of a stream that is alone is that of the item, in many files.
        let name =
            (isAlone ? nil : stream.title) ?? language?.name
            ?? (kind == "audio" ? "Audio \(number + 1)" : "Subtitles \(number + 1)")
        return Entry(
            option: TrackOption(
                identifier: "\(kind)-\(number)", displayName: name, languageTag: language?.tag),
            stream: stream)
    }

    /// The names of the streams of texts.
    var textStreams: [String] { text.map(\.stream.identifier) }
    /// The name of the stream whose texts are chosen.
    var selectedTextStream: String? {
        text.first { $0.option.identifier == currentText }?.stream.identifier
    }
    /// The texts that the media wants to be shown unless somebody chooses.
    var defaultText: String? { text.first { $0.stream.isSelectedByDefault }?.option.identifier }

    var tracks: Tracks {
        Tracks(
            audio: TrackSelection(options: audio.map(\.option), current: currentAudio),
            legible: TrackSelection(options: text.map(\.option), current: currentText))
    }

    func contains(_ identifier: String, kind: TrackKind) -> Bool {
        (kind == .legible ? text : audio).contains { $0.option.identifier == identifier }
    }

    /// The identifiers of the streams to play.
    var selectedAudioStreams: [String] {
        audio.filter { $0.option.identifier == currentAudio }.map(\.stream.identifier)
    }

    /// Notes which streams play.
    mutating func note(selected identifiers: [String]) {
        if let playing = audio.first(where: { identifiers.contains($0.stream.identifier) }) {
            currentAudio = playing.option.identifier
        }
    }

    /// The size of the pictures, where the container tells it.
    static func videoSize(of streams: [MediaStream]) -> PixelSize? {
        for stream in streams where stream.kind == .video && !stream.isStill {
            if let width = stream.width, let height = stream.height, width > 0, height > 0 {
                return PixelSize(width: width, height: height)
            }
        }
        return nil
    }
}
