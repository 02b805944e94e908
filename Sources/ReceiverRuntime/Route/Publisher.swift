// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

/// A version of the state as senders see it. Copies share their parts.
struct Snapshot {
    let version: Int64
    let state: JSONValue
}

/// Turns changes of the core's state into versions and steps between them. A step is encoded once, however many
/// senders follow.
struct Publisher {
    /// Senders extrapolate; a report that only confirms what they know is passed on about once a second.
    static let heartbeat: Int64 = 900_000_000
    /// Below what a person or another player could tell.
    static let steadiness: Int64 = 20_000_000

    private(set) var current: Snapshot
    private var composer: StateComposer
    /// The change from the version before the current one.
    private var lastStep: (base: Int64, text: String)?
    /// Encoded steps to the current version, by their base.
    private var joinedSteps: [Int64: String] = [:]
    private var sent: (session: SessionID, position: PlaybackPosition)?

    init(composer: StateComposer, state: ReceiverState, artwork: ArtworkShelf) {
        self.composer = composer
        current = Snapshot(version: 1, state: .null)
        current = Snapshot(version: 1, state: self.composer.compose(state, artwork: artwork))
    }

    /// Makes a new version if the state that senders see has changed.
    mutating func update(
        _ state: ReceiverState, artwork: ArtworkShelf, group: JSONValue? = nil,
        accessory: JSONValue? = nil, after event: ReceiverEvent
    ) {
        if case .renderer(.positionChanged) = event, isSteady(state) { return }
        let composed = composer.compose(state, artwork: artwork, group: group, accessory: accessory)
        guard let patch = MergePatch.diff(from: current.state, to: composed) else { return }
        let base = current.version
        current = Snapshot(version: base + 1, state: composed)
        joinedSteps = [:]
        lastStep = (base, Self.encode(from: base, to: base + 1, WireOrigin(state.lastOrigin), patch))
        sent = state.player.flatMap { id in state.sessions[id].map { (id, $0.position) } }
    }

    /// The step that brings a sender from what it has seen to the current version, as text.
    mutating func step(from seen: Snapshot) -> String {
        if let lastStep, lastStep.base == seen.version { return lastStep.text }
        if let text = joinedSteps[seen.version] { return text }
        let patch = MergePatch.diff(from: seen.state, to: current.state) ?? .object([:])
        let text = Self.encode(from: seen.version, to: current.version, .several, patch)
        joinedSteps[seen.version] = text
        return text
    }

    private static func encode(
        from base: Int64, to version: Int64, _ origin: WireOrigin, _ patch: JSONValue
    ) -> String {
        JSONText.encode(
            Notification.stateChanged(
                StateChange(version: version, base: base, origin: origin, patch: patch)))
    }

    /// True for a report that only confirms what senders extrapolate from the last one.
    private func isSteady(_ state: ReceiverState) -> Bool {
        guard let id = state.player, let position = state.sessions[id]?.position, let sent,
            sent.session == id,
            position.rate == sent.position.rate
        else { return false }
        let expected = sent.position.position(atClockTime: position.clockTime)
        guard let one = expected.nanoseconds, let other = position.position.nanoseconds else { return false }
        let drift = one.subtractingReportingOverflow(other)
        guard !drift.overflow, drift.partialValue.magnitude <= Self.steadiness.magnitude else { return false }
        if position.rate == 0 { return drift.partialValue == 0 }
        let age = position.clockTime.subtractingReportingOverflow(sent.position.clockTime)
        return !age.overflow && 0..<Self.heartbeat ~= age.partialValue
    }
}
