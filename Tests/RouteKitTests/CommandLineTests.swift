// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Settings
import Testing

@testable import linnet

struct CommandLineTests {
    @Test(arguments: [
        ("90", 90_000), ("2.5", 2500), ("1:30", 90_000), ("1:02:03", 3_723_000), ("1m30s", 90_000),
        ("1h2m", 3_720_000), ("1h", 3_600_000), ("0:05.25", 5250), ("90:00", 5_400_000), ("1.5m", 90_000),
        ("0", 0),
    ])
    func `a time is read`(text: String, milliseconds: Int64) {
        #expect(ValueText.time(text)?.nanoseconds == milliseconds * 1_000_000)
    }

    @Test(arguments: [
        "", "x", "-5", "+5", "1:", ":30", "1:60", "1:60:00", "1:2:3:4", "5s3m", "1m1m", "m", "1e3",
        "99999999999999",
        "1.2.3", "٣", "1:٣", "999999:00:00:00", " 5", "1m 5s",
    ])
    func `what is no time is not read as one`(text: String) {
        #expect(ValueText.time(text) == nil)
    }

    @Test func `a sign makes a step`() {
        #expect(ValueText.seekTarget("+30") == .offset(MediaTime(nanoseconds: 30_000_000_000)))
        #expect(ValueText.seekTarget("-1:00") == .offset(MediaTime(nanoseconds: -60_000_000_000)))
        #expect(ValueText.seekTarget("30") == .position(MediaTime(nanoseconds: 30_000_000_000)))
        #expect(ValueText.seekTarget("--3") == nil)
        #expect(ValueText.seekTarget("+") == nil)
    }

    @Test func `a volume is in hundredths`() {
        #expect(ValueText.volume("40") == .level(0.4))
        #expect(ValueText.volume("100%") == .level(1))
        #expect(ValueText.volume("+5") == .offset(0.05))
        #expect(ValueText.volume("-5") == .offset(-0.05))
        #expect(ValueText.volume("101") == nil)
        #expect(ValueText.volume("") == nil)
        #expect(ValueText.volume("%") == nil)
    }

    @Test func `a loudness is a part, and a ducking at most 60 decibels`() {
        #expect(ValueText.percent("40%") == 0.4)
        #expect(ValueText.percent("+5") == nil)
        #expect(ValueText.decibels("20") == 20)
        #expect(ValueText.decibels("12.5dB") == 12.5)
        #expect(ValueText.decibels("60.5") == nil)
        #expect(ValueText.decibels("-3") == nil)
        #expect(ValueText.decibels("dB") == nil)
    }

    @Test func `a speed is above nothing`() {
        #expect(ValueText.speed("1.5") == 1.5)
        #expect(ValueText.speed("2x") == 2)
        #expect(ValueText.speed("0") == nil)
        #expect(ValueText.speed("-1") == nil)
    }

    @Test func `a header has a token and one line`() {
        #expect(ValueText.header("X-A: b: c") == HeaderField(name: "X-A", value: "b: c"))
        #expect(ValueText.header("X-A:") == HeaderField(name: "X-A", value: ""))
        #expect(ValueText.header("no colon") == nil)
        #expect(ValueText.header("X A: b") == nil)
        #expect(ValueText.header(": b") == nil)
        #expect(ValueText.header("X: a\r\nY: b") == nil)
    }

    @Test func `a host may have a port, an IPv6 address brackets`() {
        #expect(ValueText.host("kitchen") == HostText(host: "kitchen", port: nil))
        #expect(ValueText.host("kitchen:80") == HostText(host: "kitchen", port: 80))
        #expect(ValueText.host("[::1]:80") == HostText(host: "::1", port: 80))
        #expect(ValueText.host("fe80::1%eth0") == HostText(host: "fe80::1%eth0", port: nil))
        #expect(ValueText.host("kitchen:0") == nil)
        #expect(ValueText.host("kitchen:99999") == nil)
        #expect(ValueText.host("Living room") == nil)
        #expect(ValueText.host("") == nil)
    }

    @Test func `a URL has a scheme, a path has none`() {
        #expect(ValueText.isURL("https://example.org/"))
        #expect(!ValueText.isURL("song.flac"))
        #expect(!ValueText.isURL("dir:1/song://x"))
        #expect(!ValueText.isURL("://x"))
    }

    @Test func `negative numbers are words and options stay options`() {
        #expect(withNumbersLast(["-10", "--on", "x"]) == ["--on", "x", "--", "-10"])
        #expect(withNumbersLast(["-.5"]) == ["--", "-.5"])
        #expect(withNumbersLast(["-q", "5"]) == ["-q", "5"])
        #expect(withNumbersLast(["--", "-q"]) == ["--", "-q"])
    }

    @Test func `every verb has examples and a summary that is a sentence`() {
        for verb in Verb.all {
            #expect(!verb.examples.isEmpty)
            #expect(verb.summary.hasSuffix("."))
            #expect(verb.helpPage.rendered().contains("linnet \(verb.name)"))
        }
        #expect(Set(Verb.all.map(\.name)).count == Verb.all.count)
    }

    @Test func `JSON is escaped`() {
        let value = JSONText.object([
            ("a\"", .string("b\n\u{1}\u{9b}\\")), ("n", .number(.nan)), ("h", .number(0.5)),
        ])
        #expect(value.line == #"{"a\"":"b\n\u0001\u009b\\","n":null,"h":0.5}"#)
    }
}
