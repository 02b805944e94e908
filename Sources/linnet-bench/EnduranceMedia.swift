// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// Short things to play, in many formats, and some that fail: what a receiver is given in a long life, in little time.
struct EnduranceMedia {
    /// One thing to play.
    struct Item {
        /// Below the media server.
        let path: String
        /// False if it is to fail.
        var isPlayable = true
    }

    /// What is played to its end.
    static let items =
        [
            "short.wav", "tiny.wav", "short.flac", "tiny.flac", "short.mp3", "pictured.mp3", "short.aac",
            "short.m4a", "short.opus", "short.ogg", "tiny.ogg", "hls/list.m3u8", "slow/120000/short.wav",
        ].map { Item(path: $0) }
        + ["missing.wav", "status/503/short.wav", "damaged.m4a", "words.mp3", "hls/holes.m3u8"]
        .map { Item(path: $0, isPlayable: false) }

    /// What is stopped before its end.
    static let longItems = ["long.wav", "long.flac", "stall/60000/long.wav", "cut/200000/long.flac"]
        .map { Item(path: $0) }

    let folder: String

    /// Makes the media in `folder`, once.
    init(folder: String) throws {
        self.folder = folder
        if readBytes("\(folder)/complete", limit: 1) != nil { return }
        try run(["mkdir", "-p", "\(folder)/hls"])
        let lengths = [("tiny", 9), ("short", 30), ("long", 860)]
        for (name, buffers) in lengths {
            // 1,024 frames a buffer.
            try make(tone(buffers) + " ! wavenc", "\(name).wav")
            try make(tone(buffers) + " ! flacenc", "\(name).flac")
            try make(tone(buffers) + " ! vorbisenc ! oggmux", "\(name).ogg")
        }
        try make(tone(30) + " ! lamemp3enc target=bitrate bitrate=128 cbr=true ! id3v2mux", "short.mp3")
        try make(tone(30) + " ! voaacenc ! aacparse ! audio/mpeg,stream-format=adts", "short.aac")
        try make(tone(30) + " ! voaacenc ! aacparse ! mp4mux faststart=true", "short.m4a")
        try make(tone(30) + " ! audioresample ! opusenc ! oggmux", "short.opus")
        for number in 0..<3 {
            try make(
                tone(15, frequency: 400 + 100 * number) + " ! voaacenc ! aacparse ! mpegtsmux",
                "hls/\(number).ts")
        }
        try make(
            "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,width=160,height=160 ! videoconvert ! pngenc",
            "cover.png")
        try finish()
    }

    private func tone(_ buffers: Int, frequency: Int = 440) -> String {
        "audiotestsrc num-buffers=\(buffers) freq=\(frequency) ! audio/x-raw,rate=44100,channels=2 ! audioconvert"
    }

    private func make(_ stages: String, _ name: String) throws {
        let words = "\(stages) ! filesink location=\(folder)/\(name)".split(separator: " ").map(String.init)
        try run(["gst-launch-1.0", "-q"] + words, seconds: 60)
    }

    /// What is made of what GStreamer made.
    private func finish() throws {
        let contents = { (name: String) in readBytes("\(folder)/\(name)") ?? [] }
        let picture = contents("cover.png")
        // An ID3 tag with one front cover; in version 2.4 sizes are of seven bits a byte.
        func size(_ value: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8(value >> $0 & 0x7f) } }
        let frame = [0] + Array("image/png".utf8) + [0, 3, 0] + picture
        let tag = Array("APIC".utf8) + size(frame.count) + [0, 0] + frame
        try writeBytes(
            Array("ID3".utf8) + [4, 0, 0] + size(tag.count) + tag + contents("short.mp3"),
            to: "\(folder)/pictured.mp3")
        let whole = contents("short.m4a")
        try writeBytes(Array(whole.prefix(whole.count / 8)), to: "\(folder)/damaged.m4a")
        try writeText(String(repeating: "These are words.\n", count: 400), to: "\(folder)/words.mp3")
        func list(_ segments: Range<Int>) -> String {
            let lines = segments.map {
                "#EXT-X-DISCONTINUITY\n#EXTINF:0.35,\n\($0).ts\n"
            }
            return "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n"
                + lines.joined() + "#EXT-X-ENDLIST\n"
        }
        try writeText(list(0..<3), to: "\(folder)/hls/list.m3u8")
        try writeText(list(5..<8), to: "\(folder)/hls/holes.m3u8")
        try writeText("yes", to: "\(folder)/complete")
    }
}
