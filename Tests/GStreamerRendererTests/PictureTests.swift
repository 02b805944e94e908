// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaModel
import Testing

@testable import GStreamerRenderer

@Suite struct `The moment of a picture` {
    private static func verdict(
        _ position: Int64, heard: Int64?, rate: Double = 1, shown: Int64 = 1_000_000_000
    ) -> PictureClock.Verdict {
        PictureClock.verdict(
            at: position * 1_000_000,
            heard: heard.map { HeardPosition(position: $0 * 1_000_000, clockTime: 0, rate: rate) },
            shown: shown,
            now: 1_010_000_000)
    }

    @Test func `is when its sound is heard`() {
        #expect(Self.verdict(1000, heard: 960) == .wait(40_000_000))
        #expect(Self.verdict(1000, heard: 1000) == .show)
        #expect(Self.verdict(1000, heard: 1030) == .show)
    }

    @Test func `comes sooner at a higher speed`() {
        #expect(Self.verdict(1000, heard: 960, rate: 2) == .wait(20_000_000))
        #expect(Self.verdict(1000, heard: 960, rate: 0.5) == .wait(80_000_000))
    }

    @Test func `is missed when it is long past, unless nothing else was shown`() {
        #expect(Self.verdict(1000, heard: 1100) == .drop)
        #expect(Self.verdict(1000, heard: 1100, shown: 0) == .show)
    }

    @Test func `does not come while nothing is heard`() {
        #expect(Self.verdict(1000, heard: nil) == .wait(nil))
        #expect(Self.verdict(1000, heard: 990, rate: 0) == .wait(nil))
        #expect(Self.verdict(1000, heard: 5000, rate: 0) == .drop)
    }
}

@Suite struct `A text over pictures` {
    private static func markup(_ text: String) -> String {
        Cue(start: 0, end: 1, text: text, isMarkup: true).markup
    }

    @Test func `is plain unless it says otherwise`() {
        #expect(Cue(start: 0, end: 1, text: "a <b> & c", isMarkup: false).markup == "a &lt;b&gt; &amp; c")
    }

    @Test func `keeps bold, italic and underlined, and closes them`() {
        #expect(Self.markup("<b>a <i>b</i></b>") == "<b>a <i>b</i></b>")
        #expect(Self.markup("<b>a") == "<b>a</b>")
        #expect(Self.markup("<i><b>a</i>") == "<i><b>a</b></i>")
        #expect(Self.markup("a</b>") == "a")
    }

    @Test func `loses marks that it cannot have`() {
        #expect(
            Self.markup("<span foreground=\"x\">a</span> &amp; b & c > d < e")
                == "a &amp; b &amp; c &gt; d &lt; e")
        #expect(Self.markup("<") == "&lt;")
        #expect(Self.markup("&#x41;") == "&amp;#x41;")
    }

    @Test func `is forgotten when there are too many`() {
        let track = CueTrack()
        for number in 0..<2100 {
            track.write(Cue(start: Int64(number), end: Int64(number) + 1, text: "\(number)", isMarkup: false))
        }
        #expect(track.text(at: 99).isEmpty)
        #expect(track.text(at: 100) == "100")
        let long = CueTrack()
        for number in 0..<100 {
            let text = String(repeating: "x", count: 4000)
            long.write(Cue(start: Int64(number), end: Int64(number) + 1, text: text, isMarkup: false))
        }
        #expect(long.text(at: 34).isEmpty)
        #expect(!long.text(at: 99).isEmpty)
    }

    @Test func `is there from its beginning to its end`() {
        let track = CueTrack()
        track.write(Cue(start: 10, end: 20, text: "one", isMarkup: false))
        track.write(Cue(start: 15, end: 30, text: "two", isMarkup: false))
        track.write(Cue(start: 40, end: nil, text: "three", isMarkup: false))
        track.write(Cue(start: 50, end: nil, text: "four", isMarkup: false))
        #expect(track.text(at: 9).isEmpty)
        #expect(track.text(at: 10) == "one")
        #expect(track.text(at: 15) == "one\ntwo")
        #expect(track.text(at: 20) == "two")
        #expect(track.text(at: 30).isEmpty)
        #expect(track.text(at: 45) == "three")
        #expect(track.text(at: 50) == "four")
        // Read again after a move, they are the same ones.
        track.flushStopped()
        track.write(Cue(start: 10, end: 20, text: "one", isMarkup: false))
        #expect(track.text(at: 10) == "one")
    }
}
