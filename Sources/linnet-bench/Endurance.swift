// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// How much of it is done.
struct EndurancePlan {
    /// Short tracks, played to their end one after the other.
    var tracks = 500
    /// Tracks that are played as items of queues.
    var queued = 500
    /// Loads that are stopped at random moments.
    var cycles = 1_000
    var seed: UInt64 = 1
    /// Only what has this in its path, to find out what grows.
    var part = ""

    func takes(_ item: EnduranceMedia.Item) -> Bool { part.isEmpty || item.path.contains(part) }

    /// Enough to see that it works, and what grows with every track.
    static var quick: EndurancePlan { EndurancePlan(tracks: 40, queued: 40, cycles: 80) }

    var isLong: Bool { tracks + queued + cycles >= 500 }

    /// One kind of playing.
    struct Part {
        let name: String
        let count: Int
        /// How many are played between two readings.
        var step = 1
    }

    var parts: [Part] {
        [
            Part(name: "tracks", count: tracks),
            Part(name: "queued", count: queued, step: max(1, min(20, queued / 8))),
            Part(name: "stops", count: cycles),
        ].filter { $0.count > 0 }
    }
}

/// `endurance`: whether threads, descriptors and memory of the processes stay as they are over many tracks.
///
/// Each is read after every track or queue; the figure is the slope of the line that fits best, for 100 tracks. The first
/// fifth of each part is left out: pools and caches fill. Memory is judged by what is held when nothing plays, which is
/// read after each 100 tracks: while something does, it depends on what that is.
func benchEndurance(_ bench: Workspace, plan: EndurancePlan, report: (Figure) -> Void) async {
    do {
        // Rests are short.
        let ours = try Ours(bench, device: "plugsim0", settings: ["--close-after-seconds", "1"])
        let media = try EnduranceMedia(folder: "\(bench.support)/bench-media/endurance")
        let server = try MediaServer(
            program: "\(bench.support)/quickhttpd", folder: media.folder,
            output: "\(bench.folder)/endurance-server.log")
        let run = EnduranceRun(
            senders: try await EnduranceSenders(port: ours.port, mediaURL: server.url, plan: plan),
            daemon: ours.pids[0], log: "\(bench.folder)/linnetd-bench.log")
        try await run.perform(plan)
        await run.report(plan, report)
        await ours.shutDown()
    } catch {
        var figure = Figure(bench: "endurance", figure: "run", unit: "", ours: Samples())
        figure.missing = [("linnet", "\(error)")]
        report(figure)
    }
}

/// `quickhttpd` over a folder, on a port of the system's choice.
private final class MediaServer {
    let url: String
    private let process: ChildProcess

    init(program: String, folder: String, output: String) throws {
        process = try ChildProcess([program, "0", folder], output: output)
        url = try retry(seconds: 5) {
            guard let port = readLines(output).first?.split(separator: " ").last.flatMap({ UInt16($0) })
            else { throw ProbeFailure("quickhttpd does not start", 0) }
            return "http://127.0.0.1:\(port)"
        }
    }

    deinit { process.kill() }
}

/// One run and what was read.
private final class EnduranceRun {
    /// What was read in one part.
    private struct Readings {
        let part: EndurancePlan.Part
        /// After each step, by the process.
        var playing: [String: [Holdings]] = [:]
        /// When nothing played: after each 100 and at the end.
        var resting: [String: [Holdings]] = [:]
    }

    private let senders: EnduranceSenders
    private let daemon: Int32
    /// The one that is there; another one in its place is a change, and is measured from then on.
    private var renderer: Int32?
    private let log: String
    private var readings: [Readings] = []
    private var logSizes: [Int] = []
    private var leftSockets: [String: [String: Int]] = [:]

    init(senders: EnduranceSenders, daemon: Int32, log: String) {
        (self.senders, self.daemon, self.log) = (senders, daemon, log)
        renderer = Self.renderer(of: daemon)
    }

    private static func renderer(of daemon: Int32) -> Int32? {
        ProcessTable.family(of: daemon).first { readText("/proc/\($0)/comm").hasPrefix("linnet-renderer") }
    }

    func perform(_ plan: EndurancePlan) async throws {
        for part in plan.parts {
            var own = Readings(part: part)
            var done = 0
            while done < part.count {
                switch part.name {
                case "tracks": await senders.playToEnd()
                case "queued": await senders.playQueue(min(part.step, part.count - done))
                default: await senders.loadAndStop()
                }
                done += part.step
                read(into: &own.playing)
                for _ in 0..<part.step { logSizes.append(ProcessTable.size(of: log)) }
                if done % 100 == 0 || done >= part.count { await readAtRest(into: &own.resting) }
            }
            readings.append(own)
        }
        for (name, pid) in processes { leftSockets[name] = ProcessTable.sockets(of: pid) }
        await senders.leave()
    }

    private var processes: [(name: String, pid: Int32)] {
        [("linnetd", daemon)] + (renderer.map { [("linnet-renderer", $0)] } ?? [])
            + [("sender", ProcessTable.own)]
    }

    private func read(into readings: inout [String: [Holdings]]) {
        if ProcessTable.holdings(of: renderer ?? 0) == nil { renderer = Self.renderer(of: daemon) }
        for (name, pid) in processes {
            if let holdings = ProcessTable.holdings(of: pid) { readings[name, default: []].append(holdings) }
        }
    }

