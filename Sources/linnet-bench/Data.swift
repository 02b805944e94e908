// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import SystemProbe

/// `data`: messages from a sender to an application and back, beside plain WebSocket echoes.
func benchData(_ bench: Workspace, quick: Bool, report: (Figure) -> Void) async {
    let plan = DataPlan(quick: quick)
    var ours = EchoResult()
    var problem: String?
    do {
        let applications = try BenchApplications(bench)
        let receiver = try Ours(bench, device: "null", settings: applications.settings(bench))
        ours = try await measure(port: receiver.port, BenchApplications.echo, plan)
        await receiver.shutDown()
    } catch { problem = "\(error)" }
    var peers: [(name: String, result: Result<EchoResult, any Error>)] = []
    for (name, command) in [
        ("libsoup", ["\(bench.programs)/linnet-bench", "--plain-echo"]),
        ("python-websockets", ["/usr/bin/python3", "-c", pythonEcho]),
    ] {
        do { peers.append((name, .success(try await measurePlain(command, bench, plan)))) } catch {
            peers.append((name, .failure(error)))
        }
    }
    for part in EchoResult.parts {
        var figure = Figure(
            bench: "data", figure: part.name, unit: part.unit, ours: ours[keyPath: part.path],
            reach: part.reach)
        if let problem { figure.missing.append(("linnet", problem)) }
        for (name, result) in peers {
            switch result {
            case .success(let result): figure.peers.append((name, result[keyPath: part.path]))
            case .failure(let error): figure.missing.append((name, "\(error)"))
            }
        }
        report(figure)
    }
}

/// How much is sent.
private struct DataPlan {
    var small = 20_000
    var large = 400
    var single = 3_000
    var runs = 5
    init(quick: Bool) { if quick { (small, large, single, runs) = (2_000, 50, 300, 2) } }
    /// As many as a data channel has under way, of small messages and of those of 256 KiB.
    static let window = 16
    static let largeWindow = 8
    static let largeSize = 256 << 10
}

private struct EchoResult {
    var rate = Samples()
    var median = Samples()
    var late = Samples()
    var throughput = Samples()

    struct Part {
        let name: String
        let unit: String
        let reach: Figure.Reach
        let path: KeyPath<EchoResult, Samples>
    }

    static var parts: [Part] {
        [
            Part(name: "round trips of 64 B", unit: "1/s", reach: .ratioAtLeast(0.7), path: \.rate),
            Part(name: "p50 of 64 B", unit: "ms", reach: .report, path: \.median),
            Part(name: "p99 of 64 B", unit: "ms", reach: .ratioAtMost(2), path: \.late),
            Part(name: "throughput of 256 KiB", unit: "MB/s", reach: .report, path: \.throughput),
        ]
    }
}

@RouteActor private func measure(
    port: UInt16, _ application: String, _ plan: DataPlan
) async throws -> EchoResult {
    let receiver = try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
    let route = try await RouteController.shared.activate(receiver)
    let session = RouteSession(url: "bench:", mode: .application(application))
    route.addSession(session)
    let media = try await session.start()
    guard let channel = media.dataChannel else { throw ProbeFailure("the session has no data channel", 0) }
    let echo = Returns()
    channel.delegate = echo
    var result = EchoResult()
    for _ in 0..<plan.runs {
        let single = try await echo.latencies(plan.single, on: channel)
        result.median.add(single.quantile(0.5))
        result.late.add(single.quantile(0.99))
        result.rate.add(try await echo.rate(plan.small, size: 64, on: channel))
        let large = try await echo.rate(plan.large, size: DataPlan.largeSize, on: channel)
        result.throughput.add(large * Double(DataPlan.largeSize) / 1e6)
    }
    await RouteController.shared.deactivate(route)
    return result
}

/// Counts what an application sends back.
@RouteActor private final class Returns: SessionDataChannelDelegate {
    private var returned = 0
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        returned += 1
        guard let waiting, returned >= waiting.count else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }

    private func wait(for count: Int) async {
        guard returned < count else { return }
        await withCheckedContinuation { waiting = (count, $0) }
    }

    func latencies(_ tries: Int, on channel: SessionDataChannel) async throws -> Samples {
        let message = [UInt8](repeating: 7, count: 64)
        var samples = Samples()
        for _ in 0..<tries {
            let start = monotonicNanoseconds()
            let count = returned + 1
            try await channel.post(message)
            await wait(for: count)
            samples.add(Double(monotonicNanoseconds() - start) / 1e6)
        }
        return samples
    }

    /// Messages a second; the channel keeps as many under way as it may.
    func rate(_ count: Int, size: Int, on channel: SessionDataChannel) async throws -> Double {
        let message = [UInt8](repeating: 7, count: size)
        let (start, before) = (monotonicNanoseconds(), returned)
        for _ in 0..<count { try await channel.post(message) }
        await wait(for: before + count)
        return Double(count) * 1e9 / Double(monotonicNanoseconds() - start)
    }
}

