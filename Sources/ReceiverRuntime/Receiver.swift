// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// A receiver on one executor. Ports are made there and call back there, so everything inside is synchronous.
///
/// It never waits for a port: what takes time comes back as an event.
package actor Receiver {
    private let executor: any SerialExecutor
    private let configuration: ReceiverConfiguration
    private let log: any Log
    private var shell: ReceiverShell?

    /// The executor must be the one on which the ports report, such as the GLib loop of their adapters.
    package init(executor: any SerialExecutor, configuration: ReceiverConfiguration, log: any Log) {
        (self.executor, self.configuration, self.log) = (executor, configuration, log)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Makes the ports, on the executor, and connects them. Once, before `start`.
    package func install(_ make: @Sendable () -> ReceiverPorts) {
        shell = ReceiverShell(configuration: configuration, ports: make(), log: log)
    }

    /// Restores the state, opens the port, starts the renderer and advertises. Returns the port.
    package func start() throws -> UInt16 {
        guard let shell else { throw NotInstalled() }
        return try shell.start()
    }

    /// What is to be said of the receiver; nil before it was started.
    package var status: ReceiverStatus? { shell?.status }

    /// Tells the senders that what is to be written down cannot be, and why; nil: it can, again.
    package func storageChanged(fault: String?) { shell?.handle(.storageChanged(fault: fault)) }

    /// Tells the senders, withdraws the advertisement, closes port and clients, ends the renderer and writes the
    /// state down. Returns when that is done, at the latest after `ReceiverShell.shutDownLimit`.
    package func shutDown() async {
        guard let shell else { return }
        await withCheckedContinuation { continuation in
            shell.shutDown { continuation.resume() }
        }
    }

    /// `start` came before `install`.
    package struct NotInstalled: Error, CustomStringConvertible {
        package var description: String { "the receiver has no ports" }
    }
}
