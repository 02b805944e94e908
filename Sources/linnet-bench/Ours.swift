// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import SystemProbe

/// Where on the network a program runs.
struct NetworkPlace {
    /// What comes before a command that runs there.
    var prefix: [String] = []
    /// How it is reached.
    var address = "127.0.0.1"
    /// With the bench.
    static let here = NetworkPlace()
}

/// Our receiver: `linnetd` with its renderer, driven through RouteKit as any sender would.
final class Ours: Player {
    let name = "linnet"
    let baseURL: String
    let port: UInt16
    private let address: String
    let process: ChildProcess
    private var route: Route?
    private var media: MediaSession?
    var pids: [Int32] { ProcessTable.family(of: process.pid) }

    /// Starts the receiver on card `device`. `settings` are more options of `linnetd`; `label` is its name where there are several;
    /// `state` the folder in which it remembers, a new one if nil.
    init(
        _ bench: Workspace, device: String, settings: [String] = [], port wanted: UInt16 = 0,
        label: String = "bench", place: NetworkPlace = .here, state kept: String? = nil
    ) throws {
        baseURL = bench.loopbackURL
        address = place.address
        let output = "\(bench.folder)/linnetd-\(label).out"
        let log = "\(bench.folder)/linnetd-\(label).log"
        let state = kept ?? "\(bench.folder)/state-\(monotonicNanoseconds())"
        process = try ChildProcess(
            place.prefix + [
                "\(bench.programs)/linnetd", "--config-dir", bench.folder, "--state-dir", state, "--port",
                "\(wanted)", "--name", label, "--device", device, "--advertise", "no", "--volume", "1",
                "--plugin-folder", bench.plugins, "--renderer-readable", bench.support,
                "--renderer-writable", "\(bench.folder)/card",
            ] + settings, environment: bench.cardEnvironment, output: output,
            errors: log)
        port = try retry(seconds: 15) {
            let words = readText(output).split(separator: " ")
            guard let place = words.firstIndex(of: "port"), place + 1 < words.count,
                let port = UInt16(words[place + 1])
            else {
                throw ProbeFailure(
                    "linnetd did not get ready; see its log: \(readText(log))", 0)
            }
            return port
        }
    }

    /// Opens the route, as a sender does long before it plays. Until then nobody is connected.
    func connect() async throws -> Route {
        if let route { return route }
        let receiver = try await Receiver.at(Receiver.Address(host: address, port: port))
        let opened = try await RouteController.shared.activate(receiver)
        route = opened
        return opened
    }

    func play(_ url: String) async throws -> Int64 {
        let (session, start) = try await Self.start(url, on: try await connect())
        media = session
        return start
    }

    @RouteActor private static func start(_ url: String, on route: Route) async throws -> (
        MediaSession, Int64
    ) {
        let start = monotonicNanoseconds()
        let session = RouteSession(url: url)
        guard route.addSession(session) else { throw ProbeFailure("the session was not taken on", 0) }
        return (try await session.start(), start)
    }

    func stop() async throws {
        if let route { await Self.stopAll(route) }
        media = nil
    }

    @RouteActor private static func stopAll(_ route: Route) async {
        for session in route.sessions { await session.stop() }
    }

    @discardableResult private func control(
        _ body: @escaping @RouteActor @Sendable (PlaybackControl) -> Void
    ) async throws -> Int64 {
        guard let media else { throw ProbeFailure("nothing plays", 0) }
        return await RouteActor.run {
            let start = monotonicNanoseconds()
            body(media.playbackControl)
            return start
        }
    }

    func seek(seconds: Int) async throws -> Int64 {
        try await control { $0.seek(to: MediaTime(value: Int64(seconds), timescale: 1)) }
    }
    func setSpeed(_ speed: Double) async throws { try await control { $0.playbackSpeed = speed } }
    func pause() async throws { try await control { $0.isPlaying = false } }
    func resume() async throws -> Int64 { try await control { $0.isPlaying = true } }

    /// Why playing failed, if it did.
    func failure() async -> String? {
        guard let media else { return nil }
        return await RouteActor.run { media.playbackControl.error.map { "\($0)" } }
    }

    /// Leaves the receiver to itself.
    func disconnect() async {
        if let route { await RouteController.shared.deactivate(route) }
        route = nil
    }

    func shutDown() async {
        if let route { await RouteController.shared.deactivate(route) }
        end()
    }

    func end() { process.end() }

    /// Ends it by force: the daemon alone, what it started is its own concern.
    func kill() {
        process.signal(ChildProcess.killing)
        _ = process.wait(milliseconds: 5_000)
    }
}
