// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// Memory and load of one player in one state.
private struct Reading {
    var unique = Samples()
    var anonymous = Samples()
    var cpu = Samples()
    var wakeups = Samples()

    /// Reads the counters, waits, and reads them again.
    static func take(_ pids: [Int32], seconds: Int, rounds: Int) -> Reading {
        var reading = Reading()
        for _ in 0..<rounds {
            let before = ProcessTable.load(of: pids)
            pause(milliseconds: seconds * 1_000)
            let rates = ProcessTable.load(of: pids).rates(since: before)
            reading.cpu.add(rates.cpuPercent)
            reading.wakeups.add(rates.switchesPerSecond)
        }
        let memory = ProcessTable.memory(of: pids)
        reading.unique.add(memory.unique)
        reading.anonymous.add(memory.anonymous)
        return reading
    }
}

/// `idle`: physical pages of all processes counted once, anonymous memory, CPU and wake-ups, idle and playing.
func benchIdle(_ bench: Workspace, players: [String]?, quick: Bool, report: (Figure) -> Void) async {
    let endings = quick ? ["flac"] : ["flac", "mp3", "m4a"]
    let seconds = quick ? 2 : 4
    let rounds = quick ? 1 : 3
    var readings: [String: [String: Reading]] = [:]
    var missing: [(name: String, reason: String)] = []
    for name in ["linnet", "linnet on demand", "gmediarender", "mpd"]
    where players?.contains(where: name.hasPrefix) ?? true {
        do {
            let program = name.hasPrefix("linnet") ? nil : name
            if let program, findProgram(program) == nil { throw ProbeFailure("not installed", 0) }
            let player: any Player
            switch name {
            case "linnet": player = try Ours(bench, device: "plugsim1")
            case "linnet on demand":
                player = try Ours(
                    bench, device: "plugsim1", settings: ["--renderer-mode", "on-demand"])
            case "mpd": player = try MPD(bench, device: "plugsim1")
            default: player = try GMediaRender(bench, device: "plugsim1")
            }
            pause(milliseconds: 3_000)
            readings[name, default: [:]]["idle"] = .take(player.pids, seconds: seconds, rounds: rounds)
            if name != "linnet on demand" {
                for ending in endings {
                    try await player.play("\(player.baseURL)/track.\(ending)")
                    pause(milliseconds: 2_000)
                    readings[name, default: [:]][ending] = .take(
                        player.pids, seconds: seconds, rounds: rounds)
                    try await player.stop()
                    pause(milliseconds: 500)
                }
            }
            await player.shutDown()
        } catch { missing.append((name, "\(error)")) }
    }
    do {
        guard findProgram("snapclient") != nil else { throw ProbeFailure("not installed", 0) }
        // With no server to play from, as snapclient waits most of the day.
        let client = try ChildProcess(
            ["snapclient", "-h", "127.0.0.1", "-s", "plugsim1"], environment: bench.cardEnvironment,
            output: "\(bench.folder)/snapclient.log")
        pause(milliseconds: 3_000)
        readings["snapclient"] = [
            "idle": .take(ProcessTable.family(of: client.pid), seconds: seconds, rounds: rounds)
        ]
        client.end()
    } catch { missing.append(("snapclient", "\(error)")) }

    func figure(
        _ name: String, _ state: String, _ unit: String, _ path: KeyPath<Reading, Samples>,
        _ reach: Figure.Reach,
        ours: String = "linnet", peers: [String] = ["gmediarender", "mpd", "snapclient"]
    ) {
        var figure = Figure(
            bench: "idle", figure: "\(name) \(state)", unit: unit,
            ours: readings[ours]?[state]?[keyPath: path] ?? Samples(), reach: reach)
        for peer in peers {
            if let reading = readings[peer]?[state] { figure.peers.append((peer, reading[keyPath: path])) }
        }
        figure.missing = missing.filter { peers.contains($0.name) || $0.name == ours }
        report(figure)
    }
    figure("memory", "idle", "MB", \.unique, .atMost(24))
    figure("memory on demand", "idle", "MB", \.unique, .atMost(15), ours: "linnet on demand")
    figure("anonymous", "idle", "MB", \.anonymous, .atMost(8))
    figure("cpu", "idle", "%", \.cpu, .report)
    figure("wake-ups", "idle", "1/s", \.wakeups, .atMost(1))
    for ending in endings {
        figure("memory", ending, "MB", \.unique, .ratioAtMost(1), peers: ["gmediarender"])
        figure("anonymous", ending, "MB", \.anonymous, .atMost(8), peers: ["gmediarender", "mpd"])
        figure("cpu", ending, "%", \.cpu, .report, peers: ["gmediarender", "mpd"])
        figure("wake-ups", ending, "1/s", \.wakeups, .atMost(100), peers: ["gmediarender", "mpd"])
    }
}
