// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Where `seek` goes.
package enum SeekTarget: Equatable, Sendable {
    case position(MediaTime)
    /// From where playback is; negative goes back.
    case offset(MediaTime)
}

/// What `volume` does. Levels are 0 to 1.
package enum VolumeChange: Equatable, Sendable {
    case level(Double)
    case offset(Double)
}

/// What `mute` does.
package enum MuteChange: Equatable, Sendable { case on, off, toggle }

/// A host and perhaps a port, as people write them.
package struct HostText: Equatable, Sendable {
    package let host: String
    package let port: UInt16?
}

/// Reads the words of the command line. Nil is a mistake, for the caller to explain.
package enum ValueText {
    /// `90`, `2.5`, `1:30`, `1:02:03`, `1h2m3s`, `1m30s`. Never negative.
    package static func time(_ text: String) -> MediaTime? {
        guard !text.isEmpty else { return nil }
        let nanoseconds = text.contains { $0 == "h" || $0 == "m" || $0 == "s" } ? units(text) : clock(text)
        return nanoseconds.map { MediaTime(nanoseconds: $0) }
    }

    /// A time, or one with a sign for a step from here.
    package static func seekTarget(_ text: String) -> SeekTarget? {
        guard let sign = text.first, sign == "+" || sign == "-" else {
            return time(text).map(SeekTarget.position)
        }
        guard let step = time(String(text.dropFirst()))?.nanoseconds else { return nil }
        return .offset(MediaTime(nanoseconds: sign == "-" ? -step : step))
    }

    /// `40`, `40%`, `+5`, `-5`: hundredths of full.
    package static func volume(_ text: String) -> VolumeChange? {
        var digits = Substring(text)
        if digits.last == "%" { digits.removeLast() }
        let sign = digits.first.flatMap { $0 == "+" || $0 == "-" ? $0 : nil }
        if sign != nil { digits.removeFirst() }
        guard let number = decimal(digits), number <= 100_000_000_000 else { return nil }
        let level = Double(number) / 100_000_000_000
        return switch sign {
        case "+": .offset(level)
        case "-": .offset(-level)
        default: .level(level)
        }
    }

    /// `40`, `40%`: 0 to 1.
    package static func percent(_ text: String) -> Double? {
        guard case .level(let level)? = volume(text) else { return nil }
        return level
    }

    /// `20`, `12.5`, `20dB`: 0 to 60.
    package static func decibels(_ text: String) -> Double? {
        var digits = Substring(text)
        if digits.suffix(2).lowercased() == "db" { digits.removeLast(2) }
        guard let number = decimal(digits), number <= 60_000_000_000 else { return nil }
        return Double(number) / 1_000_000_000
    }

    /// `1.5`, `1.5x`, `2×`.
    package static func speed(_ text: String) -> Double? {
        var digits = Substring(text)
        if digits.last == "x" || digits.last == "×" { digits.removeLast() }
        guard let number = decimal(digits), number > 0 else { return nil }
        return Double(number) / 1_000_000_000
    }

    package static func mute(_ text: String) -> MuteChange? {
        switch text {
        case "on", "yes", "true": .on
        case "off", "no", "false": .off
        case "toggle": .toggle
        default: nil
        }
    }

    /// `Name: value`; the name must be a token of HTTP, the value one line.
    package static func header(_ text: String) -> HeaderField? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon]
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard HeaderField.isName(name), HeaderField.isValue(value) else { return nil }
        return HeaderField(name: String(name), value: String(value))
    }

    /// `host`, `host:port`, `[v6]`, `[v6]:port`, or a bare IPv6 address.
    package static func host(_ text: String) -> HostText? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return host.isEmpty ? nil : HostText(host: host, port: nil) }
            guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0, !host.isEmpty else {
                return nil
            }
            return HostText(host: host, port: port)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard !text.isEmpty, !text.contains(where: { $0 == " " || $0 == "/" }) else { return nil }
        switch parts.count {
        case 1: return HostText(host: text, port: nil)
        case 2:
            guard let port = UInt16(parts[1]), port > 0, !parts[0].isEmpty else { return nil }
            return HostText(host: String(parts[0]), port: port)
        default: return HostText(host: text, port: nil)
        }
    }

    /// True if `text` begins with a scheme, such as `https://`.
    package static func isURL(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return false }
        let scheme = text[..<colon].utf8
        return !scheme.isEmpty
            && scheme.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    // MARK: Numbers

    /// A decimal number in billionths. At most nine digits after the point count.
    private static func decimal(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.count <= 9, let number = digits(whole) else {
            return nil
        }
        guard parts.count == 2 else { return number * 1_000_000_000 }
        let fraction = parts[1].prefix(9)
        guard !fraction.isEmpty, digits(parts[1].prefix(18)) != nil, let part = digits(fraction) else {
            return nil
        }
        var scaled = part
        for _ in fraction.count..<9 { scaled *= 10 }
        return number * 1_000_000_000 + scaled
    }

    /// Up to 18 ASCII digits, so that nothing overflows.
    private static func digits(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// `S`, `M:S` or `H:M:S`; below the first part, sixty is too much.
    private static func clock(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let seconds = parts.last.flatMap({ decimal($0) }) else {
            return nil
        }
        var total: Int64 = 0
        for (index, part) in parts.dropLast().enumerated() {
            guard part.count <= 6, let number = digits(part), !part.isEmpty, index == 0 || number < 60 else {
                return nil
            }
            total = total * 60 + number
        }
        guard parts.count == 1 || seconds < 60_000_000_000 else { return nil }
        let (scaled, overflow) = total.multipliedReportingOverflow(by: 60_000_000_000)
        return overflow ? nil : scaled + seconds
    }

    /// Numbers with the units h, m, s, each at most once and in this order.
    private static func units(_ text: String) -> Int64? {
        var rest = Substring(text)
        var total: Int64 = 0
        for (unit, scale) in [("h", 3600), ("m", 60), ("s", 1)] as [(Character, Int64)] {
            guard let end = rest.firstIndex(of: unit) else { continue }
            guard let number = decimal(rest[..<end]) else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: scale)
            let (sum, carried) = total.addingReportingOverflow(scaled)
            guard !overflow, !carried else { return nil }
            total = sum
            rest = rest[rest.index(after: end)...]
        }
        return rest.isEmpty ? total : nil
    }
}
