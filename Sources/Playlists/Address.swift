// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// A URI in its parts, and the rules by which a reference in a playlist becomes one.
///
/// The rules are those of RFC 3986, section 5, with the habits of playlists before them: spaces and letters of any
/// language, Windows paths, names with a colon in them. What comes out is printable ASCII.
struct Address: Equatable, Sendable {
    /// Lower case; empty only in a reference.
    var scheme: [UInt8] = []
    /// User, host and port; nil if there is no `//`.
    var authority: ArraySlice<UInt8>?
    var path: ArraySlice<UInt8> = []
    var query: ArraySlice<UInt8>?
    var fragment: ArraySlice<UInt8>?

    /// How a dialect writes its references.
    enum Style {
        /// As a file name or an address: in a relative one `#` is a letter, and beside a local playlist also `?`, `%`.
        case path
        /// As an address in any case.
        case uri
    }

    /// An absolute address, such as a playlist's own; nil if it has no scheme.
    init?(absolute text: String) {
        let bytes = Self.cleaned(Array(text.utf8)[...])
        guard let colon = Self.schemeEnd(of: bytes) else { return nil }
        self.init(bytes, schemeEnd: colon)
    }

    private init(_ bytes: ArraySlice<UInt8>, schemeEnd: Int?) {
        var rest = bytes
        if let schemeEnd {
            scheme = bytes[..<schemeEnd].map { PlaylistText.lowercased($0) }
            rest = bytes[(schemeEnd + 1)...]
        }
        if let mark = rest.firstIndex(of: 0x23) {
            fragment = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: 0x3f) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if rest.starts(with: [0x2f, 0x2f]) {
            let host = rest.dropFirst(2)
            let end = host.firstIndex(of: 0x2f) ?? host.endIndex
            authority = host[..<end]
            rest = host[end...]
        }
        path = rest
    }

    /// The reference as an absolute address; as it is, with what is no ASCII encoded, when there is no base.
    /// Nil: there is nothing in it.
    static func resolve(
        _ reference: ArraySlice<UInt8>, against base: Address?, _ style: Style
    ) -> String? {
        var bytes = PlaylistText.trim(reference)
        // Some lists put names into quotation marks.
        if bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 { bytes = bytes.dropFirst().dropLast() }
        bytes = cleaned(Array(ForeignText.string(bytes).utf8)[...])
        guard !bytes.isEmpty else { return nil }
        let isLocal = base?.scheme == Array("file".utf8)
        if let name = windowsPath(bytes) {
            var file = Address(name[...], schemeEnd: 4)
            file.path = file.path.isEmpty ? [0x2f] : withoutDots(file.path)
            return file.text
        }
        if let colon = schemeEnd(of: bytes) {
            var address = Address(slashed(bytes), schemeEnd: colon)
            // `http:name` is as good as `name`, an old custom.
            if address.authority == nil, let base, base.authority != nil, address.scheme == base.scheme,
                !isLocal
            {
                address.scheme = []
                return address.resolved(against: base).text
            }
            address.path = address.authority == nil ? address.path : withoutDots(address.path)
            return address.text
        }
        if let host = hostAndPort(bytes) {
            return Address((Array("http://".utf8) + slashed(host))[...], schemeEnd: 4).text
        }
        guard style == .path else {
            return Address(slashed(bytes), schemeEnd: nil).resolved(against: base).text
        }
        var address = Address()
        if isLocal {
            address = Address(hierarchy: slashed(bytes))
            address.path = escapingPercent(address.path)
        } else {
            let mark = bytes.firstIndex(of: 0x3f) ?? bytes.endIndex
            address = Address(hierarchy: slashed(bytes[..<mark]))
            if mark < bytes.endIndex { address.query = bytes[(mark + 1)...] }
        }
        return address.resolved(against: base).text
    }

    /// A reference with nothing but host and path, whatever letters are in it.
    private init(hierarchy bytes: ArraySlice<UInt8>) {
        path = bytes
        if bytes.starts(with: [0x2f, 0x2f]) {
            let host = bytes.dropFirst(2)
            let end = host.firstIndex(of: 0x2f) ?? host.endIndex
            (authority, path) = (host[..<end], host[end...])
        }
    }

    init() {}

    /// The reference's meaning at `base` (RFC 3986, 5.2.2).
    private func resolved(against base: Address?) -> Address {
        guard let base else { return self }
        var result = self
        result.scheme = base.scheme
        if authority != nil {
            result.path = Self.withoutDots(path)
            return result
        }
        result.authority = base.authority
        if path.isEmpty {
            result.path = base.path
            if query == nil { result.query = base.query }
        } else if path.first == 0x2f {
            result.path = Self.withoutDots(path)
        } else {
            let folder = base.path.lastIndex(of: 0x2f).map { base.path[...$0] } ?? [0x2f]
            result.path = Self.withoutDots(folder + path)
        }
        return result
    }

