// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationProcess
import GLibLoop
import Settings

/// The process that starts one application for the daemon, as another user, from its connection to the program's end.
actor ApplicationService {
    /// The standard input, as service managers hand over a connection.
    static let connection: Int32 = 0

    private nonisolated let loop: GLibLoop
    private let configuration: ApplicationProcesses.Configuration
    private var service: LaunchService?
    private var signal: EventSource?
    private var end: CheckedContinuation<Int32, Never>?
    private var isOver = false

    init(_ configuration: ApplicationProcesses.Configuration, level: Journal.Level, loop: GLibLoop) {
        var configuration = configuration
        configuration.launcher = nil
        (self.configuration, self.loop) = (configuration, loop)
        Journal.start(level: level)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// Returns the exit code.
    func run() async -> Int32 {
        signal = EventSource.signal(15) { [weak self] in self?.assumeIsolated { $0.service?.end() } }
        service = LaunchService(
            configuration, connection: Descriptor(adopting: Self.connection), loop: loop, log: JournalLog()
        ) { [weak self] in self?.assumeIsolated { $0.over() } }
        guard !isOver else { return 0 }
        return await withCheckedContinuation { end = $0 }
    }

    private func over() {
        isOver = true
        end?.resume(returning: 0)
        end = nil
    }
}
