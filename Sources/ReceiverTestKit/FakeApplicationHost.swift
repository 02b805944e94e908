// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import ReceiverRuntime
package import SessionCore

/// A host without processes: the test is the application. It remembers what it was asked for; what it reports is delivered by
/// `deliver`, never from inside a call.
package final class FakeApplicationHost: ApplicationHost {
    package enum Command: Equatable, Sendable {
        case launch(InstanceID, ApplicationID)
        case terminate(InstanceID)
        case kill(InstanceID, limit: String?)
        case shutDown
    }

    package private(set) var commands: [Command] = []
    /// Files of all applications, by their paths.
    package var files: [String: Page] = [:]
    package var script: Page?
    /// Processes end when they are asked to, or by force.
    package var isObedient = true
    /// The address that the newest page was launched with.
    package private(set) var address: String?
    private let catalog: [ApplicationManifest]
    private unowned let listener: FakeListener
    private weak var service: (any ApplicationService)?
    private var reporter: ((ApplicationHostEvent) -> Void)?
    private var waiting: [ApplicationHostEvent] = []

    package init(_ catalog: [ApplicationManifest], listener: FakeListener) {
        (self.catalog, self.listener) = (catalog, listener)
    }

    package func start(
        service: any ApplicationService, report: @escaping (ApplicationHostEvent) -> Void
    ) {
        (self.service, reporter) = (service, report)
        waiting.append(.catalogChanged(catalog))
    }

    package func launch(_ instance: InstanceID, _ application: ApplicationID) {
        commands.append(.launch(instance, application))
        address = service?.address(of: instance)
    }

    package func terminate(_ instance: InstanceID) {
        commands.append(.terminate(instance))
        if isObedient { waiting.append(.exited(instance, ApplicationExit(.signal(15)))) }
    }

    package func kill(_ instance: InstanceID, limit: String?) {
        commands.append(.kill(instance, limit: limit))
        let cause = limit.map { ApplicationExit.Cause.limit($0) } ?? .signal(9)
        waiting.append(.exited(instance, ApplicationExit(cause, log: ["the last line"])))
    }

    package func file(_ path: String, of application: ApplicationID) -> Page? { files[path] }

    package func storage(of instance: InstanceID) -> String? { "/storage" }

    package func shutDown() {
        commands.append(.shutDown)
        reporter = nil
    }

    // MARK: The test's hands

    /// The socket of an instance's process.
    package func connect(_ instance: InstanceID) -> FakeClient {
        listener.connect { service?.clientOpened($0, of: instance) }
    }

    /// Reports an event now.
    package func report(_ event: ApplicationHostEvent) { reporter?(event) }

    /// Delivers what waits. True if there was anything.
    package func deliver() -> Bool {
        guard !waiting.isEmpty else { return false }
        let events = waiting
        waiting = []
        for event in events { report(event) }
        return true
    }

    /// The instance that was launched last.
    package var newest: InstanceID? {
        for case .launch(let instance, _) in commands.reversed() { return instance }
        return nil
    }
}
