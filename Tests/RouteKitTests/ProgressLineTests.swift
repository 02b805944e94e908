// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import linnet

struct ProgressLineTests {
    private let song = ProgressLine(
        title: "Title", subtitle: "Artist", activity: .playing,
        position: MediaTime(value: 75, timescale: 1),
        range: TimeRange(start: .zero, duration: MediaTime(value: 150, timescale: 1)), volume: 0.4)

    @Test func `a wide line shows everything`() {
        let line = song.terminal(columns: 79)
        #expect(line.hasPrefix("▶ Title — Artist  ━"))
        let (filled, empty) = (line.filter { $0 == "━" }.count, line.filter { $0 == "─" }.count)
        #expect(empty - filled == (empty + filled) % 2)
        #expect(line.hasSuffix("1:15 / 2:30  vol 40 %  playing"))
    }

    @Test(arguments: 1...120) func `a line is never wider than the terminal`(columns: Int) {
        var line = song
        line.title = "東京の歌 🎵 with a long title that goes on and on"
        #expect(TerminalText.width(line.terminal(columns: columns)) <= columns)
    }

    @Test func `a title cannot steer the terminal`() {
        var line = song
        line.title = "\u{1b}[2Jevil\u{202e}\r\n"
        #expect(line.heading == "[2Jevil — Artist")
    }

    @Test func `media without a title is called by its file`() {
        var line = ProgressLine()
        #expect(line.heading == "untitled")
        line.fallback = "song.flac"
        #expect(line.heading == "song.flac")
    }

    @Test func `a live edge has no times`() {
        var line = song
        (line.isLive, line.range) = (true, TimeRange(start: line.position, duration: .zero))
        #expect(line.times == "live")
    }

    @Test func `mute, speed and faults are told`() {
        var line = song
        (line.isMuted, line.speed) = (true, 1.5)
        #expect(line.plain == "playing ×1.5: Title — Artist (1:15 / 2:30, volume muted)")
        line.fault = "network"
        #expect(line.plain.hasPrefix("network: "))
    }

    @Test func `hours show only where there are some`() {
        #expect(ProgressLine.clock(MediaTime(value: 5, timescale: 1)) == "0:05")
        #expect(ProgressLine.clock(MediaTime(value: 3661, timescale: 1)) == "1:01:01")
        #expect(ProgressLine.clock(.indefinite) == "–:––")
    }

    @Test func `a log gets a line for a change, not for passing time`() {
        var line = song
        line.position = MediaTime(value: 80, timescale: 1)
        #expect(!line.differs(from: song))
        line.activity = .paused
        #expect(line.differs(from: song))
    }

    @Test func `bars keep to their ends`() {
        var line = song
        line.position = MediaTime(value: 999, timescale: 1)
        #expect(!line.terminal(columns: 80).contains("─"))
        line.position = MediaTime(value: -5, timescale: 1)
        #expect(!line.terminal(columns: 80).contains("━"))
    }
}
