// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What one end of a data channel has sent and the other has not answered (`Docs/protocols/application.md`, section 5).
/// It numbers messages and says when no more may be sent.
package struct MessageWindow: Equatable, Sendable {
    /// Messages that may be unanswered.
    package static let messages = DataFrame.window
    /// Bytes of them together.
    package static let bytes = 2 << 20

    private var last: UInt64 = 0
    /// Sizes by id.
    private var sizes: [UInt64: Int] = [:]
    package private(set) var unansweredBytes = 0

    package init() {}

    package var unanswered: Int { sizes.count }

    /// True if a message of this size may be sent now. One alone always may.
    package func admits(_ size: Int) -> Bool {
        sizes.isEmpty || sizes.count < Self.messages && unansweredBytes + size <= Self.bytes
    }

    /// The id of a message that is sent now; nil while the window is full.
    package mutating func send(_ size: Int) -> UInt64? {
        guard admits(size) else { return nil }
        last += 1
        sizes[last] = size
        unansweredBytes += size
        return last
    }

    /// False if the message was answered before, or was never sent.
    package mutating func answered(_ id: UInt64) -> Bool {
        guard let size = sizes.removeValue(forKey: id) else { return false }
        unansweredBytes -= size
        return true
    }
}

/// What one end of a data channel has received from the other: which messages are new, which are under way at the
/// handler, and the answers to the last ones, so that a message that is sent again is answered again and not handled twice.
package struct MessageReception: Equatable, Sendable {
    package enum Answer: Equatable, Sendable {
        case acknowledged
        /// The payload of the refusal.
        case refused([UInt8])
    }

    package enum Verdict: Equatable, Sendable {
        /// New: hand it over.
        case deliver
        /// Handled before: answer like this again.
        case answer(Answer)
        /// The handler has it: its answer will come.
        case pending
        /// More than the window.
        case tooMany
        /// Neither higher than the last one nor remembered.
        case outOfOrder
    }

    /// Answers that are remembered.
    package static let memory = 64

    /// The highest id that was taken.
    package private(set) var last: UInt64 = 0
    private var pending: [UInt64: Int] = [:]
    private var pendingBytes = 0
    private var answers: [UInt64: Answer] = [:]
    /// Ids of `answers`, oldest first.
    private var order: [UInt64] = []

    package init() {}

    /// Ids that the handler has, lowest first.
    package var unanswered: [UInt64] { pending.keys.sorted() }
    package var unansweredBytes: Int { pendingBytes }

    package mutating func receive(_ id: UInt64, _ size: Int) -> Verdict {
        if pending[id] != nil { return .pending }
        if let answer = answers[id] { return .answer(answer) }
        // Any number may come first: a restarted application takes over in the middle.
        guard last == 0 || id == last &+ 1 else { return .outOfOrder }
        guard
            pending.isEmpty
                || pending.count < MessageWindow.messages && pendingBytes + size <= MessageWindow.bytes
        else { return .tooMany }
        last = id
        pending[id] = size
        pendingBytes += size
        return .deliver
    }

    /// The handler's answer. False if it does not have the message: nothing is to be sent.
    package mutating func answer(_ id: UInt64, _ answer: Answer) -> Bool {
        guard let size = pending.removeValue(forKey: id) else { return false }
        pendingBytes -= size
        answers[id] = answer
        order.append(id)
        if order.count > Self.memory { answers[order.removeFirst()] = nil }
        return true
    }
}
