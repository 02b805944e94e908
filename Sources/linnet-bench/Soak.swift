// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import SystemProbe

/// `soak`: whether each message that was acknowledged was handled, none twice, and all in order, while connections are cut
/// and senders, applications and the receiver are killed.
///
/// Both ends write down what they handled before they acknowledge it, and what was acknowledged to them. Files outlive
/// the processes; what they say is compared at the end.
struct SoakPlan {
    var messages = 1_000_000
    var seed: UInt64 = 1
    var senders = 3
    /// Milliseconds between two kills, at least and at most.
    var pause = (300, 1_800)

    /// Some seconds, in which something of everything happens.
    static var quick: SoakPlan { SoakPlan(messages: 20_000, senders: 2, pause: (200, 600)) }
}

func benchSoak(_ bench: Workspace, plan: SoakPlan, report: (Figure) -> Void) {
    func tell(_ name: String, _ value: Int, _ reach: Figure.Reach = .report) {
        report(Figure(bench: "soak", figure: name, unit: "", ours: Samples([Double(value)]), reach: reach))
    }
    do {
        let run = try SoakRun(bench, plan)
        let start = monotonicNanoseconds()
        try run.perform()
        let books = SoakBooks(run.files)
        tell("messages acknowledged", books.acknowledged)
        tell("messages handled", books.handled)
        tell("bytes of records", books.size)
        tell("seconds", Int((monotonicNanoseconds() - start) / 1_000_000_000))
        tell("connections cut", books.dropped)
        for kind in SoakRun.Kill.allCases { tell("kills of \(kind.rawValue)", run.kills[kind, default: 0]) }
        tell("messages without an answer", books.unanswered)
        tell("sessions that failed", books.failed)
        tell("acknowledged and not handled", books.lost, .atMost(0))
        tell("handled twice", books.twice, .atMost(0))
        tell("out of order", books.disordered, .atMost(0))
        tell("damaged", books.damaged, .atMost(0))
        tell("processes that outlived their receiver", run.orphans, .atMost(0))
        tell("senders that did not come to an end", run.hanging, .atMost(0))
        if books.acknowledged < plan.messages {
            throw ProbeFailure("only \(books.acknowledged) messages were acknowledged", 0)
        }
    } catch {
        var figure = Figure(bench: "soak", figure: "run", unit: "", ours: Samples(), reach: .report)
        figure.missing = [("linnet", "\(error)")]
        report(figure)
    }
}

/// The processes of one run.
private final class SoakRun {
    enum Kill: String, CaseIterable { case sender, application, receiver }

    /// How long nothing may come forward, and how long senders have to come to an end.
    private static let patience: Int64 = 60_000_000_000

    private let bench: Workspace
    private let plan: SoakPlan
    private let settings: [String]
    private let folder: String
    private var numbers: SeededNumbers
    private var receiver: Ours
    private var senders: [ChildProcess] = []
    private(set) var kills: [Kill: Int] = [:]
    private(set) var orphans = 0
    private(set) var hanging = 0

    init(_ bench: Workspace, _ plan: SoakPlan) throws {
        (self.bench, self.plan) = (bench, plan)
        numbers = SeededNumbers(seed: plan.seed)
        folder = "\(bench.folder)/soak"
        try run(["mkdir", "-p", folder])
        let applications = try BenchApplications(bench)
        settings = applications.settings(bench) + ["--grace-seconds", "3"]
        receiver = try Ours(bench, device: "null", settings: settings)
    }