private let pythonEcho = """
    import asyncio, websockets
    async def echo(socket, path=None):
        async for message in socket:
            await socket.send(message)
    async def main():
        async with websockets.serve(echo, "127.0.0.1", 0, max_size=1 << 21, compression=None) as server:
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.Future()
    asyncio.run(main())
    """

private func measurePlain(
    _ command: [String], _ bench: Workspace, _ plan: DataPlan
) async throws -> EchoResult {
    let output = "\(bench.folder)/echo-\(monotonicNanoseconds())"
    let process = try ChildProcess(command, output: output, errors: "\(output).log")
    defer { process.kill() }
    let port = try retry(seconds: 10) {
        guard let port = UInt16(readText(output).prefix { $0.isNumber }) else {
            throw ProbeFailure("it does not serve: \(readText("\(output).log").suffix(300))", 0)
        }
        return port
    }
    let echo = try await PlainEcho.connect("ws://127.0.0.1:\(port)/echo")
    var result = EchoResult()
    for _ in 0..<plan.runs {
        let single = try await echo.latencies(plan.single, size: 64)
        result.median.add(single.quantile(0.5))
        result.late.add(single.quantile(0.99))
        result.rate.add(try await echo.rate(plan.small, size: 64, window: DataPlan.window))
        // On a connection of its own: who does not stand this is still measured with small messages.
        let url = "ws://127.0.0.1:\(port)/echo"
        let large = try? await PlainEcho.connect(url).rate(
            plan.large, size: DataPlan.largeSize, window: DataPlan.largeWindow)
        result.throughput.add(large.map { $0 * Double(DataPlan.largeSize) / 1e6 })
    }
    return result
}

/// `launch`: from the request to the application's hello, beside starting the same program bare.
func benchLaunch(_ bench: Workspace, quick: Bool, report: (Figure) -> Void) async {
    let tries = quick ? 3 : 15
    do {
        let applications = try BenchApplications(bench)
        let receiver = try Ours(bench, device: "null", settings: applications.settings(bench))
        for (name, id, program) in [
            ("Swift", BenchApplications.echo, ["bench", "--application", "echo"]),
            ("Python", BenchApplications.python, ["echo.py"]),
        ] {
            var (launched, bare) = (Samples(), Samples())
            for _ in 0..<tries {
                launched.add(try await launch(id, port: receiver.port))
                bare.add(try startBare(program, in: "\(applications.folder)/\(id)", bench))
            }
            let reach: Figure.Reach = bare.median.map { .atMost($0 + 30) } ?? .report
            var figure = Figure(
                bench: "launch", figure: "\(name) to hello", unit: "ms", ours: launched, reach: reach)
            figure.peers = [("bare", bare)]
            report(figure)
        }
        await receiver.shutDown()
    } catch {
        var figure = Figure(bench: "launch", figure: "to hello", unit: "ms", ours: Samples(), reach: .report)
        figure.missing = [("linnet", "\(error)")]
        report(figure)
    }
}

/// Milliseconds from the request to the answer of a session that is active.
@RouteActor private func launch(_ id: String, port: UInt16) async throws -> Double {
    let receiver = try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
    let route = try await RouteController.shared.activate(receiver)
    let session = RouteSession(url: "bench:", mode: .application(id))
    route.addSession(session)
    let start = monotonicNanoseconds()
    _ = try await session.start()
    let time = Double(monotonicNanoseconds() - start) / 1e6
    await session.stop()
    await RouteController.shared.deactivate(route)
    return time
}

