// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Reads the tags of a manifest of DASH, as far as `DASHManifest` needs them.
struct DASHReader {
    /// A line of a list: so many segments of one length.
    fileprivate struct Entry {
        var time: UInt64?
        var duration: UInt64
        /// Below zero: until the next line, or the end of the period.
        var repeats: Int
    }

    fileprivate struct Template {
        var media: [UInt8] = []
        var initialization: [UInt8] = []
        var timescale: UInt64 = 1
        var offset: UInt64 = 0
        var startNumber: UInt64 = 1
        var entries: [Entry]?
    }

    /// What holds within a tag, unless a tag in it says otherwise.
    private struct Level {
        var base: Address?
        /// What this level's own base is relative to.
        var outer: Address?
        var hasBase = false
        var template = Template()
        var type: [UInt8] = []
        var mime: [UInt8] = []
        var language: String?
        var codecs: String?
        var width: Int?
        var height: Int?
        var identifier: [UInt8] = []
        var bandwidth = 0
    }

    private struct Period {
        var start: Double?
        var duration: Double?
        var sets: [[Level]] = []
    }

    struct Form: Equatable {
        var codecs: String?
        var size: String?
    }

    struct TimedSet {
        var kind: DASHManifest.Kind
        var language: String?
        var pieces: [DASHManifest.Piece] = []
        var forms: [Form] = []
    }

    struct TimedPeriod {
        var sets: [TimedSet]
    }

    private(set) var isDynamic = false
    private(set) var updatePeriod: Double?
    private var duration: Double?
    private var periods: [Period] = []
    private var levels: [(name: String, level: Level)] = []
    private let base: Address?
    private var entryCount = 0
    private static let names: Set<String> = ["mpd", "period", "adaptationset", "representation"]

    init(base: Address?) { self.base = base }

    /// False if it is none, or has what is not understood here.
    mutating func read(_ text: [UInt8]) -> Bool {
        var scanner = TagScanner(text, longest: DASHManifest.Limits.text)
        var name = ""
        while let token = scanner.next() {
            switch token {
            case .open(let opened, let attributes):
                name = opened
                guard open(opened, attributes) else { return false }
            case .close(let closed):
                name = ""
                close(closed)
            case .text(let bytes): if name == "baseurl" { rebase(bytes) }
            }
        }
        return !periods.isEmpty
    }

    private mutating func open(_ name: String, _ attributes: [TagScanner.Attribute]) -> Bool {
        func value(_ name: String) -> [UInt8]? {
            attributes.first { $0.name == name && !$0.value.isEmpty }?.value
        }
        switch name {
        case "mpd":
            guard levels.isEmpty else { return false }
            isDynamic = value("type").map { PlaylistText.lowercased($0[...]) == "dynamic" } ?? false
            updatePeriod = value("minimumupdateperiod").flatMap { Self.seconds($0) }
            duration = value("mediapresentationduration").flatMap { Self.seconds($0) }
            levels = [("mpd", Level(base: base, outer: base))]
        case "period":
            // One that is elsewhere has an address of its own.
            guard levels.count == 1, value("href") == nil, periods.count < DASHManifest.Limits.periods else {
                return false
            }
            periods.append(
                Period(
                    start: value("start").flatMap { Self.seconds($0) },
                    duration: value("duration").flatMap { Self.seconds($0) }))
            push(name, value)
        case "adaptationset":
            guard levels.count == 2, value("href") == nil else { return false }
            periods[periods.count - 1].sets.append([])
            push(name, value)
        case "representation":
            guard levels.count == 3 else { return false }
            push(name, value)
        case "segmenttemplate":
            guard let last = levels.indices.last else { return false }
            levels[last].level.template.take(value)
        case "segmenttimeline":
            guard let last = levels.indices.last else { return false }
            levels[last].level.template.entries = []
        case "s":
            guard let last = levels.indices.last, let duration = value("d").flatMap({ Self.number($0) }),
                duration > 0
            else { return false }
            entryCount += 1
            let repeats = value("r").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
            guard entryCount <= DASHManifest.Limits.segments, repeats < DASHManifest.Limits.segments else {
                return false
            }
            levels[last].level.template.entries?.append(
                Entry(time: value("t").flatMap { Self.number($0) }, duration: duration, repeats: repeats))
        case "segmentbase", "segmentlist": return false
        default: break
        }
        return true
    }

    private mutating func push(_ name: String, _ value: (String) -> [UInt8]?) {
        guard var level = levels.last?.level else { return }
        (level.outer, level.hasBase) = (level.base, false)
        func text(_ name: String) -> String? { value(name).map { ForeignText.string($0[...]) } }
        level.type = value("contenttype") ?? level.type
        level.mime = value("mimetype") ?? level.mime
        level.language = text("lang") ?? level.language
        level.codecs = text("codecs") ?? level.codecs
        level.width = value("width").flatMap { PlaylistText.number($0[...]) } ?? level.width
        level.height = value("height").flatMap { PlaylistText.number($0[...]) } ?? level.height
        level.identifier = value("id") ?? []
        level.bandwidth = value("bandwidth").flatMap { PlaylistText.number($0[...]) } ?? 0
        levels.append((name, level))
    }

    private mutating func close(_ name: String) {
        guard Self.names.contains(name), levels.last?.name == name, let level = levels.popLast()?.level else {
            return
        }
        guard name == "representation", let period = periods.indices.last, !periods[period].sets.isEmpty
        else {
            return
        }
        periods[period].sets[periods[period].sets.count - 1].append(level)
    }

