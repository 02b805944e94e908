// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The one line that shows what plays, as a value, so that drawing it is a pure function.
package struct ProgressLine: Equatable, Sendable {
    package enum Activity: String, Sendable {
        case loading, playing, paused, buffering, scanning, scrubbing
    }

    package var title: String?
    /// What stands for a title where the media has none.
    package var fallback = "untitled"
    package var subtitle: String?
    package var activity: Activity
    package var position: MediaTime
    package var range: TimeRange
    package var isLive: Bool
    package var speed: Double
    /// The device's volume, 0 to 1.
    package var volume: Double
    package var isMuted: Bool
    /// A playback error that may clear.
    package var fault: String?

    package init(
        title: String? = nil, subtitle: String? = nil, activity: Activity = .loading,
        position: MediaTime = .zero, range: TimeRange = .empty, isLive: Bool = false, speed: Double = 1,
        volume: Double = 1, isMuted: Bool = false, fault: String? = nil
    ) {
        (self.title, self.subtitle, self.activity) = (title, subtitle, activity)
        (self.position, self.range, self.isLive, self.speed) = (position, range, isLive, speed)
        (self.volume, self.isMuted, self.fault) = (volume, isMuted, fault)
    }

    /// Title and subtitle, clean enough for a terminal.
    package var heading: String {
        let parts = [title ?? fallback, subtitle ?? ""].map(TerminalText.clean).filter { !$0.isEmpty }
        return parts.joined(separator: " — ")
    }

    /// `1:23 / 3:45`, only the position where there is no end, `live` at the edge of a stream.
    package var times: String {
        let at = Self.clock(position)
        if isLive, range.duration.isSameMoment(as: .zero) { return "live" }
        let length = range.duration.nanoseconds ?? 0
        return length > 0 ? "\(at) / \(Self.clock(isLive ? range.end : range.duration))" : at
    }

    /// `40 %`, or `muted`.
    package var level: String { isMuted ? "muted" : "\(Int((min(max(volume, 0), 1) * 100).rounded())) %" }

    private var word: String {
        if let fault { return TerminalText.clean(fault) }
        let word = activity.rawValue
        return speed != 1 ? "\(word) ×\(Self.short(speed))" : word
    }

    /// The line for a terminal of `columns` columns. Never wider.
    package func terminal(columns: Int) -> String {
        let sign =
            switch activity {
            case .loading, .buffering: "◌"
            case .playing: "▶"
            case .paused: "⏸"
            case .scanning: "»"
            case .scrubbing: "⇔"
            }
        let tail = "\(times)  vol \(level)  \(word)"
        let room = columns - TerminalText.width(tail) - 2
        // Sign, blank and at least a few letters of a title.
        guard room >= 12 else { return TerminalText.fit("\(sign) \(tail)", columns) }
        let barWidth = room >= 40 ? min(room / 3, 30) : (room >= 24 ? 8 : 0)
        let name = TerminalText.fit(heading, room - 2 - (barWidth > 0 ? barWidth + 2 : 0))
        let drawn = barWidth > 0 ? "  " + bar(barWidth) : ""
        return TerminalText.fit("\(sign) \(name)\(drawn)  \(tail)", columns)
    }

    /// The line for a pipe, without the things that change all the time.
    package var plain: String { "\(word): \(heading) (\(times), volume \(level))" }

    private func bar(_ width: Int) -> String {
        guard let length = range.duration.nanoseconds, length > 0, let at = position.nanoseconds,
            let start = range.start.nanoseconds
        else { return String(repeating: "─", count: width) }
        let share = min(max((Double(at) - Double(start)) / Double(length), 0), 1)
        let filled = Int((share * Double(width)).rounded(.down))
        return String(repeating: "━", count: filled) + String(repeating: "─", count: width - filled)
    }

    /// `0:05`, `61:01` as `1:01:01`; `–:––` for no number.
    package static func clock(_ time: MediaTime) -> String {
        guard let nanoseconds = time.nanoseconds else { return "–:––" }
        let seconds = nanoseconds.magnitude / 1_000_000_000
        let (minutes, second) = seconds.quotientAndRemainder(dividingBy: 60)
        let (hours, minute) = minutes.quotientAndRemainder(dividingBy: 60)
        func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let sign = nanoseconds < 0 && seconds > 0 ? "-" : ""
        return sign + (hours > 0 ? "\(hours):\(two(minute)):\(two(second))" : "\(minute):\(two(second))")
    }

    /// At most two digits after the point.
    package static func short(_ number: Double) -> String {
        guard number.isFinite, number.magnitude < 1e9 else { return "?" }
        let hundredths = Int64((number * 100).rounded())
        let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
        let sign = hundredths < 0 ? "-" : ""
        if rest == 0 { return "\(sign)\(whole)" }
        if rest % 10 == 0 { return "\(sign)\(whole).\(rest / 10)" }
        return "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}

/// Text from the network on its way to a terminal.
package enum TerminalText {
    /// Without control characters and direction marks: a title must not move the cursor or turn the line round.
    package static func clean(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { scalar in
                    switch scalar.value {
                    case 0..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff:
                        false
                    default: true
                    }
                }))
    }

    /// Columns that `text` takes: two for wide characters, by the blocks that terminals agree on.
    package static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        let first = character.unicodeScalars.first.map(\.value) ?? 0
        if character.unicodeScalars.contains(where: { $0.value == 0xfe0f }) { return 2 }
        switch first {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
            0xa000...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1faff, 0x20000...0x3fffd:
            return 2
        default: return 1
        }
    }

    /// `text`, cut with an ellipsis where it is wider than `columns`.
    package static func fit(_ text: String, _ columns: Int) -> String {
        guard columns > 0 else { return "" }
        guard width(text) > columns else { return text }
        var cut = ""
        var used = 0
        for character in text {
            let next = width(character)
            if used + next > columns - 1 { break }
            cut.append(character)
            used += next
        }
        return cut + "…"
    }
}
