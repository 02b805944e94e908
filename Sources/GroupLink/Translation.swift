// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GroupCore
import MediaModel
package import RouteWire

// From the wire's words of groups to the core's and back, without judgement.

extension TimingProposal {
    package init(_ proposal: WireGroupProposal) {
        self.init(itemTime: proposal.itemTime, rate: proposal.rate, clockTime: proposal.clockTime)
    }
}

extension WireGroupProposal {
    package init(_ proposal: TimingProposal) {
        self.init(itemTime: proposal.itemTime, rate: proposal.rate, clockTime: proposal.clockTime)
    }
}

extension WireGroupTimeline {
    package init(_ timeline: GroupTimeline) {
        switch timeline {
        case .paused(let time): self.init(state: .paused, itemTime: time)
        case .waiting(let time, let rate): self.init(state: .waiting, itemTime: time, rate: rate)
        case .playing(let anchor):
            self.init(
                state: .playing, itemTime: anchor.itemTime, clockTime: anchor.clockTime, rate: anchor.rate)
        }
    }

    package var timeline: GroupTimeline {
        switch state {
        case .paused: .paused(at: itemTime)
        case .waiting: .waiting(at: itemTime, rate: rate)
        case .playing:
            // A rate of nothing would be no line.
            rate > 0
                ? .playing(PlaybackAnchor(itemTime: itemTime, clockTime: clockTime ?? 0, rate: rate))
                : .paused(at: itemTime)
        }
    }
}

extension WireGroupCommand {
    package init(_ command: GroupCommand) {
        let action: Action =
            switch command.action {
            case .play(let anchor):
                .play(itemTime: anchor.itemTime, clockTime: anchor.clockTime, rate: anchor.rate)
            case .pause(let rate): .pause(anticipatedRate: rate)
            case .seek(let time, let rate, let due): .seek(itemTime: time, anticipatedRate: rate, due: due)
            case .buffer(let rate, let due): .buffer(anticipatedRate: rate, due: due)
            }
        self.init(
            id: Int64(clamping: command.id.number), item: command.item,
            originator: command.originator?.text, action: action, overtakes: command.overtakes)
    }

    /// Nil for a start at no rate, which nobody can obey.
    package var command: GroupCommand? {
        let action: GroupCommand.Action
        switch self.action {
        case .play(let itemTime, let clockTime, let rate):
            guard rate > 0 else { return nil }
            action = .play(PlaybackAnchor(itemTime: itemTime, clockTime: clockTime, rate: rate))
        case .pause(let rate): action = .pause(anticipatedRate: rate)
        case .seek(let time, let rate, let due): action = .seek(to: time, anticipatedRate: rate, due: due)
        case .buffer(let rate, let due): action = .buffer(anticipatedRate: rate, due: due)
        }
        return GroupCommand(
            id: CommandID(UInt64(clamping: id)), item: item, originator: originator.map { ParticipantID($0) },
            action: action, overtakes: overtakes)
    }
}

extension GroupPolicy {
    /// With what a sender wants changed.
    package func changed(by change: WireGroupPolicy?) -> GroupPolicy {
        guard let change else { return self }
        let limits = change.limits.map {
            Dictionary($0.map { (SuspensionReason($0.key), Int(clamping: $0.value)) }) { first, _ in first }
        }
        return GroupPolicy(
            waitingReasons: change.waitsFor.map { Set($0.map { SuspensionReason($0) }) } ?? waitingReasons,
            participantLimits: limits ?? participantLimits,
            pauseSnapsToMediaTimeOfOriginator: change.pauseSnapsToOriginator
                ?? pauseSnapsToMediaTimeOfOriginator,
            lead: change.lead ?? lead, readinessLimit: change.readinessLimit ?? readinessLimit,
            suspensionLimit: change.suspensionLimit ?? suspensionLimit)
    }

    package var wire: WireGroupPolicy {
        WireGroupPolicy(
            waitsFor: waitingReasons.map(\.rawValue).sorted(),
            limits: Dictionary(participantLimits.map { ($0.key.rawValue, Int64($0.value)) }) { first, _ in
                first
            }, pauseSnapsToOriginator: pauseSnapsToMediaTimeOfOriginator, lead: lead,
            readinessLimit: readinessLimit, suspensionLimit: suspensionLimit)
    }
}

extension GroupActivity {
    package init(_ activity: WireGroupActivity?) {
        self.init(
            kind: activity?.kind == .watch ? .watch : .listen, title: activity?.title ?? "",
            identifier: activity?.identifier)
    }

    package var wire: WireGroupActivity {
        WireGroupActivity(
            kind: kind == .watch ? .watch : .listen, title: title.isEmpty ? nil : title,
            identifier: identifier)
    }
}

extension GroupItem {
    /// The descriptor is the item's JSON.
    package init(_ item: WireGroupItem) {
        self.init(identifier: item.identifier, descriptor: JSONText.encode(item.json))
    }

    package var wire: WireGroupItem {
        guard let json = try? JSONText.decode(descriptor, limit: GroupLimits.descriptorBytes),
            let item = try? WireGroupItem(json: json), item.identifier == identifier
        else { return WireGroupItem(identifier: identifier) }
        return item
    }
}

extension GroupDocument {
    /// What the core has to know in order to go on as the host.
    package var snapshot: GroupSnapshot {
        GroupSnapshot(
            id: GroupID(id), name: name, host: ParticipantID(host), epoch: UInt32(clamping: epoch),
            roster: roster, item: item.map { GroupItem($0) }, timelines: timelines.mapValues(\.timeline),
            activity: GroupActivity(activity), policy: GroupPolicy().changed(by: policy))
    }

