// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SwitchingCore

/// One row of the decision table: what people read, and what is tried.
struct Row {
    let event: String
    let situation: String
    let outcome: String
    /// Nil: nothing is decided.
    let reason: Reason?
    var policy = SwitchingPolicy()
    /// What leads to the situation.
    let before: [Step]
    /// What happens then; its effects are taken together.
    let then: [Step]
    let effects: [SwitchingEffect]

    /// As it stands in `Docs/switching.md`.
    var text: String {
        let reason = reason.map { "`\($0.rawValue)`" } ?? "–"
        return "| \(event) | \(situation) | \(outcome) | \(reason) |"
    }
}

enum DecisionTable {
    /// What the page has between its marks.
    static var text: [String] {
        ["| What happens | When | What follows | Reason |", "|---|---|---|---|"] + rows.map(\.text)
    }

    private static let both: [Step] = [.connects(phone), .connects(network)]
    private static let musicFromNetwork: [Step] = both + [.isStarted(network), .wait(milliseconds: 5_000)]
    private static let musicFromPhone: [Step] = both + [.starts(phone), .wait(milliseconds: 5_000)]
    /// The network lost the output to the phone.
    private static let phoneOverNetwork: [Step] =
        musicFromNetwork + [.starts(phone), .wait(milliseconds: 400), .pauses(network)]
    private static let call: [Step] = musicFromNetwork + [.calls(phone), .pauses(network)]

    private static func policy(_ change: (inout SwitchingPolicy) -> Void) -> SwitchingPolicy {
        var policy = SwitchingPolicy()
        change(&policy)
        return policy
    }

    /// Every other time the phone and the network, by themselves, until nobody may any more.
    private static let quarrel: [Step] =
        both + [.starts(phone)]
        + (0..<6).flatMap { turn -> [Step] in
            let (newcomer, other) = turn % 2 == 0 ? (network, phone) : (phone, network)
            return [.wait(milliseconds: 2_000), .starts(newcomer), .wait(milliseconds: 400), .pauses(other)]
        } + [.wait(milliseconds: 2_000)]

    static let rows: [Row] = starting + calls + ending + asking + wearing + connecting + others

    private static let starting: [Row] = [
        Row(
            event: "A source starts by itself", situation: "nothing is heard",
            outcome: "It is heard at once.", reason: .started, before: both, then: [.starts(phone)],
            effects: [.hear(phone)]),
        Row(
            event: "A source starts by itself", situation: "another one has the output and is paused",
            outcome: "It is heard at once.", reason: .started, before: musicFromNetwork + [.pauses(network)],
            then: [.starts(phone)], effects: [.hear(phone)]),
        Row(
            event: "A source starts by itself",
            situation: "another one is heard for longer than the dwell (1 s)",
            outcome:
                "Once it has played for the confirmation (300 ms), the other one is paused and remembered, and it is heard.",
            reason: .started, before: musicFromNetwork, then: [.starts(phone), .wait(milliseconds: 301)],
            effects: [.pause(network, .started), .hear(phone)]),
        Row(
            event: "A source starts by itself, and ceases before the confirmation is over",
            situation: "another one is heard", outcome: "Nothing: it was a blip.", reason: nil,
            before: musicFromNetwork,
            then: [
                .starts(phone), .wait(milliseconds: 200), .pauses(phone), .wait(milliseconds: 5_000),
            ], effects: []),
        Row(
            event: "A source that lost the output plays on", situation: "another one is heard",
            outcome: "Nothing: only a new start counts.", reason: nil,
            before: musicFromPhone + [.isStarted(network)],
            then: [.starts(phone), .wait(milliseconds: 60_000), .starts(phone)], effects: []),
        Row(
            event: "A person starts something at a sender", situation: "another one is heard",
            outcome: "At once the other one is paused and remembered, and it is heard.", reason: .started,
            before: musicFromPhone, then: [.isStarted(network)],
            effects: [.pause(phone, .started), .hear(network)]),
        Row(
            event: "A source starts by itself", situation: "a preferred source is heard",
            outcome: "It is told to pause, and remembered.", reason: .preferredIsHeard,
            before: [.event(.preferenceChanged(network.address, .preferred))] + musicFromNetwork,
            then: [.starts(phone), .wait(milliseconds: 5_000)], effects: [.pause(phone, .preferredIsHeard)]),
        Row(
            event: "A source starts by itself", situation: "it is one that is heard only when asked for",
            outcome: "It is told to pause.", reason: .onlyWhenAsked,
            before: [.event(.preferenceChanged(phone.address, .manual))] + both, then: [.starts(phone)],
            effects: [.pause(phone, .onlyWhenAsked)]),
        Row(
            event: "A source starts by itself",
            situation:
                "another one is heard, and the output went over 6 times in a minute without anybody asking",
            outcome: "It is told to pause, and remembered.", reason: .tooManySwitches, before: quarrel,
            then: [.starts(network), .wait(milliseconds: 301)], effects: [.pause(network, .tooManySwitches)]),
    ]