    /// The first of several bases counts.
    private mutating func rebase(_ text: [UInt8]) {
        guard let last = levels.indices.last, !levels[last].level.hasBase,
            let address = Address.resolve(text[...], against: levels[last].level.outer, .uri)
        else { return }
        levels[last].level.hasBase = true
        levels[last].level.base = Address(absolute: address) ?? levels[last].level.base
    }

    // MARK: Times

    /// Nil if something is not understood here, or more than what is looked at.
    var timedPeriods: [TimedPeriod]? {
        var timed: [TimedPeriod] = []
        var count = 0
        var next = 0.0
        for (index, period) in periods.enumerated() {
            let start = period.start ?? next
            let end =
                period.duration.map { start + $0 }
                ?? (index + 1 < periods.count ? periods[index + 1].start : duration)
            next = end ?? start
            var sets: [TimedSet] = []
            for levels in period.sets {
                guard let first = levels.first else { continue }
                if Self.isText(first) { continue }
                guard let kind = Self.kind(of: first) else { return nil }
                var set = TimedSet(kind: kind, language: first.language)
                for level in levels {
                    guard let piece = Self.piece(of: level, from: start, to: end, count: &count) else {
                        return nil
                    }
                    // Nothing is there yet, or any more.
                    if piece.segments.isEmpty { continue }
                    set.pieces.append(piece)
                    let size = level.width.flatMap { width in level.height.map { "\(width)x\($0)" } }
                    set.forms.append(Form(codecs: level.codecs, size: size))
                }
                if !set.pieces.isEmpty { sets.append(set) }
            }
            if !sets.isEmpty { timed.append(TimedPeriod(sets: sets)) }
        }
        return timed
    }

    private static func isText(_ level: Level) -> Bool {
        let type = PlaylistText.lowercased(level.type[...])
        let mime = PlaylistText.lowercased(level.mime[...])
        return type == "text" || type == "image" || mime.hasPrefix("text/") || mime.hasPrefix("image/")
            || mime.hasPrefix("application/")
    }

    /// Nil if it is in no container that HLS has, too.
    private static func kind(of level: Level) -> DASHManifest.Kind? {
        switch PlaylistText.lowercased(level.mime[...]) {
        case "audio/mp4": .audio
        case "video/mp4": .video
        default: nil
        }
    }

    private static func piece(
        of level: Level, from start: Double, to end: Double?, count: inout Int
    ) -> DASHManifest.Piece? {
        let template = level.template
        guard let entries = template.entries, !template.media.isEmpty, template.timescale > 0 else {
            return nil
        }
        let scale = Double(template.timescale)
        var piece = DASHManifest.Piece(
            base: level.base, media: template.media, initialization: template.initialization,
            identifier: level.identifier, bandwidth: level.bandwidth, timescale: template.timescale,
            lead: Double(template.offset) / scale - start)
        var (time, number) = (UInt64(0), template.startNumber)
        for (index, entry) in entries.enumerated() {
            time = entry.time ?? time
            var repeats = entry.repeats
            if repeats < 0 {
                let next = index + 1 < entries.count ? entries[index + 1].time : nil
                let limit = next.map { Double($0) } ?? end.map { ($0 + piece.lead) * scale }
                guard let limit else { return nil }
                let fits = ((limit - Double(time)) / Double(entry.duration)).rounded(.up)
                repeats = Int(min(max(fits - 1, 0), Double(DASHManifest.Limits.segments)))
            }
            count += repeats + 1
            guard count <= DASHManifest.Limits.segments else { return nil }
            for _ in 0...repeats {
                piece.segments.append(
                    DASHManifest.Segment(time: time, duration: entry.duration, number: number))
                let (later, isTooLate) = time.addingReportingOverflow(entry.duration)
                let (following, isTooMany) = number.addingReportingOverflow(1)
                guard !isTooLate, !isTooMany else { return nil }
                (time, number) = (later, following)
            }
        }
        return piece
    }

    // MARK: Values

    private static func number(_ bytes: [UInt8]) -> UInt64? {
        guard bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(String(decoding: bytes, as: UTF8.self))
    }

    /// A length as `P1DT2H3M4.5S`, in seconds. Months and years are no length.
    static func seconds(_ bytes: [UInt8]) -> Double? {
        guard bytes.first == 0x50, bytes.count < 40 else { return nil }
        var (total, isTime) = (0.0, false)
        var digits: [UInt8] = []
        for byte in bytes.dropFirst() {
            switch byte {
            case 0x30...0x39, 0x2e: digits.append(byte)
            case 0x54: isTime = true
            default:
                let unit: Double? =
                    switch (byte, isTime) {
                    case (0x44, false): 86_400
                    case (0x48, true): 3_600
                    case (0x4d, true): 60
                    case (0x53, true): 1
                    default: nil
                    }
                guard let unit, let value = Double(String(decoding: digits, as: UTF8.self)) else {
                    return nil
                }
                total += value * unit
                digits = []
            }
        }
        return digits.isEmpty && total.isFinite && total < 1e12 ? total : nil
    }
}

extension DASHReader.Template {
    fileprivate mutating func take(_ value: (String) -> [UInt8]?) {
        func number(_ name: String) -> UInt64? {
            value(name).flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        }
        media = value("media") ?? media
        initialization = value("initialization") ?? initialization
        timescale = number("timescale") ?? timescale
        offset = number("presentationtimeoffset") ?? offset
        startNumber = number("startnumber") ?? startNumber
    }
}
