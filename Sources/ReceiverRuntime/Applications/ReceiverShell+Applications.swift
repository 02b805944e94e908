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
            return host.file(icon, of: manifest.id)?.restricted(
                to: "default-src 'none'; style-src 'unsafe-inline'")
        }
        guard let instance = state.applications.instances[InstanceID(String(parts[0]))],
            case .page = instance.manifest.content, let file = Self.fileName(parts[1])
        else { return nil }
        return host.file(file, of: instance.manifest.id)?.restricted(to: policy(for: instance.manifest))
    }

    /// A path inside a folder, without escapes; nil for what leads out of it, or names nothing.
    static func fileName(_ path: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = path.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.first != UInt8(ascii: ".") }),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What a page may reach: its own files and socket, and others' servers if it has the permission. Never the route's
    /// socket of this receiver, which would give it a sender's rights.
    private func policy(for manifest: ApplicationManifest) -> String {
        let others = manifest.permissions.contains(.network)
        let host = "127.0.0.1:\(port)"
        return """
            sandbox allow-scripts allow-same-origin allow-forms; \
            default-src http://\(host)\(Self.applicationPath) http://\(host)\(Self.scriptPath) 'unsafe-inline' data: blob:\
            \(others ? " https:" : ""); \
            connect-src http://\(host)\(Self.applicationPath) ws://\(host)/v1/application\
            \(others ? " https: wss:" : ""); \
            frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'
            """
    }

    static let applicationPath = "/v1/applications/"
    /// The helper for pages.
    static let scriptPath = "/v1/linnet.js"

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

extension Page {
    /// The same with a rule for the browser that shows it.
    fileprivate func restricted(to policy: String) -> Page {
        var page = self
        page.headers["Content-Security-Policy"] = policy
        page.headers["X-Content-Type-Options"] = "nosniff"
        return page
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
