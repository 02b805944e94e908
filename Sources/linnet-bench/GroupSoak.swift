// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import SeededNumbers
import SystemProbe

/// What `group-soak` does.
struct GroupSoakPlan {
    var seconds = 1_800
    var receivers = 4
    var seed: UInt64 = 1
    /// Milliseconds between two events, at least and at most.
    var pause = (1_500, 6_000)
    /// Seconds without events before what is left is judged.
    var calm = 20
    /// How far apart two survivors may be heard in the end, in microseconds.
    var bound = 1_000.0

    /// On any machine, however busy.
    static let quick = GroupSoakPlan(
        seconds: 45, receivers: 3, pause: (500, 1_500), calm: 12, bound: 10_000)
}

/// `group-soak`: whether a group whose members join, leave, stand still and are killed at random is one group in the end, heard in
/// step, and has kept nothing.
func benchGroupSoak(_ bench: Workspace, plan: GroupSoakPlan, report: (Figure) -> Void) async {
    func tell(_ name: String, _ value: Double?, _ unit: String = "", _ reach: Figure.Reach = .report) {
        report(
            Figure(
                bench: "group-soak", figure: name, unit: unit, ours: Samples(value.map { [$0] } ?? []),
                reach: reach))
    }
    do {
        let soak = try await GroupSoak(bench, plan)
        try await soak.perform()
        for (event, count) in soak.counts.sorted(by: { $0.key < $1.key }) {
            tell("times: \(event)", Double(count))
        }
        tell("members in the end that are not in the one group", Double(await soak.strays), "", .atMost(0))
        let offsets = try soak.offsets()
        tell("survivors that are not heard", Double(offsets.silent), "", .atMost(0))
        tell("largest offset of two survivors", offsets.largest, "us", .atMost(plan.bound))
        tell("resyncs and underruns while nothing happened", Double(await soak.troubles), "", .report)
        let growth = soak.growth
        tell("descriptors more than in the beginning", Double(growth.descriptors), "", .atMost(8))
        tell("threads more than in the beginning", Double(growth.threads), "", .atMost(6))
        tell("anonymous memory more than in the beginning", Double(growth.anonymous) / 1024, "MB", .atMost(8))
        let orphans = await soak.end()
        tell("processes that outlived their receiver", Double(orphans), "", .atMost(0))
    } catch {
        var figure = Figure(bench: "group-soak", figure: "run", unit: "", ours: Samples(), reach: .report)
        figure.missing = [("linnet", "\(error)")]
        report(figure)
    }
}

/// The receivers of one run.
private final class GroupSoak {
    /// One receiver, as it was started last.
    private struct Room {
        var ours: Ours
        var route: Route
        /// What it held when it had played for a while, since its start.
        var held: Held?
        var since: Int64
    }

    struct Held {
        var (descriptors, threads, anonymous) = (0, 0, 0)
    }

    private static let patience: Int64 = 60_000_000_000

    private let bench: Workspace
    private let plan: GroupSoakPlan
    private let track: String
    private let ticket: GroupTicket
    private var numbers: SeededNumbers
    private var rooms: [Room] = []
    private(set) var counts: [String: Int] = [:]
    private var orphans: [Int32] = []

    init(_ bench: Workspace, _ plan: GroupSoakPlan) async throws {
        (self.bench, self.plan) = (bench, plan)
        numbers = SeededNumbers(seed: plan.seed)
        try bench.configureCards((0..<plan.receivers).map { "ppm \($0 % 2 == 0 ? $0 * 10 : -$0 * 20)" })
        track = "\(bench.loopbackURL)/\(try bench.noise(seconds: plan.seconds > 120 ? 180 : 60))"
        var first: [Room] = []
        for number in 0..<plan.receivers {
            first.append(try await Self.start(number, bench))
        }
        rooms = first
        let group = try await OurGroup(rooms[0].route, rooms.dropFirst().map(\.route))
        ticket = group.ticket
    }

    private static func start(_ number: Int, _ bench: Workspace, port: UInt16 = 0) async throws -> Room {
        let ours = try Ours(
            bench, device: "sim\(number)", settings: ["--clock-port", "0", "--grace-seconds", "2"],
            port: port,
            label: "room\(number)", state: "\(bench.folder)/room\(number)")
        return Room(ours: ours, route: try await ours.connect(), since: monotonicNanoseconds())
    }

