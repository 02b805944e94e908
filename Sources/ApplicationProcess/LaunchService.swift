// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
package import GLibLoop
import MediaModel
package import ReceiverRuntime

/// Starts one application for a receiver, which is another process with another user and fewer rights: so the receiver,
/// which speaks with the network, needs none of the rights that walls around programs are made with, and programs have
/// none of its files. It ends with its connection. Made and used on a loop.
///
/// The receiver says which of the installed applications it is; where those are, what shows pages and whether walls are
/// needed is this process's own configuration.
package final class LaunchService {
    /// Whoever connects says at once what for.
    private static let patience = Duration.seconds(10)

    private let configuration: ApplicationProcesses.Configuration
    private let launcher: ApplicationLauncher
    private let link: ByteLink
    private var reader = LaunchMessageReader()
    private var socket: SharedDescriptor?
    private var application: ApplicationID?
    private var run: ApplicationRun?
    /// What came before it ran.
    private var isKilled = false
    private var giveUp: EventSource?
    private var onEnd: (() -> Void)?

    /// Serves `connection`. `onEnd` is called once, when nothing is left to do.
    package init(
        _ configuration: ApplicationProcesses.Configuration, connection: consuming Descriptor, loop: GLibLoop,
        log: any Log, onEnd: @escaping () -> Void
    ) {
        self.configuration = configuration
        launcher = ApplicationLauncher(configuration, loop: loop, log: log)
        link = ByteLink(connection)
        self.onEnd = onEnd
        link.onDescriptor = { [weak self] in self?.socket = self?.socket ?? $0 }
        link.onReceive = { [weak self] in self?.receive($0) }
        link.onClosed = { [weak self] in self?.end() }
        giveUp = EventSource.after(Self.patience) { [weak self] in self?.end() }
    }

    /// Ends everything by force.
    package func end() {
        (run, giveUp) = (nil, nil)
        launcher.shutDown()
        link.close()
        let body = onEnd
        onEnd = nil
        body?()
    }

    private func receive(_ bytes: [UInt8]) {
        reader.push(bytes)
        do throws(LaunchMessage.Fault) {
            while onEnd != nil, let message = try reader.next() { try take(message) }
        } catch {
            end()
        }
    }

    private func take(_ message: LaunchMessage) throws(LaunchMessage.Fault) {
        switch message {
        case .launch(let application, let page):
            guard self.application == nil else { throw LaunchMessage.Fault("a second launch") }
            (self.application, giveUp) = (application, nil)
            launch(application, page: page)
        case .terminate: if let run { run.terminate() } else { stop() }
        case .kill(let limit): if let run { run.kill(limit) } else { stop() }
        case .started, .line, .exited: throw LaunchMessage.Fault("it tells what only a service tells")
        }
    }

    private func launch(_ application: ApplicationID, page: String?) {
        let catalog = ApplicationCatalog(folders: configuration.folders, isRoot: configuration.isRoot)
        guard let entry = catalog.entries[application] else {
            return finish(
                ApplicationExit(.notStarted("\(application) is not installed for the service that starts it"))
            )
        }
        guard page == nil else { return begin(entry, page: page) }
        guard socket != nil else { return finish(ApplicationExit(.notStarted("no socket came with it"))) }
        if configuration.requiresConfinement {
            launcher.trust()
            return begin(entry, page: nil)
        }
        launcher.findOut { [weak self] in self?.begin(entry, page: nil) }
    }

    private func begin(_ entry: ApplicationCatalog.Entry, page: String?) {
        guard onEnd != nil, !isKilled else { return }
        let observer = LifeObserver(
            onStart: { [weak self] in self?.send(.started($0)) },
            // A line that does not fit is lost; the end tells the last ones.
            onLine: { [weak self] in _ = self?.link.send(LaunchMessage.line($0).bytes) },
            onEnd: { [weak self] in self?.finish($0) })
        do {
            run = try launcher.launch(entry, page: page, socket: socket, observer)
            // Its end would be no end while this process holds it open.
            socket = nil
        } catch {
            let reason = (error as? ApplicationProcesses.Refusal)?.reason ?? (error as? Failure)?.message
            finish(ApplicationExit(.notStarted(reason ?? "\(error)")))
        }
    }

    /// It is not wanted any more before it ran.
    private func stop() {
        isKilled = true
        finish(ApplicationExit(.signal(9)))
    }

    private func send(_ message: LaunchMessage) {
        if !link.send(message.bytes) { end() }
    }

    /// Tells the end, and ends when that was taken.
    private func finish(_ exit: ApplicationExit) {
        run = nil
        link.onDrained = { [weak self] in self?.end() }
        send(.exited(exit))
        if link.queued == 0 { EventSource.once(after: .zero) { [weak self] in self?.end() } }
    }
}
