// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import RouteWire
package import SessionCore

extension ReceiverShell {
    /// What the host reports, as the core's events.
    func hosted(_ event: ApplicationHostEvent) {
        switch event {
        case .catalogChanged(let catalog):
            let before = description.capabilities
            handle(.catalogChanged(catalog))
            log.write(
                .info, "receiver.application", "applications found", ["count": String(catalog.count)])
            if before != description.capabilities { readvertise() }
        case .confined(let instance, let layers): handle(.instanceConfined(instance, layers))
        case .exited(let instance, let exit):
            pageTokens[instance] = nil
            metrics.applicationExits += 1
            let name = state.applications.instances[instance]?.manifest.id.text ?? ""
            log.write(
                .info, "receiver.application", "application exited",
                ["application": name, "instance": instance.text, "cause": exit.cause.words])
            handle(.instanceExited(instance, exit))
        }
    }

    func launch(_ instance: InstanceID, _ application: ApplicationID) {
        guard let host = ports.applications else { return }
        if case .page = state.applications.instances[instance]?.manifest.content {
            pageTokens[instance] = ports.identifiers.token()
        }
        metrics.applicationLaunches += 1
        log.write(
            .info, "receiver.application", "application launched",
            ["application": application.text, "instance": instance.text])
        host.launch(instance, application)
    }

    /// A file of an application: its icon under its id, all of its folder under an instance's.
    func applicationPage(at path: String) -> Page? {
        guard let host = ports.applications, path.hasPrefix(Self.applicationPath) else { return nil }
        let parts = path.dropFirst(Self.applicationPath.count).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        if let manifest = state.applications.catalog.first(where: { $0.id.text == parts[0] }) {
            guard parts[1] == "icon", let icon = manifest.icon else { return nil }
            return host.file(icon, of: manifest.id)
        }
        guard let instance = state.applications.instances[InstanceID(String(parts[0]))],
            case .page = instance.manifest.content
        else { return nil }
        return host.file(String(parts[1]), of: instance.manifest.id)
    }

    static let applicationPath = "/v1/applications/"

    /// The path of an application's icon; nil if it has none.
    static func iconPath(_ manifest: ApplicationManifest) -> String? {
        manifest.icon.map { _ in "\(applicationPath)\(manifest.id.text)/icon" }
    }
}

extension ReceiverShell: ApplicationService {
    package func clientOpened(_ client: any Client, of instance: InstanceID) {
        front.applicationOpened(client, of: instance)
    }

    package func address(of instance: InstanceID) -> String? {
        guard let token = pageTokens[instance],
            case .page(let path) = state.applications.instances[instance]?.manifest.content
        else { return nil }
        return "http://127.0.0.1:\(port)\(Self.applicationPath)\(instance.text)/\(path)?token=\(token)"
    }

    package func clientOpened(_ client: any Client, token: String) {
        guard let instance = pageTokens.first(where: { $0.value == token })?.key else {
            return client.close(code: 1008, reason: "the token is unknown, or was used")
        }
        pageTokens[instance] = nil
        front.applicationOpened(client, of: instance)
    }
}

extension ApplicationExit.Cause {
    /// For the log.
    fileprivate var words: String {
        switch self {
        case .status(let status): "status \(status)"
        case .signal(let signal): "signal \(signal)"
        case .notStarted(let reason): "not started: \(reason)"
        case .limit(let reason): "limit: \(reason)"
        }
    }
}
