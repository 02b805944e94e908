// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
import Synchronization

/// Hands commands to a player one after the other: the next when the last was completed or abandoned.
@RouteActor final class CommandDelivery {
    /// Commands of its own that may wait.
    static let limit = 8

    private struct Entry {
        let command: GroupCommand
        /// False for one that this player alone was asked for.
        let isOfGroup: Bool
    }

    /// Gives one to the player. The completion may be called on any thread, in the call or later.
    var onDeliver: ((GroupCommand, CommandCompletion) -> Void)?
    /// Whether this one has to wait for something; `resume` looks again.
    var isHeld: ((GroupCommand) -> Bool)?
    /// A command of the group is done.
    var onDone: ((CommandID) -> Void)?
    /// The player need not go on with what it was given last.
    var onAbandon: (() -> Void)?

    private var waiting: [Entry] = []
    private var live: (number: UInt64, entry: Entry, isLate: Bool)?
    private var count: UInt64 = 0
    private var isDelivering = false

    /// False: too much waits already. What the group commands is never too much: it asks for one thing at a time.
    @discardableResult func add(_ command: GroupCommand, isOfGroup: Bool) -> Bool {
        guard isOfGroup || waiting.count < Self.limit else { return false }
        waiting.append(Entry(command: command, isOfGroup: isOfGroup))
        resume()
        return true
    }

    /// One of the group's is of no use any more.
    func abandon(_ id: CommandID) {
        waiting.removeAll { $0.isOfGroup && $0.command.id == id }
        if let live, live.entry.isOfGroup, live.entry.command.id == id, !live.isLate { drop() }
    }

    /// The group does not wait for this one any more. The player goes on with it, and nothing else is given to it before it is done.
    func miss(_ id: CommandID) {
        if live?.entry.isOfGroup == true, live?.entry.command.id == id { live?.isLate = true }
    }

    /// The player need not go on with what was late. Says what that was.
    func abandonLate() -> CommandID? {
        guard let live, live.isLate else { return nil }
        drop()
        return live.entry.command.id
    }

    /// What this player alone was asked for is of no use any more.
    func abandonOwn() {
        waiting.removeAll { !$0.isOfGroup }
        if let live, !live.entry.isOfGroup { drop() }
    }

    private func drop() {
        live = nil
        onAbandon?()
        resume()
    }

    func resume() {
        guard !isDelivering else { return }
        isDelivering = true
        while live == nil, let next = waiting.first, isHeld?(next.command) != true {
            waiting.removeFirst()
            count += 1
            let number = count
            live = (number, next, false)
            onDeliver?(next.command, CommandCompletion { [weak self] in self?.completed(number) })
        }
        isDelivering = false
    }

    private func completed(_ number: UInt64) {
        guard let live, live.number == number else { return }
        self.live = nil
        if live.entry.isOfGroup { onDone?(live.entry.command.id) }
        resume()
    }
}

/// The end of one command: its first call counts, and it is called at the latest when nobody holds it any more.
final class CommandCompletion: Sendable {
    private let body: @RouteActor () -> Void
    private let isCalled = Atomic(false)

    init(_ body: @escaping @RouteActor () -> Void) { self.body = body }

    deinit { call() }

    func call() {
        guard !isCalled.exchange(true, ordering: .relaxed) else { return }
        Task { @RouteActor [body] in body() }
    }
}
