// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire

/// What the receiver holds for one instance of an application, in bytes of messages that are unanswered.
final class RelayBudget {
    static let limit = 16 << 20
    var toApplication = 0
    var toSender = 0
}

/// One direction of a channel: what was taken from one end and not answered by the other.
struct RelayLane {
    struct Message {
        /// Its number at the end that sent it; nil if that process is gone.
        var source: UInt64?
        /// Its number at the other end. They rise by one there, whatever was refused here.
        let target: UInt64
        let size: Int
        /// What is still to be passed on, perhaps again.
        var bytes: [UInt8]
        var isPassedOn = false
    }

    /// The books of what the sending end sent.
    var reception = MessageReception()
    /// In order, and never more than a window.
    var messages: [Message] = []
    private var lastTarget: UInt64 = 0

    mutating func nextTarget() -> UInt64 {
        lastTarget += 1
        return lastTarget
    }

    func admits(_ size: Int) -> Bool {
        guard !messages.isEmpty else { return true }
        return messages.count < MessageWindow.messages
            && messages.reduce(size) { $0 + $1.size } <= MessageWindow.bytes
    }

    /// Notes the other end's answer; nil if nobody waits for it.
    mutating func answer(_ target: UInt64, _ answer: MessageReception.Answer) -> Message? {
        guard let index = messages.firstIndex(where: { $0.target == target }) else { return nil }
        let message = messages.remove(at: index)
        if let source = message.source { _ = reception.answer(source, answer) }
        return message
    }
}

/// What the receiver answers in the place of an end.
struct RelayRefusal: Equatable {
    let payload: [UInt8]
    private init(_ reason: String, _ message: String) { payload = DataFrame.refusal(reason, message) }

    static let tooMany = RelayRefusal("tooManyMessages", "too many messages are unanswered")
    static let busy = RelayRefusal("busy", "the receiver holds as much for this application as it may")
    static let unread = RelayRefusal("tooManyMessages", "too many messages to this sender are unanswered")
    static let tooLong = RelayRefusal("tooLong", "the message is longer than the application takes")
    static let outOfOrder = RelayRefusal(
        "outOfOrder", "the message does not follow the last that was taken")
    static let restarted = RelayRefusal("applicationRestarted", "the application failed before it answered")
    static let unknown = RelayRefusal("channelUnknown", "there is no such channel, or no longer")
    static let endpoint = RelayRefusal("endpointUnknown", "messages of this channel name no endpoint")
    static let noSender = RelayRefusal("noSender", "the sender has left for good")
    static let route = RelayRefusal("routeRequired", "no route is active on this connection")
    static let wordy = RelayRefusal("refused", "the message was refused with too many words")
}
