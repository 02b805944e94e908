// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe

/// What the bench `sync` measures, each for itself.
enum SyncPart: String, CaseIterable {
    /// Two members, in three windows, beside snapcast.
    case pair
    /// The same, many times, with rates unknown and remembered.
    case runs
    /// Who joins while it plays.
    case join
    /// A host that is killed.
    case host
    /// Ten minutes.
    case long
    /// An item of another rate than the cards, and another speed.
    case rates
    /// Up to 64 members without cards.
    case members

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    var isOnLoopback: Bool { self != .runs && self != .members }
    var isBehindLink: Bool { [.pair, .runs, .join, .host].contains(self) }
}

/// How long the bench `sync` listens.
struct SyncPlan {
    var parts: Set<SyncPart> = [.pair]
    var seconds = 90
    var starts = 5
    var runs = 10
    /// The longest run of two members, in seconds.
    var longest = 600
    /// How many members there are, the first of which shows what is there without any others.
    var members = [1, 8, 16, 32, 64]
    /// The bench runs behind the link of `SyncLink`.
    var isBehindLink = false
    static let quick = SyncPlan(seconds: 30, starts: 2, runs: 1, longest: 60, members: [1, 4, 8])
    /// How many windows of the meter lie between two that are looked at.
    var stride = 1
    /// Of the item, and how fast it is played. With others than the usual ones there is no peer.
    var rate = 48_000
    var speed = 1.0
    var hasPeer: Bool { rate == 48_000 && speed == 1 }
    /// Milliseconds in which the clocks get to know each other before anything plays.
    static let warmUp = 3_000
    /// Milliseconds that a start is heard.
    static let start = 2_000
}

/// `sync`: how far apart two receivers of one group are heard, beside two clients of snapserver in the same minutes.
///
/// The second card of each pair runs fast by 50 ppm. Both pairs play the same noise, ours as an item over HTTP; each pair is measured
/// against itself, by what its cards recorded.
func benchSync(_ bench: Workspace, plan: SyncPlan, report: (Figure) -> Void) async {
    let network = plan.isBehindLink ? "5 ± 3 ms, 0.5 % lost" : "loopback"
    func perform(_ kind: String, _ body: () async throws -> [Figure]) async {
        do {
            for figure in try await body() { report(figure) }
        } catch {
            var figure = Figure(bench: "sync", figure: kind, unit: "us", ours: Samples())
            figure.missing = [("linnet", "\(error)")]
            report(figure)
        }
    }
    for part in SyncPart.allCases where plan.parts.contains(part) {
        guard plan.isBehindLink ? part.isBehindLink : part.isOnLoopback else { continue }
        switch part {
        case .pair:
            for (cards, granularity) in [("even cards", 0), ("cards in 1 ms steps", 48)] {
                await perform("\(network), \(cards)") {
                    try bench.configureSyncCards(granularity: granularity)
                    return try await SyncRun(bench, plan: plan).figures(of: "\(network), \(cards)")
                }
            }
        case .runs: await perform("runs") { try await benchSyncRuns(bench, plan) }
        case .join: await perform("join") { try await benchJoining(bench, plan, network) }
        case .host: await perform("host") { try await benchHostLoss(bench, plan, network) }
        case .long:
            var long = plan
            (long.seconds, long.starts, long.stride) = (plan.longest, 0, 8)
            await perform("\(plan.longest) s") {
                try bench.configureSyncCards(granularity: 0)
                return try await SyncRun(bench, plan: long).figures(of: "\(network), \(plan.longest) s")
            }
        case .rates:
            for (name, rate, speed) in [("item of 44.1 kHz", 44_100, 1.0), ("speed 1.5", 48_000, 1.5)] {
                var other = plan
                (other.seconds, other.starts, other.rate, other.speed) = (
                    min(plan.seconds, 40), 0, rate, speed
                )
                await perform("\(network), \(name)") {
                    try bench.configureSyncCards(granularity: 0)
                    return try await SyncRun(bench, plan: other).figures(of: "\(network), \(name)")
                }
            }
        case .members: break
        }
    }
}

extension Workspace {
    /// Two cards for us, two for the peer, and one for a host of neither.
    func configureSyncCards(granularity: Int) throws {
        let settings = ["ppm 0", "ppm 50"].map { "\($0) granularity \(granularity)" }
        try configureCards(settings + settings + ["ppm -20 granularity \(granularity)"])
    }
}

/// One run of both pairs.
struct SyncRun {
    private(set) var ours = PairSound()
    private(set) var theirs: PairSound?
    /// The host and the first of the pair, where the host is not one of the pair.
    private var withHost: PairSound?
    private var isBehindLink = false
    private var hasPeer = true
    private var problem = ""
    private var startTimes = Samples()
    private var peerStart = Samples()
    /// What the members say of themselves.
    private var reports: [SyncReport] = []

