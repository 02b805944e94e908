// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Says with playlists of HLS what a manifest of DASH says, and goes on saying it as the manifest changes.
package struct HLSOfDASH: Sendable {
    /// Where a rendition's list stands among all that were and will be.
    fileprivate struct Place {
        var sequence = 0
        var jumps = 0
        var addresses: [String] = []
        /// The places of those before which the times of the media jump.
        var jumping: Set<Int> = []
    }

    private var manifest: DASHManifest
    fileprivate var places: [Place]
    /// Seconds after which the manifest is to be asked for again; nil if it stays as it is.
    package var updatePeriod: Double? {
        guard manifest.isDynamic else { return nil }
        let longest = manifest.renditions.flatMap(\.pieces).map(\.longest).max() ?? 1
        return min(max(manifest.updatePeriod ?? longest, 1), 60)
    }

    package init(_ manifest: DASHManifest) {
        self.manifest = manifest
        places = manifest.renditions.map { Place(of: $0) }
    }

    /// Goes over to a newer manifest of the same presentation. False if that has other renditions.
    package mutating func update(_ newer: DASHManifest) -> Bool {
        guard newer.renditions.count == places.count else { return false }
        for (index, rendition) in newer.renditions.enumerated() {
            places[index].advance(to: Place(of: rendition))
        }
        manifest = newer
        return true
    }

    // MARK: Text

    /// The list of renditions, whose own lists are at `prefix`, a number and `.m3u8`.
    package func master(prefix: String) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        let renditions = Array(manifest.renditions.enumerated())
        let videos = renditions.filter { $0.element.kind == .video }
        let audios = renditions.filter { $0.element.kind == .audio }
        let sets = Set(audios.map(\.element.set)).sorted()
        let best = sets.compactMap { set in
            audios.filter { $0.element.set == set }.max { $0.element.bandwidth < $1.element.bandwidth }
        }
        let isGrouped = !videos.isEmpty && !audios.isEmpty || sets.count > 1
        if isGrouped {
            for (order, (index, audio)) in best.enumerated() {
                let language = audio.language.map { ",LANGUAGE=\"\(Self.quotable($0))\"" } ?? ""
                let isDefault = order == 0 ? ",DEFAULT=YES" : ""
                text +=
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(Self.quotable(audio.language ?? "")) \(order + 1)\""
                    + "\(language)\(isDefault),AUTOSELECT=YES,URI=\"\(prefix)\(index).m3u8\"\n"
            }
        }
        let sound = isGrouped ? best.first?.element : nil
        let variants = !videos.isEmpty ? videos : isGrouped ? Array(best.prefix(1)) : audios
        for (index, variant) in variants {
            let codecs = [variant.codecs, videos.isEmpty ? nil : sound?.codecs].compactMap { $0 }
            let bandwidth = max(1, variant.bandwidth + (videos.isEmpty ? 0 : sound?.bandwidth ?? 0))
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)"
            if !codecs.isEmpty { text += ",CODECS=\"\(Self.quotable(codecs.joined(separator: ",")))\"" }
            if let size = variant.size { text += ",RESOLUTION=\(size)" }
            if isGrouped { text += ",AUDIO=\"a\"" }
            text += "\n\(prefix)\(index).m3u8\n"
        }
        return text
    }

    /// The list of the segments of one rendition; nil if there is none of that number.
    package func media(_ index: Int) -> String? {
        guard places.indices.contains(index) else { return nil }
        let (rendition, place) = (manifest.renditions[index], places[index])
        let longest = rendition.pieces.map(\.longest).max() ?? 1
        var text =
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:\(max(1, Int(min(longest, 1e6).rounded())))\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(place.sequence)\n"
        if place.jumps > 0 { text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(place.jumps)\n" }
        if !manifest.isDynamic { text += "#EXT-X-PLAYLIST-TYPE:VOD\n" }
        var (number, map) = (0, "")
        for piece in rendition.pieces {
            let initialization = piece.initializationAddress ?? map
            for segment in piece.segments {
                guard number < place.addresses.count else { break }
                if place.jumping.contains(number) { text += "#EXT-X-DISCONTINUITY\n" }
                if initialization != map {
                    map = initialization
                    text += "#EXT-X-MAP:URI=\"\(map)\"\n"
                }
                text += "#EXTINF:\(Self.seconds(Double(segment.duration) / Double(piece.timescale))),\n"
                text += "\(place.addresses[number])\n"
                number += 1
            }
        }
        if !manifest.isDynamic { text += "#EXT-X-ENDLIST\n" }
        return text
    }

    /// What may stand between quotation marks.
    private static func quotable(_ text: String) -> String {
        String(
            decoding: text.utf8.filter { $0 >= 0x20 && $0 != 0x22 && $0 != 0x7f }.prefix(200), as: UTF8.self)
    }

    private static func seconds(_ value: Double) -> String {
        let micro = Int64((min(value, 1e6) * 1e6).rounded())
        let digits = String(micro % 1_000_000)
        return "\(micro / 1_000_000)." + String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }
}

extension DASHManifest.Piece {
    /// Seconds of the longest segment.
    fileprivate var longest: Double { Double(segments.map(\.duration).max() ?? 0) / Double(timescale) }
}

extension HLSOfDASH.Place {
    /// Times that differ by less are one timeline, in seconds: they come out of sums of rounded lengths.
    private static let evenness = 0.002

    fileprivate init(of rendition: DASHManifest.Rendition) {
        for (number, piece) in rendition.pieces.enumerated() {
            let before = number > 0 ? rendition.pieces[number - 1] : nil
            if let before,
                (before.lead - piece.lead).magnitude > Self.evenness
                    || before.initializationAddress != piece.initializationAddress
            {
                jumping.insert(addresses.count)
            }
            for segment in piece.segments { addresses.append(piece.address(of: segment) ?? "") }
        }
    }

    /// Goes over to the newer list `next`: what both have keeps its number.
    fileprivate mutating func advance(to next: HLSOfDASH.Place) {
        let gone = next.addresses.first.flatMap { addresses.firstIndex(of: $0) } ?? addresses.count
        sequence += gone
        // The first of a list is not said to jump.
        jumps += jumping.count { $0 > 0 && $0 <= gone }
        (addresses, jumping) = (next.addresses, next.jumping)
    }
}
