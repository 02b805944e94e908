// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A request to the queue of the session that plays. Those that come at the same time take effect in the order in which they
/// come; each names items, so that none hits another item than was meant.
package enum QueueRequest: Equatable, Sendable {
    case insert([QueueItem], QueuePlace)
    case remove([QueueItemID])
    case move(QueueItemID, QueuePlace)
    case jump(QueueItemID)
    /// Nothing happens if another item than `from` is current by now.
    case next(from: QueueItemID?)
    case previous(from: QueueItemID?)
    case setRepeat(RepeatMode)
    /// Takes out all but the current item.
    case clear
}

extension PlayQueue {
    /// What becomes of playback when a request has changed the queue.
    package enum Step: Equatable, Sendable {
        case none
        /// To this item, or the current one afresh. The queue is not to be used before.
        case go(QueueItemID)
        /// To the beginning of the item, or to the one before it.
        case back
        /// Nothing is left to be played. The queue is not to be used any more.
        case end(EndReason)
    }

    /// Does what is asked, as far as it concerns the queue.
    package mutating func apply(_ request: QueueRequest) throws(Refusal) -> (answer: Answer, step: Step) {
        switch request {
        case .insert(let items, let place): return (.inserted(try insert(items, at: place)), .none)
        case .remove(let items):
            switch remove(Set(items)) {
            case .kept: return (.accepted, .none)
            case .replaced(let heir): return (.accepted, .go(heir))
            case .over: return (.accepted, .end(.stopped))
            }
        case .move(let item, let place): try move(item, to: place)
        case .jump(let item):
            guard self[item] != nil else {
                throw Refusal(.itemUnknown, "There is no such item in the queue, or no longer.")
            }
            return (.accepted, .go(item))
        case .next(let from):
            guard from == nil || from == current else { break }
            return (.accepted, successor(explicitly: true).map { .go($0) } ?? .end(.finished))
        case .previous(let from):
            guard from == nil || from == current else { break }
            return (.accepted, .back)
        case .setRepeat(let mode): repeats = mode
        case .clear: clear()
        }
        return (.accepted, .none)
    }
}
