// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel

// What the player is given to do: by the group, and by those who ask it alone.

extension PlaybackCoordinator {
    /// A start that only this player is asked for happens so much later.
    private static let ownLead: Int64 = 300_000_000

    /// A start is meant by a clock that has to be known.
    func isHeld(_ command: GroupCommand) -> Bool {
        guard case .play = command.action, let membership = participant.membership else { return false }
        return membership.phase == .joined && !membership.isLineCurrent
    }

    func deliver(_ command: GroupCommand, _ completion: CommandCompletion) {
        guard let delegate else { return completion.call() }
        let originator = command.originator.flatMap { id in
            session?.group.members.first { $0.id == id.text }
        }
        let done: @Sendable () -> Void = { completion.call() }
        let rate = command.action.anticipatedRate
        switch command.action {
        case .play(let anchor):
            own = .playing(anchor)
            delegate.playbackCoordinator(
                self,
                didIssue: PlayCommand(
                    expectedCurrentItemIdentifier: command.item, originator: originator, rate: anchor.rate,
                    itemTime: MediaTime(nanoseconds: anchor.itemTime), hostClockTime: anchor.clockTime),
                completionHandler: done)
        case .pause:
            own = own.map { .paused(at: $0.itemTime(at: hostTime)) }
            delegate.playbackCoordinator(
                self,
                didIssue: PauseCommand(
                    expectedCurrentItemIdentifier: command.item, originator: originator,
                    shouldBufferInAnticipationOfPlayback: rate != nil, anticipatedPlaybackRate: rate ?? 0),
                completionHandler: done)
        case .seek(let time, _, let due):
            own = .paused(at: time)
            delegate.playbackCoordinator(
                self,
                didIssue: SeekCommand(
                    expectedCurrentItemIdentifier: command.item, originator: originator,
                    itemTime: MediaTime(nanoseconds: time),
                    shouldBufferInAnticipationOfPlayback: rate != nil, anticipatedPlaybackRate: rate ?? 0,
                    completionDueTime: due), completionHandler: done)
        case .buffer(let rate, let due):
            delegate.playbackCoordinator(
                self,
                didIssue: BufferingCommand(
                    expectedCurrentItemIdentifier: command.item, originator: originator,
                    anticipatedPlaybackRate: rate, completionDueTime: due), completionHandler: done)
        }
    }
}

extension PlaybackCoordinator: ParticipantPerformer {
    func begin(_ command: GroupCommand) { delivery.add(command, isOfGroup: true) }
    func miss(_ command: CommandID) { delivery.miss(command) }
    func abandon(_ command: CommandID) { delivery.abandon(command) }
    func participantChanged() { refresh() }

    func performLocally(_ request: GroupRequest) -> Bool {
        guard let item = currentItemIdentifier else { return true }
        func add(_ action: GroupCommand.Action) -> Bool {
            delivery.add(GroupCommand(id: CommandID(0), item: item, action: action), isOfGroup: false)
        }
        let place = own?.itemTime(at: hostTime) ?? 0
        switch request {
        case .setRate(let rate, _, let itemTime, _):
            guard rate > 0 else { return add(.pause(anticipatedRate: nil)) }
            return add(
                .play(
                    PlaybackAnchor(
                        itemTime: itemTime ?? place, clockTime: hostTime.saturatingAdding(Self.ownLead),
                        rate: rate)))
        case .seek(let time, _, _):
            guard case .playing(let anchor) = own else {
                return add(.seek(to: time, anticipatedRate: nil, due: nil))
            }
            return add(.seek(to: time, anticipatedRate: anchor.rate, due: nil))
                && add(
                    .play(
                        PlaybackAnchor(
                            itemTime: time, clockTime: hostTime.saturatingAdding(Self.ownLead),
                            rate: anchor.rate)))
        case .setItem, .setPolicy, .setActivity, .setName, .remove: return true
        }
    }
}
