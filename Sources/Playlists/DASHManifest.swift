// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A manifest of DASH whose segments are listed with their times, as far as a playlist of HLS can say the same.
///
/// GStreamer's demuxer looks for a time in such a list as if its first segment stood at zero, so it plays those that do.
/// The others are for `HLSOfDASH`.
package struct DASHManifest: Equatable, Sendable {
    /// What is made of a manifest at most; one with more is left to the demuxer.
    enum Limits {
        static let segments = 20_000
        static let periods = 200
        static let renditions = 64
        /// Of a stream that goes on, which is read again and again; earlier ones cannot be moved to.
        static let window = 900
        static let text = 8_192
    }

    enum Kind: Equatable, Sendable { case audio, video }

    struct Segment: Equatable, Sendable {
        /// In the time scale of its piece.
        var time: UInt64
        var duration: UInt64
        var number: UInt64
    }

    /// What one representation gives in one period.
    struct Piece: Equatable, Sendable {
        var base: Address?
        var media: [UInt8] = []
        var initialization: [UInt8] = []
        var identifier: [UInt8] = []
        var bandwidth = 0
        var timescale: UInt64 = 1
        /// Seconds by which the times in the media are ahead of those of the presentation.
        var lead = 0.0
        var segments: [Segment] = []
    }

    struct Rendition: Equatable, Sendable {
        var kind: Kind
        /// Renditions of one set are the same in other qualities.
        var set: Int
        var language: String?
        var codecs: String?
        var bandwidth: Int
        var size: String?
        var pieces: [Piece]
    }

    /// True if it goes on.
    package let isDynamic: Bool
    /// Seconds after which it is to be asked for again, if it says so.
    package let updatePeriod: Double?
    let renditions: [Rendition]

    /// Nil if it is none, has segments without times, or needs nobody's help.
    package init?(decoding bytes: [UInt8], base: String) {
        var reader = DASHReader(base: Address(absolute: base))
        guard reader.read(PlaylistText.utf8(bytes[...])), let periods = reader.timedPeriods,
            let first = periods.first, let renditions = Self.renditions(of: periods), !renditions.isEmpty
        else { return nil }
        let late = first.sets.contains { set in
            set.pieces.contains { piece in
                guard let segment = piece.segments.first else { return false }
                let start = Double(segment.time) / Double(piece.timescale) - piece.lead
                return start > Double(segment.duration) / Double(piece.timescale) / 2
            }
        }
        guard reader.isDynamic || periods.count > 1 || late else { return nil }
        (isDynamic, updatePeriod) = (reader.isDynamic, reader.updatePeriod)
        self.renditions = reader.isDynamic ? renditions.map { $0.last(Limits.window) } : renditions
    }

    /// Joins what belongs together in periods. Nil if one of them lacks something.
    private static func renditions(of periods: [DASHReader.TimedPeriod]) -> [Rendition]? {
        var renditions: [Rendition] = []
        for (number, set) in periods[0].sets.enumerated() {
            for place in set.pieces.indices {
                guard renditions.count < Limits.renditions else { return nil }
                let pieces = periods.compactMap { period -> Piece? in
                    let same = period.sets.filter { $0.kind == set.kind }
                    let place = min(place, set.pieces.count - 1)
                    let order = periods[0].sets[..<number].count { $0.kind == set.kind }
                    let match =
                        same.first { $0.language == set.language && $0.pieces.count > place }
                        ?? (order < same.count ? same[order] : same.first)
                    return match.flatMap {
                        $0.pieces.isEmpty ? nil : $0.pieces[min(place, $0.pieces.count - 1)]
                    }
                }
                guard pieces.count == periods.count else { return nil }
                let form = set.forms[place]
                renditions.append(
                    Rendition(
                        kind: set.kind, set: number, language: set.language, codecs: form.codecs,
                        bandwidth: set.pieces[place].bandwidth, size: form.size, pieces: pieces))
            }
        }
        return renditions
    }
}

extension DASHManifest.Rendition {
    /// With no more than so many segments.
    fileprivate func last(_ count: Int) -> DASHManifest.Rendition {
        var result = self
        var left = count
        for index in pieces.indices.reversed() {
            result.pieces[index].segments = pieces[index].segments.suffix(left)
            left -= result.pieces[index].segments.count
        }
        result.pieces.removeAll { $0.segments.isEmpty }
        return result
    }
}

extension DASHManifest.Piece {
    /// The address of a segment; nil if its template says nothing.
    func address(of segment: DASHManifest.Segment) -> String? { address(media, segment) }

    var initializationAddress: String? { initialization.isEmpty ? nil : address(initialization, nil) }

    private func address(_ template: [UInt8], _ segment: DASHManifest.Segment?) -> String? {
        var text: [UInt8] = []
        var rest = template[...]
        while let mark = rest.firstIndex(of: 0x24) {
            text += rest[..<mark]
            rest = rest[(mark + 1)...]
            guard let end = rest.firstIndex(of: 0x24) else { return nil }
            let (name, width) = Self.field(rest[..<end])
            rest = rest[(end + 1)...]
            switch name {
            case "": text.append(0x24)
            case "representationid": text += identifier
            case "bandwidth": text += Self.digits(UInt64(clamping: bandwidth), width)
            case "number":
                guard let segment else { return nil }
                text += Self.digits(segment.number, width)
            case "time":
                guard let segment else { return nil }
                text += Self.digits(segment.time, width)
            default: return nil
            }
        }
        text += rest
        return Address.resolve(text[...], against: base, .uri)
    }

    /// `Number%05d` is a name and a width.
    private static func field(_ bytes: ArraySlice<UInt8>) -> (String, width: Int) {
        let parts = bytes.split(separator: 0x25, maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map { PlaylistText.lowercased($0) } ?? ""
        guard parts.count == 2 else { return (name, 0) }
        return (name, min(20, PlaylistText.number(parts[1].dropLast()) ?? 0))
    }

    private static func digits(_ value: UInt64, _ width: Int) -> [UInt8] {
        let digits = Array(String(value).utf8)
        return [UInt8](repeating: 0x30, count: max(0, width - digits.count)) + digits
    }
}
