// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Makes lines of what a program writes, and keeps the last of them. A program that writes without an end costs a bounded
/// time each second, and nobody else's log.
struct OutputLines {
    /// The longest line in bytes; the rest of a longer one is left out.
    static let lineLimit = 1 << 10
    /// Lines in a second; further ones are counted, not logged.
    static let rate = 200
    /// Bytes in a second; more are not even read until it is over.
    static let byteRate = 256 << 10
    static let kept = 20
    private static let second: Int64 = 1_000_000_000

    private(set) var last: [String] = []
    private var line: [UInt8] = []
    private var began = Int64.min
    private var lines = 0
    private var bytes = 0
    private var dropped = 0

    /// The lines for the log that end in what came. `now` is in nanoseconds.
    mutating func push(_ output: [UInt8], now: Int64) -> [String] {
        var told: [String] = []
        if began == .min || now - began >= Self.second {
            if dropped > 0 { told.append("(\(dropped) lines were left out)") }
            (began, lines, bytes, dropped) = (now, 0, 0, 0)
        }
        bytes += output.count
        var rest = output[...]
        while let end = rest.firstIndex(of: 10) {
            keep(rest[..<end])
            rest = rest[(end + 1)...]
            if let text = take() { told.append(text) }
        }
        keep(rest)
        return told
    }

    /// What was written without an end of the line.
    mutating func finish() -> [String] { line.isEmpty ? [] : [take()].compactMap(\.self) }

    /// True while no more is to be read in this second.
    var isFull: Bool { bytes >= Self.byteRate }

    /// Adds a line that the host itself has to say.
    mutating func note(_ text: String) {
        last.append(text)
        if last.count > Self.kept { last.removeFirst() }
    }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        line.append(contentsOf: part.prefix(Self.lineLimit - line.count))
    }

    private mutating func take() -> String? {
        // A log is shown on terminals, which obey control characters.
        let text = String(decoding: line.map { $0 < 32 || $0 == 127 ? 32 : $0 }, as: UTF8.self)
        line = []
        note(text)
        lines += 1
        if lines > Self.rate {
            dropped += 1
            return nil
        }
        return text
    }
}
