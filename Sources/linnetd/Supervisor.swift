// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Settings

/// Waits for the signal to end, on the receiver's loop, and tells the service manager that the loop is alive.
actor Supervisor {
    /// The numbers of the signals are the same on every Linux that runs Swift.
    private static let interrupt: Int32 = 2
    private static let terminate: Int32 = 15
    /// A receiver that has not ended by then will not.
    private static let patience = Duration.milliseconds(2800)

    private nonisolated let loop: GLibLoop
    private var sources: [EventSource] = []
    private var signals = 0
    private var waiter: CheckedContinuation<Void, Never>?

    init(loop: GLibLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// Takes over the signals. Before the receiver starts, so that none is missed.
    func begin() {
        for number in [Self.interrupt, Self.terminate] {
            sources.append(
                EventSource.signal(number) { [weak self] in self?.assumeIsolated { $0.signalled() } })
        }
        if let interval = ServiceManager.watchdogInterval {
            sources.append(EventSource.repeating(every: interval) { ServiceManager.watchdog() })
        }
    }

    /// Returns at the first signal.
    func untilSignalled() async {
        guard signals == 0 else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    /// A second signal does not wait for a clean end, and nobody waits for ever for one.
    private func signalled() {
        signals += 1
        guard signals == 1 else { Machine.exit(1) }
        sources.append(EventSource.after(Self.patience) { Machine.exit(1) })
        waiter?.resume()
        waiter = nil
    }
}
