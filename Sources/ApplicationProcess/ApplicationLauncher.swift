// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import MediaModel
import ReceiverRuntime
import Settings

/// Starts the programs of applications as children of this process, behind walls, and ends those that use more than they
/// may. Made and used on a loop.
final class ApplicationLauncher {
    let configuration: ApplicationProcesses.Configuration
    private let log: any Log
    /// What waits for what the probe says, in its order.
    private var waiting: [() -> Void] = []
    private var probe: ConfinementProbe?
    /// Nil until it is known; then why programs cannot be confined, or nothing.
    private(set) var obstacle: String??
    private(set) var groups: ControlGroups?
    private let loop: GLibLoop
    private lazy var usage = UsageWatch<Int>(on: loop) { [weak self] in self?.runs[$0]?.kill($1) }
    private var runs: [Int: ApplicationRun] = [:]
    private(set) var number = 0
    private var isOver = false

    init(_ configuration: ApplicationProcesses.Configuration, loop: GLibLoop, log: any Log) {
        (self.configuration, self.loop, self.log) = (configuration, loop, log)
    }

    /// Looks whether programs can be confined, unless that is known, and then calls `body`, not from inside this call.
    func findOut(then body: @escaping () -> Void) {
        waiting.append(body)
        guard probe == nil else { return }
        if case .some(nil) = obstacle {
            EventSource.once(after: .zero) { [weak self] in self?.goOn() }
            return
        }
        if groups == nil { groups = ControlGroups() }
        probe = ConfinementProbe(bubblewrap: configuration.bubblewrap, user: try? user()) {
            [weak self] in self?.found($0)
        }
    }

    /// Takes it that programs can be confined where what is needed is installed: for one launch, which fails with
    /// bubblewrap's reason where that is not so.
    func trust() {
        groups = ControlGroups()
        obstacle = .some(ConfinementProbe.missing(bubblewrap: configuration.bubblewrap))
    }

    private func found(_ reason: String?) {
        guard !isOver else { return }
        probe = nil
        if obstacle != .some(reason) {
            log.write(
                reason == nil ? .info : .warning, ApplicationProcesses.label,
                reason == nil ? "applications can be confined" : "applications cannot be confined",
                ["reason": reason ?? "", "groups": groups?.reason ?? "by the kernel"])
        }
        obstacle = .some(reason)
        goOn()
    }

    private func goOn() {
        let all = waiting
        waiting = []
        for body in all { body() }
    }

    /// Starts what an application consists of: its program, which gets `socket`, or a browser that shows `page`. Whether
    /// programs can be confined must be known.
    func launch(
        _ entry: ApplicationCatalog.Entry, page: String?, socket: SharedDescriptor?, _ observer: LifeObserver
    ) throws -> ApplicationRun {
        number += 1
        let number = number
        let plan = try page.map { try self.plan(showing: $0, for: entry) } ?? self.plan(for: entry)
        let run = try ApplicationRun(plan, socket: socket, onLine: observer.onLine) { [weak self] exit in
            observer.onEnd(self?.ended(number, plan, exit) ?? exit)
        }
        runs[number] = run
        if let process = run.process {
            log.write(
                .debug, ApplicationProcesses.label, "application started",
                ["application": plan.name, "pid": String(process)])
            usage.add(
                number,
                .init(
                    process: process, limits: plan.limits, storage: plan.storage,
                    looksAtMemory: plan.hasSocket && plan.group == nil))
        }
        EventSource.once(after: .zero) { [weak self] in
            guard self?.runs[number] != nil else { return }
            observer.onStart(
                ApplicationStart(
                    layers: plan.layers,
                    storage: plan.storage.map { plan.isSandboxed ? Confinement.storage : $0 }))
        }
        return run
    }

    private func ended(_ number: Int, _ plan: LaunchPlan, _ exit: ApplicationExit) -> ApplicationExit {
        usage.remove(number)
        runs[number] = nil
        var exit = exit
        if let group = plan.group, let groups {
            if exit.cause == .signal(9), groups.ranOut(group) {
                exit.cause = .limit("more than \(plan.limits.memory >> 20) MiB of memory")
            }
            groups.remove(group)
        }
        return exit
    }

    /// Ends all by force. Nothing is told afterwards.
    func shutDown() {
        isOver = true
        (probe, waiting) = (nil, [])
        for (number, run) in runs {
            usage.remove(number)
            run.drop()
        }
        runs = [:]
    }
}