    private static let calls: [Row] = [
        Row(
            event: "A call begins", situation: "another source is heard",
            outcome: "At once the other one is paused and remembered, and the call has the output.",
            reason: .call, before: musicFromNetwork, then: [.calls(phone)],
            effects: [.pause(network, .call), .hear(phone)]),
        Row(
            event: "Something starts, whoever wanted it", situation: "a call goes on",
            outcome: "It is told to pause, and remembered for the end of the call.",
            reason: .callHasPriority, before: call, then: [.isStarted(network)],
            effects: [.pause(network, .callHasPriority)]),
        Row(
            event: "A second call begins", situation: "a call goes on",
            outcome: "Nothing, until the first is over.",
            reason: .callHasPriority, before: call + [.connects(laptop)], then: [.calls(laptop)], effects: []),
        Row(
            event: "A call is over", situation: "it took the output from another source",
            outcome: "That one is heard again, however long the call was.", reason: .cameBack,
            before: call + [.wait(milliseconds: 3_600_000)], then: [.hangsUp(phone)],
            effects: [.hear(network), .play(network)]),
        Row(
            event: "A call is over", situation: "another source is in a call",
            outcome: "The other call has the output.", reason: .call,
            before: call + [.connects(laptop), .calls(laptop)], then: [.hangsUp(phone)],
            effects: [.hear(laptop)]),
    ]

    private static let ending: [Row] = [
        Row(
            event: "What is heard pauses", situation: "for less than the hold (8 s)",
            outcome: "It keeps the output.", reason: nil, before: phoneOverNetwork,
            then: [.pauses(phone), .wait(milliseconds: 7_000), .starts(phone)], effects: []),
        Row(
            event: "What is heard pauses", situation: "for the hold, and another one is remembered",
            outcome: "The one that was heard before goes on.", reason: .cameBack, before: phoneOverNetwork,
            then: [.pauses(phone), .wait(milliseconds: 8_000)], effects: [.hear(network), .play(network)]),
        Row(
            event: "What is heard pauses", situation: "for the hold, it is captured, and none is remembered",
            outcome: "Its samples are not read any more.", reason: .pausedLong,
            before: musicFromPhone, then: [.pauses(phone), .wait(milliseconds: 8_000)],
            effects: [.silence(phone)]),
        Row(
            event: "What is heard pauses",
            situation: "it is a session of the network, and none is remembered",
            outcome: "It stays where it is, as long as nobody else starts.", reason: nil,
            before: musicFromNetwork, then: [.pauses(network), .wait(milliseconds: 3_600_000)], effects: []),
        Row(
            event: "What is heard ends, or its connection does", situation: "another one is remembered",
            outcome: "The one that was heard before goes on at once.", reason: .cameBack,
            before: phoneOverNetwork, then: [.leaves(phone)], effects: [.hear(network), .play(network)]),
        Row(
            event: "What is heard ends, or its connection does",
            situation: "the other one lost the output longer ago than the limit (10 min) and does not play",
            outcome: "Silence.", reason: .ended,
            before: phoneOverNetwork + [.wait(milliseconds: 600_001)], then: [.leaves(phone)],
            effects: [.silence(phone)]),
        Row(
            event: "What is heard ends, or its connection does",
            situation: "the other one lost the output, and plays on all the time, as a turntable does",
            outcome: "It is heard again, however long ago that was.", reason: .cameBack,
            before: [
                .connects(line), .connects(phone), .starts(line), .wait(milliseconds: 2_000), .starts(phone),
            ]
                + [.wait(milliseconds: 7_200_000)], then: [.leaves(phone)],
            effects: [.hear(line), .play(line)]),
        Row(
            event: "What is heard ends, or its connection does",
            situation: "`resume = never`, or `calls` and it was none",
            outcome: "Silence.", reason: .ended, policy: policy { $0.resume = .never },
            before: phoneOverNetwork, then: [.leaves(phone)], effects: [.silence(phone)]),
        Row(
            event: "What has the output cannot be heard", situation: "another one is remembered",
            outcome: "It is told to pause, and the one before goes on.", reason: .failed,
            before: phoneOverNetwork, then: [.event(.hearingFailed(phone))],
            effects: [.pause(phone, .failed), .hear(network), .play(network)]),
    ]