    /// What is held when nothing plays. Pipelines take their time to end, in threads of their own, on a busy machine more
    /// of it, and the card is given up after a second: so it is read once nothing has changed for three seconds.
    private func readAtRest(into resting: inout [String: [Holdings]]) async {
        await senders.stopAll()
        var (last, unchanged) = ([Int](), 0)
        for _ in 0..<60 where unchanged < 6 {
            try? await Task.sleep(for: .milliseconds(500))
            let now = processes.compactMap { ProcessTable.holdings(of: $0.pid) }
                .flatMap { [$0.threads, $0.descriptors] }
            unchanged = now == last ? unchanged + 1 : 0
            last = now
        }
        read(into: &resting)
    }

    // MARK: Report

    func report(_ plan: EndurancePlan, _ report: (Figure) -> Void) async {
        // Over few tracks the pools and heaps still fill; then only what is far off is told.
        let limits = plan.isLong ? (count: 0.5, memory: 32.0) : (count: 50.0, memory: 6_144.0)
        let kinds: [(String, KeyPath<Holdings, Int>, String, Double?)] = [
            ("threads", \.threads, "", limits.count), ("descriptors", \.descriptors, "", limits.count),
            ("anonymous", \.anonymous, "kB ", limits.memory), ("PSS", \.proportional, "kB ", nil),
        ]
        for (name, _) in processes {
            for (kind, path, unit, limit) in kinds {
                for own in readings {
                    let playing = (own.playing[name] ?? []).map { Double($0[keyPath: path]) }
                    let resting = (own.resting[name] ?? []).map { Double($0[keyPath: path]) }
                    let isJudgedAtRest = plan.isLong && !unit.isEmpty
                    let rise =
                        isJudgedAtRest
                        ? slope(resting, step: 100) ?? slope(playing, step: own.part.step)
                        : slope(playing, step: own.part.step)
                    var figure = Figure(
                        bench: "endurance", figure: "\(kind) of \(name)",
                        unit: "\(unit)for 100 \(own.part.name)",
                        ours: Samples(rise.map { [$0] } ?? []), reach: limit.map { .atMost($0) } ?? .report)
                    figure.note =
                        "first \(text(playing.first)), last \(text(playing.last)); at rest "
                        + resting.map { text($0) }.joined(separator: ", ")
                    report(figure)
                }
            }
            let all = readings.flatMap { ($0.playing[name] ?? []) + ($0.resting[name] ?? []) }
            var figure = Figure(
                bench: "endurance", figure: "zombies of \(name)", unit: "at most",
                ours: Samples([Double(all.map(\.zombies).max() ?? 0)]), reach: .atMost(0))
            figure.note = "children \(all.map(\.children).max() ?? 0) at most"
            report(figure)
            let sockets = leftSockets[name] ?? [:]
            figure = Figure(
                bench: "endurance", figure: "sockets half closed of \(name)", unit: "at the end",
                ours: Samples([Double(sockets["CLOSE_WAIT"] ?? 0)]), reach: .atMost(0))
            figure.note = sockets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
            report(figure)
        }
        report(
            Figure(
                bench: "endurance", figure: "log of linnetd", unit: "bytes for 100 tracks",
                ours: Samples(slope(logSizes.map { Double($0) }, step: 1).map { [$0] } ?? [])))
        let lines = readLines(log)
        func figureOfLines(_ name: String, with words: String) -> Figure {
            let found = lines.filter { $0.contains(words) }
            var figure = Figure(
                bench: "endurance", figure: name, unit: "", ours: Samples([Double(found.count)]))
            figure.note = found.prefix(5).joined(separator: "; ")
            return figure
        }
        report(figureOfLines("loads that were begun again", with: "a load is begun again"))
        let (problems, ends, stop) = await senders.results
        report(
            Figure(
                bench: "endurance", figure: "slowest stop", unit: "ms", ours: Samples([stop]),
                reach: .atMost(2_000)))
        var changes = figureOfLines("changes of the renderer", with: "renderer exited")
        changes.reach = .atMost(0)
        report(changes)
        var figure = Figure(
            bench: "endurance", figure: "tracks that went otherwise than they should", unit: "",
            ours: Samples([Double(problems.values.reduce(0, +))]),
            reach: .atMost(0))
        figure.note =
            "seed \(plan.seed); " + sorted(ends) + (problems.isEmpty ? "" : "; but: " + sorted(problems))
        report(figure)
    }

    private func sorted(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    private func text(_ value: Double?) -> String { value.map { rounded($0, 0) } ?? "none" }

    /// How much a line through the values, but for the first fifth, rises in 100 tracks; there are `step` between two.
    private func slope(_ values: [Double], step: Int) -> Double? {
        let values = values.dropFirst((values.count + 4) / 5)
        guard values.count > 2 else { return nil }
        let count = Double(values.count)
        let middle = (count - 1) / 2
        let mean = values.reduce(0, +) / count
        var (product, square) = (0.0, 0.0)
        for (place, value) in values.enumerated() {
            product += (Double(place) - middle) * (value - mean)
            square += (Double(place) - middle) * (Double(place) - middle)
        }
        return product / square * 100 / Double(step)
    }
}
