// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import SeededNumbers

/// A player that does what it is told after a while.
struct Player {
    var busy: GroupCommand?
    /// What it plays, and the host whose clock the anchor is of.
    var anchor: (line: PlaybackAnchor, host: ParticipantID)?
    /// Where it stands, while it plays nothing.
    var place: Int64 = 0
    /// What it was busy with last is at hand, and nothing has run dry since.
    var isDry = false
}

/// One device of the simulation.
struct Device {
    var participant: GroupParticipant
    var player = Player()
    /// Its clock minus the true one.
    var clock: Int64
    /// How wrong it reads the host's clock.
    var error: Int64
    var isAlive = true
    /// Devices of different sides do not hear each other.
    var side = 0
    /// The number of its link to a host, once it has one.
    var link = 0
    var hostID: ParticipantID?
    var snapshot: GroupSnapshot?
    var suspensions: UInt64 = 0
    /// What it has completed, to each host.
    var completed: Set<CommandID> = []
    /// The coordinator, on a device that is the host.
    var group: GroupCoordinator?
    /// The host's ends of links.
    var links: [ParticipantID: Int] = [:]
    var isDirty = false
    /// Counts the coordinators that it had.
    var reign = 0
    /// Who is not the host, though it should be, since the link was lost.
    var refusals: Set<ParticipantID> = []
    /// When what was sent last on a link arrives, so that nothing overtakes it.
    var lastReport: Int64 = 0
    var lastChange: [ParticipantID: Int64] = [:]
}

/// Devices, links with delay and loss, crashes and partitions, all by one seed.
struct World {
    enum Happening {
        case command(GroupCommand, to: ParticipantID, link: Int)
        case snapshot(GroupSnapshot, to: ParticipantID, link: Int)
        case report(ParticipantReport, from: ParticipantID, to: ParticipantID, link: Int)
        case attach(Participation, to: ParticipantID, link: Int)
        case refused(ParticipantID, link: Int)
        case performed(ParticipantID, CommandID)
        case memberTimer(ParticipantID, ParticipantTimer)
        case hostTimer(ParticipantID, epoch: UInt32, GroupTimer)
        case linkLost(ParticipantID, at: ParticipantID, link: Int)
        case hostLost(ParticipantID, link: Int)
        case resumed(ParticipantID, SuspensionID, proposing: Int64?)
        case refilled(ParticipantID)
        case returns(ParticipantID)
        case seeks(ParticipantID)
        case tells(ParticipantID)
        case heals
        case looks
    }

    var random: SeededNumbers
    private(set) var now: Int64 = 0
    private(set) var devices: [ParticipantID: Device] = [:]
    private(set) var faults: [String] = []
    private(set) var happened = 0
    private var queue: [(at: Int64, number: Int, what: Happening)] = []
    private var numbers = 0
    private var links = 0
    private var requests: UInt64 = 0
    private var ended: Set<String> = []
    /// While true, commands and answers are lost, doubled and reordered, and players are slow.
    var isRough = true
    let order: [ParticipantID]

    init(seed: UInt64, devices count: Int, players: Int = 0, policy: GroupPolicy = GroupPolicy()) {
        random = SeededNumbers(seed: seed)
        order = (0..<count).map { ParticipantID("d\($0 < 10 ? "0" : "")\($0)") }
        for (number, id) in order.enumerated() {
            devices[id] = Device(
                participant: GroupParticipant(
                    id: id, name: id.text, kind: number >= count - players ? .player : .receiver),
                clock: Int64(number) * 7_000 * second, error: Int64(number % 11 - 5) * 10_000)
        }
        devices[order[0]]?.group = GroupCoordinator(
            id: GroupID("g"), name: "House", host: order[0], policy: policy)
        for id in order { attach(id, to: order[0]) }
        schedule(.looks, in: 2 * second)
    }

    mutating func expect(_ holds: Bool, _ fault: @autoclosure () -> String) {
        if !holds { faults.append("\(now / 1_000_000) ms: \(fault())") }
    }

