// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Settings
import SystemProbe

/// Measures the receiver, side by side with its peers in the same run.
@main
struct Bench {
    static let names = ["first-sound", "seek", "resume", "idle", "control", "data", "launch", "fan-out"]
    /// What takes long, or judges itself, is asked for by its name.
    static let extraNames = ["clock", "endurance", "soak", "switch", "sync", "group-soak"]

    static let formats = ["flac", "mp3", "wav", "m4a"]
    static let players = ["linnet", "mpd", "mpv", "gmediarender"]

    static let help = """
        Usage: linnet-bench NAME... [--json] [--quick]

        Measures the receiver on simulated sound cards, beside the peers that are installed.

          first-sound  request to first heard sample
          seek         request to first heard sample of the new position
          resume       resume to first heard sample
          idle         memory, processor time and wake-ups, idle and playing
          control      command to the push that other senders see
          data         messages to an application and back
          launch       request to the hello of an application
          fan-out      one application that sends to a hundred sessions
          all          all of these

          clock        error of the group clock over simulated networks; not among all
          endurance    slopes of threads, descriptors and memory over many tracks; not among all
          soak         messages of applications while everything is killed at random; not among all
          switch       decisions between sources, and switches that are heard; not among all
          sync         how far apart two receivers of a group are heard, beside snapcast; not among all
          group-soak   a group whose members join, leave, stand still and die at random; not among all

        Options:
          --json            one JSON object a line
          --quick           fewer tries and formats, to see that everything works
          --formats LIST    of flac, mp3, wav, m4a, for first-sound, seek and resume
          --players LIST    of linnet, mpd, mpv, gmediarender, for first-sound, seek, resume and idle
          --tries N         tries of each sound (default: 11, quick 3); seeds of clock (default: 40, quick 8)
          --tracks N        tracks that are played to their end, for endurance (default: 500)
          --queued N        tracks that are played in queues, for endurance (default: 500)
          --cycles N        loads that are stopped at random moments, for endurance (default: 1000)
          --part TEXT       only items with this in their path, for endurance; what sync measures: pair (default), runs, join, host,
                            long, rates, members, several with commas between, or all
          --seconds N       length of the runs of sync (default: 90, long 600), and of group-soak (default: 1800)
          --runs N          runs of sync over a lossy link, with rates unknown and remembered (default: 10)
          --receivers N     for group-soak (default: 4)
          --messages N      messages that are acknowledged, for soak (default: 1000000, quick 20000)
          --seed N          another choice of moments and items, for endurance, soak and group-soak
          --programs DIR    where linnetd and linnet-renderer are (default: beside this program)
          --support DIR     where the simulated card and the HTTP server are (default: .build/support)
          --help            this text

        Peers: mpd, mpv, python3-websockets, gmediarender, snapserver, snapclient (scripts/install-packages.sh bench).
        Exit status: 0 measured, 1 something could not be measured or did not endure, 2 wrong usage.

        """

