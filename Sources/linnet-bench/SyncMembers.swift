// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import SystemProbe

/// What groups of up to 64 members cost: each is a receiver of its own without a card, on a machine of a network without delay. The
/// bench and the media are on the first machine, the host alone on the second.
func benchMembers(_ bench: Workspace, plan: SyncPlan, report: (Figure) -> Void) async {
    var rounds: [MemberRound] = []
    for count in plan.members {
        do {
            let round = try await MemberRound(bench, count: count)
            rounds.append(round)
            for figure in round.figures(over: rounds.first) { report(figure) }
        } catch {
            var figure = Figure(bench: "sync", figure: "\(count) members", unit: "", ours: Samples())
            figure.missing = [("linnet", "\(error)")]
            report(figure)
        }
    }
    // What each member costs the host, in the largest group beside the smallest one.
    guard let alone = rounds.first, rounds.count > 2 else { return }
    let (small, large) = (rounds[1], rounds[rounds.count - 1])
    for (name, path) in [("processor time", \MemberRound.hostLoad), ("traffic", \.outgoing)] {
        func each(_ round: MemberRound) -> Double {
            max(round[keyPath: path] - alone[keyPath: path], 0) / Double(round.count - alone.count)
        }
        guard each(small) > 0 else { continue }
        report(
            Figure(
                bench: "sync", figure: "\(name) of the host for a member, \(large.count) over \(small.count)",
                unit: "",
                ours: Samples([each(large) / each(small)]), reach: .atMost(1.25)))
    }
}

/// A group of so many, while it plays.
private struct MemberRound {
    let count: Int
    /// Percent of a core: `linnetd` of the host, and all processes of the others together.
    private(set) var hostLoad = 0.0
    private var memberLoad = 0.0
    /// Megabytes, shared pages in proportion.
    private var hostMemory = 0.0
    private var memberMemory = 0.0
    /// Kilobytes a second at the host's machine. What comes in is mostly the media that the host plays itself.
    private(set) var (incoming, outgoing) = (0.0, 0.0)
    private var joining = 0.0

    init(_ bench: Workspace, count: Int) async throws {
        self.count = count
        let places = SyncLink.allPlaces
        var receivers: [Ours] = []
        for number in 0..<count {
            let place = places[1 + number]
            receivers.append(
                try Ours(
                    bench, device: "null", settings: ["--clock-port", "0"], label: "member\(number)",
                    place: place))
        }
        let start = monotonicNanoseconds()
        let group = try await OurGroup(try await receivers[0].connect(), [])
        for receiver in receivers.dropFirst() {
            try await group.join(try await receiver.connect())
            await receiver.disconnect()
        }
        joining = Double(monotonicNanoseconds() - start) / 1e6
        _ = try await receivers[0].play("\(bench.loopbackURL)/track.m4a")
        // Many renderers take their time to begin on few cores.
        let limit = monotonicNanoseconds() + 120_000_000_000
        while await group.reports().count < count, monotonicNanoseconds() < limit {
            try await Task.sleep(for: .milliseconds(500))
        }
        // Clocks are asked most often at first.
        try await Task.sleep(for: .seconds(15))
        let (host, others) = ([receivers[0].pids[0]], receivers.dropFirst().flatMap(\.pids))
        let before = (try bytes(at: places[1]), ProcessTable.load(of: host), ProcessTable.load(of: others))
        pause(milliseconds: 10_000)
        let after = (try bytes(at: places[1]), ProcessTable.load(of: host), ProcessTable.load(of: others))
        incoming = Double(after.0.incoming - before.0.incoming) / 10_000
        outgoing = Double(after.0.outgoing - before.0.outgoing) / 10_000
        hostLoad = after.1.rates(since: before.1).cpuPercent
        memberLoad = after.2.rates(since: before.2).cpuPercent
        hostMemory = ProcessTable.memory(of: host).proportional
        memberMemory = ProcessTable.memory(of: others).proportional
        if let failure = await receivers[0].failure() { throw ProbeFailure("the item failed: \(failure)", 0) }
        let playing = await group.reports().count
        guard playing == count else { throw ProbeFailure("\(playing) of \(count) members play", 0) }
        for receiver in receivers.reversed() { await receiver.shutDown() }
    }

    func figures(over alone: MemberRound?) -> [Figure] {
        func figure(_ name: String, _ unit: String, _ value: Double) -> Figure {
            Figure(
                bench: "sync", figure: "\(count) members: \(name)", unit: unit, ours: Samples([value]),
                reach: .report)
        }
        let others = Double(max(count - 1, 1))
        return [
            figure("processor time of the host's daemon", "%", hostLoad),
            figure("memory of the host's daemon", "MB", hostMemory),
            figure("to the host", "kB/s", incoming), figure("from the host", "kB/s", outgoing),
            figure("all joined after", "ms", joining),
        ]
            + (count < 2
                ? []
                : [
                    figure("processor time of a member", "%", memberLoad / others),
                    figure("memory of a member", "MB", memberMemory / others),
                ])
    }
}

/// What a machine of the network has received and sent since its beginning.
private func bytes(at place: NetworkPlace) throws -> (incoming: Int, outgoing: Int) {
    let output = "/tmp/linnet-bench-bytes-\(monotonicNanoseconds())"
    defer { _ = try? run(["rm", "-f", output]) }
    let folder = "/sys/class/net/eth0/statistics"
    let process = try ChildProcess(
        place.prefix + ["cat", "\(folder)/rx_bytes", "\(folder)/tx_bytes"], output: output)
    guard process.wait(milliseconds: 10_000) == 0 else { throw ProbeFailure("no counts of the network", 0) }
    let numbers = readLines(output).compactMap { Int($0) }
    guard numbers.count == 2 else { throw ProbeFailure("no counts of the network", 0) }
    return (numbers[0], numbers[1])
}