    private func random(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(numbers.next() % UInt64(range.count))
    }

    private func count(_ event: String) { counts[event, default: 0] += 1 }

    // MARK: What happens

    func perform() async throws {
        try await play()
        pause(milliseconds: 3_000)
        let end = monotonicNanoseconds() + Int64(plan.seconds - plan.calm) * 1_000_000_000
        while monotonicNanoseconds() < end {
            note()
            try await happen()
            pause(milliseconds: random(plan.pause.0...plan.pause.1))
        }
        try await gather()
        // So that the item does not end before it is judged.
        if await isPlaying {
            await control(0) { $0.seek(to: MediaTime(value: 1, timescale: 1)) }
        } else {
            try await play()
        }
        pause(milliseconds: plan.calm * 1_000)
    }

    private func happen() async throws {
        let number = random(0...rooms.count - 1)
        // One of each comes first.
        let kinds = ["killed", "stopped", "left", "paused", "sought", "host killed", "host stopped"]
        let kind = kinds.first { counts[$0] == nil } ?? kinds[random(0...kinds.count - 1)]
        count(kind)
        switch kind {
        case "killed": try await kill(number)
        case "host killed": try await kill(await hostNumber ?? number)
        case "stopped": stop(number)
        case "host stopped": stop(await hostNumber ?? number)
        case "left":
            try? await rooms[number].route.group.leave()
            pause(milliseconds: random(200...2_500))
        case "paused":
            await control(number) { $0.isPlaying = false }
            pause(milliseconds: random(100...1_500))
            await control(number) { $0.isPlaying = true }
        default:
            await control(number) { [place = random(1...20)] in
                $0.seek(to: MediaTime(value: Int64(place), timescale: 1))
            }
        }
        try await gather()
        if await !isPlaying { try await play() }
    }

    private func kill(_ number: Int) async throws {
        let (ours, others) = (rooms[number].ours, rooms[number].ours.pids.dropFirst())
        orphans += others
        ours.kill()
        await ours.disconnect()
        pause(milliseconds: random(100...3_000))
        rooms[number] = try await Self.start(number, bench, port: ours.port)
    }

    /// Holds the daemon up, or all of the receiver.
    private func stop(_ number: Int) {
        let pids = rooms[number].ours.pids
        let held = random(0...1) == 0 ? Array(pids.prefix(1)) : pids
        for pid in held { signalProcess(pid, ChildProcess.stopping) }
        pause(milliseconds: random(200...9_000))
        for pid in held { signalProcess(pid, ChildProcess.continuing) }
    }

    private func control(_ number: Int, _ body: @escaping @RouteActor @Sendable (PlaybackControl) -> Void)
        async
    {
        let route = rooms[number].route
        await RouteActor.run { if let player = route.player { body(player) } }
    }

    private func play() async throws {
        count("begun anew")
        _ = try? await rooms[random(0...rooms.count - 1)].ours.play(track)
    }

    // MARK: What the group is

    private var hostNumber: Int? {
        get async {
            for (number, room) in rooms.enumerated() where await room.route.group.state?.isHost == true {
                return number
            }
            return nil
        }
    }

    private var isPlaying: Bool {
        get async {
            for room in rooms {
                if case .playing = await room.route.group.state?.timeline { return true }
            }
            return false
        }
    }

    /// Receivers that are not members of the one group that there is to be.
    var strays: Int {
        get async {
            var hosts: [String: Int] = [:]
            for room in rooms {
                guard let state = await room.route.group.state, state.phase == .joined,
                    state.id == ticket.group,
                    state.members.count == rooms.count
                else { continue }
                hosts[state.hostID, default: 0] += 1
            }
            return rooms.count - (hosts.values.max() ?? 0)
        }
    }