    private static let asking: [Row] = [
        Row(
            event: "A person asks for a source", situation: "whatever else goes on, also a call",
            outcome: "At once the other one is paused and remembered, and it is heard and told to play.",
            reason: .asked, before: call, then: [.event(.takeRequested(network))],
            effects: [.pause(phone, .asked), .hear(network), .play(network)]),
        Row(
            event: "A person asks a source to make way", situation: "it is heard",
            outcome: "It is paused, and the one that was heard before goes on.", reason: .yielded,
            before: phoneOverNetwork, then: [.event(.yieldRequested(phone))],
            effects: [.pause(phone, .yielded), .hear(network), .play(network)]),
    ]

    private static let wearing: [Row] = [
        Row(
            event: "The device is taken off", situation: "something is heard",
            outcome: "It is paused, and the output is let go.", reason: .takenOff, before: musicFromPhone,
            then: [.takenOff], effects: [.pause(phone, .takenOff), .silence(phone)]),
        Row(
            event: "A source starts by itself", situation: "the device is not worn",
            outcome: "It is told to pause.", reason: .notWorn, before: both + [.takenOff],
            then: [.starts(phone)], effects: [.pause(phone, .notWorn)]),
        Row(
            event: "The device is worn again", situation: "within the limit (5 min)",
            outcome: "What was heard goes on.", reason: .wornAgain,
            before: musicFromPhone + [.takenOff, .pauses(phone), .wait(milliseconds: 60_000)], then: [.worn],
            effects: [.hear(phone), .play(phone)]),
        Row(
            event: "The device is worn again", situation: "later than that", outcome: "Silence.",
            reason: .takenOffTooLong,
            before: musicFromPhone + [.takenOff, .pauses(phone), .wait(milliseconds: 300_001)], then: [.worn],
            effects: []),
        Row(
            event: "Something is plugged into the jack", situation: "",
            outcome: "What is heard goes on there: the card switches over, or `jack-device` has it.",
            reason: .pluggedIn,
            before: musicFromPhone,
            then: [.event(.jackChanged(isPlugged: true))], effects: [.moveOutput(toJack: true)]),
        Row(
            event: "The jack is pulled", situation: "",
            outcome: "What is heard goes on at the loudspeaker.",
            reason: .unplugged,
            before: musicFromPhone + [.event(.jackChanged(isPlugged: true))],
            then: [.event(.jackChanged(isPlugged: false))], effects: [.moveOutput(toJack: false)]),
        Row(
            event: "The jack is pulled", situation: "`unplugged = pause`",
            outcome: "What is heard is paused.", reason: .unplugged,
            policy: policy { $0.pausesWhenUnplugged = true },
            before: musicFromPhone + [.event(.jackChanged(isPlugged: true))],
            then: [.event(.jackChanged(isPlugged: false))],
            effects: [.pause(phone, .unplugged), .silence(phone), .moveOutput(toJack: false)]),
    ]

    private static let connecting: [Row] = [
        Row(
            event: "A third phone connects", situation: "one of the two does nothing",
            outcome: "The one that has done nothing for longest is let go.", reason: .multipointLimit,
            before: [.connects(phone), .connects(laptop), .starts(phone)], then: [.connects(tablet)],
            effects: [.letGo(laptop)]),
        Row(
            event: "A third phone connects", situation: "both play, are in a call or are remembered",
            outcome: "It is refused.", reason: .multipointLimit,
            before: [.connects(phone), .connects(laptop), .starts(phone), .calls(laptop)],
            then: [.connects(tablet)], effects: [.letGo(tablet)]),
    ]

    private static let others: [Row] = [
        Row(
            event: "An announcement begins", situation: "whatever is heard",
            outcome: "It is heard over that, which goes on softly; nobody loses the output.",
            reason: .announced, before: musicFromPhone, then: [.event(.announcementBegan)], effects: []),
        Row(
            event: "An announcement is over", situation: "", outcome: "What is heard goes on as before.",
            reason: .announcementOver, before: musicFromPhone + [.event(.announcementBegan)],
            then: [.event(.announcementEnded)], effects: []),
    ]
}
