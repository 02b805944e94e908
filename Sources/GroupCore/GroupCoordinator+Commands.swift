// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension GroupCoordinator {
    /// Sends a participant what it has to do next in order to be where the group is, unless it has something to complete first.
    mutating func tell(_ index: Int, at now: Int64) -> [GroupEffect] {
        var effects: [GroupEffect] = []
        while participants[index].takesPart, let item = participants[index].item, let state = items[item],
            let action = state.nextAction(for: participants[index])
        {
            var overtakes = false
            if let last = participants[index].outstanding.last {
                guard participants[index].outstanding.count < GroupLimits.commands else { break }
                // What is about another item it has completed already; the answer is on its way.
                if last.item == item {
                    guard last.action.waitsForReadiness, last.revision < state.revision else { break }
                    overtakes = true
                }
            }
            effects += send(action, of: state, about: item, overtaking: overtakes, to: index, at: now)
        }
        return effects
    }

    /// Tells all that are on an item.
    mutating func tellAll(on item: String, at now: Int64) -> [GroupEffect] {
        participants.indices.filter { participants[$0].item == item }.flatMap { tell($0, at: now) }
    }

    private mutating func send(
        _ action: GroupCommand.Action, of state: ItemState, about item: String, overtaking: Bool,
        to index: Int, at now: Int64
    ) -> [GroupEffect] {
        lastCommand += 1
        let id = CommandID(lastCommand)
        let participant = participants[index]
        let isOwn = state.originator == participant.id || participant.realigned == state.revision
        let command = GroupCommand(
            id: id, item: item, originator: isOwn ? nil : state.originator, action: action,
            overtakes: overtaking)
        participants[index].outstanding.append(
            Participant.Sent(id: id, item: item, revision: state.revision, action: action))
        participants[index].lastCommand = id
        switch action {
        case .play(let anchor): participants[index].motion = .playing(anchor)
        case .pause(let rate): participants[index].motion = rate.map { .prepared($0) } ?? .standing
        case .seek(_, let rate, _): participants[index].motion = rate.map { .prepared($0) } ?? .standing
        case .buffer(let rate, _): participants[index].motion = .prepared(rate)
        }
        participants[index].placement = state.placement
        if case .play = action {} else { participants[index].isReady = false }
        let limit = (action.due ?? now).clamped(adding: GroupLimits.answer)
        return [.send(command, to: participant.id), .arm(.completion(participant.id, id), at: limit)]
    }

    mutating func completed(
        _ command: CommandID, _ outcome: CommandOutcome, by index: Int, at now: Int64
    ) -> [GroupEffect] {
        guard let place = participants[index].outstanding.firstIndex(where: { $0.id == command }) else {
            return []
        }
        let sent = participants[index].outstanding.remove(at: place)
        let id = participants[index].id
        var effects: [GroupEffect] = [.completed(command, by: id, outcome)]
        let isLast = participants[index].lastCommand == command && sent.item == participants[index].item
        if outcome == .done {
            if isLast, sent.action.waitsForReadiness { participants[index].isReady = true }
        } else if isLast, participants[index].takesPart {
            // It has not said why; it is told anew when it says something, or after a while.
            participants[index].forgetWhatItWasTold()
            participants[index].isLeftBehind = true
            return effects + [.arm(.completion(id, command), at: now.clamped(adding: GroupLimits.answer))]
                + startIfReady(sent.item, at: now)
        }
        effects += tell(index, at: now)
        if participants[index].outstanding.isEmpty { participants[index].isLeftBehind = false }
        if let item = participants[index].item { effects += startIfReady(item, at: now) }
        return effects
    }

    /// A command that nobody has answered counts as lost: the participant is told anew, and nobody waits for it meanwhile.
    mutating func waitedForAnswer(to command: CommandID, by index: Int, at now: Int64) -> [GroupEffect] {
        let id = participants[index].id
        var effects: [GroupEffect] = []
        if let place = participants[index].outstanding.firstIndex(where: { $0.id == command }) {
            let sent = participants[index].outstanding.remove(at: place)
            effects.append(.completed(command, by: id, .lost))
            // What was about an item that it has left tells nothing of the present one.
            if sent.item == participants[index].item {
                realign(index)
                participants[index].isLeftBehind = true
            }
        } else {
            guard participants[index].lastCommand == command, participants[index].motion == .unknown else {
                return []
            }
        }
        effects += tell(index, at: now)
        if let item = participants[index].item { effects += startIfReady(item, at: now) }
        return effects
    }

    /// What a participant is told from here on is the state that is known already, and nobody's wish.
    mutating func realign(_ index: Int) {
        participants[index].forgetWhatItWasTold()
        participants[index].realigned = participants[index].item.flatMap { items[$0]?.revision }
    }
}

extension Int64 {
    /// The sum, or the end of the range.
    func clamped(adding other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
