// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import RouteKit
import SystemProbe

/// The pair behind the link, again and again, each time with rates unknown and then remembered.
func benchSyncRuns(_ bench: Workspace, _ plan: SyncPlan) async throws -> [Figure] {
    var single = plan
    single.starts = 0
    var figures: [Figure] = []
    let kinds: [(name: String, median: Double, most: Double)] = [
        ("rates unknown", 50, 120), ("rates remembered", 35, 80),
    ]
    var medians = [Samples(), Samples()], mosts = [Samples(), Samples()], largest = [Samples(), Samples()]
    var (theirMedians, theirMosts) = ([Samples(), Samples()], [Samples(), Samples()])
    var (met, beaten) = ([0, 0], [0, 0])
    for number in 0..<plan.runs {
        let states = "\(bench.folder)/states-\(number)"
        for (index, kind) in kinds.enumerated() {
            try bench.configureSyncCards(granularity: 0)
            let run = try await SyncRun(bench, plan: single, states: states)
            let late = run.ours.offsets[2]
            guard let median = late.median, let most = late.quantile(0.95) else {
                throw ProbeFailure("run \(number) with \(kind.name) gave no offset", 0)
            }
            medians[index].add(median)
            mosts[index].add(most)
            largest[index].add(run.ours.largest)
            if median <= kind.median, most <= kind.most { met[index] += 1 }
            guard let their = run.theirs?.offsets[2], let theirMost = their.quantile(0.95) else { continue }
            theirMedians[index].add(their.median)
            theirMosts[index].add(theirMost)
            if most <= theirMost { beaten[index] += 1 }
        }
    }
    for (index, kind) in kinds.enumerated() {
        func add(
            _ name: String, _ own: Samples, _ peer: Samples?, unit: String = "us",
            _ reach: Figure.Reach = .report
        ) {
            var figure = Figure(
                bench: "sync", figure: "\(plan.runs) runs, \(kind.name): \(name)", unit: unit, ours: own,
                reach: reach)
            if let peer, peer.median != nil { figure.peers = [("snapcast", peer)] }
            figures.append(figure)
        }
        add("after 20 s median", medians[index], theirMedians[index])
        add("after 20 s p95", mosts[index], theirMosts[index])
        add("largest after the first second", Samples([largest[index].maximum ?? 0]), nil, .atMost(1_000))
        let missed = plan.runs - met[index]
        add(
            "runs beyond \(Int(kind.median)) / \(Int(kind.most)) us", Samples([Double(missed)]), nil,
            unit: "",
            .atMost(Double(plan.runs / 10)))
        add(
            "runs with a p95 beyond snapcast's",
            Samples([Double(theirMosts[index].values.count - beaten[index])]), nil, unit: "", .atMost(0))
    }
    return figures
}

/// A third receiver that joins while two play.
func benchJoining(_ bench: Workspace, _ plan: SyncPlan, _ network: String) async throws -> [Figure] {
    try bench.configureCards(["ppm 0", "ppm 50", "ppm -30"])
    let track = try bench.noise(seconds: 170)
    let places = plan.isBehindLink ? SyncLink.places : [.here, .here, .here]
    func receiver(_ number: Int) throws -> Ours {
        try Ours(
            bench, device: "sim\(number)", settings: ["--clock-port", "0"], label: "room\(number)",
            place: places[number])
    }
    let (host, member, joiner) = (try receiver(0), try receiver(1), try receiver(2))
    let group = try await OurGroup(try await host.connect(), [try await member.connect()])
    let route = try await joiner.connect()
    pause(milliseconds: SyncPlan.warmUp)
    _ = try await host.play("\(bench.loopbackURL)/\(track)")
    pause(milliseconds: 5_000)
    var joins: [(isWarm: Bool, time: Int64, end: Int64)] = []
    for number in 0...plan.starts {
        let time = monotonicNanoseconds()
        try await group.join(route)
        // The first one lasts until the rates are worth remembering.
        pause(milliseconds: number == 0 ? 25_000 : 7_000)
        joins.append((number > 0, time, monotonicNanoseconds()))
        try await route.group.leave()
        pause(milliseconds: 1_500)
    }
    for ours in [host, member, joiner] { await ours.shutDown() }
    let recordings = bench.recordings(3)
    var figures: [Figure] = []
    for isWarm in [false, true] {
        var (sound, settled, early) = (Samples(), Samples(), Samples())
        for join in joins where join.isWarm == isWarm {
            guard let begin = recordings[2].firstSound(from: join.time, channel: 0), begin < join.end else {
                sound.add(nil)
                continue
            }
            sound.add(Double(begin - join.time) / 1e6)
            var meter = OffsetMeter(recordings[1], recordings[2])
            var last = begin
            let window = OffsetMeter.window
            for time in stride(
                from: begin + window / 2, to: min(join.end, begin + 6_000_000_000), by: 125_000_000)
            {
                guard let offset = meter.offset(at: time).map({ ($0 / 1_000).magnitude }) else { continue }
                if offset > 200 { last = time + window / 2 }
                if time < begin + 1_000_000_000 { early.add(offset) }
            }
            settled.add(Double(last - join.time) / 1e6)
        }
        let kind = "\(network), join midway, rates \(isWarm ? "remembered" : "unknown")"
        func figure(_ name: String, _ unit: String, _ samples: Samples, _ limit: Double) -> Figure {
            Figure(
                bench: "sync", figure: "\(kind): \(name)", unit: unit, ours: samples,
                reach: isWarm && limit > 0 ? .atMost(limit) : .report)
        }
        figures.append(figure("request to sound", "ms", sound, 1_000))
        figures.append(figure("request to within 200 us for good", "ms", settled, 2_000))
        figures.append(figure("offset in the first second of sound", "us", early, 0))
    }
    return figures
}

