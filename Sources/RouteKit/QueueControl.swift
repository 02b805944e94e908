// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import Observation

/// The queue of a session, as an object: its properties mirror the receiver's state, its functions ask for changes.
///
/// Every change names items by their `id`, so it means the same whatever other senders do at the same time. An item that
/// is gone is refused with `itemUnknown`.
@RouteActor @Observable public final class QueueControl {
    /// All items, in order. Empty at a receiver that has no queues.
    public private(set) var items: [QueuedItem] = []
    /// The name of the item that plays.
    public private(set) var currentID: String?
    /// The last refusal since the session began.
    public private(set) var lastRefusal: Refusal<QueueCommand>?

    private var shownRepeat = RepeatMode.off
    @ObservationIgnored private var remoteRepeat = RepeatMode.off
    @ObservationIgnored private var pendingRepeats = 0
    @ObservationIgnored private let session: String
    @ObservationIgnored private weak var performer: (any CommandPerformer)?
    @ObservationIgnored private var announcer = Announcer()

    init(session: String, performer: any CommandPerformer) {
        (self.session, self.performer) = (session, performer)
    }

    /// The item that plays.
    public var current: QueuedItem? { items.first { $0.id == currentID } }

    /// What happens after an item, or after the last one. A written value shows at once.
    public var repeatMode: RepeatMode {
        get { shownRepeat }
        set { send(.setRepeat(newValue)) }
    }

    /// A value after each change of anything here, the latest only; ends with the session.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    // MARK: Commands

    /// Puts items in and returns their names, in order. What does not fit one request goes in several: then a refusal may
    /// leave the first of them in the queue.
    @discardableResult public func insert(
        _ items: [QueueItem], at place: QueuePlace = .end
    ) async throws -> [String] {
        var names: [String] = []
        for part in try Codec.parts(items) {
            names += try await perform(.insert(part, at: names.last.map { .after($0) } ?? place))
        }
        return names
    }

    /// Takes items out. Without the current one the next one plays; without any the session is over.
    public func remove(_ items: [String]) async throws { try await perform(.remove(items)) }
    /// Puts an item elsewhere.
    public func move(_ item: String, to place: QueuePlace) async throws {
        try await perform(.move(item, to: place))
    }
    /// Goes to an item, from its start.
    public func jump(to item: String) async throws { try await perform(.jump(to: item)) }
    /// Goes on to the next item, unless another one than the one that is shown here as current plays by now. Behind the last
    /// item the session ends.
    public func next() async throws { try await perform(.next(from: currentID)) }
    /// Begins the current item again, or within its first three seconds goes to the one before.
    public func previous() async throws { try await perform(.previous(from: currentID)) }
    /// Takes out all but the current item.
    public func clear() async throws { try await perform(.clear) }

    /// Sends a command and waits for the receiver's answer: the names of items that were put in.
    @discardableResult public func perform(_ command: QueueCommand) async throws -> [String] {
        if case .insert(let items, let place) = command {
            let parts = try Codec.parts(items)
            if parts.count > 1 { return try await insert(items, at: place) }
        }
        return try await withCheckedThrowingContinuation { continuation in
            send(command) { continuation.resume(with: $0) }
        }
    }

    private func send(
        _ command: QueueCommand, then: (@RouteActor (Result<[String], RoutingError>) -> Void)? = nil
    ) {
        guard let performer else {
            let error = RoutingError(.ended, family: .session, "the session is over")
            refused(command, error)
            then?(.failure(error))
            return
        }
        var isRepeat = false
        if case .setRepeat(let mode) = command {
            isRepeat = true
            pendingRepeats += 1
            if shownRepeat != mode { shownRepeat = mode }
            announcer.announce()
        }
        performer.perform(command, session: session) { [weak self] result in
            if let self {
                if isRepeat { repeatAnswered(command, result) }
                if case .failure(let error) = result { refused(command, error) }
            }
            then?(result)
        }
    }

    private func repeatAnswered(_ command: QueueCommand, _ result: Result<[String], RoutingError>) {
        pendingRepeats -= 1
        if case .setRepeat(let mode) = command, case .success = result { remoteRepeat = mode }
        if pendingRepeats == 0, shownRepeat != remoteRepeat { shownRepeat = remoteRepeat }
    }

    private func refused(_ command: QueueCommand, _ error: RoutingError) {
        lastRefusal = Refusal(command: command, error: error)
        announcer.announce()
    }

    // MARK: Mirroring

    func mirror(_ snapshot: QueueSnapshot) {
        remoteRepeat = snapshot.repeatMode
        let shown = pendingRepeats == 0 ? remoteRepeat : shownRepeat
        guard items != snapshot.items || currentID != snapshot.current || shownRepeat != shown else { return }
        if items != snapshot.items { items = snapshot.items }
        if currentID != snapshot.current { currentID = snapshot.current }
        if shownRepeat != shown { shownRepeat = shown }
        announcer.announce()
    }

    /// The session is over; nothing changes any more.
    func finish() {
        performer = nil
        announcer.finish()
    }
}
