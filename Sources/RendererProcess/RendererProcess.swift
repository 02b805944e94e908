// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
package import MediaModel
package import ReceiverRuntime
package import RendererWire

/// The renderer, in a process of its own: media is untrusted input to C libraries, and what is wedged there can only be
/// killed. Made and used on a loop.
package final class RendererProcess: Renderer {
    package struct Configuration: Sendable {
        /// The program's path.
        package var program: String
        package var arguments: [String] = []
        package var environment: [String: String] = [:]
        package var settings: [RendererSetting] = []
        /// The output as it is shown before a renderer has looked at it.
        package var device: String
        /// True: the process always runs. False: only while it is needed.
        package var isWarm = true
        /// How long a process on demand stays without a load.
        package var idleTime = Duration.seconds(60)
        package var pingInterval = Duration.seconds(5)
        /// How many pings may go unanswered: with the interval, ten seconds.
        package var pingLimit = 2
        /// How long a command may stay untaken by a renderer that has started.
        package var commandLimit = Duration.seconds(5)
        package init(program: String, device: String) { (self.program, self.device) = (program, device) }
    }

    private let configuration: Configuration
    private let log: any Log
    private var report: ((RendererEvent) -> Void)?
    private var link: RendererLink?
    private var policy = RestartPolicy()
    private var restarting: EventSource?
    /// What must not happen inside a call of the port.
    private var waiting: [(RendererProcess) -> Void] = []
    private var turn: EventSource?
    private var pinging: EventSource?
    private var idling: EventSource?
    private var pingNumber: UInt64 = 0
    /// Pings since the last answer. Counted, not timed: a daemon that was itself held up must not blame the renderer.
    private var unanswered = 0
    private var deadline = CommandDeadline()
    private var proving: EventSource?
    /// The load that the process has, or is being told to have.
    private var load: LoadID?
    /// The announcement that it has, or is being told to have.
    private var announcement: LoadID?
    /// True while it is to listen to capture devices: then it stays.
    private var isWatching = false
    /// Told to each process that is started while the receiver believes that one runs.
    private var outputVolume: Volume?
    /// True from a `started` that was reported to the next `exited`.
    private var isStarted = false

    package init(_ configuration: Configuration, log: any Log) {
        (self.configuration, self.log) = (configuration, log)
    }

    package func start(report: @escaping (RendererEvent) -> Void) {
        self.report = report
        later { $0.begin() }
    }

    package func send(_ command: RendererCommand) {
        guard report != nil, isStarted else { return }
        switch command {
        case .load(let load, _, _), .loadCapture(let load, _, _): self.load = load
        case .setOutputVolume(let volume):
            outputVolume = volume
            guard link != nil else { return }
        case .stop(let load) where link == nil:
            later { $0.report?(.stopped(load)) }
            return
        case .announce(let load, _): announcement = load
        case .watchCapture(let watches):
            isWatching = !watches.isEmpty
            guard link != nil || isWatching else { return }
        case .warmUp: break
        default: guard link != nil else { return }
        }
        launchIfNeeded()
        let step = deadline.commanded()
        if case .ping(let number) = step {
            link?.send(command, ping: number)
            awaitAnswer()
        } else {
            link?.send(command, ping: nil)
        }
        switch command {
        case .load, .loadCapture, .setPlaying, .seek: link?.letRun()
        default: break
        }
        watchHealth()
        watchIdleness()
    }

    package func hand(over descriptor: Int32, token: UInt64) {
        // Whatever comes of it, it is closed here.
        let descriptor = SharedDescriptor(Descriptor(adopting: descriptor))
        guard report != nil, isStarted else { return }
        launchIfNeeded()
        link?.hand(over: descriptor, token: token)
        watchIdleness()
    }

    private func launchIfNeeded() {
        guard link == nil else { return }
        launch()
        if let outputVolume { link?.send(.command(.setOutputVolume(outputVolume))) }
    }

    package func restart(reason: String) {
        if let link {
            link.kill(reason)
        } else if isStarted {
            later { $0.exited(reason, afterLiving: .zero) }
        }
    }

    package func shutDown() {
        (report, restarting, pinging, idling, proving) = (nil, nil, nil, nil, nil)
        (turn, waiting) = (nil, [])
        link?.retire()
        link = nil
    }

    private func later(_ body: @escaping (RendererProcess) -> Void) {
        waiting.append(body)
        guard turn == nil else { return }
        turn = EventSource.after(.zero) { [weak self] in
            guard let self else { return }
            let bodies = waiting
            (turn, waiting) = (nil, [])
            for body in bodies { body(self) }
        }
    }

    // MARK: Life of the process

    /// Begins, or begins again after an exit.
    private func begin() {
        guard report != nil else { return }
        if configuration.isWarm {
            launch()
            link?.send(.command(.warmUp))
        } else {
            isStarted = true
            report?(.started(OutputStatus(state: .closed, device: configuration.device)))
        }
    }

    private func launch() {
        do {
            let link = try RendererLink(
                [configuration.program] + configuration.arguments, environment: configuration.environment,
                settings: configuration.settings,
                onMessage: { [weak self] in self?.take($0) }, onEnd: { [weak self] in self?.ended($0) })
            self.link = link
            log.write(
                .info, "receiver.renderer", "renderer launched", ["pid": link.process.map(String.init) ?? ""])
            (deadline, proving) = (CommandDeadline(), nil)
        } catch {
            isStarted = false
            later { $0.exited("cannot be launched: \(error)", afterLiving: .zero) }
        }
    }

    private func take(_ message: RendererMessage) {
        switch message {
        case .pong(let number):
            unanswered = 0
            perform(deadline.answered(number))
        case .event(.started(let status)) where isStarted:
            report?(.outputChanged(status))
            perform(deadline.started())
        case .event(.exited): break
        case .event(let event):
            switch event {
            case .started:
                isStarted = true
                perform(deadline.started())
            case .stopped(let load), .ended(let load), .failed(let load, _):
                if load == self.load { self.load = nil }
                watchHealth()
                watchIdleness()
            case .announcementEnded(let load), .announcementFailed(let load, _):
                if load == announcement { announcement = nil }
                watchHealth()
                watchIdleness()
            case .advanced(let load, let next): if load == self.load { self.load = next }
            default: break
            }
            report?(event)
        case .hello, .configure, .command, .ping, .handOver:
            link?.kill("it sent a message that only the daemon sends")
        }
    }

    /// A process is asked again and again whether it is alive only while it has a load: nothing wakes either side while
    /// nothing is to play. One that was stuck meanwhile is found out by the next command.
    private func watchHealth() {
        guard isBusy, link != nil else { return pinging = nil }
        guard pinging == nil else { return }
        unanswered = 0
        pinging = EventSource.repeating(every: configuration.pingInterval) { [weak self] in self?.ping() }
    }

    private var isBusy: Bool { load != nil || announcement != nil }

    private func perform(_ step: CommandDeadline.Step?) {
        switch step {
        case .ping(let number):
            link?.send(.ping(number))
            awaitAnswer()
        case .rest: proving = nil
        case nil: break
        }
    }

    private func awaitAnswer() {
        proving = EventSource.after(configuration.commandLimit) { [weak self] in
            // A daemon that was itself held up reads first what came meanwhile.
            self?.proving = EventSource.after(.milliseconds(100)) {
                self?.link?.kill("it does not take its commands")
            }
        }
    }

    private func ping() {
        guard unanswered < configuration.pingLimit else {
            link?.kill("it left \(unanswered) pings unanswered")
            return
        }
        unanswered += 1
        pingNumber &+= 1
        link?.send(.ping(pingNumber))
    }

    private func ended(_ reason: String) {
        guard let link else { return }
        self.link = nil
        exited(reason, afterLiving: .nanoseconds(MonotonicClock.nanoseconds - link.startedAt))
    }

    private func exited(_ reason: String, afterLiving age: Duration) {
        (load, announcement, isStarted, isWatching) = (nil, nil, false, false)
        (pinging, idling, proving) = (nil, nil, nil)
        let pause = policy.pause(afterLiving: age)
        restarting = EventSource.after(pause) { [weak self] in
            self?.restarting = nil
            self?.begin()
        }
        report?(.exited(reason: reason))
    }

    /// A process on demand ends when it had nothing to play for a while.
    private func watchIdleness() {
        guard !configuration.isWarm else { return }
        idling = nil
        guard !isBusy, !isWatching, link != nil else { return }
        idling = EventSource.after(configuration.idleTime) { [weak self] in
            guard let self, !isBusy, !isWatching else { return }
            log.write(.info, "receiver.renderer", "renderer ended, nothing to play", [:])
            (pinging, idling, proving) = (nil, nil, nil)
            link?.retire()
            link = nil
        }
    }
}
