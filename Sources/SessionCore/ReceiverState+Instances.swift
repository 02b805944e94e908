// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel

// The life of an instance of an application.

extension ReceiverState {
    func arming(_ timer: InstanceTimer, _ id: InstanceID, _ generation: UInt64?) -> [ReceiverEffect] {
        generation.map { [.armInstanceTimer(id, timer, generation: $0)] } ?? []
    }

    mutating func arm(_ timer: InstanceTimer, _ id: InstanceID) -> [ReceiverEffect] {
        arming(timer, id, applications.instances[id]?.arm(timer))
    }

    /// A client came that is an instance's: the first one while it is awaited.
    mutating func applicationConnected(_ connection: ConnectionID, _ id: InstanceID) -> [ReceiverEffect] {
        guard let instance = applications.instances[id], instance.connection == nil,
            instance.phase == .launching, instance.doom == nil
        else { return [.closeConnection(connection)] }
        connections.insert(connection)
        applications.instances[id]?.connection = connection
        return []
    }

    /// Its socket is closed; its exit follows, or is helped along.
    mutating func applicationLost(_ id: InstanceID) -> [ReceiverEffect] {
        applications.instances[id]?.connection = nil
        guard let instance = applications.instances[id], instance.phase != .ending, instance.doom == nil
        else {
            return []
        }
        return arm(.end, id)
    }

    mutating func instanceTimedOut(
        _ id: InstanceID, _ timer: InstanceTimer, generation: UInt64
    ) -> [ReceiverEffect] {
        guard let instance = applications.instances[id], instance.timers[timer] == generation else {
            return []
        }
        applications.instances[id]?.timers[timer] = nil
        switch timer {
        case .launch:
            return doom(id, ApplicationFailure(.launchTimeout, "The application said no hello in time."))
        case .idle: return isUnused(id) ? beginEnding(id) : []
        case .end: return [.terminate(id)] + arm(.kill, id)
        case .kill:
            guard let doom = instance.doom else { return [.kill(id, limit: nil)] }
            // The host owes the exit; senders wait no longer for it.
            applications.instances[id]?.phase = .ending
            return endAll(of: id, .applicationFailed(doom))
        case .calm:
            applications.instances[id]?.crashes = 0
            return []
        }
    }

    private func isUnused(_ id: InstanceID) -> Bool {
        applications.sessions(of: id).isEmpty && applications.channels(of: id).isEmpty
    }

    /// After the last session a shared instance waits for another, all others end.
    mutating func restIfUnused(_ id: InstanceID) -> [ReceiverEffect] {
        guard let instance = applications.instances[id], instance.phase != .ending, isUnused(id) else {
            return []
        }
        guard instance.doom == nil else {
            // It is being ended by force already.
            applications.instances[id]?.phase = .ending
            return []
        }
        let waits =
            instance.phase == .running && instance.manifest.instance == .shared
            && instance.manifest.limits.idleSeconds > 0
        return waits ? arm(.idle, id) : beginEnding(id)
    }

    private mutating func beginEnding(_ id: InstanceID) -> [ReceiverEffect] {
        guard let instance = applications.instances[id] else { return [] }
        applications.instances[id]?.phase = .ending
        applications.instances[id]?.timers = [:]
        let media = instance.media.map { end($0, .stopped) } ?? []
        guard instance.phase == .running, instance.connection != nil else {
            return media + [.terminate(id)] + arm(.kill, id)
        }
        let time = InstanceTimer.end.duration(instance.manifest)
        return media + [.tell(id, .ending(reason: "No session is left.", within: time))] + arm(.end, id)
    }

    /// Ends an instance by force. Its sessions fail when its exit tells the last lines of its log.
    mutating func doom(_ id: InstanceID, _ failure: ApplicationFailure) -> [ReceiverEffect] {
        guard let instance = applications.instances[id], instance.doom == nil else { return [] }
        let limit = failure.code == .limitExceeded ? failure.message : nil
        let connection: [ReceiverEffect] = instance.connection.map { [.closeConnection($0)] } ?? []
        applications.instances[id]?.connection = nil
        if instance.phase == .ending { return connection + [.kill(id, limit: limit)] }
        applications.instances[id]?.doom = failure
        applications.instances[id]?.timers = [:]
        let media = instance.media.map { end($0, .applicationFailed(failure)) } ?? []
        return media + connection + [.kill(id, limit: limit)] + arm(.kill, id)
    }