    /// The address as text: what may not stand in its place is percent-encoded, what is encoded stays so.
    var text: String {
        var bytes: [UInt8] = []
        if !scheme.isEmpty { bytes += scheme + [0x3a] }
        if let authority {
            bytes += [0x2f, 0x2f]
            Self.append(authority, to: &bytes, .host)
        }
        Self.append(path, to: &bytes, .path)
        for (mark, part) in [(UInt8(0x3f), query), (0x23, fragment)] {
            guard let part else { continue }
            bytes.append(mark)
            Self.append(part, to: &bytes, .query)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: Letters

extension Address {
    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isHex(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }

    /// The parts of an address that differ in the characters that may stand in them.
    private struct Places: OptionSet {
        let rawValue: UInt8
        static let host = Places(rawValue: 1)
        static let path = Places(rawValue: 2)
        static let query = Places(rawValue: 4)
    }

    /// Where each byte may stand as it is (RFC 3986, appendix A).
    private static let places: [Places] = (0...255).map { (byte: UInt8) in
        if isLetter(byte) || isDigit(byte) || "-._~!$&'()*+,;=:@".utf8.contains(byte) {
            return [.host, .path, .query]
        }
        switch byte {
        case 0x5b, 0x5d: return .host
        case 0x2f: return [.path, .query]
        case 0x3f: return .query
        default: return []
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func append(_ part: ArraySlice<UInt8>, to bytes: inout [UInt8], _ place: Places) {
        for index in part.indices {
            let byte = part[index]
            let isEncoded =
                byte == 0x25 && part.endIndex - index > 2 && isHex(part[index + 1]) && isHex(part[index + 2])
            if isEncoded || places[Int(byte)].contains(place) {
                bytes.append(byte)
            } else {
                bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// The letters that a part stands for.
    static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], part)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == 0x25, digits.count == 2, digits.allSatisfy(isHex),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Without control characters, which no address has and which would cut a request in two.
    private static func cleaned(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        PlaylistText.trim(bytes.filter { $0 >= 0x20 && $0 != 0x7f }[...])
    }

    /// With `/` for `\` before the query.
    private static func slashed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard bytes.contains(0x5c) else { return bytes }
        let end = bytes.firstIndex(of: 0x3f) ?? bytes.endIndex
        return (bytes[..<end].map { $0 == 0x5c ? 0x2f : $0 } + bytes[end...])[...]
    }

    /// With `%25` for each `%`: in the name of a local file it is a letter.
    private static func escapingPercent(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        path.contains(0x25) ? path.flatMap { $0 == 0x25 ? [0x25, 0x32, 0x35] : [$0] }[...] : path
    }

    /// The schemes that do without `//`; any other word before a colon belongs to a name.
    private static let opaque: Set<String> = [
        "http", "https", "file", "data", "cdda", "cd", "dvd", "magnet", "urn", "spotify", "javascript",
        "mailto",
        "about", "blob", "news", "tel", "lastfm", "sip", "acestream",
    ]

    /// The place of the colon behind a scheme; nil if there is none.
    private static func schemeEnd(of bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, isLetter(first),
            let colon = bytes.firstIndex(where: { !isLetter($0) && !isDigit($0) && !"+-.".utf8.contains($0) }
            ),
            bytes[colon] == 0x3a, colon - bytes.startIndex >= 2
        else { return nil }
        let rest = bytes[(colon + 1)...].prefix(2)
        if rest.count == 2, rest.allSatisfy({ $0 == 0x2f || $0 == 0x5c }) { return colon }
        return opaque.contains(PlaylistText.lowercased(bytes[..<colon])) ? colon : nil
    }

    /// `host:port` or `host:port/path`, which some write without a scheme.
    private static func hostAndPort(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = bytes.firstIndex(of: 0x3a),
            bytes[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || $0 == 0x2d || $0 == 0x2e }),
            bytes[..<colon].contains(0x2e) || bytes[..<colon].elementsEqual("localhost".utf8)
        else { return nil }
        let port = bytes[(colon + 1)...].prefix { isDigit($0) }
        guard (1...5).contains(port.count), port.endIndex == bytes.endIndex || bytes[port.endIndex] == 0x2f
        else {
            return nil
        }
        return bytes
    }

    /// `C:\name` and `\\server\name` as file addresses; nil for anything else.
    private static func windowsPath(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let head = Array(bytes.prefix(3))
        if head.count == 3, isLetter(head[0]), head[1] == 0x3a, head[2] == 0x5c || head[2] == 0x2f {
            return Array("file:///".utf8) + escapingFileName(bytes)
        }
        return head.starts(with: [0x5c, 0x5c]) ? Array("file:".utf8) + escapingFileName(bytes) : nil
    }

    /// A Windows file name with `/`, in which the marks of an address are letters.
    private static func escapingFileName(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x5c: [0x2f]
            case 0x23: Array("%23".utf8)
            case 0x25: Array("%25".utf8)
            case 0x3f: Array("%3F".utf8)
            default: [byte]
            }
        }
    }

    /// The path without `.` and `..` (RFC 3986, 5.2.4).
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard path.contains(0x2e) else { return path }
        let isAbsolute = path.first == 0x2f
        var segments: [ArraySlice<UInt8>] = []
        let parts = path.dropFirst(isAbsolute ? 1 : 0).split(
            separator: 0x2f, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            if part.elementsEqual([0x2e]) {
                if isLast { segments.append([]) }
            } else if part.elementsEqual([0x2e, 0x2e]) {
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append([]) }
            } else {
                segments.append(part)
            }
        }
        return ((isAbsolute ? [0x2f] : []) + segments.joined(separator: [0x2f]))[...]
    }
}
