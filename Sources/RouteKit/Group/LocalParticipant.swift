// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GroupCore
import GroupLink
import MediaModel
import RouteWire

/// Does what a group wants of this program: the player of a `PlaybackCoordinator`.
@RouteActor protocol ParticipantPerformer: AnyObject {
    /// Begins; `LocalParticipant.apply(.performed)` says that it is done. At most one at a time.
    func begin(_ command: GroupCommand)
    /// It was not done in time. The player goes on with it; its end is the end of the stall, too.
    func miss(_ command: CommandID)
    /// Nobody asks for the end of this one any more.
    func abandon(_ command: CommandID)
    /// What was asked for while it takes no part, for this player alone. False: too much waits already.
    func performLocally(_ request: GroupRequest) -> Bool
    /// Something that it shows has changed.
    func participantChanged()
}

/// This program's part in a group as a value that is fed, with the link of the moment behind it.
@RouteActor final class LocalParticipant {
    private(set) var state: GroupParticipant
    weak var performer: (any ParticipantPerformer)?
    /// Where what it says goes; nil while there is no group.
    weak var membership: PlayerMembership?
    private var events: [ParticipantEvent] = []
    private var isHandling = false
    private var lastRequest: UInt64 = 0
    private var replies: [GroupRequestID: (Result<JSONValue, RouteError>) -> Void] = [:]
    private var dueTimer: EventSource?

    init(name: String, identifier: String) {
        state = GroupParticipant(id: ParticipantID(identifier), name: name, kind: .player)
    }

    var id: String { state.id.text }

    /// Feeds the participant, and does what follows. What comes meanwhile is handled after it.
    func apply(_ event: ParticipantEvent) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        var next = 0
        while next < events.count {
            for effect in state.apply(events[next]) { perform(effect) }
            next += 1
        }
        events.removeAll(keepingCapacity: true)
        isHandling = false
    }

    /// Asks the group, or, while it takes no part, the player alone.
    func ask(_ request: GroupRequest) async throws {
        // Without a typed error: the compiler of Swift 6.2.3 ends where there is one beside a continuation.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            lastRequest += 1
            let id = GroupRequestID(lastRequest)
            replies[id] = { answer in
                continuation.resume(with: answer.map { _ in }.mapError { RoutingError($0) })
            }
            apply(.requested(id, request))
        }
    }

    private func perform(_ effect: ParticipantEffect) {
        switch effect {
        case .report(.requested(let id, let request)):
            let reply = replies.removeValue(forKey: id) ?? { _ in }
            guard let membership else { return reply(.failure(GroupRefusal.unavailable.error)) }
            membership.ask(GroupAsk(request), answer: reply)
        case .report(let report):
            if let wire = report.wire { membership?.tell(wire) }
        case .perform(let command):
            // Nobody plays here: there is nothing to be done.
            guard let performer else { return apply(.performed(command.id)) }
            performer.begin(command)
        case .abandon(let id): performer?.abandon(id)
        case .performLocally(let id, let request):
            let reply = replies.removeValue(forKey: id) ?? { _ in }
            guard performer?.performLocally(request) != false else {
                return reply(
                    .failure(RouteError(.tooManyRequests, "The player has not done what came before.")))
            }
            reply(.success(Outcome.accepted.json))
        case .refuse(let id, let refusal): replies.removeValue(forKey: id)?(.failure(refusal.error))
        case .arm(let timer, let moment):
            guard let line = membership?.line else { return }
            let delay = max(0, line.local(at: moment).saturatingSubtracting(MonotonicClock.nanoseconds))
            dueTimer = EventSource.after(.nanoseconds(delay)) { [weak self] in
                guard let self else { return }
                dueTimer = nil
                if case .due(let command) = timer { performer?.miss(command) }
                apply(.timerFired(timer))
            }
        case .suspensionsChanged: performer?.participantChanged()
        }
    }
}
