// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer
import MediaSource
import Playlists
import Soup
import Synchronization

/// Plays a manifest of DASH that lists times through playlists of HLS, which the demuxer fetches on the loopback
/// interface. Segments come from their own server.
///
/// GStreamer looks for a time in such a list as if its first segment stood at zero, which no live stream's does.
final class ManifestRelay: Sendable {
    static let folder = "/lists/"
    /// What is read of a manifest at most.
    private static let limit = 1 << 20
    /// A demuxer is told that the manifest is gone if it does not come within this, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    private struct Values {
        var lists: HLSOfDASH
        /// When the newest manifest was asked for, and the question that is under way.
        var asked: Int64
        var question: MediaSource?
        var isLost = false
        var isClosed = false
    }

    let master: [UInt8]
    private let name: String
    private let values: Mutex<Values>
    private let open: @Sendable () -> MediaSource
    private let worker = SerialWorker()

    /// Nil if the manifest is for GStreamer's own demuxer, or cannot be relayed. `open` asks for it anew.
    init?(_ manifest: [UInt8], from address: String, open: @escaping @Sendable () -> MediaSource) {
        guard let parsed = DASHManifest(decoding: manifest, base: address), let port = Self.port else {
            return nil
        }
        let lists = HLSOfDASH(parsed)
        // Other users of this machine reach the port, and addresses may hold a secret.
        let name =
            String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        master = Array(lists.master(prefix: "http://127.0.0.1:\(port.number)\(Self.folder)\(name)/").utf8)
        (self.name, self.open) = (name, open)
        values = Mutex(Values(lists: lists, asked: AudioOutput.now()))
        Self.relays.withLock { $0[name] = Weak(self) }
    }

    deinit { close() }

    /// Answers nobody any more.
    func close() {
        _ = Self.relays.withLock { $0.removeValue(forKey: name) }
        let question = values.withLock { values in
            values.isClosed = true
            return values.question
        }
        question?.close()
    }

    // MARK: Lists

    private struct Weak: Sendable {
        weak let relay: ManifestRelay?
        init(_ relay: ManifestRelay) { self.relay = relay }
    }
    private static let relays = Mutex<[String: Weak]>([:])

    private static let taken = Mutex<LoopbackPort?>(nil)
    /// Where lists, and what stands in for missing segments, are served: always at the same port.
    static var port: LoopbackPort? {
        taken.withLock { port in
            port = port ?? LoopbackPort()
            return port
        }
    }

    /// The list at a path below `folder`.
    static func answer(_ path: String) -> Response {
        let parts = path.utf8.dropFirst(folder.utf8.count).split(separator: UInt8(ascii: "/"))
        guard parts.count == 2, let name = String(parts[0]),
            let relay = relays.withLock({ $0[name]?.relay }),
            let number = String(parts[1].prefix { $0 != UInt8(ascii: ".") }).flatMap({ Int($0) })
        else { return Response(404, "text/plain", []) }
        return relay.answer(number)
    }

    private func answer(_ number: Int) -> Response {
        let now = AudioOutput.now()
        let (text, isDue): (String?, Bool) = values.withLock { values in
            guard let period = values.lists.updatePeriod else { return (values.lists.media(number), false) }
            let isDue = values.question == nil && !values.isClosed && now - values.asked > Int64(period * 5e8)
            if isDue { values.asked = now }
            let isGone = values.isLost || values.question != nil && now - values.asked > Self.patience
            return (isGone ? nil : values.lists.media(number), isDue)
        }
        // What comes is told the next time: each list is asked for again and again.
        if isDue { worker.perform { [weak self] in self?.ask() } }
        guard let text else { return Response(503, "text/plain", []) }
        return Response(200, "application/vnd.apple.mpegurl", Array(text.utf8))
    }

    /// Asks for the manifest anew. On a thread of its own.
    private func ask() {
        let source = open()
        let isClosed = values.withLock { values in
            if !values.isClosed { values.question = source }
            return values.isClosed
        }
        defer { source.close() }
        guard !isClosed else { return }
        let whole = Self.read(SourceReader(source)).bytes
        let newer = whole.flatMap { DASHManifest(decoding: $0, base: source.finalURI) }
        values.withLock { values in
            values.question = nil
            values.isLost = !(newer.map { values.lists.update($0) } ?? false)
        }
    }

    /// All that comes, or why there is nothing.
    enum Whole {
        case all([UInt8])
        /// It fails, or is too much.
        case nothing
        case interrupted

        var bytes: [UInt8]? { if case .all(let bytes) = self { bytes } else { nil } }
    }

    /// Reads a manifest; anything else no further than to where that is clear.
    static func read(_ reader: SourceReader) -> Whole {
        let sniffer = ContentSniffer(url: "")
        var (bytes, isManifest) = ([UInt8](), false)
        while bytes.count <= limit {
            let reading: MediaSource.Reading = reader.read(at: Int64(bytes.count), maximum: 65_536)
            switch reading {
            case .bytes(let more): bytes += more
            case .end: return isManifest ? .all(bytes) : .nothing
            case .failed: return .nothing
            case .interrupted: return .interrupted
            }
            if isManifest { continue }
            switch sniffer.look(at: Array(bytes.prefix(ContentSniffer.window)), isComplete: false) {
            case .dash: isManifest = true
            case .needsMore: break
            default: return .nothing
            }
        }
        return .nothing
    }

    /// True if these first bytes may be those of a manifest.
    static func mayBegin(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
        return text.first { $0 > 0x20 } == UInt8(ascii: "<")
    }
}

