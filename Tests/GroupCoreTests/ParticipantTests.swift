// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import MediaModel
import Testing

/// A participant on item `x` with a host.
private func attached(on item: String? = "x") -> GroupParticipant {
    var participant = GroupParticipant(id: "p", name: "Radio", kind: .receiver)
    _ = participant.apply(.attached(host: "h", epoch: 1))
    _ = participant.apply(.transitioned(to: item, proposing: nil))
    return participant
}

private let anchor = PlaybackAnchor(itemTime: 0, clockTime: 5 * second, rate: 1)

private func command(
    _ number: UInt64, _ action: GroupCommand.Action = .play(anchor), on item: String = "x",
    overtakes: Bool = false
) -> GroupCommand {
    GroupCommand(id: CommandID(number), item: item, action: action, overtakes: overtakes)
}

private let buffer = GroupCommand.Action.buffer(anticipatedRate: 1, due: 9 * second)

private func completed(_ number: UInt64, _ outcome: CommandOutcome) -> ParticipantEffect {
    .report(.completed(CommandID(number), outcome))
}

@Suite struct ParticipantTests {
    @Test func `commands are done one at a time, in order`() {
        var participant = attached()
        let (first, second) = (command(1), command(2, .pause(anticipatedRate: nil)))
        #expect(participant.apply(.received(first)) == [.perform(first)])
        #expect(participant.apply(.received(second)) == [])
        #expect(participant.apply(.performed(first.id)) == [completed(1, .done), .perform(second)])
        #expect(participant.apply(.performed(second.id)) == [completed(2, .done)])
        #expect(participant.apply(.performed(second.id)) == [])
    }

    @Test func `a command for another item is ignored, and completed`() {
        var participant = attached()
        #expect(participant.apply(.received(command(1, on: "y"))) == [completed(1, .ignored)])
    }

