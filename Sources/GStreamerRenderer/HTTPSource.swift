// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GStreamer
import MediaModel
package import MediaSource
import Synchronization

extension SourceReader: ByteSource {
    package var head: ByteSourceHead? {
        guard let facts = source.facts else { return nil }
        var head = ByteSourceHead(uri: source.finalURI)
        (head.contentType, head.station, head.genre) = (facts.contentType, facts.station, facts.genre)
        head.requestHeaders = facts.requestHeaders.map { .init(name: $0.name, value: $0.value) }
        head.responseHeaders = facts.responseHeaders.map { .init(name: $0.name, value: $0.value) }
        return head
    }

    package var size: Int64? { length }
    package var isSeekable: Bool { source.isSeekable }

    package func awaitAccess() -> ByteSourceAccess {
        guard awaitFacts() != nil, source.isSeekable, let length else { return .pushed }
        let head = bytes(at: 0, count: PulledFormat.window)
        guard OggPages.begin(at: head[...]) else { return PulledFormat.matches(head) ? .pulled : .pushed }
        // It is read at its end first.
        guard source.givesPlaces else { return .pushed }
        let first = OggPages(in: bytes(at: 0, count: OggPages.beginning))
        let end = length <= OggPages.whole ? length : OggPages.end
        let place = max(Int64(OggPages.beginning), length - end)
        let last = OggPages(in: place < length ? bytes(at: place, count: Int(length - place)) : [])
        if last.areOfOtherStreams(than: first) { return .onward }
        return last.areOfLaterLink(than: first) ? .pushed : .pulled
    }

    /// The bytes from `offset` on, `count` of them unless they end before.
    private func bytes(at offset: Int64, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let reading: MediaSource.Reading = read(
                at: offset + Int64(bytes.count), maximum: count - bytes.count)
            guard case .bytes(let more) = reading else { break }
            bytes += more
        }
        return bytes
    }

    package func awaitHead() -> Bool { awaitFacts() != nil }

    package func title(at offset: Int64) -> String? { source.title(at: offset) }

    package func read(at offset: Int64, maximum: Int) -> ByteSourceReading {
        let reading: MediaSource.Reading = read(at: offset, maximum: maximum)
        return switch reading {
        case .bytes(let bytes): .bytes(bytes)
        case .end: .end
        case .interrupted: .interrupted
        case .failed(let failure): .failed(failure.message)
        }
    }
}

/// Formats beside Ogg whose reader chooses the places that it reads: those of `ReadingDecoder`.
private enum PulledFormat {
    static let window = 8
    private static let beginnings: [[UInt8]] = [
        [0x72, 0x69, 0x66, 0x66, 0x2E, 0x91, 0xCF, 0x11], Array("caff".utf8), Array("RF64".utf8),
        Array("MP+".utf8), Array("MPCK".utf8), Array("NIST".utf8), Array("MAC ".utf8), Array("TTA1".utf8),
    ]

    static func matches(_ bytes: [UInt8]) -> Bool { beginnings.contains { bytes.starts(with: $0) } }
}

/// The readers of one pipeline's elements.
final class Readers: Sendable {
    private struct Values {
        var readers: [SourceReader] = []
        /// Sources that were opened for this pipeline alone.
        var opened: [MediaSource] = []
        var relays: [ManifestRelay] = []
        var isClosed = false
    }
    /// An item has one address, and maybe one of its subtitles.
    private static let limit = 16
    private let request: MediaPipeline.Request
    /// Where the item itself comes from, if that is a server of HTTP: it is asked while the pipeline is built.
    private let item: MediaSource?
    private let values = Mutex(Values())

    init(_ request: MediaPipeline.Request) {
        self.request = request
        let isHTTP = Library.scheme(of: request.uri)?.hasPrefix("http") == true
        item = request.source ?? (isHTTP ? Self.open(request.uri, request) : nil)
        if let item { values.withLock { $0.opened.append(item) } }
    }

    private static func open(_ uri: String, _ request: MediaPipeline.Request) -> MediaSource {
        request.fetcher.open(
            SourceRequest(
                uri: uri, headers: request.headers, userAgent: request.userAgent,
                allowsInvalidCertificate: request.allowsInvalidCertificate))
    }

    // A pipeline that could not be built is not taken apart.
    deinit { close() }

    var failure: MediaFailure? { item?.failure }
    var trouble: MediaFailure? { item?.trouble }
    /// True if the item comes from elsewhere.
    var isLocal: Bool { item == nil }
    /// True of a station of web radio.
    var isEndless: Bool { item?.facts?.isEndless == true }

    /// True if the item would be played if its server gave parts of it.
    var lacksPlaces: Bool {
        item.map { !$0.isSeekable && PulledFormat.matches($0.beginning(PulledFormat.window)) } ?? false
    }

    /// Gives the item's source away: the elements read no more, and `close` leaves it open.
    func takeItem() -> MediaSource? {
        guard let item else { return nil }
        let readers = values.withLock { values in
            values.opened.removeAll { $0 === item }
            return values.readers
        }
        // One reader at a time.
        for reader in readers { reader.retire() }
        return item
    }

    /// What the elements have read, and whether one waits for its server; nil if they read no HTTP, or nothing yet.
    var progress: (reads: Int, isWaiting: Bool)? {
        let readers = values.withLock { $0.readers }
        let reads = readers.reduce(0) { $0 + $1.reads }
        return reads == 0 ? nil : (reads, readers.contains(where: \.isWaiting))
    }

    /// Gives `element` its bytes if it is one that reads HTTP.
    func serve(_ element: Element) {
        guard element.factoryName == ByteSourceElement.factory,
            let uri = ByteSourceElement.uri(of: element)
        else { return }
        let reader: SourceReader? = values.withLock { values in
            guard !values.isClosed, values.readers.count < Self.limit else { return nil }
            let reader: SourceReader
            if let item, item.request.uri == uri {
                reader = SourceReader(item, from: request.origin)
            } else {
                let source = Self.open(uri, request)
                values.opened.append(source)
                reader = SourceReader(source)
            }
            values.readers.append(reader)
            return reader
        }
        guard let reader else { return }
        let relayed = RelayedReader(reader) { [weak self] bytes in self?.relay(bytes, from: reader.source) }
        ByteSourceElement.attach(relayed, to: element)
    }

    /// What plays in place of a manifest that is to be played otherwise than its server has it.
    private func relay(_ manifest: [UInt8], from source: MediaSource) -> [UInt8]? {
        let uri = source.request.uri
        guard
            let relay = ManifestRelay(
                manifest, from: source.finalURI, open: { [request] in Self.open(uri, request) })
        else { return nil }
        let isTaken = values.withLock { values in
            guard !values.isClosed else { return false }
            values.relays.append(relay)
            return true
        }
        guard isTaken else {
            relay.close()
            return nil
        }
        return relay.master
    }

    /// Lets go who waits, and gives up what was opened here.
    func close() {
        let (readers, opened, relays) = values.withLock { values in
            values.isClosed = true
            return (values.readers, values.opened, values.relays)
        }
        for relay in relays { relay.close() }
        for reader in readers { reader.retire() }
        for source in opened { source.close() }
    }
}
