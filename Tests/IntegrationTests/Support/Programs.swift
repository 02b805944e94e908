// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe

/// Where the build put things, and folders for tests.
enum Programs {
    /// The build folder beside the sources.
    static let build: String = {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return "/\(root)/.build"
    }()

    /// A program of the debug build.
    static func path(_ name: String) throws -> String {
        let path = "\(build)/debug/\(name)"
        guard FileSystem.isExecutable(path) else { throw TestFailure("there is no \(path): run make test") }
        return path
    }

    /// Starts a program that ends with the tests, also when they crash.
    @RouteActor static func start(
        _ command: [String], environment: [String: String] = [:], output: String, errors: String? = nil
    ) throws -> ChildProcess {
        // The kernel watches the thread that started it; the actor's lives as long as the process.
        try ChildProcess(
            ["setpriv", "--pdeathsig", "KILL", "--"] + command, environment: environment, output: output,
            errors: errors)
    }

    /// A folder of its own for a test.
    static func makeFolder() throws -> String {
        let folder = "\(build)/tests/\(Machine.makeUUID())"
        try FileSystem.makeDirectory(folder)
        return folder
    }

    static func remove(_ folder: String) {
        for name in (try? FileSystem.list(folder)) ?? [] {
            let path = "\(folder)/\(name)"
            if FileSystem.isDirectory(path) { remove(path) } else { try? FileSystem.remove(path) }
        }
        try? FileSystem.removeDirectory(folder)
    }

    /// Settings of a receiver whose pictures are seen on this display alone.
    static func settings(showingOn display: VirtualDisplay, in folder: String) throws -> [String] {
        let program = "\(folder)/renderer"
        let script = "#!/bin/sh\nDISPLAY=\(display.name) exec \(try path("linnet-renderer"))\n"
        try FileSystem.write(Array(script.utf8), to: program, mode: 0o755)
        return ["--video-sink", "x11", "--renderer-program", program]
    }

    /// Waits for something that tells nobody when it comes, such as the end of a process or a line in a file.
    @RouteActor static func poll(within limit: Duration, _ holds: @RouteActor () -> Bool) async -> Bool {
        let end = ContinuousClock.now + limit
        while !holds() {
            guard ContinuousClock.now < end else { return false }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return true
    }
}

/// Looks again after each announcement until `holds`. False: it did not within `limit`.
@RouteActor func eventually(
    _ updates: AsyncStream<Void>, within limit: Duration = .seconds(30),
    _ holds: @escaping @RouteActor () -> Bool
) async -> Bool {
    if holds() { return true }
    let waiting = Task { @RouteActor in
        for await _ in updates where holds() { return true }
        return holds()
    }
    let timer = Task {
        try await Task.sleep(for: limit)
        waiting.cancel()
    }
    defer { timer.cancel() }
    return await waiting.value
}

extension PlaybackControl {
    /// Waits for pushes until `holds`.
    func wait(
        _ what: String, within limit: Duration = .seconds(30),
        until holds: @escaping @RouteActor (PlaybackControl) -> Bool
    ) async throws {
        guard await eventually(updates(), within: limit, { [self] in holds(self) }) else {
            throw TestFailure(
                "not within \(limit): \(what) (ready \(isReady), playing \(isPlaying), buffering \(isBuffering), "
                    + "position \(playbackPosition), end \(String(describing: end)), error \(String(describing: error)))"
            )
        }
    }

    /// Waits until the told position agrees with `second` having been heard at `time`: the sound may be heard a moment
    /// before the word of it arrives.
    func wait(untilTold second: Double, at time: Int64, tolerance: Double = 0.1) async throws {
        try await wait("second \(second) to be told as it was heard, at \(time)") {
            abs($0.playbackPosition.position(atClockTime: time).seconds - second) < tolerance
        }
    }
}

extension Route {
    /// Waits for pushes until `holds`.
    func wait(
        _ what: String, within limit: Duration = .seconds(30),
        until holds: @escaping @RouteActor (Route) -> Bool
    ) async throws {
        guard await eventually(updates(), within: limit, { [self] in holds(self) }) else {
            throw TestFailure(
                "not within \(limit): \(what) (output \(device.output), storage \(device.storageFault ?? "well"))"
            )
        }
    }
}