    /// What the processes wrote down, in the order of their starts.
    var files: [String] {
        let storage = "\(bench.folder)/storage"
        let places =
            [BenchApplications.soakShared, BenchApplications.soakAlone].map { "\(storage)/\($0)" } + [folder]
        return places.flatMap { place in
            ProcessTable.entries(place).filter { $0 != "stop" }.map { (number(of: $0), "\(place)/\($0)") }
        }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func number(of file: String) -> Int64 { Int64(file.drop { !$0.isNumber }) ?? 0 }

    /// Each message is written down twice.
    private var progress: Int { files.reduce(0) { $0 + fileSize($1) } / SoakRecord.size / 2 }

    func perform() throws {
        for _ in 0..<plan.senders { senders.append(try sender()) }
        // A little more, since some of what is written down is something else.
        let wanted = plan.messages + plan.messages / 50 + 500
        var (last, since) = (0, monotonicNanoseconds())
        while true {
            pause(milliseconds: plan.pause.0 + Int(numbers.next() % UInt64(plan.pause.1 - plan.pause.0)))
            let now = progress
            if now >= wanted { break }
            if now > last { (last, since) = (now, monotonicNanoseconds()) }
            guard monotonicNanoseconds() - since < Self.patience else {
                throw ProbeFailure("nothing came forward after \(now) messages", 0)
            }
            // A sender ends only by force.
            for index in senders.indices where !senders[index].isRunning {
                throw ProbeFailure("a sender ended: \(readText(log).suffix(300))", 0)
            }
            try kill()
        }
        try writeText("stop", to: "\(folder)/stop")
        let limit = monotonicNanoseconds() + Self.patience
        for sender in senders {
            let left = max(0, Int((limit - monotonicNanoseconds()) / 1_000_000))
            if sender.wait(milliseconds: left) != 0 { hanging += 1 }
        }
        receiver.end()
    }

    private var log: String { "\(bench.folder)/soak-sender.log" }

    private func sender() throws -> ChildProcess {
        try ChildProcess(
            [
                "\(bench.programs)/linnet-bench", "--soak-sender", "\(receiver.port)", folder,
                "\(numbers.next())",
            ], errors: log)
    }

    private func kill() throws {
        // One of each comes first.
        let done = kills.count < Kill.allCases.count ? [0, 3, 8][kills.count] : Int(numbers.next() % 10)
        switch done {
        case 0..<3:
            let index = Int(numbers.next() % UInt64(senders.count))
            senders[index].kill()
            senders[index] = try sender()
            count(.sender)
        case 3..<8:
            let all = applications
            guard !all.isEmpty else { return }
            signalProcess(all[Int(numbers.next() % UInt64(all.count))], ChildProcess.killing)
            count(.application)
        default:
            let others = receiver.pids.dropFirst()
            receiver.kill()
            count(.receiver)
            let limit = monotonicNanoseconds() + 5_000_000_000
            while others.contains(where: isProcessAlive), monotonicNanoseconds() < limit {
                pause(milliseconds: 5)
            }
            orphans += others.count(where: isProcessAlive)
            receiver = try Ours(bench, device: "null", settings: settings, port: receiver.port)
        }
    }

    private func count(_ kill: Kill) { kills[kill, default: 0] += 1 }

    /// The programs of applications, behind their walls.
    private var applications: [Int32] {
        receiver.pids.filter { pid in
            let words = readLines("/proc/\(pid)/cmdline", separator: 0)
            return words.first?.hasSuffix("/bench") == true && words.last == SoakApplication.word
        }
    }
}

/// What all records together say.
private struct SoakBooks {
    private(set) var (acknowledged, handled, unanswered, dropped, failed) = (0, 0, 0, 0, 0)
    private(set) var (lost, twice, disordered, damaged, size) = (0, 0, 0, 0, 0)

    init(_ files: [String]) {
        var checks: [UInt64: [UInt64: UInt64]] = [:]
        var last: [UInt64: UInt64] = [:]
        var answers: [SoakRecord] = []
        for file in files {
            size += fileSize(file)
            for record in SoakRecord.read(file) {
                switch record.kind {
                case .handled:
                    handled += 1
                    if checks[record.stream, default: [:]].updateValue(record.check, forKey: record.number)
                        != nil
                    {
                        twice += 1
                    } else if record.number <= last[record.stream, default: 0] {
                        disordered += 1
                    }
                    last[record.stream] = record.number
                case .acknowledged: answers.append(record)
                case .damaged: damaged += 1
                case .dropped: dropped += 1
                case .unanswered: unanswered += 1
                case .failed: failed += 1
                }
            }
        }
        acknowledged = answers.count
        lost = answers.count { checks[$0.stream]?[$0.number] != $0.check }
    }
}
