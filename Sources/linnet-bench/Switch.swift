// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import SeededNumbers
import SwitchingCore
import SystemProbe

/// How much the bench `switch` tries.
struct SwitchPlan {
    var events = 1_000_000
    var tries = 11
    var switches = 1_000
    var seed: UInt64 = 1
    static let quick = SwitchPlan(events: 100_000, tries: 3, switches: 60)
}

/// `switch`: how long a decision takes, how long it takes from the start of a source until it is heard, whether two are ever heard
/// together, and what a thousand switches leave behind.
func benchSwitch(_ bench: Workspace, plan: SwitchPlan, report: (Figure) -> Void) async {
    for figure in decisionFigures(plan) { report(figure) }
    do {
        try bench.configureCards([""])
        let stage = try SwitchStage(
            folder: bench.folder, programs: bench.programs, environment: bench.cardEnvironment)
        try await stage.begin()
        for figure in try await switchFigures(stage, plan) { report(figure) }
        for figure in try await burdenFigures(stage, plan) { report(figure) }
        await stage.end()
    } catch {
        var figure = Figure(bench: "switch", figure: "source starts to heard", unit: "ms", ours: Samples())
        figure.reach = .atMost(150)
        figure.missing = [("linnet", "\(error)")]
        report(figure)
    }
}

// MARK: Decisions

private func decisionFigures(_ plan: SwitchPlan) -> [Figure] {
    var numbers = SeededNumbers(seed: plan.seed)
    let sources =
        (1...3).map { SourceID(.bluetooth, SourceAddress(UInt64($0))) }
        + [
            SourceID(.network, SourceAddress(derivedFrom: "a")),
            SourceID(.lineIn, SourceAddress(derivedFrom: "b")),
        ]
    // Made beforehand, so that only the decisions are timed.
    let events = (0..<4_096).map { _ in randomEvent(sources, &numbers) }
    var state = SwitchingState()
    var now: Int64 = 0
    var heard = 0
    func decide(_ count: Int) -> Double {
        let start = monotonicNanoseconds()
        for number in 0..<count {
            now += 50_000_000
            for effect in state.apply(events[number & 4_095], at: now) {
                switch effect {
                case .hear: heard += 1
                case .armTimer, .cancelTimer, .silence, .pause, .play, .letGo, .moveOutput: break
                }
            }
        }
        return Double(monotonicNanoseconds() - start) / Double(count) / 1_000
    }
    _ = decide(plan.events / 10)
    let before = ProcessTable.holdings(of: ProcessTable.own)?.anonymous ?? 0
    var samples = Samples()
    for _ in 0..<10 { samples.add(decide(plan.events / 10)) }
    let growth = (ProcessTable.holdings(of: ProcessTable.own)?.anonymous ?? 0) - before
    var time = Figure(bench: "switch", figure: "decision", unit: "us", ours: samples, reach: .atMost(2))
    time.note = "\(plan.events) random events, \(heard) times another source was heard"
    return [
        time,
        Figure(
            bench: "switch", figure: "memory that decisions leave", unit: "kB",
            ours: Samples([Double(growth)]), reach: .atMost(128)),
    ]
}

private func randomEvent(_ sources: [SourceID], _ numbers: inout SeededNumbers) -> SwitchingEvent {
    let id = sources[Int.random(in: 0..<sources.count, using: &numbers)]
    switch Int.random(in: 0..<16, using: &numbers) {
    case 0, 1: return .connected(id, name: "source")
    case 2: return .disconnected(id)
    case 3...6: return .started(id, by: .itself)
    case 7: return .started(id, by: .person)
    case 8...10: return .paused(id)
    case 11: return .callBegan(id)
    case 12: return .callEnded(id)
    case 13: return .takeRequested(id)
    case 14: return .yieldRequested(id)
    default: return .placementChanged(Bool.random(using: &numbers) ? .offHead : .onHead)
    }
}

// MARK: Switches

private func switchFigures(_ stage: SwitchStage, _ plan: SwitchPlan) async throws -> [Figure] {
    var (toNetwork, toPhone) = (Samples(), Samples())
    await stage.press(play: true)
    _ = try await stage.sound(channel: 1, from: monotonicNanoseconds())
    for _ in 0..<plan.tries {
        pause(milliseconds: 1_500)
        var start = monotonicNanoseconds()
        await stage.startSession()
        toNetwork.add(Double(try await stage.sound(channel: 0, from: start) - start) / 1e6)
        pause(milliseconds: 1_500)
        start = monotonicNanoseconds()
        await stage.stopSession()
        toPhone.add(Double(try await stage.sound(channel: 1, from: start) - start) / 1e6)
    }
    let sound = await stage.analysis()
    await stage.press(play: false)
    let reach = Figure.Reach.atMost(150)
    return [
        Figure(
            bench: "switch", figure: "network starts over a phone, to heard", unit: "ms", ours: toNetwork,
            reach: reach),
        Figure(
            bench: "switch", figure: "network ends, phone heard again", unit: "ms", ours: toPhone,
            reach: reach),
        Figure(
            bench: "switch", figure: "both heard", unit: "ms", ours: Samples([sound.overlap]),
            reach: .atMost(0)
        ),
        Figure(
            bench: "switch", figure: "largest step over that of the sources", unit: "",
            ours: Samples([sound.step]), reach: .atMost(1)),
    ]
}

/// Random switches while two other programs want the processors.
private func burdenFigures(_ stage: SwitchStage, _ plan: SwitchPlan) async throws -> [Figure] {
    let busy = try (0..<2).map { _ in try ChildProcess(["sh", "-c", "while :; do :; done"]) }
    defer { for process in busy { process.kill() } }
    var numbers = SeededNumbers(seed: plan.seed)
    func some(_ count: Int) async {
        for _ in 0..<count {
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0, 1: await stage.press(play: true)
            case 2: await stage.press(play: false)
            case 3: await stage.startSession()
            case 4: await stage.stopSession()
            default: await stage.takePhone()
            }
            pause(milliseconds: Int.random(in: 5...120, using: &numbers))
        }
    }
    await some(plan.switches / 5)
    let before = await stage.holdings()
    await some(plan.switches)
    await stage.stopSession()
    await stage.press(play: false)
    // What is thrown away is kept for 10 s at most.
    pause(milliseconds: 11_000)
    let after = await stage.holdings()
    let sound = await stage.analysis()
    func figure(_ name: String, _ unit: String, _ value: Double, _ limit: Double) -> Figure {
        Figure(
            bench: "switch", figure: "\(plan.switches) switches under load: \(name)", unit: unit,
            ours: Samples([value]), reach: .atMost(limit))
    }
    return [
        figure("both heard", "ms", sound.overlap, 0),
        figure("descriptors more", "", Double(after.descriptors - before.descriptors), 0),
        figure("memory more", "kB", Double(after.anonymous - before.anonymous), 2_048),
        figure("restarts of the renderer", "", Double(await stage.restarts), 0),
    ]
}
