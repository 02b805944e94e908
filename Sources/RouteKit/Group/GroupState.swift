// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel
import RouteWire

/// What people do together, as others show it.
public struct GroupActivity: Sendable, Equatable {
    /// What they do.
    public enum Kind: String, Sendable, CaseIterable {
        /// They listen.
        case listen
        /// They watch.
        case watch
    }

    /// What they do.
    public var kind: Kind
    /// The name for people, at most 1 KiB.
    public var title: String?
    /// Our own name of what is heard or seen, at most 1 KiB; everybody sees it.
    public var identifier: String?

    /// An activity.
    public init(_ kind: Kind = .listen, title: String? = nil, identifier: String? = nil) {
        (self.kind, self.title, self.identifier) = (kind, title, identifier)
    }
}

/// Why a participant takes no part for a while. Any other text will do, too, of at most 128 bytes.
public struct SuspensionReason: RawRepresentable, Hashable, Sendable {
    /// The text that everybody sees.
    public let rawValue: String
    /// A reason with any text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The system took the output away.
    public static let audioSessionInterrupted = SuspensionReason(rawValue: "audioSessionInterrupted")
    /// Data did not come in time.
    public static let stallRecovery = SuspensionReason(rawValue: "stallRecovery")
    /// It plays something that the others do not.
    public static let playingInterstitial = SuspensionReason(rawValue: "playingInterstitial")
    /// It cannot play this item in step.
    public static let coordinatedPlaybackNotPossible = SuspensionReason(
        rawValue: "coordinatedPlaybackNotPossible")
    /// Somebody has to do something at the device first.
    public static let userActionRequired = SuspensionReason(rawValue: "userActionRequired")
    /// Somebody looks for a place.
    public static let userIsChangingCurrentTime = SuspensionReason(rawValue: "userIsChangingCurrentTime")
}

/// How a group waits, and how it pauses. Nil leaves the receiver's choice.
public struct GroupPolicy: Sendable, Equatable {
    /// The reasons for which a start waits for those that are suspended; all others are left behind.
    public var suspensionReasonsThatTriggerWaiting: Set<SuspensionReason>?
    /// For a reason: in groups of more participants it is not waited out.
    public var participantLimits: [SuspensionReason: Int]?
    /// After a pause all go to the place at which the one who paused stood.
    public var pauseSnapsToMediaTimeOfOriginator: Bool?
    /// How long before its moment a start is told; 20 ms to 5 s.
    public var lead: Duration?
    /// How long a start waits for those that are not ready; 0 to 60 s.
    public var readinessLimit: Duration?
    /// How long a suspension is waited out; 0 to 10 minutes.
    public var suspensionLimit: Duration?

    /// The receiver's choices.
    public init() {}
}

/// One of those who play in step.
public struct GroupMember: Sendable, Equatable, Identifiable {
    /// What a member is.
    public enum Kind: String, Sendable {
        /// A device.
        case receiver
        /// A program with a renderer of its own.
        case player
    }

    /// The device's identifier, or the player's.
    public let id: String
    /// The name for people.
    public let name: String
    /// What it is.
    public let kind: Kind
    /// True for the one whose clock the others follow.
    public let isHost: Bool
    /// True if it could begin at once.
    public let isReadyToPlay: Bool
    /// Why it takes no part at present; empty if it does.
    public let suspensionReasons: [SuspensionReason]
    /// Where it answers; empty where that is not known.
    public let addresses: [Receiver.Address]
    /// Its device's volume; nil if it does not say.
    public let volume: Volume?
    /// How exactly it plays, measured at its output; nil before it was.
    public let sync: SyncReport?
}

/// Where an item stands on a group's clock.
public enum GroupTimeline: Sendable, Equatable {
    /// It stands.
    case paused(at: MediaTime)
    /// It stands until those who take part are ready.
    case waiting(at: MediaTime, rate: Double)
    /// It runs.
    case playing(PlaybackAnchor)
}

/// Receivers that play in step, as one of them sees them.
public struct GroupState: Sendable, Equatable, Identifiable {
    /// Where this receiver stands in the group.
    public enum Phase: Sendable, Equatable {
        /// It is on its way in, or the next host is being sought.
        case waiting
        /// It takes part.
        case joined
        /// It takes no part any more, by this word of the protocol: `dissolved`, `removed`, `refused`, `unreachable`, `hostLost`.
        case invalidated(reason: String)
    }

    /// The group's name on the wire; it stays when the host changes.
    public let id: String
    /// The name for people.
    public let name: String
    /// Where this receiver stands.
    public let phase: Phase
    /// The member whose clock the others follow.
    public let hostID: String
    /// True if this receiver is it.
    public let isHost: Bool
    /// True once the host's clock is read well enough to play by it.
    public let isClockKnown: Bool
    /// What people do together.
    public let activity: GroupActivity?
    /// How the group waits and pauses.
    public let policy: GroupPolicy
    /// That of the loudest member; nil while none says.
    public let volume: Double?
    /// The name of the item in the group; nil while there is none.
    public let item: String?
    /// The title that its sender gave it.
    public let itemTitle: String?
    /// Where the item's media is; nil where a receiver tells, and for an item without an address.
    public let itemURL: String?
    /// Where the item stands; nil without one.
    public let timeline: GroupTimeline?
    /// Everybody, in the order in which they came.
    public let members: [GroupMember]

