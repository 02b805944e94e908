// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel
import Soup

/// What a server says of a resource.
package struct ResourceFacts: Equatable, Sendable {
    /// Where it ends; nil if that is not known.
    package var length: Int64?
    /// What names this version of it: a strong entity tag, or else the time of its last change.
    package var validator: String?
    /// True if the server says that it gives no parts.
    package var refusesRanges: Bool
    /// True if the server gave a part, or says that it does.
    package var offersRanges: Bool
    package var contentType: String?
    /// Bytes of sound between two pieces of text, in a stream of web radio.
    package var textInterval: Int32?
    /// Who says to send it, and what kind of it: a station of web radio.
    package var station: String?
    package var genre: String?
    /// True of what a station sends for as long as somebody listens: where it breaks off, it is not over.
    package var isEndless: Bool
    /// The request and the answer, as they were sent.
    package var requestHeaders: [HeaderField]
    package var responseHeaders: [HeaderField]
    private var isPart: Bool
    /// Where the part that was sent begins; nil for all of it.
    var start: Int64?

    /// Nothing is longer; sums of what servers say stay far from overflow.
    static let longest: Int64 = 1 << 60

    init(_ answer: HTTPAnswer) {
        contentType = answer["Content-Type"]
        textInterval = answer["icy-metaint"].flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
        station = answer["icy-name"] ?? answer["ice-name"]
        genre = answer["icy-genre"] ?? answer["ice-genre"]
        let isStation = answer.headers.contains {
            let name = $0.name.lowercased()
            return name.hasPrefix("icy-") || name.hasPrefix("ice-")
        }
        isEndless = isStation && answer.contentLength == nil && answer.status == 200
        requestHeaders = answer.requestHeaders.map { HeaderField(name: $0.name, value: $0.value) }
        responseHeaders = answer.headers.map { HeaderField(name: $0.name, value: $0.value) }
        isPart = answer.status == 206
        offersRanges = isPart || answer["Accept-Ranges"]?.lowercased() == "bytes"
        refusesRanges = answer["Accept-Ranges"]?.lowercased() == "none"
        let tag = answer["ETag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
        validator = tag ?? answer["Last-Modified"]
        length = answer.contentLength.flatMap { $0 < Self.longest ? $0 : nil }
        // Lengths and places of the server count the texts, too.
        if textInterval != nil { (length, refusesRanges) = (nil, true) }
        if isPart {
            let range = answer["Content-Range"].flatMap(ContentRange.init)
            start = range?.start
            length = range.flatMap { range in range.total ?? length.map { $0 + range.start } }
        }
    }

    /// False if the other answer is about something else than this one.
    func isSame(as other: ResourceFacts) -> Bool {
        if isEndless { return true }
        if let validator, let new = other.validator, validator != new { return false }
        if let length, let new = other.length, length != new, !other.isPart || validator == nil {
            return false
        }
        return true
    }
}

/// `bytes FIRST-LAST/TOTAL`.
struct ContentRange: Equatable {
    var start: Int64
    var total: Int64?

    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let halves = parts[1].split(separator: "/")
        guard halves.count == 2, let dash = halves[0].firstIndex(of: "-"),
            let start = Int64(halves[0][..<dash]), (0..<ResourceFacts.longest).contains(start)
        else { return nil }
        self.start = start
        total = Int64(halves[1]).flatMap { (start...ResourceFacts.longest).contains($0) ? $0 : nil }
    }
}

extension HTTPAnswer {
    /// True if the answer to a range says that the resource ends before `offset`, or there.
    func endsBefore(_ offset: Int64) -> Bool {
        guard let range = self["Content-Range"], let slash = range.lastIndex(of: "/") else { return false }
        return Int64(range[range.index(after: slash)...]).map { $0 <= offset } ?? false
    }
}

extension MediaFailure {
    /// The failure that a status amounts to.
    package init(httpStatus status: Int32) {
        switch status {
        case 404, 410:
            self.init(.notFound, "The server has no such media (HTTP \(status)).", httpStatus: status)
        case 401, 403, 407:
            self.init(
                .accessDenied, "The server refuses access to the media (HTTP \(status)).", httpStatus: status)
        default:
            self.init(.httpStatus, "The server answers with HTTP status \(status).", httpStatus: status)
        }
    }

    init(_ fault: HTTPFault) {
        switch fault.kind {
        case .address: self.init(.invalidURL, "The media's address is not valid.")
        case .resolving: self.init(.network, "The name of the media's server is not known.")
        case .connecting: self.init(.network, "The media's server cannot be reached (\(fault.reason)).")
        case .secrecy:
            self.init(.tls, "The server's certificate is not accepted: \(fault.reason).")
        case .silence: self.init(.timeout, "The server does not answer.")
        case .broken: self.init(.network, "The media cannot be read from its server (\(fault.reason)).")
        }
    }
}
