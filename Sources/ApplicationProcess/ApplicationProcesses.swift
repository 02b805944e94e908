// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import GLibLoop
import MediaModel
package import ReceiverRuntime
import Sandbox
package import SessionCore
import Settings

/// Companion applications, each in processes of its own behind walls: they are programs of strangers. Made and used on a
/// loop.
package final class ApplicationProcesses: ApplicationHost {
    package struct Configuration: Sendable {
        /// Where applications are installed; the later folder wins.
        package var folders: [String]
        /// Where they keep files, each in a folder of its own.
        package var storageFolder: String
        /// Whose rights they have when this process is root's.
        package var user = "nobody"
        /// False: where they cannot be confined they are started all the same.
        package var requiresConfinement = true
        /// The command line that shows a page, `%u` its URL; empty: there is none.
        package var browser: [String] = []
        /// The folder of the Python helper.
        package var python: String?
        /// The file of the helper for pages.
        package var script: String?
        package var isRoot = false
        /// The program that makes the walls; nil if it is not installed.
        package var bubblewrap = ApplicationProcesses.bubblewrap
        package init(folders: [String], storageFolder: String) {
            (self.folders, self.storageFolder) = (folders, storageFolder)
        }
    }

    /// How long changes of the folders must rest before they are looked at.
    private static let settling = Duration.milliseconds(300)
    private static let label = "receiver.application"

    let configuration: Configuration
    let log: any Log
    private let loop: GLibLoop
    private weak var service: (any ApplicationService)?
    private var report: ((ApplicationHostEvent) -> Void)?
    private var catalog: ApplicationCatalog?
    private let scans: Inbox<ApplicationCatalog>
    private var isScanning = false
    private var wantsScan = false
    private var folders: FolderWatch?
    private var runs: [InstanceID: ApplicationRun] = [:]
    /// Those that wait for what the probe says, in their order.
    private var waiting: [(InstanceID, ApplicationCatalog.Entry)] = []
    private var probe: ConfinementProbe?
    /// Nil until it is known; then why programs cannot be confined, or nothing.
    private var obstacle: String??
    private var groups: ControlGroups?
    private lazy var usage = UsageWatch<InstanceID>(on: loop) { [weak self] in self?.runs[$0]?.kill($1) }
    private var number = 0

    package init(_ configuration: Configuration, loop: GLibLoop, log: any Log) {
        (self.configuration, self.loop, self.log) = (configuration, loop, log)
        scans = Inbox(on: loop, limit: 1)
    }

    package func start(
        service: any ApplicationService, report: @escaping (ApplicationHostEvent) -> Void
    ) {
        (self.service, self.report) = (service, report)
        scans.open { [weak self] in self?.take($0) }
        folders = FolderWatch(settling: Self.settling) { [weak self] in self?.scan() }
        // At once, so that whoever comes as soon as the port is open finds what is installed.
        isScanning = true
        for folder in configuration.folders { folders?.add(folder) }
        let found = ApplicationCatalog(folders: configuration.folders, isRoot: configuration.isRoot)
        EventSource.once(after: .zero) { [weak self] in self?.take(found) }
    }

    package func launch(_ instance: InstanceID, _ application: ApplicationID) {
        guard report != nil else { return }
        guard let entry = catalog?.entries[application] else {
            return refuse(instance, "\(application) is not installed")
        }
        switch entry.manifest.content {
        case .program:
            waiting.append((instance, entry))
            findOut()
        case .page:
            guard let page = service?.address(of: instance) else {
                return refuse(instance, "its page has no URL")
            }
            begin(instance, entry.manifest.id) { try self.plan(showing: page, for: entry) }
        }
    }

    package func terminate(_ instance: InstanceID) {
        if let run = runs[instance] { run.terminate() } else { forget(instance) }
    }

    package func kill(_ instance: InstanceID, limit: String?) {
        if let run = runs[instance] { run.kill(limit) } else { forget(instance) }
    }

    package func file(_ path: String, of application: ApplicationID) -> Page? {
        catalog?.page(path, of: application)
    }

    /// Read when the first page asks for it, and kept.
    package private(set) lazy var script: Page? = configuration.script.flatMap { path in
        guard let body = try? FileSystem.read(path, maximum: ApplicationCatalog.scriptLimit) else {
            return nil
        }
        var page = ApplicationCatalog.page(named: path, body)
        page.headers["Cache-Control"] = "max-age=3600"
        return page
    }

    package func storage(of instance: InstanceID) -> String? {
        guard let plan = runs[instance]?.plan, let folder = plan.storage else { return nil }
        return plan.isSandboxed ? Confinement.storage : folder
    }

    package func shutDown() {
        (report, service, folders, probe, waiting) = (nil, nil, nil, nil, [])
        for (instance, run) in runs {
            usage.remove(instance)
            run.drop()
        }
        runs = [:]
    }

    // MARK: The catalog

    private func scan() {
        guard !isScanning else { return wantsScan = true }
        isScanning = true
        // The folders may lie on a medium that lets one wait.
        let (wanted, isRoot, scans) = (configuration.folders, configuration.isRoot, scans)
        for folder in wanted { folders?.add(folder) }
        BackgroundThread.run(named: "applications") {
            scans.yield(ApplicationCatalog(folders: wanted, isRoot: isRoot))
        }
    }

    private func take(_ found: ApplicationCatalog) {
        isScanning = false
        guard report != nil else { return }
        for fault in found.faults where catalog?.faults.contains(fault) != true {
            log.write(.warning, Self.label, "application not taken", ["reason": fault])
        }
        let old = catalog
        catalog = found
        if old?.manifests != found.manifests { report?(.catalogChanged(found.manifests)) }
        // So that the first launch need not wait for it.
        if !found.entries.isEmpty, obstacle == nil { findOut() }
        if old?.places != found.places {
            for place in found.places { folders?.add(place) }
            // What changed in them before they were watched.
            wantsScan = true
        }
        if wantsScan {
            wantsScan = false
            scan()
        }
    }

    // MARK: Launching

    /// Looks whether programs can be confined, unless that is known, and goes on with those that wait.
    private func findOut() {
        guard probe == nil else { return }
        if case .some(nil) = obstacle {
            EventSource.once(after: .zero) { [weak self] in self?.goOn() }
            return
        }
        if groups == nil { groups = ControlGroups() }
        probe = ConfinementProbe(bubblewrap: configuration.bubblewrap, user: try? user()) {
            [weak self] reason in
            guard let self, report != nil else { return }
            probe = nil
            if obstacle != .some(reason) {
                log.write(
                    reason == nil ? .info : .warning, Self.label,
                    reason == nil ? "applications can be confined" : "applications cannot be confined",
                    ["reason": reason ?? "", "groups": groups?.reason ?? "by the kernel"])
            }
            obstacle = .some(reason)
            goOn()
        }
    }

    private func goOn() {
        let all = waiting
        waiting = []
        for (instance, entry) in all {
            begin(instance, entry.manifest.id) { try self.plan(for: entry) }
        }
    }

    private func begin(_ instance: InstanceID, _ application: ApplicationID, _ plan: () throws -> LaunchPlan)
    {
        guard report != nil, runs[instance] == nil else { return }
        do {
            let plan = try plan()
            let log = log
            let run = try ApplicationRun(
                plan, onLine: { log.write(.info, "application", $0, ["application": application.text]) },
                onEnd: { [weak self] in self?.ended(instance, plan, $0) })
            runs[instance] = run
            log.write(
                .debug, Self.label, "application started",
                ["application": application.text, "pid": run.process.map(String.init) ?? ""])
            if let process = run.process {
                usage.add(
                    instance,
                    .init(
                        process: process, limits: plan.limits, storage: plan.storage,
                        looksAtMemory: plan.hasSocket && plan.group == nil))
            }
            EventSource.once(after: .zero) { [weak self, weak run] in
                guard let self, let run, runs[instance] === run else { return }
                report?(.confined(instance, plan.layers))
                guard let service, let client = run.open(for: service, address: plan.name) else { return }
                service.clientOpened(client, of: instance)
            }
        } catch let refusal as Refusal {
            refuse(instance, refusal.reason)
        } catch {
            refuse(instance, (error as? Failure)?.message ?? "\(error)")
        }
    }

    private func ended(_ instance: InstanceID, _ plan: LaunchPlan, _ exit: ApplicationExit) {
        usage.remove(instance)
        runs[instance] = nil
        var exit = exit
        if let group = plan.group, let groups {
            if exit.cause == .signal(9), groups.ranOut(group) {
                exit.cause = .limit("more than \(plan.limits.memory >> 20) MiB of memory")
            }
            groups.remove(group)
        }
        report?(.exited(instance, exit))
    }

    /// One that waits is not started any more.
    private func forget(_ instance: InstanceID) {
        guard waiting.contains(where: { $0.0 == instance }) else { return }
        waiting.removeAll { $0.0 == instance }
        EventSource.once(after: .zero) { [weak self] in
            self?.report?(.exited(instance, ApplicationExit(.signal(9))))
        }
    }

    private func refuse(_ instance: InstanceID, _ reason: String) {
        log.write(.warning, Self.label, "application not started", ["reason": reason])
        EventSource.once(after: .zero) { [weak self] in
            self?.report?(.exited(instance, ApplicationExit(.notStarted(reason))))
        }
    }
}