    /// Takes in who is outside, and waits until all are in one group.
    private func gather() async throws {
        let limit = monotonicNanoseconds() + Self.patience
        var asked: [Int: Int64] = [:]
        while await strays > 0 {
            guard monotonicNanoseconds() < limit else {
                var said: [String] = []
                for room in rooms {
                    let state = await room.route.group.state
                    said.append(
                        "\(state.map { "\($0.phase) host \($0.hostID.prefix(4)) of \($0.members.count)" } ?? "none")"
                    )
                }
                throw ProbeFailure("the group does not come together after \(counts): \(said)", 0)
            }
            for number in rooms.indices {
                let state = await rooms[number].route.group.state
                let isOutside =
                    state == nil || { if case .invalidated = state?.phase { true } else { false } }()
                guard isOutside, monotonicNanoseconds() - asked[number, default: 0] > 3_000_000_000,
                    let host = await hostNumber, host != number
                else { continue }
                asked[number] = monotonicNanoseconds()
                var invitation = ticket
                invitation.hostID = await rooms[host].route.group.state?.hostID ?? ticket.hostID
                invitation.hostAddresses = [Receiver.Address(host: "127.0.0.1", port: rooms[host].ours.port)]
                try? await rooms[number].route.group.join(invitation)
            }
            pause(milliseconds: 100)
        }
    }

    // MARK: What is left

    /// Notes what those hold that have played for a while since their start.
    private func note() {
        for number in rooms.indices
        where rooms[number].held == nil && monotonicNanoseconds() - rooms[number].since > 10_000_000_000 {
            rooms[number].held = Self.held(rooms[number].ours)
        }
    }

    private static func held(_ ours: Ours) -> Held {
        var held = Held()
        for pid in ours.pids {
            guard let holdings = ProcessTable.holdings(of: pid) else { continue }
            held.descriptors += holdings.descriptors
            held.threads += holdings.threads
            held.anonymous += holdings.anonymous
        }
        return held
    }

    /// The most that one of them holds more than it did.
    var growth: Held {
        var growth = Held()
        for room in rooms {
            guard let before = room.held else { continue }
            let now = Self.held(room.ours)
            growth.descriptors = max(growth.descriptors, now.descriptors - before.descriptors)
            growth.threads = max(growth.threads, now.threads - before.threads)
            growth.anonymous = max(growth.anonymous, now.anonymous - before.anonymous)
        }
        return growth
    }

    /// Jumps and dry cards that the members count since their item began; what happened before the end is among them.
    var troubles: Int {
        get async {
            let members = await rooms.first?.route.group.state?.members ?? []
            return members.compactMap(\.sync).reduce(0) { $0 + Int($1.resyncs) + Int($1.underruns) }
        }
    }

    /// How far apart the survivors were heard in the last seconds.
    func offsets() throws -> (largest: Double?, silent: Int) {
        let recordings = try rooms.indices.map { try CardRecording(endOf: bench.recording($0), seconds: 12) }
        let end = monotonicNanoseconds() - 1_500_000_000
        var (largest, silent) = (0.0, 0)
        for other in recordings.dropFirst() {
            var meter = OffsetMeter(recordings[0], other)
            let found = stride(from: end - 8_000_000_000, to: end, by: 1_000_000_000).compactMap {
                meter.offset(at: $0)
            }
            if found.isEmpty { silent += 1 }
            largest = max(largest, found.map { ($0 / 1_000).magnitude }.max() ?? 0)
        }
        return (silent == recordings.count - 1 ? nil : largest, silent)
    }

    /// Ends all. Returns how many processes are left.
    func end() async -> Int {
        for room in rooms {
            orphans += room.ours.pids.dropFirst()
            await room.ours.shutDown()
        }
        let limit = monotonicNanoseconds() + 5_000_000_000
        while orphans.contains(where: isProcessAlive), monotonicNanoseconds() < limit {
            pause(milliseconds: 20)
        }
        return orphans.count(where: isProcessAlive)
    }
}

extension CardRecording {
    /// The last seconds of a long recording.
    fileprivate init(endOf path: String, seconds: Int) throws {
        self.init()
        guard let line = readLines("\(path).seg").last(where: { $0.hasPrefix("S ") }) else {
            throw ProbeFailure("\(path) never ran", 0)
        }
        let words = line.split(separator: " ")
        guard words.count == 4, let first = Int(words[1]), let start = Int64(words[2]),
            let rate = Double(words[3])
        else { throw ProbeFailure("\(path).seg has another form", 0) }
        let total = fileSize("\(path).raw") / 4
        let from = max(first, total - seconds * Int(rate))
        add(line: "O 0 pid=1 rate=\(Int(rate)) ch=2 ppm=0")
        add(line: "S 0 \(start + Int64(Double(from - first) / rate * 1e9)) \(rate)")
        add(frames: readBytes("\(path).raw", from: from * 4) ?? [])
    }
}