    /// `states`: folders in which the receivers remember what they learned, for each its own.
    init(_ bench: Workspace, plan: SyncPlan, states: String? = nil) async throws {
        isBehindLink = plan.isBehindLink
        hasPeer = plan.hasPeer
        let track = try bench.noise(seconds: plan.seconds + 20, rate: plan.rate)
        let places = isBehindLink ? SyncLink.places : [.here, .here, .here]
        func receiver(_ card: Int, _ label: String, _ place: NetworkPlace) throws -> Ours {
            try Ours(
                bench, device: "sim\(card)", settings: ["--clock-port", "0"], label: label, place: place,
                state: states.map { "\($0)/\(label)" })
        }
        let pair = [try receiver(0, "first", places[1]), try receiver(1, "second", places[2])]
        // Behind the link both are as far from the host as snapserver is from its clients.
        let host = isBehindLink ? try receiver(4, "host", places[0]) : pair[0]
        var members: [Route] = []
        for member in isBehindLink ? pair : [pair[1]] { members.append(try await member.connect()) }
        let group = try await OurGroup(try await host.connect(), members)
        var peers: SnapcastPair?
        if plan.hasPeer {
            do {
                peers = try SnapcastPair(
                    bench, devices: ["sim2", "sim3"], in: Array(places[1...]), server: places[0].address)
            } catch { problem = "\(error)" }
        }
        pause(milliseconds: SyncPlan.warmUp)
        var starts: [Int64] = []
        // The first start warms everything up and does not count.
        for number in 0..<(plan.starts > 0 ? plan.starts + 1 : 0) {
            let start = try await host.play("\(bench.loopbackURL)/\(track)")
            if number > 0 { starts.append(start) }
            pause(milliseconds: SyncPlan.start)
            try await host.stop()
            pause(milliseconds: 500)
        }
        let feeding = monotonicNanoseconds()
        try peers?.feed("\(bench.media)/\(track)")
        let start = try await host.play("\(bench.loopbackURL)/\(track)")
        if plan.speed != 1 { try await host.setSpeed(plan.speed) }
        pause(milliseconds: plan.seconds * 1_000)
        reports = await group.reports()
        if let failure = await host.failure() { throw ProbeFailure("the item failed: \(failure)", 0) }
        let end = monotonicNanoseconds()
        peers?.end()
        for member in pair { await member.shutDown() }
        if isBehindLink { await host.shutDown() }
        let recordings = (0..<5).map { number in
            var card = SimulatedCard(folder: "\(bench.folder)/card", number: number)
            return card.recording()
        }
        for moment in starts {
            startTimes.add(
                PairSound.begin(recordings[0], recordings[1], from: moment)
                    .flatMap { $0 - moment < Int64(SyncPlan.start) * 1_000_000 ? $0 - moment : nil }
                    .map { Double($0) / 1e6 })
        }
        func sound(_ one: Int, _ other: Int, _ from: Int64) -> PairSound {
            PairSound(recordings[one], recordings[other], from: from, until: end, stride: plan.stride)
        }
        ours = sound(0, 1, start)
        if isBehindLink { withHost = sound(4, 0, start) }
        if peers != nil {
            let peer = sound(2, 3, feeding)
            peerStart.add(peer.begin.map { Double($0 - feeding) / 1e6 })
            theirs = peer
        }
    }

    func figures(of kind: String) -> [Figure] {
        func figure(
            _ name: String, _ unit: String, _ own: Samples, _ peer: Samples?, _ reach: Figure.Reach = .report
        ) -> Figure {
            var figure = Figure(
                bench: "sync", figure: "\(kind): \(name)", unit: unit, ours: own, reach: reach)
            if let peer, theirs != nil { figure.peers = [("snapcast", peer)] }
            if theirs == nil, hasPeer { figure.missing = [("snapcast", problem)] }
            return figure
        }
        var figures: [Figure] = []
        for (number, name) in PairSound.periods.enumerated() {
            let (own, peer) = (ours.offsets[number], theirs?.offsets[number])
            func quantile(_ samples: Samples?, _ part: Double) -> Samples {
                Samples(samples?.quantile(part).map { [$0] } ?? [])
            }
            let isLast = number == PairSound.periods.count - 1
            let isSettled = (isLast || number > 0 && !isBehindLink) && hasPeer
            let (middle, most) = isBehindLink ? (50.0, 120.0) : (2, 5)
            var median = figure("\(name) median", "us", own, peer, isSettled ? .atMost(middle) : .report)
            if isLast { median.note = reports.map(\.line).joined(separator: "; ") }
            figures.append(median)
            figures.append(
                figure(
                    "\(name) p95", "us", quantile(own, 0.95), quantile(peer, 0.95),
                    isSettled ? .atMost(most) : .report))
            if let withHost {
                figures.append(
                    figure("\(name) median, a member and the host", "us", withHost.offsets[number], nil))
            }
        }
        if !startTimes.values.isEmpty || startTimes.failures > 0 {
            figures.append(
                figure(
                    "start to first sound at both", "ms", startTimes, peerStart,
                    isBehindLink ? .report : .atMost(350)))
        }
        figures.append(
            figure(
                "underruns", "", Samples([Double(ours.underruns)]),
                theirs.map { Samples([Double($0.underruns)]) }, .atMost(0)))
        return figures
    }
}

extension SyncReport {
    /// One member's own word, for people.
    fileprivate var line: String {
        "says \(error / 1_000) us (largest \(largestError / 1_000)), card \(rounded(cardDrift, 1)) ppm, "
            + "clock \(rounded(clockDrift, 2)) ppm, \(resyncs) resyncs, \(underruns) underruns"
    }
}
