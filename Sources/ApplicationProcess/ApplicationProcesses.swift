// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import GLibLoop
import MediaModel
package import ReceiverRuntime
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
        /// The local socket of a service that starts programs in place of this process; nil: there is none.
        package var launcher: String?
        package init(folders: [String], storageFolder: String) {
            (self.folders, self.storageFolder) = (folders, storageFolder)
        }
    }

    /// How long changes of the folders must rest before they are looked at.
    private static let settling = Duration.milliseconds(300)
    static let label = "receiver.application"

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
    private var instances: [InstanceID: HostedInstance] = [:]
    /// Those that wait for what the launcher finds out.
    private var waiting: Set<InstanceID> = []
    /// Starts programs, unless a service does.
    private let launcher: ApplicationLauncher?

    package init(_ configuration: Configuration, loop: GLibLoop, log: any Log) {
        (self.configuration, self.loop, self.log) = (configuration, loop, log)
        launcher =
            configuration.launcher == nil ? ApplicationLauncher(configuration, loop: loop, log: log) : nil
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
            guard let launcher else { return begin(instance, entry, page: nil) }
            waiting.insert(instance)
            launcher.findOut { [weak self] in
                if self?.waiting.remove(instance) != nil { self?.begin(instance, entry, page: nil) }
            }
        case .page:
            guard let page = service?.address(of: instance) else {
                return refuse(instance, "its page has no URL")
            }
            begin(instance, entry, page: page)
        }
    }

    package func terminate(_ instance: InstanceID) {
        if let life = instances[instance]?.life { life.terminate() } else { forget(instance) }
    }

    package func kill(_ instance: InstanceID, limit: String?) {
        if let life = instances[instance]?.life { life.kill(limit) } else { forget(instance) }
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

    package func storage(of instance: InstanceID) -> String? { instances[instance]?.storage }

    package func shutDown() {
        (report, service, folders, waiting) = (nil, nil, nil, [])
        for hosted in instances.values { hosted.drop() }
        instances = [:]
        launcher?.shutDown()
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
        if !found.entries.isEmpty, let launcher, launcher.obstacle == nil { launcher.findOut {} }
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

    private func begin(_ instance: InstanceID, _ entry: ApplicationCatalog.Entry, page: String?) {
        guard report != nil, instances[instance] == nil else { return }
        let (log, id) = (log, entry.manifest.id.text)
        let hosted = HostedInstance()
        let observer = LifeObserver(
            onStart: { [weak self, weak hosted] in
                guard let self, let hosted, instances[instance] === hosted else { return }
                hosted.storage = $0.storage
                report?(.confined(instance, $0.layers))
                guard let service, let client = hosted.open(for: service, address: id) else { return }
                service.clientOpened(client, of: instance)
            },
            onLine: { log.write(.info, "application", $0, ["application": id]) },
            onEnd: { [weak self] in
                hosted.close()
                self?.ended(instance, $0)
            })
        do {
            let socket = page == nil ? try hosted.makeSocket() : nil
            hosted.life =
                try launcher.map { try $0.launch(entry, page: page, socket: socket, observer) }
                ?? RemoteRun(
                    entry.manifest.id, page: page, socket: socket, by: configuration.launcher ?? "", observer)
            instances[instance] = hosted
        } catch let refusal as Refusal {
            refuse(instance, refusal.reason)
        } catch {
            refuse(instance, (error as? Failure)?.message ?? "\(error)")
        }
    }

    private func ended(_ instance: InstanceID, _ exit: ApplicationExit) {
        instances[instance] = nil
        report?(.exited(instance, exit))
    }

    /// One that waits is not started any more.
    private func forget(_ instance: InstanceID) {
        guard waiting.remove(instance) != nil else { return }
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
}
