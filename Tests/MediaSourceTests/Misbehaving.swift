// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import Testing

@testable import MediaSource

/// A server that misbehaves as it is asked to, and a fetcher that meets it.
final class Misbehaving: Sendable {
    let fetcher: MediaFetcher
    private let running: Task<Void, Never>
    let port: Int
    private let secure: Bool
    private let process: pid_t
    private let input: Int32
    private let lines: Mutex<[String]>
    private let log: Int32

    init(
        secure: Bool = false, patience: MediaFetcher.Patience = .init(),
        _ change: (inout FetchState.Limits) -> Void = { _ in }
    ) throws {
        var limits = FetchState.Limits()
        change(&limits)
        let fetcher = MediaFetcher(patience: patience, limits: limits)
        self.fetcher = fetcher
        running = Task { await fetcher.run() }
        self.secure = secure
        var arguments = ["python3", "\(Self.folder)/misbehave.py"]
        if secure { arguments += try Self.certificate() }
        var (to, from): ([Int32], [Int32]) = ([0, 0], [0, 0])
        _ = unsafe pipe(&to)
        _ = unsafe pipe(&from)
        for end in to + from { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, to[0], 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, from[1], 1)
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var process: pid_t = 0
        let status = unsafe posix_spawnp(&process, "python3", &actions, nil, &words, environ)
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe words.forEach { unsafe free($0) }
        _ = close(to[0])
        _ = close(from[1])
        try #require(status == 0)
        (self.process, input, log) = (process, to[1], from[0])
        let (first, rest) = Self.readLine(from: from[0], "")
        port = try #require(first.split(separator: " ").last.flatMap { Int($0) })
        lines = Mutex([])
        pending = Mutex(rest)
    }

    private let pending: Mutex<String>

    deinit {
        fetcher.shutDown()
        _ = close(input)
        _ = close(log)
        // Its input ends too, but for a child of another test that began at the wrong moment.
        _ = kill(process, SIGTERM)
        _ = waitpid(process, nil, 0)
    }

    private static let folder = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/")

    /// Makes a certificate that nobody has signed; its file and its key's.
    private static func certificate() throws -> [String] {
        var template = Array("/tmp/linnet-certificate-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
        let folder = try #require(made)
        let command =
            "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout \(folder)/key"
            + " -out \(folder)/certificate 2>/dev/null"
        let pipe = unsafe popen(command, "r")
        let status = unsafe pclose(pipe!)
        try #require(status == 0)
        return ["\(folder)/certificate", "\(folder)/key"]
    }

    private static func readLine(from descriptor: Int32, _ known: String) -> (line: String, rest: String) {
        var text = known
        while true {
            if let end = text.firstIndex(of: "\n") {
                return (String(text[..<end]), String(text[text.index(after: end)...]))
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return (text, "") }
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    func uri(_ path: String) -> String { "\(secure ? "https" : "http")://127.0.0.1:\(port)/\(path)" }

    func open(_ path: String) -> MediaSource { fetcher.open(SourceRequest(uri: uri(path))) }

    /// What has been asked of the server up to now, as "PATH RANGE". A request of our own marks the place.
    func requests() async throws -> [String] { try await outside { self.readRequests() } }

    private func readRequests() -> [String] {
        let marker = "mark/\(lines.withLock { $0.count })"
        let source = open(marker)
        _ = SourceReader(source).awaitFacts()
        source.close()
        while true {
            let line = pending.withLock { pending in
                let (line, rest) = Self.readLine(from: log, pending)
                pending = rest
                return line
            }
            if line.contains("/\(marker) ") || line.isEmpty { break }
            lines.withLock { $0.append(String(line.dropFirst("request /".count))) }
        }
        return lines.withLock { $0 }
    }
}

/// The pattern's period, twice.
private let period: [UInt8] = {
    let once = (0..<65_536).map { UInt8(($0 * 31 + ($0 >> 8)) & 255) }
    return once + once
}()

/// The bytes of every resource in `range`.
func pattern(_ range: Range<Int64>) -> [UInt8] {
    var all: [UInt8] = []
    while all.count < range.count {
        let place = Int((range.lowerBound + Int64(all.count)) % 65_536)
        all += period[place..<place + min(65_536, range.count - all.count)]
    }
    return all
}

/// Runs what waits on a thread of its own: those of tasks are few.
func outside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "outside").async { continuation.resume(with: Result { try body() }) }
    }
}

extension SourceReader {
    /// Reads from `start` to `end`, or as far as it goes.
    func bytes(from start: Int64 = 0, to end: Int64 = .max) async throws -> [UInt8] {
        try await outside { try self.readAll(from: start, to: end) }
    }

    private func readAll(from start: Int64, to end: Int64) throws -> [UInt8] {
        var all: [UInt8] = []
        while start + Int64(all.count) < end {
            switch read(
                at: start + Int64(all.count), maximum: Int(min(65_536, end - start - Int64(all.count))))
            {
            case .bytes(let bytes): all += bytes
            case .end: return all
            case .failed(let failure): throw failure
            case .interrupted: throw CancellationError()
            }
        }
        return all
    }
}
