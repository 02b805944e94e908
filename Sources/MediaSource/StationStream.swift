// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// What one connection to a station of web radio brings, as SHOUTcast invented it: so many bytes of sound, a text, and so
/// on. A text is one byte that tells its length in units of 16, and so many bytes.
struct StationStream: Equatable, Sendable {
    private enum Part: Equatable {
        case sound(left: Int)
        case length
        case text(left: Int)
    }
    /// A text as long as one byte can tell.
    static let longestText = 255 * 16

    private let interval: Int
    private var part: Part
    private var text: [UInt8] = []

    /// `interval` is how many bytes of sound stand between two texts, as the answer's head says.
    init(interval: Int32) {
        self.interval = Int(max(1, interval))
        part = .sound(left: self.interval)
    }

    /// Takes the connection's next bytes apart: those of the sound, and titles with the number of these after which they
    /// come. An empty title is one, too.
    mutating func take(_ bytes: [UInt8]) -> (sound: [UInt8], titles: [(place: Int, title: String)]) {
        var sound: [UInt8] = []
        var titles: [(place: Int, title: String)] = []
        sound.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            switch part {
            case .sound(let left):
                let count = min(left, rest.count)
                sound += rest.prefix(count)
                rest = rest.dropFirst(count)
                part = count == left ? .length : .sound(left: left - count)
            case .length:
                let length = Int(rest.removeFirst()) * 16
                text.removeAll(keepingCapacity: true)
                part = length == 0 ? .sound(left: interval) : .text(left: length)
            case .text(let left):
                let count = min(left, rest.count)
                text += rest.prefix(count)
                rest = rest.dropFirst(count)
                part = count == left ? .sound(left: interval) : .text(left: left - count)
                if count == left, let title = Self.title(in: text) { titles.append((sound.count, title)) }
            }
        }
        return (sound, titles)
    }

    // MARK: Texts

    private static let (quote, semicolon, equals) = (UInt8(ascii: "'"), UInt8(ascii: ";"), UInt8(ascii: "="))
    private static let name = Array("streamtitle=".utf8)

    /// The title that a text tells, fit to be shown; nil if it tells none.
    ///
    /// A text is `StreamTitle='…';StreamUrl='…';` and zeros. Nobody escapes quotes and semicolons, so a title ends where
    /// nothing, or the next name, follows.
    static func title(in text: [UInt8]) -> String? {
        let text = text.prefix { $0 != 0 }
        guard let start = place(of: name, in: text) else { return nil }
        let value = text[start...]
        guard value.first == quote else {
            return shown(value.prefix { $0 != semicolon }, isCut: false)
        }
        let inner = value.dropFirst()
        let end = inner.indices.first { inner[$0] == quote && endsTitle(inner[($0 + 1)...]) }
        return shown(inner[..<(end ?? inner.endIndex)], isCut: end == nil)
    }

    private static func shown(_ bytes: ArraySlice<UInt8>, isCut: Bool) -> String {
        ForeignText.words(ForeignText.string(bytes, isCut: isCut)) ?? ""
    }

    /// Where the value of `name` begins: at the beginning, or behind a semicolon, in letters of any case.
    private static func place(of name: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        var isBeginning = true
        for index in text.indices {
            defer { isBeginning = text[index] == semicolon || isBeginning && text[index] == 0x20 }
            guard isBeginning else { continue }
            let found = text[index...].prefix(name.count).map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }
            if found == name { return index + name.count }
        }
        return nil
    }

    /// True if `rest`, which follows a quote, is what may follow the one that ends a title.
    private static func endsTitle(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first else { return true }
        guard first == semicolon else { return false }
        let next = rest.dropFirst().drop { $0 == 0x20 }
        let word = next.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        return next.isEmpty || !word.isEmpty && next[word.endIndex...].first == equals
    }
}

/// The titles of a station, each at the place in the sound where it begins to hold.
struct TitleShelf: Equatable, Sendable {
    /// More than this, not yet read past, are no titles that anybody could read.
    static let limit = 32
    private var titles: [(place: Int64, title: String)] = []

    static func == (one: Self, other: Self) -> Bool {
        one.titles.elementsEqual(other.titles) { $0 == $1 }
    }

    /// Adds a title that begins at `place`, behind all others. One that only says again what holds is passed over.
    mutating func add(_ title: String, at place: Int64) {
        if let last = titles.last {
            if last.title == title { return }
            if last.place == place { titles.removeLast() }
        }
        if titles.count == Self.limit { titles.removeFirst() }
        titles.append((place, title))
    }

    /// The title that begins right at `place`.
    func title(at place: Int64) -> String? { titles.last { $0.place == place }?.title }

    /// Where the first title begins that stands behind `place`.
    func next(after place: Int64) -> Int64? { titles.first { $0.place > place }?.place }
}
