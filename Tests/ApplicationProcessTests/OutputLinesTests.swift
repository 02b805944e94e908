// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationProcess
import Testing

struct OutputLinesTests {
    private var lines = OutputLines()

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test mutating func `a line is told at its end, wherever it was cut`() {
        #expect(lines.push(bytes("one\ntw"), now: 0) == ["one"])
        #expect(lines.push(bytes("o\nthree"), now: 0) == ["two"])
        #expect(lines.finish() == ["three"])
        #expect(lines.last == ["one", "two", "three"])
        #expect(lines.finish() == [])
    }

    @Test mutating func `a long line is cut and does not grow`() {
        for _ in 0..<100 { #expect(lines.push([UInt8](repeating: 97, count: 1_000), now: 0) == []) }
        let told = lines.push(bytes("\nnext\n"), now: 0)
        #expect(told.map(\.utf8.count) == [OutputLines.lineLimit, 4])
    }

    @Test mutating func `what a terminal would obey becomes blanks, and what is no text is mended`() {
        #expect(lines.push([27, 91, 50, 74, 7, 0xff, 65, 10], now: 0) == [" [2J \u{fffd}A"])
    }

    @Test mutating func `after so many lines in a second the rest is counted, and the last are kept`() {
        let flood = bytes((1...500).map { "\($0)\n" }.joined())
        #expect(lines.push(flood, now: 0).count == OutputLines.rate)
        #expect(lines.last.count == OutputLines.kept && lines.last.last == "500")
        #expect(lines.push(bytes("more\n"), now: 999_999_999) == [])
        #expect(lines.push(bytes("again\n"), now: 1_000_000_000) == ["(301 lines were left out)", "again"])
    }

    @Test mutating func `after so many bytes in a second no more is read until it is over`() {
        _ = lines.push([UInt8](repeating: 97, count: OutputLines.byteRate - 1), now: 0)
        #expect(!lines.isFull)
        _ = lines.push([97], now: 1)
        #expect(lines.isFull)
        _ = lines.push([97], now: 1_000_000_000)
        #expect(!lines.isFull)
    }
}
