// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Writes changes down a moment after the first, all that came meanwhile together, and the last ones at shutdown:
/// turning a knob must neither wear out a memory card nor wait for it.
final class SavedStateWriter {
    /// Shorter than anybody takes to unplug the device after a change, longer than the steps of a slider.
    static let delay = Duration.milliseconds(200)

    private let store: any StateStore
    private let clock: any Clock
    /// Not nil while a change waits.
    private var timer: (any ScheduledTimer)?
    private var waiting: SavedState?

    init(store: any StateStore, clock: any Clock) { (self.store, self.clock) = (store, clock) }

    func save(_ state: SavedState) {
        waiting = state
        if timer == nil { timer = clock.schedule(after: Self.delay) { [weak self] in self?.finish() } }
    }

    /// Writes what waits now.
    func finish() {
        timer = nil
        if let waiting { store.save(waiting) }
        waiting = nil
    }
}