    init?(_ document: GroupDocument, base: String) {
        guard let view = document.view else { return nil }
        (id, name, hostID) = (document.id, document.name, document.host)
        phase =
            switch view.phase {
            case .waiting: .waiting
            case .joined: .joined
            case .invalidated: .invalidated(reason: view.reason ?? "")
            }
        (isHost, isClockKnown) = (view.isHost, view.isClockKnown)
        activity = document.activity.map {
            GroupActivity(
                $0.kind == .watch ? .watch : .listen, title: $0.title, identifier: $0.identifier)
        }
        policy = GroupPolicy(document.policy)
        volume = document.volume
        (item, itemTitle) = (document.item?.identifier, document.item?.title)
        itemURL = document.item?.media?.url
        timeline = document.item.flatMap { document.timelines[$0.identifier] }.map { GroupTimeline($0) }
        let ordered = document.members.sorted { ($0.value.joined, $0.key) < ($1.value.joined, $1.key) }
        members = ordered.map { id, member in
            GroupMember(
                id: id, name: member.name, kind: member.kind == .receiver ? .receiver : .player,
                isHost: id == document.host, isReadyToPlay: member.isReady,
                suspensionReasons: member.suspensions.map { SuspensionReason(rawValue: $0) },
                addresses: member.port.map { port in
                    member.addresses.map { Receiver.Address(host: $0, port: port) }
                } ?? [],
                volume: member.volume, sync: member.sync)
        }
    }
}

extension GroupState {
    /// As a player of the group sees it.
    init?(playing document: GroupDocument, isClockKnown: Bool, _ state: GroupSession.State) {
        var document = document
        document.view = .init(
            isHost: false, phase: state == .joined ? .joined : .waiting, isClockKnown: isClockKnown)
        self.init(document, base: "")
    }
}

extension WireGroupPolicy {
    /// With what somebody wants changed.
    func changed(by change: WireGroupPolicy) -> WireGroupPolicy {
        WireGroupPolicy(
            waitsFor: change.waitsFor ?? waitsFor, limits: change.limits ?? limits,
            pauseSnapsToOriginator: change.pauseSnapsToOriginator ?? pauseSnapsToOriginator,
            lead: change.lead ?? lead, readinessLimit: change.readinessLimit ?? readinessLimit,
            suspensionLimit: change.suspensionLimit ?? suspensionLimit)
    }
}

extension GroupTimeline {
    init(_ timeline: WireGroupTimeline) {
        let place = MediaTime(nanoseconds: timeline.itemTime)
        self =
            switch timeline.state {
            case .paused: .paused(at: place)
            case .waiting: .waiting(at: place, rate: timeline.rate)
            case .playing:
                .playing(
                    PlaybackAnchor(
                        itemTime: timeline.itemTime, clockTime: timeline.clockTime ?? 0, rate: timeline.rate))
            }
    }
}

extension GroupPolicy {
    init(_ policy: WireGroupPolicy) {
        suspensionReasonsThatTriggerWaiting = policy.waitsFor.map {
            Set($0.map { SuspensionReason(rawValue: $0) })
        }
        participantLimits = policy.limits.map { limits in
            Dictionary(
                limits.map { (SuspensionReason(rawValue: $0), Int(clamping: $1)) },
                uniquingKeysWith: { first, _ in first })
        }
        pauseSnapsToMediaTimeOfOriginator = policy.pauseSnapsToOriginator
        lead = policy.lead.map { .nanoseconds($0) }
        readinessLimit = policy.readinessLimit.map { .nanoseconds($0) }
        suspensionLimit = policy.suspensionLimit.map { .nanoseconds($0) }
    }

    var wire: WireGroupPolicy {
        func nanoseconds(_ time: Duration?) -> Int64? { time.map { Int64($0 / .nanoseconds(1)) } }
        return WireGroupPolicy(
            waitsFor: suspensionReasonsThatTriggerWaiting.map { $0.map(\.rawValue).sorted() },
            limits: participantLimits.map { limits in
                Dictionary(
                    limits.map { ($0.rawValue, Int64($1)) }, uniquingKeysWith: { first, _ in first })
            },
            pauseSnapsToOriginator: pauseSnapsToMediaTimeOfOriginator, lead: nanoseconds(lead),
            readinessLimit: nanoseconds(readinessLimit), suspensionLimit: nanoseconds(suspensionLimit))
    }
}

extension GroupActivity {
    var wire: WireGroupActivity {
        WireGroupActivity(kind: kind == .watch ? .watch : .listen, title: title, identifier: identifier)
    }
}