/// Three receivers, the host of which is killed.
func benchHostLoss(_ bench: Workspace, _ plan: SyncPlan, _ network: String) async throws -> [Figure] {
    var (gaps, steps, seconds, between) = (Samples(), Samples(), Samples(), Samples())
    for _ in 0..<max(plan.starts, 1) {
        try bench.configureCards(["ppm 0", "ppm 50", "ppm -30"])
        let track = try bench.noise()
        let places = plan.isBehindLink ? SyncLink.places : [.here, .here, .here]
        let receivers = try (0..<3).map { number in
            try Ours(
                bench, device: "sim\(number)", settings: ["--clock-port", "0"], label: "room\(number)",
                place: places[number])
        }
        let routes = [try await receivers[1].connect(), try await receivers[2].connect()]
        let group = try await OurGroup(try await receivers[0].connect(), routes)
        pause(milliseconds: SyncPlan.warmUp)
        let start = try await receivers[0].play("\(bench.loopbackURL)/\(track)")
        pause(milliseconds: plan.isBehindLink ? 25_000 : 10_000)
        let moment = monotonicNanoseconds()
        receivers[0].kill()
        let elected = try await OurGroup.hostTime(of: routes[0])
        seconds.add(elected.map { Double($0 - moment) / 1e6 })
        pause(milliseconds: 12_000)
        let end = monotonicNanoseconds()
        for ours in receivers[1...] { await ours.shutDown() }
        _ = group
        let recordings = bench.recordings(3)
        let after = moment + 11_000_000_000
        for number in [1, 2] {
            gaps.add(recordings[number].longestGap(from: moment - 1_000_000_000, until: after))
            steps.add(
                try step(
                    recordings[number], track: "\(bench.media)/\(track)", from: start, at: moment,
                    until: after))
        }
        var meter = OffsetMeter(recordings[1], recordings[2])
        for time in stride(from: moment + 250_000_000, to: end - 500_000_000, by: 250_000_000) {
            between.add(meter.offset(at: time).map { ($0 / 1_000).magnitude })
        }
    }
    let kind = "\(network), host killed"
    return [
        Figure(
            bench: "sync", figure: "\(kind): gap at a survivor", unit: "ms",
            ours: Samples([gaps.maximum ?? 1_000]), reach: .atMost(20)),
        Figure(
            bench: "sync", figure: "\(kind): step at a survivor", unit: "us",
            ours: Samples([steps.maximum ?? 1e6]), reach: .atMost(1_000)),
        Figure(
            bench: "sync", figure: "\(kind): between the survivors", unit: "us", ours: between, reach: .report
        ),
        Figure(
            bench: "sync", figure: "\(kind): until the next host", unit: "ms", ours: seconds, reach: .report),
    ]
}

/// How far a card's sound goes from where the item was before `moment`, in microseconds.
private func step(
    _ recording: CardRecording, track: String, from start: Int64, at moment: Int64, until end: Int64
) throws -> Double? {
    guard let begin = recording.firstSound(from: start, channel: 0) else { return nil }
    var meter = OffsetMeter(try CardRecording(item: track, from: begin), recording)
    var before = Samples()
    for time in stride(from: moment - 4_000_000_000, to: moment - 200_000_000, by: 250_000_000) {
        before.add(meter.offset(at: time))
    }
    guard let place = before.median else { return nil }
    var largest = 0.0
    for time in stride(from: moment, to: end, by: 250_000_000) {
        guard let offset = meter.offset(at: time) else { continue }
        largest = max(largest, (offset - place).magnitude / 1_000)
    }
    return largest
}

extension Workspace {
    /// What the first cards have recorded.
    func recordings(_ count: Int) -> [CardRecording] {
        (0..<count).map { number in
            var card = SimulatedCard(folder: "\(folder)/card", number: number)
            return card.recording()
        }
    }
}
