// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop

/// One life of an application's processes that a service starts, see `LaunchService`. Made and used on a loop.
final class RemoteRun: ApplicationLife {
    /// The service kills within a second; one that says nothing then is not there any more.
    private static let patience = Duration.seconds(3)

    private let link: ByteLink
    private var reader = LaunchMessageReader()
    private var observer: LifeObserver?
    private var notes: [String] = []
    private var hasStarted = false
    private var limit: String?
    private var giveUp: EventSource?

    /// Asks the service that listens at `path` to start an application.
    init(
        _ application: ApplicationID, page: String?, socket: SharedDescriptor?, by path: String,
        _ observer: LifeObserver
    ) throws(ApplicationProcesses.Refusal) {
        do {
            link = try ByteLink(connectingTo: path)
        } catch {
            throw ApplicationProcesses.Refusal(
                "the service that starts applications cannot be reached at \(path): \(error.message)")
        }
        self.observer = observer
        link.onReceive = { [weak self] in self?.receive($0) }
        link.onClosed = { [weak self] in self?.lost("the service that starts applications has gone") }
        guard link.send(LaunchMessage.launch(application, page: page).bytes, passing: socket) else {
            throw ApplicationProcesses.Refusal("the service that starts applications takes nothing")
        }
    }

    func note(_ text: String) { notes.append(text) }
    func terminate() { send(.terminate) }

    func kill(_ limit: String?) {
        self.limit = self.limit ?? limit
        send(.kill(limit: limit))
        if giveUp == nil {
            giveUp = EventSource.after(Self.patience) { [weak self] in self?.finish(.signal(9)) }
        }
    }

    func drop() {
        (observer, giveUp) = (nil, nil)
        // The service ends everything with the connection.
        link.close()
    }

    private func send(_ message: LaunchMessage) {
        if observer != nil, !link.send(message.bytes) {
            lost("the service that starts applications does not read")
        }
    }

    private func receive(_ bytes: [UInt8]) {
        reader.push(bytes)
        do throws(LaunchMessage.Fault) {
            while observer != nil, let message = try reader.next() { try take(message) }
        } catch {
            lost("the service that starts applications cannot be understood: \(error)")
        }
    }

    private func take(_ message: LaunchMessage) throws(LaunchMessage.Fault) {
        switch message {
        case .started(let start):
            guard !hasStarted else { throw LaunchMessage.Fault("it started twice") }
            hasStarted = true
            observer?.onStart(start)
        case .line(let text): observer?.onLine(text)
        case .exited(let exit): finish(exit.cause, log: exit.log)
        case .launch, .terminate, .kill: throw LaunchMessage.Fault("it asks for something")
        }
    }

    /// What was started ends with the connection.
    private func lost(_ reason: String) {
        note("(\(reason))")
        finish(hasStarted ? .signal(9) : .notStarted(reason))
    }

    private func finish(_ cause: ApplicationExit.Cause, log: [String] = []) {
        link.close()
        giveUp = nil
        let told = observer
        observer = nil
        let ended = limit.map { ApplicationExit.Cause.limit($0) }
        told?.onEnd(ApplicationExit(ended ?? cause, log: Array((log + notes).suffix(OutputLines.kept))))
    }
}