/// Milliseconds from the start of a program to the first bytes on its socket, which are its hello.
private func startBare(_ command: [String], in folder: String, _ bench: Workspace) throws -> Double {
    let pair = try SocketPair()
    let start = monotonicNanoseconds()
    let process = try ChildProcess(
        ["\(folder)/\(command[0])"] + command.dropFirst(),
        environment: [
            "LINNET_APPLICATION_SOCKET": "\(pair.other)", "PYTHONPATH": bench.pythonHelper,
            // As inside the walls, so that both run the same Python.
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        ], output: "/dev/null", errors: "/dev/null")
    defer { process.kill() }
    try pair.awaitBytes(seconds: 10)
    return Double(monotonicNanoseconds() - start) / 1e6
}

/// `fan-out`: one shared instance that sends what it is told to a hundred sessions.
func benchFanOut(_ bench: Workspace, quick: Bool, report: (Figure) -> Void) async {
    let sessions = quick ? 20 : 100
    let messages = quick ? 50 : 500
    var rate = Samples()
    var growth = Samples()
    var problem: String?
    do {
        let applications = try BenchApplications(bench)
        let receiver = try Ours(
            bench, device: "null", settings: applications.settings(bench) + ["--clock-port", "0"])
        let fan = try await Fan(port: receiver.port, sessions: sessions)
        // What is allocated once is not growth.
        _ = try await fan.broadcast(messages)
        let before = memory(receiver.pids)
        for _ in 0..<(quick ? 1 : 4) { rate.add(try await fan.broadcast(messages)) }
        growth.add(Double(memory(receiver.pids) - before) / 1024)
        await fan.close()
        await receiver.shutDown()
    } catch { problem = "\(error)" }
    for (name, unit, samples) in [
        ("broadcasts to \(sessions) sessions", "1/s", rate), ("growth of memory meanwhile", "MiB", growth),
    ] {
        var figure = Figure(bench: "fan-out", figure: name, unit: unit, ours: samples, reach: .report)
        if let problem { figure.missing = [("linnet", problem)] }
        report(figure)
    }
}

/// Anonymous memory of processes in KiB.
private func memory(_ pids: [Int32]) -> Int {
    pids.compactMap { pid in
        readLines("/proc/\(pid)/smaps_rollup").first { $0.hasPrefix("Anonymous:") }?
            .split(separator: " ").compactMap { Int($0) }.first
    }.reduce(0, +)
}

/// Many sessions of one shared instance. Each must get each message, once and in order.
@RouteActor private final class Fan {
    private static let sessionsOfRoute = 10
    private var routes: [Route] = []
    private var channels: [SessionDataChannel] = []
    private let counter = Counter()

    @RouteActor private final class Counter: SessionDataChannelDelegate {
        var last: [ObjectIdentifier: UInt32] = [:]
        var came = 0
        var fault: String?
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

        func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
            let number = message.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let name = ObjectIdentifier(channel)
            if number != last[name, default: 0] + 1 {
                fault = fault ?? "message \(number) came after \(last[name, default: 0])"
            }
            last[name] = number
            came += 1
            guard let waiting, came >= waiting.count else { return }
            self.waiting = nil
            waiting.continuation.resume()
        }
    }

    private var sent: UInt32 = 0

    init(port: UInt16, sessions: Int) async throws {
        let receiver = try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
        while channels.count < sessions {
            let controller = RouteController(sender: SenderIdentity(name: "fan \(routes.count)"))
            let route = try await controller.activate(receiver)
            routes.append(route)
            controllers.append(controller)
            for _ in 0..<min(Self.sessionsOfRoute, sessions - channels.count) {
                let session = RouteSession(url: "bench:", mode: .application(BenchApplications.broadcast))
                route.addSession(session)
                guard let channel = try await session.start().dataChannel else {
                    throw ProbeFailure("the session has no data channel", 0)
                }
                channel.delegate = counter
                channels.append(channel)
            }
        }
    }

    private var controllers: [RouteController] = []

    /// Broadcasts a second.
    func broadcast(_ count: Int) async throws -> Double {
        let start = monotonicNanoseconds()
        let whole = counter.came + count * channels.count
        for _ in 0..<count {
            sent += 1
            let head = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sent >> $0) }
            try await channels[0].post(head + [UInt8](repeating: 0, count: 60))
        }
        if counter.came < whole {
            await withCheckedContinuation { counter.waiting = (whole, $0) }
        }
        if let fault = counter.fault { throw ProbeFailure(fault, 0) }
        return Double(count) * 1e9 / Double(monotonicNanoseconds() - start)
    }

    func close() async {
        for (controller, route) in zip(controllers, routes) { await controller.deactivate(route) }
    }
}