    static func main() async {
        let words = Swift.CommandLine.arguments
        // The two parts that the bench plays besides, as processes of their own.
        if words.count == 3, words[1] == "--application", let kind = BenchApplication.Kind(rawValue: words[2])
        {
            return await BenchApplication.run(kind)
        }
        if words.count == 5, words[1] == "--soak-sender" { return await SoakSender.run(Array(words[2...])) }
        if words.count == 2, words[1] == "--plain-echo" { return await PlainEchoServer.run() }
        // The bench itself, in a namespace behind a link.
        let isBehindHub = words.count > 1 && words[1] == SyncLink.quietOption
        let isBehindLink = words.count > 1 && words[1] == SyncLink.option || isBehindHub
        let line: CommandLine
        do {
            line = try CommandLine(
                Array(words.dropFirst(isBehindLink ? 2 : 1)),
                options: [
                    .init("json", nil, .flag, ""), .init("quick", nil, .flag, ""),
                    .init("help", "h", .flag, ""),
                    .init("formats", nil, .string, ""), .init("players", nil, .string, ""),
                    .init("programs", nil, .string, ""),
                    .init("support", nil, .string, ""), .init("tracks", nil, .integer, ""),
                    .init("tries", nil, .integer, ""),
                    .init("cycles", nil, .integer, ""), .init("seed", nil, .integer, ""),
                    .init("part", nil, .string, ""), .init("queued", nil, .integer, ""),
                    .init("messages", nil, .integer, ""), .init("seconds", nil, .integer, ""),
                    .init("runs", nil, .integer, ""), .init("receivers", nil, .integer, ""),
                ])
        } catch { return leave(2, "linnet-bench: \(error)\nTry linnet-bench --help.") }
        if line.flags.contains("help") { return print(help, terminator: "") }
        var wanted = Set(line.rest)
        if wanted.contains("all") { wanted = Set(names) }
        if wanted.isEmpty {
            return leave(2, "linnet-bench: name a bench: \(names.joined(separator: ", ")) or all")
        }
        if let stranger = wanted.subtracting(names + extraNames).first {
            return leave(
                2, "linnet-bench: there is no bench '\(stranger)'; there are \(names.joined(separator: ", "))"
            )
        }
        let formats = line.strings["formats"]?.split(separator: ",").map(String.init)
        if let stranger = formats?.first(where: { !Self.formats.contains($0) }) {
            return leave(2, "linnet-bench: there is no format '\(stranger)'; there are flac, mp3, wav, m4a")
        }
        let players = line.strings["players"]?.split(separator: ",").map(String.init)
        if let stranger = players?.first(where: { !Self.players.contains($0) }) {
            return leave(
                2, "linnet-bench: there is no player '\(stranger)'; there are linnet, mpd, mpv, gmediarender")
        }
        let isJSON = line.flags.contains("json")
        let isQuick = line.flags.contains("quick")
        var (isComplete, isEnduring) = (true, true)
        func report(_ figure: Figure) {
            if figure.ours.median == nil { isComplete = false }
            print(isJSON ? figure.json : figure.line)
        }
        do {
            let bench = try Workspace(
                programs: line.strings["programs"] ?? absoluteFolder(of: Swift.CommandLine.arguments[0]),
                support: absolutePath(line.strings["support"] ?? ".build/support"),
                hasTracks: !wanted.isDisjoint(with: [
                    "first-sound", "seek", "resume", "idle", "control", "sync",
                ]),
                hasServer: wanted.contains("group-soak"),
                hasSupport: !wanted.isSubset(of: ["data", "launch", "fan-out", "soak", "clock"]),
                address: isBehindLink ? SyncLink.places[0].address : NetworkPlace.here.address)
            if !wanted.isDisjoint(with: ["first-sound", "seek", "resume"]) {
                await benchSounds(
                    bench, wanted: wanted, formats: formats ?? (isQuick ? ["flac", "mp3"] : Self.formats),
                    players: players, tries: line.integers["tries"].map { max($0, 1) } ?? (isQuick ? 3 : 11),
                    report: report)
            }
            if wanted.contains("idle") {
                await benchIdle(bench, players: players, quick: isQuick, report: report)
            }
            if wanted.contains("control") { await benchControl(bench, quick: isQuick, report: report) }
            if wanted.contains("data") { await benchData(bench, quick: isQuick, report: report) }
            if wanted.contains("launch") { await benchLaunch(bench, quick: isQuick, report: report) }
            if wanted.contains("fan-out") { await benchFanOut(bench, quick: isQuick, report: report) }
            if wanted.contains("clock") {
                let seeds = line.integers["tries"].map { max(Int($0), 1) } ?? (isQuick ? 8 : 40)
                benchClock(seeds: seeds, report: report)
            }
            if wanted.contains("sync") {
                var plan = isQuick ? SyncPlan.quick : SyncPlan()
                plan.isBehindLink = isBehindLink
                if let seconds = line.integers["seconds"] {
                    (plan.seconds, plan.longest) = (max(seconds, 21), max(seconds, 21))
                }
                if let runs = line.integers["runs"] { plan.runs = max(runs, 1) }
                if let tries = line.integers["tries"] { plan.starts = max(tries, 0) }
                if let named = line.strings["part"] {
                    plan.parts =
                        named == "all"
                        ? Set(SyncPart.allCases)
                        : Set(named.split(separator: ",").compactMap { SyncPart(rawValue: String($0)) })
                    if plan.parts.isEmpty {
                        return leave(2, "linnet-bench: the parts of sync are \(SyncPart.names), or all")
                    }
                }
                if isBehindHub {
                    await benchMembers(bench, plan: plan, report: report)
                } else {
                    await benchSync(bench, plan: plan, report: report)
                }
                if !isBehindLink {
                    let rest = Array(words.dropFirst())
                    if plan.parts.contains(where: \.isBehindLink) {
                        isComplete = try SyncLink.run(bench, rest) && isComplete
                    }
                    if plan.parts.contains(.members) {
                        isComplete = try SyncLink.run(bench, rest, isQuiet: true) && isComplete
                    }
                }
            }
            if wanted.contains("group-soak") {
                var plan = isQuick ? GroupSoakPlan.quick : GroupSoakPlan()
                if let seconds = line.integers["seconds"] { plan.seconds = max(seconds, 20) }
                if let seed = line.integers["seed"] { plan.seed = UInt64(bitPattern: Int64(seed)) }
                if let count = line.integers["receivers"] { plan.receivers = min(max(count, 3), 16) }
                await benchGroupSoak(bench, plan: plan) { figure in
                    if figure.isMet == false { isEnduring = false }
                    report(figure)
                }
            }
            if wanted.contains("switch") {
                var plan = isQuick ? SwitchPlan.quick : SwitchPlan()
                if let tries = line.integers["tries"] { plan.tries = max(tries, 1) }
                if let seed = line.integers["seed"] { plan.seed = UInt64(bitPattern: Int64(seed)) }
                await benchSwitch(bench, plan: plan) { figure in
                    if figure.isMet == false { isEnduring = false }
                    report(figure)
                }
            }
            if wanted.contains("endurance") {
                var plan = isQuick ? EndurancePlan.quick : EndurancePlan()
                if let tracks = line.integers["tracks"] { plan.tracks = max(tracks, 0) }
                if let queued = line.integers["queued"] { plan.queued = max(queued, 0) }
                if let cycles = line.integers["cycles"] { plan.cycles = max(cycles, 0) }
                plan.part = line.strings["part"] ?? ""
                if let seed = line.integers["seed"] { plan.seed = UInt64(bitPattern: Int64(seed)) }
                await benchEndurance(bench, plan: plan) { figure in
                    if figure.isMet == false { isEnduring = false }
                    report(figure)
                }
            }
            if wanted.contains("soak") {
                var plan = isQuick ? SoakPlan.quick : SoakPlan()
                if let messages = line.integers["messages"] { plan.messages = max(messages, 1) }
                if let seed = line.integers["seed"] { plan.seed = UInt64(bitPattern: Int64(seed)) }
                benchSoak(bench, plan: plan) { figure in
                    if figure.isMet == false { isEnduring = false }
                    report(figure)
                }
            }
        } catch { return leave(1, "linnet-bench: \(error)") }
        if !isComplete { leave(1, "linnet-bench: not everything could be measured") }
        if !isEnduring {
            leave(1, "linnet-bench: something grows, is lost, or went otherwise than it should")
        }
    }

    private static func leave(_ code: Int32, _ message: String) {
        printError(message)
        exitProcess(code)
    }
}
