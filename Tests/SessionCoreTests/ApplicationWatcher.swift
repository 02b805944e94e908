// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import SessionCore

/// Checks after every event what must hold of applications, whatever happened before.
struct ApplicationWatcher: Equatable {
    /// Instances that have a process.
    private var processes: Set<InstanceID> = []
    private var open: Set<UInt32> = []
    private var lastChannel: UInt32 = 0
    private var faults: [String] = []

    private mutating func expect(_ holds: Bool, _ fault: @autoclosure () -> String) {
        if !holds { faults.append(fault()) }
    }

    mutating func look(
        _ event: ReceiverEvent, _ before: ReceiverState, _ effects: [ReceiverEffect], _ state: ReceiverState
    ) -> [String] {
        faults = []
        if case .instanceExited(let id, _) = event { processes.remove(id) }
        if case .shutdownRequested = event { processes = [] }
        if case .instanceTimedOut(let id, let timer, let generation) = event,
            before.applications.instances[id]?.timers[timer] != generation
        {
            expect(effects.isEmpty && before.applications == state.applications, "an old timer counts")
        }
        for effect in effects { check(effect, before, state) }
        checkChannels(state)
        for (id, instance) in state.applications.instances { check(id, instance, state) }
        checkSessions(state)
        return faults
    }

    private mutating func check(
        _ effect: ReceiverEffect, _ before: ReceiverState, _ state: ReceiverState
    ) {
        switch effect {
        case .launch(let id, _):
            expect(processes.insert(id).inserted, "a second process of an instance")
            expect(state.applications.instances[id]?.phase == .launching, "a process that nobody waits for")
        case .terminate(let id), .kill(let id, _):
            expect(processes.contains(id), "no process to end")
        case .armInstanceTimer(let id, let timer, let generation):
            expect(
                state.applications.instances[id]?.timers[timer] == generation, "a timer that ends nothing")
        case .openChannel(let opening):
            expect(opening.channel > lastChannel, "a channel's number is used again")
            lastChannel = opening.channel
            open.insert(opening.channel)
        case .closeChannel(let channel): expect(open.remove(channel) != nil, "a channel is closed twice")
        case .tell(let id, .opened(let session)):
            expect(state.applications.instances[id]?.phase == .running, "told before hello")
            expect(state.applications.sessions[session]?.phase == .active, "opened and not active")
        default: break
        }
    }

    private mutating func checkChannels(_ state: ReceiverState) {
        let known =
            state.applications.sessions.values.map(\.channel) + state.applications.routeChannels.map(\.key)
        expect(Set(known) == open && known.count == open.count, "channels are not as they were told")
        for channel in state.applications.routeChannels.values {
            expect(
                state.routes[channel.route]?.connection == channel.connection,
                "a route channel outlives its connection")
        }
    }

    private mutating func check(
        _ id: InstanceID, _ instance: ApplicationInstance, _ state: ReceiverState
    ) {
        let sessions = state.applications.sessions.values.filter { $0.instance == id }
        let channels = state.applications.routeChannels.values.filter { $0.instance == id }
        if let media = instance.media {
            expect(state.sessions[media]?.application == id, "media that is not there")
            expect(instance.manifest.permissions.contains(.player), "media without permission")
        }
        if let connection = instance.connection {
            expect(state.connections.contains(connection), "a client on a lost connection")
        }
        switch instance.phase {
        case .launching:
            expect(sessions.allSatisfy { $0.phase == .launching }, "active before hello")
            expect(!sessions.isEmpty || !channels.isEmpty, "launched for nobody")
        case .running:
            expect(sessions.allSatisfy { $0.phase == .active }, "not active after hello")
            expect(
                !sessions.isEmpty || !channels.isEmpty || instance.timers[.idle] != nil
                    || instance.timers[.kill] != nil, "runs for nobody")
        case .ending:
            expect(sessions.isEmpty && channels.isEmpty && instance.media == nil, "not over while ending")
        }
        expect(instance.crashes <= Applications.restartLimit, "started too often")
    }

    private mutating func checkSessions(_ state: ReceiverState) {
        expect(state.applications.instances.count <= Applications.instanceLimit, "too many instances")
        expect(state.applications.sessions.count <= Applications.sessionLimit, "too many sessions")
        for session in state.applications.sessions.values {
            expect(state.applications.instances[session.instance] != nil, "a session without an instance")
            expect(session.route.map { state.routes[$0] != nil } ?? true, "a session of a route that is gone")
        }
        for (id, session) in state.sessions {
            guard let instance = session.application else { continue }
            expect(session.route == nil, "media of a route and of an application")
            expect(
                state.applications.instances[instance]?.media == id, "media outlives its application")
        }
    }
}
