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
        "sndfile",
    ]

    /// Decoders that read files at places of their own choice.
    private static let reading = ["sfdec", "musepackdec"]
    /// Demuxers that those do better than.
    private static let worse = ["avdemux_mpc", "avdemux_mpc8"]

    /// What pictures and the texts over them need beside that. H.264 is decoded by libav, which then is there from the
    /// beginning: looking at it later takes a second.
    private static let video = [
        "libav", "vpx", "aom", "dav1d", "theora", "jpeg", "videoconvertscale", "videoconvert", "videoscale",
        "pango",
        "audiotestsrc", "ximagesink", "xvimagesink", "waylandsink", "kms",
    ]

    /// Leaves sound to the lighter decoders also where libav is among the usual plugins, and libav on the disk until there
    /// are pictures: a decoder that is tried next loads it, too.
    static func useLightDecodersOnly() {
        Library.setRank(.none, ofPlugin: "libav", class: "Decoder/Audio")
        Library.removeTypeFinders(ofPlugin: "libav")
    }

    /// Leaves decoders alone that would stand where GStreamer puts them; `addFallback` brings them back elsewhere.
    static func leaveReadingDecoders() {
        for element in reading + worse { Library.ignore(element: element) }
    }

    /// Adds the decoders that are left out at first. Waits for them to be read.
    static func addFallback(in folder: String?) {
        if let folder { Library.addPlugins(in: folder) }
        leaveReadingDecoders()
        for factory in reading { ReadingDecoder.adopt(factory) }
        if Library.hasElement("sfdec") { ReadingDecoder.takeCAF() }
        Library.setRank(.marginal, ofPlugin: "libav", class: "Decoder/Audio")
    }

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

    /// Elements that pictures need, as above.
    private static let neededForVideo: [(element: String, format: String, package: String)] = [
        ("appsrc", "pictures", "gstreamer1.0-plugins-base"),
        ("videoconvert", "pictures", "gstreamer1.0-plugins-base"),
        ("videoscale", "pictures", "gstreamer1.0-plugins-base"),
        ("audiotestsrc", "pictures without sound", "gstreamer1.0-plugins-base"),
        ("textoverlay", "subtitles", "gstreamer1.0-x"),
        ("vp8dec", "VP8", "gstreamer1.0-plugins-good"),
        ("vp9dec", "VP9", "gstreamer1.0-plugins-good"),
        ("avdec_h264", "H.264", "gstreamer1.0-libav"),
    ]
    private static let packagesOfSinks = [
        "ximagesink": "gstreamer1.0-x", "xvimagesink": "gstreamer1.0-x",
        "waylandsink": "gstreamer1.0-plugins-bad", "kmssink": "gstreamer1.0-plugins-bad",
    ]

    /// What pictures on `sink` need and is not installed.
    package static func missing(for sink: RendererConfiguration.VideoSink)
        -> [(element: String, format: String, package: String)]
    {
        guard sink != .none else { return [] }
        Library.start()
        let sinks = Display.sinks(for: sink).map {
            (element: $0, format: "pictures on this display", package: packagesOfSinks[$0] ?? "")
        }
        return (neededForVideo + sinks).filter { !Library.hasElement($0.element) }
    }

    /// Opens the display of `sink` and gives it up again. The reason if that fails.
    package static func tryDisplay(_ sink: RendererConfiguration.VideoSink) -> String? {
        Library.start()
        let screen = Screen(sink) { _ in }
        defer { screen.close() }
        return screen.open() ? nil : screen.failure
    }

    /// Reads the registry of plugins, and renews it where it is old.
    package static func readRegistry() { Library.start() }

    /// The needed elements that are not installed.
    package static func missing() -> [(element: String, format: String, package: String)] {
        Library.start()
        return needed.filter { !Library.hasElement($0.element) }
    }

    /// The files of the plugins that are installed, for the folders `plugins`, `fallback` and `video`.
    package static func files() -> (plugins: [String], fallback: [String], video: [String]) {
        Library.start()
        return (
            usual.compactMap { Library.file(ofPlugin: $0) },
            fallback.compactMap { Library.file(ofPlugin: $0) },
            video.compactMap { Library.file(ofPlugin: $0) }
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