    package var roster: GroupRoster {
        GroupRoster(
            members.map { id, member in
                GroupMember(
                    id: ParticipantID(id), name: member.name,
                    kind: member.kind == .receiver ? .receiver : .player,
                    joinNumber: UInt64(clamping: member.joined), item: member.item,
                    isReady: member.isReady, suspensions: member.suspensions.map { SuspensionReason($0) })
            })
    }
}

extension Participation {
    package init(_ attachment: GroupAttachment, _ presence: GroupPresence) {
        self.init(
            id: ParticipantID(attachment.participant), name: attachment.name,
            kind: attachment.kind == .receiver ? .receiver : .player, item: presence.item,
            proposal: presence.proposal.map { TimingProposal($0) }, isReady: presence.isReady,
            suspensions: presence.suspensions.map {
                Suspension(
                    id: SuspensionID(UInt64(clamping: $0.id)), reason: SuspensionReason($0.reason))
            })
    }

    package var presence: GroupPresence {
        GroupPresence(
            item: item, proposal: proposal.map { WireGroupProposal($0) }, isReady: isReady,
            suspensions: suspensions.map {
                .init(id: Int64(clamping: $0.id.number), reason: $0.reason.rawValue)
            })
    }
}

extension ParticipantReport {
    /// As a member says it on its link; nil for a request, which has an answer.
    package var wire: GroupLinkRequest? {
        switch self {
        case .completed(let command, let outcome):
            .completed(
                command: Int64(clamping: command.number), GroupOutcome(rawValue: outcome.rawValue) ?? .ignored
            )
        case .transitioned(let item, let proposal):
            .moved(item: item, proposal.map { WireGroupProposal($0) })
        case .readinessChanged(let isReady): .ready(isReady)
        case .suspensionBegan(let suspension):
            .suspend(Int64(clamping: suspension.id.number), reason: suspension.reason.rawValue)
        case .suspensionEnded(let id, let time): .resume(Int64(clamping: id.number), itemTime: time)
        case .stopped(let item, let time): .stopped(item: item, itemTime: time)
        case .ended(let item): .finished(item: item)
        case .reapplied: .reapply
        case .requested: nil
        }
    }

    /// Nil for what is no report.
    package init?(_ request: GroupLinkRequest) {
        switch request {
        case .completed(let command, let outcome):
            self = .completed(
                CommandID(UInt64(clamping: command)), CommandOutcome(rawValue: outcome.rawValue) ?? .ignored)
        case .moved(let item, let proposal):
            self = .transitioned(to: item, proposing: proposal.map { TimingProposal($0) })
        case .ready(let isReady): self = .readinessChanged(isReady)
        case .suspend(let id, let reason):
            self = .suspensionBegan(
                Suspension(id: SuspensionID(UInt64(clamping: id)), reason: SuspensionReason(reason)))
        case .resume(let id, let time):
            self = .suspensionEnded(SuspensionID(UInt64(clamping: id)), proposing: time)
        case .stopped(let item, let time): self = .stopped(item: item, at: time)
        case .finished(let item): self = .ended(item: item)
        case .reapply: self = .reapplied
        case .attach, .prove, .ask, .report: return nil
        }
    }
}

extension GroupAsk {
    /// The core's request; nil for what the host does without it.
    package func request(policy: GroupPolicy) -> GroupRequest? {
        switch self {
        case .item(let item, let proposal, _, _):
            .setItem(item.map { GroupItem($0) }, proposing: proposal.map { TimingProposal($0) })
        case .rate(let rate, let item, let time, let immediately):
            .setRate(rate, item: item, itemTime: time, immediately: immediately)
        case .seek(let time, let item, let resumes):
            .seek(to: time, item: item, resumeImmediately: resumes)
        case .policy(let change): .setPolicy(policy.changed(by: change))
        case .activity(let activity): .setActivity(GroupActivity(activity))
        case .name(let name): .setName(name)
        case .remove(let member): .remove(ParticipantID(member))
        case .dissolve, .volume, .queue: nil
        }
    }

    package init(_ request: GroupRequest) {
        switch request {
        case .setItem(let item, let proposal):
            self = .item(item?.wire, proposal.map { WireGroupProposal($0) })
        case .setRate(let rate, let item, let time, let immediately):
            self = .rate(rate, item: item, itemTime: time, immediately: immediately)
        case .seek(let time, let item, let resumes):
            self = .seek(itemTime: time, item: item, resumesImmediately: resumes)
        case .setPolicy(let policy): self = .policy(policy.wire)
        case .setActivity(let activity): self = .activity(activity.wire)
        case .setName(let name): self = .name(name)
        case .remove(let member): self = .remove(member: member.text)
        }
    }
}

extension GroupRefusal {
    package var error: RouteError {
        switch self {
        case .invalid: RouteError(.invalidParams, "The group cannot do that.")
        case .otherItem: RouteError(.itemUnknown, "The group plays another item by now.")
        case .suspended: RouteError(.groupUnavailable, "The member takes no part at present.")
        case .unknownParticipant: RouteError(.memberUnknown, "There is no such member, or no longer.")
        case .limitReached: RouteError(.limitReached, "The group has as many members as it may.")
        case .unavailable: RouteError(.groupUnavailable, "The group's host is away.")
        }
    }
}
