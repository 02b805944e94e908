// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SystemProbe

/// How long the bench `sync` listens.
struct SyncPlan {
    var seconds = 90
    var starts = 5
    /// The bench runs behind the link of `SyncLink`.
    var isBehindLink = false
    static let quick = SyncPlan(seconds: 30, starts: 2)
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
    for (cards, granularity) in [("even cards", 0), ("cards in 1 ms steps", 48)] {
        let kind = "\(network), \(cards)"
        do {
            let settings = ["ppm 0", "ppm 50"].map { "\($0) granularity \(granularity)" }
            try bench.configureCards(settings + settings + ["ppm -20 granularity \(granularity)"])
            let run = try await SyncRun(bench, plan: plan)
            for figure in run.figures(of: kind) { report(figure) }
        } catch {
            var figure = Figure(bench: "sync", figure: kind, unit: "us", ours: Samples())
            figure.missing = [("linnet", "\(error)")]
            report(figure)
        }
    }
}

/// One run of both pairs.
private struct SyncRun {
    private var ours = PairSound()
    private var theirs: PairSound?
    /// The host and the first of the pair, where the host is not one of the pair.
    private var withHost: PairSound?
    private var isBehindLink = false
    private var problem = ""
    private var startTimes = Samples()
    private var peerStart = Samples()
    /// What the members say of themselves.
    private var reports: [SyncReport] = []

    init(_ bench: Workspace, plan: SyncPlan) async throws {
        isBehindLink = plan.isBehindLink
        let track = try bench.noise()
        let places = isBehindLink ? SyncLink.places : [.here, .here, .here]
        func receiver(_ card: Int, _ label: String, _ place: NetworkPlace) throws -> Ours {
            try Ours(
                bench, device: "sim\(card)", settings: ["--clock-port", "0"], label: label, place: place)
        }
        let pair = [try receiver(0, "first", places[1]), try receiver(1, "second", places[2])]
        // Behind the link both are as far from the host as snapserver is from its clients.
        let host = isBehindLink ? try receiver(4, "host", places[0]) : pair[0]
        var members: [Route] = []
        for member in isBehindLink ? pair : [pair[1]] { members.append(try await member.connect()) }
        let group = try await OurGroup(try await host.connect(), members)
        var peers: SnapcastPair?
        do {
            peers = try SnapcastPair(
                bench, devices: ["sim2", "sim3"], in: Array(places[1...]), server: places[0].address)
        } catch { problem = "\(error)" }
        pause(milliseconds: SyncPlan.warmUp)
        var starts: [Int64] = []
        // The first start warms everything up and does not count.
        for number in 0...plan.starts {
            let start = try await host.play("\(bench.loopbackURL)/\(track)")
            if number > 0 { starts.append(start) }
            pause(milliseconds: SyncPlan.start)
            try await host.stop()
            pause(milliseconds: 500)
        }
        let feeding = monotonicNanoseconds()
        try peers?.feed("\(bench.media)/\(track)")
        let start = try await host.play("\(bench.loopbackURL)/\(track)")
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
        ours = PairSound(recordings[0], recordings[1], from: start, until: end)
        if isBehindLink { withHost = PairSound(recordings[4], recordings[0], from: start, until: end) }
        if peers != nil {
            let sound = PairSound(recordings[2], recordings[3], from: feeding, until: end)
            peerStart.add(sound.begin.map { Double($0 - feeding) / 1e6 })
            theirs = sound
        }
    }

    func figures(of kind: String) -> [Figure] {
        func figure(
            _ name: String, _ unit: String, _ own: Samples, _ peer: Samples?, _ reach: Figure.Reach = .report
        ) -> Figure {
            var figure = Figure(
                bench: "sync", figure: "\(kind): \(name)", unit: unit, ours: own, reach: reach)
            if let peer, theirs != nil { figure.peers = [("snapcast", peer)] }
            if theirs == nil { figure.missing = [("snapcast", problem)] }
            return figure
        }
        var figures: [Figure] = []
        for (number, name) in PairSound.periods.enumerated() {
            let (own, peer) = (ours.offsets[number], theirs?.offsets[number])
            func quantile(_ samples: Samples?, _ part: Double) -> Samples {
                Samples(samples?.quantile(part).map { [$0] } ?? [])
            }
            let isLast = number == PairSound.periods.count - 1
            let isSettled = isLast || number > 0 && !isBehindLink
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
        figures.append(figure("start to first sound at both", "ms", startTimes, peerStart, .atMost(350)))
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

/// What two cards heard of the same sound.
private struct PairSound {
    static let periods = ["0-5 s", "5-20 s", "after 20 s"]
    private(set) var begin: Int64?
    /// Sizes of offsets in microseconds, of each period.
    private(set) var offsets = [Samples(), Samples(), Samples()]
    private(set) var underruns = 0

    init() {}

    init(_ one: CardRecording, _ other: CardRecording, from start: Int64, until end: Int64) {
        begin = Self.begin(one, other, from: start)
        guard let begin else { return }
        var meter = OffsetMeter(one, other)
        let step = OffsetMeter.window
        for time in stride(from: begin + step / 2, to: end - step, by: Int(step)) {
            let since = time - begin
            let period = since < 5_000_000_000 ? 0 : since < 20_000_000_000 ? 1 : 2
            offsets[period].add(meter.offset(at: time).map { ($0 / 1_000).magnitude })
        }
        for case .underrun(let time) in one.events + other.events where time > begin && time < end {
            underruns += 1
        }
    }

    /// When the later of the two is heard first.
    static func begin(_ one: CardRecording, _ other: CardRecording, from start: Int64) -> Int64? {
        guard let first = one.firstSound(from: start, channel: 0),
            let second = other.firstSound(from: start, channel: 0)
        else { return nil }
        return max(first, second)
    }
}

/// Two of our receivers in one group.
@RouteActor private final class OurGroup {
    private let host: Route

    init(_ host: Route, _ members: [Route]) async throws {
        self.host = host
        let ticket = try await host.group.create(named: "bench")
        let limit = monotonicNanoseconds() + 20_000_000_000
        for member in members {
            try await member.group.join(ticket)
            while !(member.group.state?.phase == .joined && member.group.state?.isClockKnown == true) {
                guard monotonicNanoseconds() < limit else {
                    throw ProbeFailure(
                        "the group did not come about: \(String(describing: member.group.state))", 0)
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    func reports() -> [SyncReport] { host.group.state?.members.compactMap(\.sync) ?? [] }
}

extension Workspace {
    /// A served file of 110 s of noise at 48 kHz, the same on both sides, with little just below half the rate; its name.
    fileprivate func noise() throws -> String {
        let (name, rate, seconds) = ("noise.wav", 48_000, 110)
        let frames = rate * seconds
        if fileSize("\(media)/\(name)") == 44 + frames * 4 { return name }
        var bytes = Workspace.waveHeader(rate: rate, frames: frames)
        bytes.reserveCapacity(44 + frames * 4)
        var state: UInt32 = 2_463_534_242
        var (last, before) = (0.0, 0.0)
        for _ in 0..<frames {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            let white = Double(Int32(bitPattern: state)) / 2_147_483_648
            let sample = Int16((white + 2 * last + before) * 0.12 * 32_767)
            (before, last) = (last, white)
            let pair = [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
            bytes += pair
            bytes += pair
        }
        try writeBytes(bytes, to: "\(media)/\(name)")
        return name
    }
}