    @Test func `what waits for readiness gives way to what overtakes it`() {
        var participant = attached()
        let (first, second) = (
            command(1, buffer), command(2, .pause(anticipatedRate: nil), overtakes: true)
        )
        #expect(
            participant.apply(.received(first)) == [
                .perform(first), .arm(.due(first.id), at: 9 * GroupCoreTests.second),
            ])
        #expect(
            participant.apply(.received(second)) == [
                .abandon(first.id), completed(1, .ignored), .perform(second),
            ])
        #expect(participant.apply(.performed(first.id)) == [])
        #expect(participant.apply(.timerFired(.due(first.id))) == [])
    }

    @Test func `what does not overtake waits, also for readiness`() {
        var participant = attached()
        _ = participant.apply(.received(command(1, buffer)))
        #expect(participant.apply(.received(command(2))) == [])
        // What overtakes has what lies between done first, without its wait.
        let last = command(3, .pause(anticipatedRate: nil), overtakes: true)
        #expect(
            participant.apply(.received(last)) == [
                .abandon(CommandID(1)), completed(1, .ignored), .perform(command(2)),
            ])
        #expect(participant.apply(.performed(CommandID(2))) == [completed(2, .done), .perform(last)])
    }

    @Test func `a command that comes twice is taken once, and one that was overtaken is ignored`() {
        var participant = attached()
        _ = participant.apply(.received(command(5)))
        #expect(participant.apply(.received(command(5))) == [])
        #expect(
            participant.apply(.received(command(4))) == [completed(4, .ignored), .report(.reapplied)])
        #expect(participant.apply(.received(command(4))) == [])
    }

    @Test func `a suspension is told first, and then what was not done`() {
        var participant = attached()
        _ = participant.apply(.received(command(1)))
        _ = participant.apply(.received(command(2)))
        let suspension = Suspension(id: SuspensionID(1), reason: .audioSessionInterrupted)
        #expect(
            participant.apply(.suspensionBegan(suspension)) == [
                .report(.suspensionBegan(suspension)), .abandon(CommandID(1)), completed(1, .suspended),
                completed(2, .suspended), .suspensionsChanged,
            ])
        #expect(participant.apply(.received(command(3))) == [completed(3, .suspended)])
        #expect(
            participant.apply(.suspensionEnded(SuspensionID(1), proposing: 7)) == [
                .report(.suspensionEnded(SuspensionID(1), proposing: 7)), .suspensionsChanged,
            ])
        #expect(participant.apply(.received(command(4))) == [.perform(command(4))])
    }

    @Test func `a proposal counts only with the end of the last suspension`() {
        var participant = attached()
        for number in 1...2 {
            _ = participant.apply(
                .suspensionBegan(
                    Suspension(id: SuspensionID(UInt64(number)), reason: SuspensionReason("lunch"))))
        }
        #expect(
            participant.apply(.suspensionEnded(SuspensionID(1), proposing: 7)).first
                == .report(.suspensionEnded(SuspensionID(1), proposing: nil)))
    }

    @Test func `requests while suspended are for itself alone`() {
        var participant = attached()
        let request = GroupRequest.setRate(0, item: "x")
        #expect(
            participant.apply(.requested(GroupRequestID(1), request)) == [
                .report(.requested(GroupRequestID(1), request))
            ])
        _ = participant.apply(
            .suspensionBegan(Suspension(id: SuspensionID(1), reason: .userActionRequired)))
        #expect(
            participant.apply(.requested(GroupRequestID(2), request)) == [
                .performLocally(GroupRequestID(2), request)
            ])
        #expect(
            participant.apply(.requested(GroupRequestID(3), .setName("Garden"))) == [
                .report(.requested(GroupRequestID(3), .setName("Garden")))
            ])
    }

    @Test func `requests about another item, and without a host, are refused`() {
        var participant = attached()
        #expect(
            participant.apply(.requested(GroupRequestID(1), .seek(to: 0, item: "y"))) == [
                .refuse(GroupRequestID(1), .otherItem)
            ])
        _ = participant.apply(.detached)
        #expect(
            participant.apply(.requested(GroupRequestID(2), .seek(to: 0, item: "x"))) == [
                .refuse(GroupRequestID(2), .unavailable)
            ])
    }

    @Test func `what is not done when the others go on is a stall, which ends with readiness`() {
        var participant = attached()
        _ = participant.apply(.received(command(1, buffer)))
        #expect(
            participant.apply(.timerFired(.due(CommandID(1)))) == [
                .report(
                    .suspensionBegan(Suspension(id: GroupParticipant.stall, reason: .stallRecovery))),
                .abandon(CommandID(1)), completed(1, .suspended), .suspensionsChanged,
            ])
        #expect(
            participant.apply(.performed(CommandID(1))) == [
                .report(.readinessChanged(true)),
                .report(.suspensionEnded(GroupParticipant.stall, proposing: nil)), .suspensionsChanged,
            ])
    }

    @Test func `a player that runs dry stalls, and one that falls in does not`() {
        var participant = attached()
        _ = participant.apply(.readinessChanged(true))
        _ = participant.apply(.received(command(1)))
        #expect(participant.apply(.readinessChanged(false)) == [.report(.readinessChanged(false))])
        _ = participant.apply(.performed(CommandID(1)))
        _ = participant.apply(.readinessChanged(true))
        #expect(
            participant.apply(.readinessChanged(false)) == [
                .report(.readinessChanged(false)),
                .report(
                    .suspensionBegan(Suspension(id: GroupParticipant.stall, reason: .stallRecovery))),
                .suspensionsChanged,
            ])
        #expect(participant.suspensions.map(\.reason) == [.stallRecovery])
        _ = participant.apply(.readinessChanged(true))
        #expect(participant.takesPart)
    }

    @Test func `going over to another item completes what was about the old one`() {
        var participant = attached()
        _ = participant.apply(.received(command(1)))
        _ = participant.apply(.received(command(2)))
        #expect(
            participant.apply(.transitioned(to: "y", proposing: nil)) == [
                .report(.transitioned(to: "y", proposing: nil)), .abandon(CommandID(1)),
                completed(1, .ignored), completed(2, .ignored),
            ])
        #expect(participant.apply(.performed(CommandID(1))) == [])
    }

    @Test func `what was begun under a lost host is reported to nobody`() {
        var participant = attached()
        _ = participant.apply(.received(command(1)))
        #expect(participant.apply(.detached) == [])
        #expect(participant.apply(.received(command(2))) == [])
        #expect(participant.apply(.attached(host: "i", epoch: 2)) == [.abandon(CommandID(1))])
        #expect(participant.apply(.performed(CommandID(1))) == [])
        let next = command(1 << 33)
        #expect(participant.apply(.received(next)) == [.perform(next)])
    }

    @Test func `what happens without a host is told when there is one`() {
        var participant = GroupParticipant(id: "p", name: "Radio", kind: .player)
        let proposal = TimingProposal(itemTime: 3 * second, rate: 1, clockTime: 9 * second)
        let suspension = Suspension(id: SuspensionID(1), reason: .userActionRequired)
        #expect(participant.apply(.transitioned(to: "x", proposing: proposal)) == [])
        #expect(participant.apply(.suspensionBegan(suspension)) == [.suspensionsChanged])
        _ = participant.apply(.readinessChanged(true))
        #expect(
            participant.participation
                == Participation(
                    id: "p", name: "Radio", kind: .player, item: "x", proposal: proposal, isReady: true,
                    suspensions: [suspension]))
        _ = participant.apply(.attached(host: "h", epoch: 1))
        #expect(participant.participation.proposal == nil)
    }

    @Test func `it knows where the group is, also while it takes no part`() {
        var participant = attached()
        #expect(participant.expectedItemTime(atHostTime: 7 * second) == nil)
        _ = participant.apply(.timelineChanged(item: "x", .playing(anchor)))
        _ = participant.apply(.timelineChanged(item: "y", .paused(at: 4)))
        _ = participant.apply(
            .suspensionBegan(Suspension(id: SuspensionID(1), reason: .userActionRequired)))
        #expect(participant.expectedItemTime(atHostTime: 7 * second) == 2 * second)
        // The item has not begun yet.
        #expect(participant.expectedItemTime(atHostTime: second) == 0)
        _ = participant.apply(.transitioned(to: "y", proposing: nil))
        #expect(participant.expectedItemTime(atHostTime: 7 * second) == 4)
    }

    @Test func `it holds a bounded number of commands, timelines and suspensions`() {
        var participant = attached()
        var answers = 0
        for number in 1...100 {
            answers += participant.apply(.received(command(UInt64(number)))).count {
                if case .report(.completed(_, .ignored)) = $0 { true } else { false }
            }
        }
        #expect(answers == 100 - 1 - GroupLimits.intake)
        _ = participant.apply(.timelineChanged(item: "x", .paused(at: 1)))
        for number in 0..<200 {
            _ = participant.apply(.timelineChanged(item: "i\(number)", .paused(at: 0)))
        }
        #expect(participant.expectedItemTime(atHostTime: 0) == 1)
        for number in 1...100 {
            _ = participant.apply(
                .suspensionBegan(
                    Suspension(id: SuspensionID(UInt64(number)), reason: SuspensionReason("lunch"))))
        }
        #expect(participant.suspensions.count == GroupLimits.suspensions)
    }

    @Test func `only one that takes part asks for the state anew`() {
        var participant = attached()
        #expect(participant.apply(.reapplyRequested) == [.report(.reapplied)])
        _ = participant.apply(
            .suspensionBegan(Suspension(id: SuspensionID(1), reason: .userActionRequired)))
        #expect(participant.apply(.reapplyRequested) == [])
    }
}