/// Reads a source, or what is played in its place.
final class RelayedReader: ByteSource {
    private enum Content {
        case unknown
        case own
        case other([UInt8])
    }
    private let reader: SourceReader
    private let relay: @Sendable ([UInt8]) -> [UInt8]?
    private let content = Mutex(Content.unknown)

    init(_ reader: SourceReader, relay: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        (self.reader, self.relay) = (reader, relay)
    }

    private static let window = 8

    /// What is read in place of the source; waits until that is known.
    private func awaitContent() -> [UInt8]? {
        switch content.withLock({ $0 }) {
        case .own: return nil
        case .other(let bytes): return bytes
        case .unknown: break
        }
        guard reader.awaitFacts() != nil else { return nil }
        let reading: MediaSource.Reading = reader.read(at: 0, maximum: Self.window)
        guard case .bytes(let first) = reading else { return nil }
        let whole = ManifestRelay.mayBegin(first) ? ManifestRelay.read(reader) : .nothing
        if case .interrupted = whole { return nil }
        let other = whole.bytes.flatMap(relay)
        content.withLock { $0 = other.map { .other($0) } ?? .own }
        return other
    }

    private var other: [UInt8]? {
        content.withLock { content in
            if case .other(let bytes) = content { bytes } else { nil }
        }
    }

    var head: ByteSourceHead? {
        guard var head = reader.head else { return nil }
        if other != nil { head.contentType = "application/vnd.apple.mpegurl" }
        return head
    }

    var size: Int64? { other.map { Int64($0.count) } ?? reader.size }
    var isSeekable: Bool { other != nil || reader.isSeekable }

    func awaitAccess() -> ByteSourceAccess { awaitContent() != nil ? .pushed : reader.awaitAccess() }

    func awaitHead() -> Bool {
        _ = awaitContent()
        return reader.awaitHead()
    }

    func read(at offset: Int64, maximum: Int) -> ByteSourceReading {
        guard let other = awaitContent() else { return reader.read(at: offset, maximum: maximum) }
        guard offset >= 0, offset < other.count, maximum > 0 else { return .end }
        return .bytes(Array(other[Int(offset)...].prefix(maximum)))
    }

    func title(at offset: Int64) -> String? { other == nil ? reader.title(at: offset) : nil }
    func interrupt() { reader.interrupt() }
    func resume() { reader.resume() }
}