// MARK: What is started

extension ApplicationProcesses {
    /// Why nothing is started.
    struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// Bubblewrap's program; nil if it is not installed.
    package static var bubblewrap: String? {
        ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].first { FileSystem.isExecutable($0) }
    }

    /// Who programs run as: nil, this process's user.
    func user() throws(Refusal) -> ChildBounds.User? {
        guard configuration.isRoot else { return nil }
        guard let user = Machine.user(named: configuration.user), user.user != 0 else {
            throw Refusal("there is no user '\(configuration.user)' but root's to run applications")
        }
        return user
    }

    /// The folder in which an application keeps files.
    private func makeStorage(for application: ApplicationID, user: ChildBounds.User?) throws(Refusal)
        -> String
    {
        let folder = "\(configuration.storageFolder)/\(application)"
        do {
            // The user of applications passes, but sees no names.
            try FileSystem.makeDirectory(configuration.storageFolder, mode: 0o711)
            try FileSystem.makeDirectory(folder, mode: 0o700)
            if let user { try FileSystem.give(folder, to: user) }
        } catch {
            throw Refusal("its storage cannot be made: \(error.message)")
        }
        return folder
    }

    private static let programs = "/usr/local/bin:/usr/bin:/bin"

    private func plan(for entry: ApplicationCatalog.Entry) throws(Refusal) -> LaunchPlan {
        let manifest = entry.manifest
        guard case .program(let program, let arguments) = manifest.content else {
            throw Refusal("no program")
        }
        let obstacle = obstacle ?? "it is not known whether programs can be confined"
        if let obstacle, configuration.requiresConfinement {
            throw Refusal("applications cannot be confined on this host: \(obstacle)")
        }
        let user = try user()
        let storage =
            manifest.permissions.contains(.storage) ? try makeStorage(for: manifest.id, user: user) : nil
        var plan = LaunchPlan(arguments: [], name: manifest.id.text)
        plan.limits = manifest.limits
        plan.storage = storage
        plan.bounds = ChildBounds(for: manifest.limits, hasStorage: storage != nil, user: user)
        number += 1
        plan.group = groups?.make("application-\(number)", limits: manifest.limits)
        plan.bounds.controlGroup = plan.group

        let python = configuration.python
        var environment = [
            "LINNET_APPLICATION": manifest.id.text, "LINNET_APPLICATION_SOCKET": "\(Confinement.socket)",
            "PATH": Self.programs, "LANG": Machine.environment("LANG") ?? "C.UTF-8",
        ]
        if let bubblewrap = configuration.bubblewrap, obstacle == nil,
            let filter = CallFilter.forApplication(hasNetwork: manifest.permissions.contains(.network))
        {
            environment["HOME"] = storage == nil ? "/tmp" : Confinement.storage
            if storage != nil { environment["LINNET_STORAGE"] = Confinement.storage }
            if python != nil { environment["PYTHONPATH"] = Confinement.python }
            let walls = Confinement(
                permissions: manifest.permissions, limits: manifest.limits, folder: entry.folder,
                storage: storage, python: python, hidden: configuration.folders, environment: environment)
            plan.arguments = walls.arguments(
                bubblewrap: bubblewrap, ["\(Confinement.folder)/\(program)"] + arguments)
            plan.filter = filter
            plan.layers = layers(missing: [:])
        } else {
            environment["HOME"] = storage ?? "/tmp"
            environment["LINNET_STORAGE"] = storage
            environment["PYTHONPATH"] = python
            plan.arguments = ["\(entry.folder)/\(program)"] + arguments
            plan.environment = environment
            plan.bounds.hasOwnSession = true
            let reason = "no bubblewrap: \(obstacle ?? "it is gone")"
            plan.layers = layers(missing: [
                .files: reason, .listening: reason, .signals: reason, .calls: reason,
            ])
        }
        return plan
    }

    private func plan(showing page: String, for entry: ApplicationCatalog.Entry) throws(Refusal) -> LaunchPlan
    {
        guard !configuration.browser.isEmpty else {
            throw Refusal("no browser is set up for applications that are pages: see [applications] browser")
        }
        let user = try user()
        let profile = try makeStorage(for: entry.manifest.id, user: user)
        var plan = LaunchPlan(arguments: [], name: entry.manifest.id.text)
        plan.hasSocket = false
        let hasPlace = configuration.browser.contains("%u")
        plan.arguments = configuration.browser.map { $0 == "%u" ? page : $0 } + (hasPlace ? [] : [page])
        plan.bounds.nice = 5
        plan.bounds.outOfMemoryScore = 900
        plan.bounds.user = user
        plan.bounds.hasOwnSession = true
        plan.bounds.diesWithParent = true
        // A profile of its own: else the window would be one of a browser that runs already.
        plan.environment = ["HOME": profile, "PATH": Self.programs]
        for name in [
            "LANG", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
        ] { plan.environment[name] = Machine.environment(name) }
        let reason = "the browser confines what it shows"
        plan.layers = layers(
            missing: [
                .limits: reason, .files: reason, .listening: reason, .signals: reason, .calls: reason,
                .group: reason,
            ])
        return plan
    }

    private func layers(missing: [ConfinementLayer.Kind: String]) -> [ConfinementLayer] {
        var missing = missing
        if let reason = groups?.reason { missing[.group] = missing[.group] ?? reason }
        return ConfinementLayer.Kind.allCases.map { ConfinementLayer($0, reason: missing[$0]) }
    }
}
