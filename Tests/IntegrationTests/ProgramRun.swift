// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Settings
import Soup

/// A program of this package that runs as a child, with what it and its own children print, line by line.
actor ProgramRun {
    private nonisolated let loop: GLibLoop
    private let lines: AsyncStream<String>
    private let lineInput: AsyncStream<String>.Continuation
    private var reader: AsyncStream<String>.Iterator
    private let exits: AsyncStream<ChildProcess.Exit>
    private let exitInput: AsyncStream<ChildProcess.Exit>.Continuation
    private var child: ChildProcess?
    private var link: ByteLink?
    private var partial: [UInt8] = []
    private var skipped: [String] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private init() {
        loop = GLibLoop(named: "program")
        (lines, lineInput) = AsyncStream.makeStream()
        (exits, exitInput) = AsyncStream.makeStream()
        reader = lines.makeAsyncIterator()
    }

    /// Starts the program of that name beside the running tests, or with a path another one.
    static func start(_ name: String, _ arguments: [String]) async throws -> ProgramRun {
        let run = ProgramRun()
        try await run.launch(name, arguments)
        return run
    }

    /// The whole output and the exit of a program that ends by itself.
    static func output(of name: String, _ arguments: [String]) async throws -> (
        lines: [String], exit: ChildProcess.Exit?
    ) {
        let run = try await start(name, arguments)
        var lines: [String] = []
        while let line = await run.line() { lines.append(line) }
        return (lines, await run.exit())
    }

    private func launch(_ name: String, _ arguments: [String]) throws {
        let own = Machine.programPath ?? ""
        let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
        // Both outputs go to the socket that the shell is given as descriptor 3.
        let shell = [
            "sh", "-c", "exec \"$@\" >&3 2>&3 3>&-", "sh", name.hasPrefix("/") ? name : "\(folder)/\(name)",
        ]
        link = try ByteLink { other in child = try ChildProcess(shell + arguments, inheriting: other) }
        link?.onReceive = { [weak self] bytes in self?.assumeIsolated { $0.receive(bytes) } }
        link?.onClosed = { [lineInput] in lineInput.finish() }
        child?.whenEnded { [exitInput] in exitInput.yield($0) }
    }

    isolated deinit { child?.forceExit() }

    private func receive(_ bytes: [UInt8]) {
        partial += bytes
        while let end = partial.firstIndex(of: 10) {
            lineInput.yield(String(decoding: partial[..<end], as: UTF8.self))
            partial.removeFirst(end + 1)
        }
    }

    /// The next line; nil when the program and all that share its output are gone.
    func line() async -> String? {
        var reader = reader
        let line = await reader.next(isolation: self)
        self.reader = reader
        return line
    }

    /// The first line that holds `text` and was not asked for before; lines of several processes come in any order.
    func line(with text: String) async -> String? {
        if let index = skipped.firstIndex(where: { $0.contains(text) }) { return skipped.remove(at: index) }
        while let line = await line() {
            if line.contains(text) { return line }
            skipped.append(line)
        }
        return nil
    }

    func exit() async -> ChildProcess.Exit? {
        for await exit in exits { return exit }
        return nil
    }

    func send(signal: Int32) { child?.send(signal: signal) }

    /// Its process; nil once it has ended.
    var process: Int32? { child?.identifier }

    /// Lets time pass for what tells nobody that it happened.
    func rest(_ time: Duration) async throws { try await loop.sleep(for: time, isolation: self) }

    /// Status and body of a page of a receiver on this host.
    func page(_ path: String, port: UInt16) async throws -> (status: UInt32, text: String) {
        let answer = try await HTTPClient().get("http://127.0.0.1:\(port)\(path)", maximum: 65_536)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }
}

/// A folder that goes with its last reference.
final class ScratchFolder: Sendable {
    let path = "/tmp/linnet-test-\(Machine.makeUUID())"
    init() throws { try FileSystem.makeDirectory(path) }
    deinit { try? removeTree(path) }
}

private func removeTree(_ path: String) throws {
    for name in try FileSystem.list(path) {
        let inner = "\(path)/\(name)"
        if FileSystem.isDirectory(inner) { try removeTree(inner) } else { try FileSystem.remove(inner) }
    }
    try FileSystem.removeDirectory(path)
}
