// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamerRenderer
import Glibc
import MediaModel
import ReceiverTestKit
import Testing

/// A renderer that plays to a simulated card, with its events in order.
final class RendererUnderTest: Sendable {
    let renderer: GStreamerRenderer
    let load = LoadID(1)
    private let events: AsyncStream<RendererEvent>
    private let running: Task<Void, Never>

    init(device: String, _ change: (inout RendererConfiguration) -> Void = { _ in }) throws {
        let (events, continuation) = AsyncStream.makeStream(
            of: RendererEvent.self, bufferingPolicy: .bufferingOldest(10_000))
        var configuration = RendererConfiguration(output: AudioOutputConfiguration(device: device))
        configuration.schemes.insert("file")
        change(&configuration)
        let loop = GLibLoop(named: "test")
        let renderer = try #require(
            GStreamerRenderer(loop: loop, configuration: configuration) { continuation.yield($0) })
        self.renderer = renderer
        self.events = events
        running = Task { await renderer.run() }
    }

    deinit { renderer.shutDown() }

    func send(_ command: RendererCommand) { renderer.send(command) }

    func play(_ uri: String, from start: MediaTime = .zero, playing: Bool = true) {
        send(.load(load, MediaItem(uri: uri, startPosition: start), playing: playing))
    }

    /// Waits for an event; those before it are passed over.
    func first<Value>(_ pick: (RendererEvent) -> Value?) async throws -> Value {
        for await event in events {
            if let value = pick(event) { return value }
            if case .failed(_, let failure) = event { throw failure }
        }
        throw CancellationError()
    }

    func failure() async throws -> MediaFailure {
        try await first { if case .failed(load, let failure) = $0 { failure } else { nil } }
    }

    func loaded() async throws -> LoadedMedia {
        try await first { if case .loaded(load, let media) = $0 { media } else { nil } }
    }

    /// Waits until the media is heard, and returns the position then.
    @discardableResult
    func sounding(rate: Double = 1) async throws -> PlaybackPosition {
        try await first {
            if case .positionChanged(load, let position) = $0, position.rate == rate { position } else { nil }
        }
    }

    /// Waits until something is said of the pictures.
    func picture() async throws -> PictureStatus {
        try await first { if case .pictureChanged(load, let status) = $0 { status } else { nil } }
    }

    func seek(_ number: UInt64, to seconds: Double) {
        send(.seek(load, SeekID(number), to: MediaTime(nanoseconds: Int64(seconds * 1e9)), tolerance: .zero))
    }

    func seekDone(_ number: UInt64) async throws {
        let failure = try await first { event -> MediaFailure?? in
            if case .seekFinished(load, SeekID(number), let failure) = event { .some(failure) } else { nil }
        }
        if let failure { throw failure }
    }

    func ended() async throws { try await first { $0 == .ended(load) ? () : nil } }
}

/// The media that `make media` made, and a server of them.
enum Media {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    static func file(_ name: String) -> String { "file://\(root)/.build/media/\(name)" }

    /// A file's bytes; nil if it is not there.
    static func bytes(_ name: String) -> [UInt8]? {
        let file = unsafe open("\(root)/.build/media/\(name)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 262_144)
        while true {
            let got = unsafe chunk.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            guard got > 0 else { return bytes }
            bytes += chunk[..<got]
        }
    }

    /// Waits until this process has a file open, which tells nobody.
    static func isBeingRead(_ name: String) async -> Bool {
        let path = "\(root)/.build/media/\(name)"
        for _ in 0..<6_000 {
            for file in 3..<256 {
                var target = [UInt8](repeating: 0, count: 4_096)
                let count = unsafe readlink("/proc/self/fd/\(file)", &target, target.count)
                if count > 0, String(decoding: target[..<count], as: UTF8.self) == path { return true }
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    /// The sample of `make sample`, which has a cover.
    static let sample = "file://\(root)/.build/sample/first-light.flac"

    /// An address of the server; the server ends by itself after half an hour, or with the tests.
    static func http(_ path: String) throws -> String {
        "http://127.0.0.1:\(try #require(port, "make support"))/\(path)"
    }

    private static let port: Int? = {
        let command =
            "exec timeout 1800 \(root)/.build/support/quickhttpd 0 \(root)/.build/media 2>/dev/null"
        guard let pipe = unsafe popen(command, "r") else { return nil }
        var line = [CChar](repeating: 0, count: 100)
        // "quickhttpd: port N"
        guard unsafe fgets(&line, 100, pipe) != nil else { return nil }
        let text = String(
            decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: " ").last.flatMap { Int($0) }
    }()
}

/// Waits until the card has recorded enough after `time`, and returns what was heard then.
func listen(
    _ card: inout SimulatedCard, from time: Int64, for length: Duration, channel: Int = 0
) async throws -> CardRecording.Sound {
    let end = time + Int64(length / .nanoseconds(1))
    let recording = try #require(
        await card.recording(within: .seconds(30)) { _ in SimulatedCard.now > end + 20_000_000 })
    return recording.heard(from: time, for: length, channel: channel)
}