    mutating func chance(_ one: Int, in all: Int) -> Bool { Int(random.next() % UInt64(all)) < one }
    mutating func between(_ low: Int64, _ high: Int64) -> Int64 {
        low + Int64(random.next() % UInt64(high - low + 1))
    }
    mutating func anyone() -> ParticipantID {
        let living = order.filter { devices[$0]?.isAlive == true }
        return living[Int(random.next() % UInt64(living.count))]
    }

    func hears(_ one: ParticipantID, _ other: ParticipantID) -> Bool {
        guard let one = devices[one], let other = devices[other] else { return false }
        return one.isAlive && other.isAlive && one.side == other.side
    }

    var hosts: [ParticipantID] { order.filter { devices[$0]?.group != nil && devices[$0]?.isAlive == true } }

    // MARK: Time

    mutating func schedule(_ what: Happening, in delay: Int64) { schedule(what, at: now + max(0, delay)) }

    mutating func schedule(_ what: Happening, at moment: Int64) {
        numbers += 1
        queue.append((max(now, moment), numbers, what))
        var child = queue.count - 1
        while child > 0, isEarlier(child, (child - 1) / 2) {
            queue.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func isEarlier(_ one: Int, _ other: Int) -> Bool {
        (queue[one].at, queue[one].number) < (queue[other].at, queue[other].number)
    }

    private mutating func nextHappening() -> Happening? {
        guard let first = queue.first else { return nil }
        queue[0] = queue[queue.count - 1]
        queue.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [parent * 2 + 1, parent * 2 + 2] where child < queue.count && isEarlier(child, least)
            {
                least = child
            }
            guard least != parent else { break }
            queue.swapAt(parent, least)
            parent = least
        }
        now = first.at
        return first.what
    }

    /// Lets happen what happens until then.
    mutating func run(for time: Int64) {
        let end = now + time
        while let first = queue.first, first.at <= end, faults.isEmpty {
            if let what = nextHappening() { happen(what) }
            happened += 1
        }
        now = end
    }

    /// The host's clock as it shows now.
    func clock(of host: ParticipantID) -> Int64 { now + (devices[host]?.clock ?? 0) }

    // MARK: What happens

    private mutating func happen(_ what: Happening) {
        switch what {
        case .command(let command, let id, let link):
            if devices[id]?.link == link { apply(.received(command), to: id) }
        case .snapshot(let snapshot, let id, let link):
            if devices[id]?.link == link { take(snapshot, at: id) }
        case .report(let report, let id, let host, let link):
            if devices[host]?.links[id] == link { apply(.reported(id, report), toHost: host) }
        case .attach(let participation, let host, let link):
            let id = participation.id
            guard devices[id]?.link == link else { return }
            guard hears(id, host), devices[host]?.group != nil else {
                // Longer than others need to notice that the host is lost.
                schedule(.refused(id, link: link), in: 4 * second)
                return
            }
            devices[host]?.links[id] = link
            devices[id]?.refusals = []
            devices[host]?.isDirty = false
            apply(.joined(participation), toHost: host)
            tellLater(host)
        case .refused(let id, let link):
            guard devices[id]?.link == link else { return }
            if let host = devices[id]?.hostID { devices[id]?.refusals.insert(host) }
            loseHost(id)
        case .performed(let id, let command): finish(command, at: id)
        case .memberTimer(let id, let timer):
            if devices[id]?.isAlive == true { apply(.timerFired(timer), to: id) }
        case .hostTimer(let host, let epoch, let timer):
            if devices[host]?.group?.epoch == epoch { apply(.timerFired(timer), toHost: host) }
        case .linkLost(let id, let host, let link):
            if devices[host]?.links[id] == link {
                devices[host]?.links[id] = nil
                apply(.lost(id), toHost: host)
            }
        case .hostLost(let id, let link):
            if devices[id]?.link == link, devices[id]?.isAlive == true { loseHost(id) }
        case .resumed(let id, let suspension, let time):
            if devices[id]?.isAlive == true {
                apply(.suspensionEnded(suspension, proposing: time), to: id)
            }
        case .refilled(let id):
            guard devices[id]?.player.isDry == true else { return }
            devices[id]?.player.isDry = false
            apply(.readinessChanged(true), to: id)
        case .returns(let id):
            guard devices[id]?.isAlive == false, let old = devices[id] else { return }
            devices[id] = Device(
                participant: GroupParticipant(id: id, name: id.text, kind: old.participant.kind),
                clock: old.clock, error: old.error, reign: old.reign)
            findHost(id)
        case .seeks(let id): if devices[id]?.isAlive == true, devices[id]?.link == 0 { findHost(id) }
        case .tells(let host):
            guard let group = devices[host]?.group else { return }
            devices[host]?.isDirty = false
            for (id, link) in (devices[host]?.links ?? [:]).sorted(by: { $0.key < $1.key }) {
                let earliest = devices[host]?.lastChange[id] ?? 0
                let moment = max(now + delay(), earliest)
                devices[host]?.lastChange[id] = moment
                schedule(.snapshot(group.snapshot, to: id, link: link), at: moment)
            }
        case .heals: for id in order { devices[id]?.side = 0 }
        case .looks:
            meet()
            schedule(.looks, in: 2 * second)
        }
    }

    /// Hosts that hear each other come together.
    private mutating func meet() {
        for one in hosts {
            for other in hosts where one < other && hears(one, other) {
                guard let first = devices[one]?.group, let second = devices[other]?.group else { continue }
                let survivor = Election.survivor(
                    of: .init(epoch: first.epoch, host: one), and: .init(epoch: second.epoch, host: other))
                let loser = survivor.host == one ? other : one
                devices[loser]?.group = nil
                let followers = (devices[loser]?.links ?? [:]).sorted { $0.key < $1.key }
                for (id, link) in followers where devices[id]?.link == link {
                    apply(.detached, to: id)
                    attach(id, to: survivor.host)
                }
                devices[loser]?.links = [:]
            }
        }
    }

    mutating func delay() -> Int64 { between(200_000, 80_000_000) }

    private mutating func apply(_ event: GroupEvent, toHost host: ParticipantID) {
        guard devices[host]?.isAlive == true, devices[host]?.group != nil else { return }
        let (moment, reign) = (clock(of: host), devices[host]?.reign ?? 0)
        let effects = devices[host]?.group?.apply(event, at: moment) ?? []
        for effect in effects {
            switch effect {
            case .send(let command, let id):
                guard let link = devices[host]?.links[id], hears(host, id) else { continue }
                if isRough, chance(1, in: 50) { continue }
                schedule(.command(command, to: id, link: link), in: delay())
                if isRough, chance(1, in: 50) {
                    schedule(.command(command, to: id, link: link), in: delay())
                }
            case .arm(let timer, let moment):
                let epoch = devices[host]?.group?.epoch ?? 0
                schedule(
                    .hostTimer(host, epoch: epoch, timer), at: moment - (devices[host]?.clock ?? 0))
            case .completed(let command, let id, _):
                let isFirst = ended.insert("\(host.text) \(reign) \(id.text) \(command.number)").inserted
                expect(isFirst, "a second end of one command")
            case .changed: tellLater(host)
            case .answer, .refuseJoin, .removed, .ended: break
            }
        }
    }

    private mutating func tellLater(_ host: ParticipantID) {
        guard devices[host]?.isDirty == false else { return }
        devices[host]?.isDirty = true
        schedule(.tells(host), in: 20_000_000)
    }

    mutating func apply(_ event: ParticipantEvent, to id: ParticipantID) {
        let effects = devices[id]?.participant.apply(event) ?? []
        for effect in effects {
            switch effect {
            case .report(let report):
                guard let link = devices[id]?.link, let host = devices[id]?.hostID else { continue }
                if case .completed(let command, _) = report {
                    let isFirst = devices[id]?.completed.insert(command).inserted ?? true
                    expect(isFirst, "\(id) completes a command twice")
                    if isRough, chance(1, in: 50) { continue }
                }
                guard hears(id, host) else { continue }
                let earliest = devices[id]?.lastReport ?? 0
                let moment = max(now + delay(), earliest)
                devices[id]?.lastReport = moment
                schedule(.report(report, from: id, to: host, link: link), at: moment)
            case .perform(let command): begin(command, at: id)
            case .abandon(let command):
                if devices[id]?.player.busy?.id == command { devices[id]?.player.busy = nil }
            case .arm(let timer, let moment):
                guard let host = devices[id]?.hostID else { continue }
                schedule(.memberTimer(id, timer), at: moment - (devices[host]?.clock ?? 0))
            case .performLocally:
                expect(devices[id]?.participant.takesPart == false, "\(id) does alone what all should do")
            case .refuse, .suspensionsChanged: break
            }
        }
    }

    // MARK: Players

    /// Where a device is in its item now.
    func place(of id: ParticipantID) -> Int64 {
        guard let device = devices[id] else { return 0 }
        guard let (line, host) = device.player.anchor else { return device.player.place }
        return GroupTimeline.playing(line).itemTime(at: clock(of: host) + device.error)
    }

    private mutating func stop(_ id: ParticipantID) {
        let place = place(of: id)
        devices[id]?.player.anchor = nil
        devices[id]?.player.place = place
    }

    private mutating func begin(_ command: GroupCommand, at id: ParticipantID) {
        guard let device = devices[id], let host = device.hostID else { return }
        expect(device.player.busy == nil, "\(id) is told the next before the end of the one before")
        expect(device.participant.item == command.item, "\(id) is told to do something with another item")
        expect(device.participant.takesPart, "\(id) is told something, and takes no part")
        devices[id]?.player.busy = command
        var time = between(1_000_000, 20_000_000)
        switch command.action {
        case .play(let anchor): devices[id]?.player.anchor = (anchor, host)
        case .pause:
            stop(id)
        case .seek(let place, _, _):
            stop(id)
            devices[id]?.player.place = place
            time = between(5_000_000, 400_000_000)
        case .buffer:
            stop(id)
            time = between(5_000_000, 400_000_000)
        }
        if isRough, command.action.waitsForReadiness, chance(1, in: 30) { time = between(1, 30) * second }
        schedule(.performed(id, command.id), in: time)
    }

    private mutating func finish(_ command: CommandID, at id: ParticipantID) {
        guard devices[id]?.isAlive == true else { return }
        let busy = devices[id]?.player.busy
        if busy?.id == command { devices[id]?.player.busy = nil }
        apply(.performed(command), to: id)
        if busy?.id == command, case .pause? = busy?.action, let item = busy?.item {
            apply(.stopped(item: item, at: place(of: id)), to: id)
        }
    }

    // MARK: Links and hosts

    private mutating func attach(_ id: ParticipantID, to host: ParticipantID) {
        links += 1
        let link = links
        devices[id]?.link = link
        devices[id]?.hostID = host
        devices[id]?.completed = []
        guard let participation = devices[id]?.participant.participation else { return }
        apply(.attached(host: host, epoch: 0), to: id)
        let moment = now + (id == host ? 0 : delay())
        devices[id]?.lastReport = moment
        schedule(.attach(participation, to: host, link: link), at: moment)
    }

    private mutating func loseHost(_ id: ParticipantID) {
        devices[id]?.link = 0
        apply(.detached, to: id)
        findHost(id)
    }

    /// Takes the next host by the rule, or becomes it.
    private mutating func findHost(_ id: ParticipantID) {
        guard let device = devices[id], device.isAlive else { return }
        let unheard = Set(order.filter { !hears(id, $0) })
        guard let snapshot = device.snapshot, let old = device.hostID else {
            // It knows no group any more: somebody's sender takes it to the one that there is.
            if let host = hosts.first(where: { hears(id, $0) }) {
                attach(id, to: host)
            } else {
                schedule(.seeks(id), in: second)
            }
            return
        }
        if hears(id, old), devices[old]?.group != nil { return attach(id, to: old) }
        // A host that there is already answers before anybody becomes one.
        if let host = hosts.first(where: { hears(id, $0) && $0 != id }), host != old {
            return attach(id, to: host)
        }
        guard
            let next = Election.successor(
                in: snapshot.roster, lost: unheard.union(device.refusals).union(old == id ? [] : [old]))
        else {
            devices[id]?.refusals = []
            return schedule(.seeks(id), in: second)
        }
        guard next == id else { return attach(id, to: next) }
        let local = now + device.clock
        let oldLine = ClockLine(local: local, remote: clock(of: snapshot.host) + device.error, skew: 0)
        devices[id]?.group = GroupCoordinator(succeeding: snapshot, as: id) {
            Election.carryOver($0, from: oldLine, to: .identity, at: local)
        }
        devices[id]?.links = [:]
        devices[id]?.isDirty = false
        devices[id]?.reign += 1
        // Its own clock is the group's now, and its player goes on at the place where it is.
        attach(id, to: id)
    }

    private mutating func take(_ snapshot: GroupSnapshot, at id: ParticipantID) {
        let old = devices[id]?.snapshot
        devices[id]?.snapshot = snapshot
        for (item, timeline) in snapshot.timelines.sorted(by: { $0.key < $1.key })
        where old?.timelines[item] != timeline {
            apply(.timelineChanged(item: item, timeline), to: id)
        }
        for item in (old?.timelines ?? [:]).keys.sorted() where snapshot.timelines[item] == nil {
            apply(.timelineChanged(item: item, nil), to: id)
        }
        guard devices[id]?.participant.item != snapshot.item?.identifier else { return }
        stop(id)
        devices[id]?.player.place = 0
        apply(.transitioned(to: snapshot.item?.identifier, proposing: nil), to: id)
    }

    mutating func cut(_ id: ParticipantID) {
        guard let device = devices[id], let host = device.hostID, device.link != 0, host != id else { return }
        schedule(.linkLost(id, at: host, link: device.link), in: between(0, 3 * second))
        schedule(.hostLost(id, link: device.link), in: between(0, 3 * second))
    }

    mutating func crash(_ id: ParticipantID, returning time: Int64) {
        guard devices[id]?.isAlive == true else { return }
        cut(id)
        let followers = devices[id]?.links ?? [:]
        devices[id]?.isAlive = false
        devices[id]?.group = nil
        devices[id]?.link = 0
        for (other, link) in followers.sorted(by: { $0.key < $1.key }) where other != id {
            schedule(.hostLost(other, link: link), in: between(100_000_000, 3 * second))
        }
        schedule(.returns(id), in: time)
    }

    /// Some hear the others no more.
    mutating func partition(_ some: [ParticipantID], for time: Int64) {
        for id in some { devices[id]?.side = 1 }
        for id in order {
            guard let device = devices[id], let host = device.hostID, !hears(id, host) else { continue }
            cut(id)
        }
        schedule(.heals, in: time)
    }

    // MARK: What people do

    mutating func asks(_ id: ParticipantID, _ request: GroupRequest) {
        requests += 1
        apply(.requested(GroupRequestID(requests), request), to: id)
    }

    mutating func suspend(
        _ id: ParticipantID, _ reason: SuspensionReason, for time: Int64, proposing place: Int64?
    ) {
        devices[id]?.suspensions += 1
        let suspension = SuspensionID(devices[id]?.suspensions ?? 1)
        apply(.suspensionBegan(Suspension(id: suspension, reason: reason)), to: id)
        if devices[id]?.participant.takesPart == false { stop(id) }
        schedule(.resumed(id, suspension, proposing: place), in: time)
    }

    mutating func runsDry(_ id: ParticipantID, for time: Int64) {
        guard devices[id]?.player.anchor != nil, devices[id]?.player.isDry == false else { return }
        devices[id]?.player.isDry = true
        apply(.readinessChanged(false), to: id)
        if devices[id]?.participant.takesPart == false { stop(id) }
        schedule(.refilled(id), in: time)
    }

    mutating func transition(_ id: ParticipantID, to item: String?) {
        stop(id)
        devices[id]?.player.place = 0
        apply(.transitioned(to: item, proposing: nil), to: id)
    }

    mutating func jump(_ id: ParticipantID, by time: Int64) { devices[id]?.clock += time }

    mutating func comesBack(_ id: ParticipantID) { schedule(.returns(id), in: 0) }
    mutating func heal() { schedule(.heals, in: 0) }
}
