// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer

/// Which of GStreamer's plugins the renderer uses. It runs with these alone, in a folder of links with a registry of its
/// own: GStreamer then neither looks at hundreds of files at its start nor keeps their features in memory.
package enum PluginFolder {
    /// What the usual formats need.
    private static let usual = [
        "coreelements", "typefindfunctions", "playback", "app", "audioconvert", "audioresample",
        "audiofx",
        "volume", "audioparsers", "id3demux", "apetag", "icydemux", "flac", "mpg123", "wavparse", "aiff",
        "isomp4",
        "faad", "ogg", "vorbis", "opus", "opusparse", "matroska", "adaptivedemux2", "mpegtsdemux", "subparse",
        "videoparsersbad",
    ]

    /// What is looked at only when those do not do: large or rarely needed.
    private static let fallback = [
        "libav", "wavpack", "alaw", "mulaw", "adpcmdec", "avi", "asf", "flv", "mpegpsdemux", "gsm", "dtsdec",
        "a52dec", "musepack", "openmpt", "speex", "sbc", "auparse", "rawparse",
    ]

    /// Elements without which a format is not played, with what is missing then and the Debian package that has them.
    package static let needed: [(element: String, format: String, package: String)] = [
        ("queue2", "GStreamer itself", "libgstreamer1.0-0"),
        ("uridecodebin3", "everything", "gstreamer1.0-plugins-base"),
        ("audioconvert", "everything", "gstreamer1.0-plugins-base"),
        ("audioresample", "everything", "gstreamer1.0-plugins-base"),
        ("appsink", "everything", "gstreamer1.0-plugins-base"),
        ("scaletempo", "other speeds", "gstreamer1.0-plugins-good"),
        ("flacdec", "FLAC", "gstreamer1.0-plugins-good"),
        ("mpg123audiodec", "MP3", "gstreamer1.0-plugins-good"),
        ("id3demux", "MP3 with tags", "gstreamer1.0-plugins-good"),
        ("wavparse", "WAV", "gstreamer1.0-plugins-good"),
        ("qtdemux", "MP4", "gstreamer1.0-plugins-good"),
        ("aacparse", "AAC", "gstreamer1.0-plugins-good"),
        ("faad", "AAC", "gstreamer1.0-plugins-bad"),
        ("oggdemux", "Ogg", "gstreamer1.0-plugins-base"),
        ("vorbisdec", "Vorbis", "gstreamer1.0-plugins-base"),
        ("opusdec", "Opus", "gstreamer1.0-plugins-base"),
        ("opusparse", "Opus", "gstreamer1.0-plugins-bad"),
        ("matroskademux", "MKV and WebM", "gstreamer1.0-plugins-good"),
        ("hlsdemux2", "HLS", "gstreamer1.0-plugins-good"),
        ("dashdemux2", "DASH", "gstreamer1.0-plugins-good"),
        ("tsdemux", "HLS with transport streams", "gstreamer1.0-plugins-bad"),
    ]

    /// Reads the registry of plugins, and renews it where it is old.
    package static func readRegistry() { Library.start() }

    /// The needed elements that are not installed.
    package static func missing() -> [(element: String, format: String, package: String)] {
        Library.start()
        return needed.filter { !Library.hasElement($0.element) }
    }

    /// The files of the plugins that are installed, for the folders `plugins` and `fallback`.
    package static func files() -> (plugins: [String], fallback: [String]) {
        Library.start()
        return (
            usual.compactMap { Library.file(ofPlugin: $0) },
            fallback.compactMap { Library.file(ofPlugin: $0) }
        )
    }

    /// Makes the files with which the renderer warms up: a moment of quiet sound in each format. One whose encoder is
    /// not installed is left out.
    package static func makeWarmFiles(in folder: String) {
        Library.start()
        let source =
            "audiotestsrc num-buffers=14 samplesperbuffer=1024 volume=0.01 ! audio/x-raw,rate=44100,channels=2"
        for (name, encoder) in [
            ("warm.flac", "flacenc"), ("warm.mp3", "lamemp3enc"), ("warm.wav", "wavenc"),
            ("warm.m4a", "voaacenc ! mp4mux"),
        ] {
            _ = Library.run("\(source) ! audioconvert ! \(encoder) ! filesink location=\"\(folder)/\(name)\"")
        }
    }
}
