// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

extension QueueItem {
    /// The limits of `Docs/protocols/route.md`, section 5.
    package static let urlLimit = 8192
    package static let headerLimit = 16
    package static let headerBytesLimit = 4096
    package static let segmentLimit = 64

    /// Refuses what no renderer should see. Whether there is anything at the URL is the renderer's to find out.
    func validate(schemes: Set<String>) throws(Refusal) {
        try Self.validate(url: item.uri, schemes: schemes)
        guard item.headers.count <= Self.headerLimit else {
            throw Refusal(.invalidParams, "There are more than \(Self.headerLimit) headers.")
        }
        for header in item.headers {
            let size = header.name.utf8.count + header.value.utf8.count
            guard size <= Self.headerBytesLimit, HeaderField.isName(header.name),
                !header.value.containsControlCharacters
            else {
                throw Refusal(.invalidParams, "A header is too long or has characters that it must not have.")
            }
        }
        if let agent = item.userAgent {
            guard agent.utf8.count <= Self.headerBytesLimit, !agent.containsControlCharacters else {
                throw Refusal(.invalidParams, "The user agent is too long or has control characters.")
            }
        }
        guard item.startPosition.isNumeric, item.startPosition.value >= 0 else {
            throw Refusal(.invalidParams, "The start position is no time from 0 on.")
        }
        guard segments.count <= Self.segmentLimit else {
            throw Refusal(.invalidParams, "There are more than \(Self.segmentLimit) segments.")
        }
    }

    private static func validate(url: String, schemes: Set<String>) throws(Refusal) {
        guard url.utf8.count <= urlLimit else {
            throw Refusal(.invalidURL, "The URL has more than \(urlLimit) bytes.")
        }
        guard !url.containsControlCharacters, !url.utf8.contains(0x20) else {
            throw Refusal(.invalidURL, "The URL has spaces or control characters.")
        }
        let scheme = url.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard let first = scheme.first, UInt8.letters(first), scheme.allSatisfy(UInt8.schemeCharacters),
            scheme.endIndex != url.utf8.endIndex
        else { throw Refusal(.invalidURL, "The URL has no scheme.") }
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        guard schemes.contains(name) else {
            throw Refusal(.unsupportedScheme, "URLs of this scheme are not played.")
        }
        let rest = url.utf8[scheme.endIndex...].dropFirst()
        guard rest.starts(with: "//".utf8) else {
            throw Refusal(.invalidURL, "The URL has no // after its scheme.")
        }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        guard name == "file" || !authority.isEmpty else { throw Refusal(.invalidURL, "The URL has no host.") }
    }
}

extension UInt8 {
    fileprivate static func letters(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a }
    fileprivate static func digits(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
    /// RFC 3986, section 3.1.
    fileprivate static func schemeCharacters(_ byte: UInt8) -> Bool {
        letters(byte) || digits(byte) || "+-.".utf8.contains(byte)
    }
}

extension String {
    /// C0, DEL and C1: nothing that belongs into a name, a header or a URL.
    var containsControlCharacters: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// The longest start of at most so many bytes that cuts no character; of a single longer one, no scalar.
    func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var (result, count) = ("", 0)
        for character in self {
            count += character.utf8.count
            guard count <= limit else { break }
            result.append(character)
        }
        guard result.isEmpty else { return result }
        count = 0
        for scalar in unicodeScalars {
            count += String(scalar).utf8.count
            guard count <= limit else { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}

extension Metadata {
    /// The longest text that is taken over from media, in bytes: tags can hold anything.
    private static let textLimit = 1024

    /// The sender's words where it has some, the media's for the rest. The picture's size is the media's to know. What a
    /// station tells of the piece that is heard comes before the sender's title, which is then a name for the station.
    func completed(by media: Metadata) -> Metadata {
        let isStation = media.station != nil
        return Metadata(
            title: isStation ? media.title ?? title ?? media.station : title ?? media.title,
            subtitle: subtitle ?? media.subtitle, album: album ?? media.album,
            videoSize: media.videoSize ?? videoSize, station: isStation ? title ?? media.station : nil,
            genre: media.genre)
    }

    /// What media says, with its texts cut at what is kept of them.
    package var limited: Metadata {
        func cut(_ text: String?) -> String? { text?.prefix(bytes: Self.textLimit) }
        return Metadata(
            title: cut(title), subtitle: cut(subtitle), album: cut(album), videoSize: videoSize,
            station: cut(station), genre: cut(genre))
    }
}

extension Tracks {
    /// The most alternatives of a kind, and the longest text of one, that are taken over from media.
    private static let optionLimit = 64
    private static let textLimit = 256

    /// The alternatives that are kept.
    var limited: Tracks {
        var limited = self
        for kind in TrackKind.allCases {
            let fitting = self[kind].options.filter {
                ([$0.identifier, $0.displayName, $0.languageTag ?? ""] + $0.characteristics)
                    .allSatisfy { $0.utf8.count <= Self.textLimit } && $0.characteristics.count <= 16
            }
            let options = Array(fitting.prefix(Self.optionLimit))
            let current = self[kind].current
            limited[kind] = TrackSelection(
                options: options, current: options.contains { $0.identifier == current } ? current : nil)
        }
        return limited
    }
}

extension Artwork {
    /// Only pictures are served, and none that are too large.
    var isServable: Bool {
        bytes.count <= Self.maximumBytes && type.utf8.count <= 64 && type.hasPrefix("image/")
            && !type.containsControlCharacters && !type.utf8.contains(0x20)
    }
}