    mutating func instanceExited(_ id: InstanceID, _ exit: ApplicationExit) -> [ReceiverEffect] {
        guard let instance = applications.instances[id] else { return [] }
        let connection: [ReceiverEffect] = instance.connection.map { [.closeConnection($0)] } ?? []
        if let failure = instance.failure(exit), mayRestart(id, failure) {
            return connection + restart(id, failure)
        }
        applications.instances[id] = nil
        let reason = instance.failure(exit).map { EndReason.applicationFailed($0) } ?? .finished
        let media = instance.media.map { end($0, reason) } ?? []
        return connection + media + endAll(of: id, reason)
    }

    private func mayRestart(_ id: InstanceID, _ failure: ApplicationFailure) -> Bool {
        guard let instance = applications.instances[id], instance.phase == .running, instance.doom == nil,
            failure.code == .crashed
        else { return false }
        return instance.manifest.restart == .onFailure && instance.crashes < Applications.restartLimit
            && !applications.sessions(of: id).isEmpty
    }

    private mutating func restart(_ id: InstanceID, _ failure: ApplicationFailure) -> [ReceiverEffect] {
        guard var instance = applications.instances[id] else { return [] }
        let media = instance.media.map { end($0, .applicationFailed(failure)) } ?? []
        (instance.phase, instance.connection, instance.media) = (.launching, nil, nil)
        (instance.confinement, instance.timers) = (nil, [:])
        instance.crashes += 1
        instance.restarts += 1
        applications.instances[id] = instance
        var effects = media + [.interruptChannels(id)]
        for channel in applications.channels(of: id) {
            applications.routeChannels[channel] = nil
            effects.append(.closeChannel(channel))
        }
        for session in applications.sessions(of: id) { applications.sessions[session]?.phase = .launching }
        return effects + [.launch(id, instance.manifest.id)] + arm(.launch, id)
    }

    /// Ends all sessions and channels of an instance that is gone, or as good as gone.
    private mutating func endAll(of id: InstanceID, _ reason: EndReason) -> [ReceiverEffect] {
        var effects: [ReceiverEffect] = []
        for channel in applications.channels(of: id) {
            applications.routeChannels[channel] = nil
            effects.append(.closeChannel(channel))
        }
        for session in applications.sessions(of: id) {
            // Nobody is there to be told.
            applications.sessions[session]?.phase = .launching
            effects += endApplicationSession(session, reason)
        }
        return effects
    }

    /// Every session ends; the host ends the processes.
    mutating func shutDownApplications() -> [ReceiverEffect] {
        applications.instances = [:]
        var effects: [ReceiverEffect] = []
        for channel in applications.routeChannels.keys.sorted() { effects.append(.closeChannel(channel)) }
        applications.routeChannels = [:]
        let all = applications.sessions.sorted { $0.value.channel < $1.value.channel }
        for (id, _) in all { effects += endApplicationSession(id, .shutdown) }
        return effects
    }
}

extension ApplicationInstance {
    /// Why its sessions fail by an exit; nil if they are finished.
    fileprivate func failure(_ exit: ApplicationExit) -> ApplicationFailure? {
        var failure = doom
        if failure == nil {
            switch (phase, exit.cause) {
            case (_, .limit(let words)): failure = ApplicationFailure(.limitExceeded, words)
            case (_, .notStarted(let words)): failure = ApplicationFailure(.launchFailed, words)
            case (.launching, let cause):
                failure = ApplicationFailure(
                    .launchFailed, "The application ended before hello\(cause.words).")
            case (_, .status(0)): return nil
            case (_, let cause):
                failure = ApplicationFailure(.crashed, "The application ended\(cause.words).")
            }
        }
        failure?.log = exit.log.suffix(Applications.logLimit).map { $0.prefix(bytes: Applications.lineLimit) }
        return failure
    }
}

extension ApplicationExit.Cause {
    fileprivate var words: String {
        switch self {
        case .status(let status): " with status \(status)"
        case .signal(let signal): " by signal \(signal)"
        case .notStarted, .limit: ""
        }
    }
}
