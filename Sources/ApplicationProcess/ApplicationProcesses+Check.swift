// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import Settings

extension ApplicationProcesses {
    /// What an administrator should know before the first launch.
    package struct Finding: Equatable, Sendable {
        package let what: String
        /// Nil if all is well.
        package let fault: String?
        package let good: String
    }

    /// Looks at the catalog, at the walls and at the browser, once.
    package static func check(
        _ configuration: Configuration, isolation: isolated any Actor
    ) async -> [Finding] {
        let catalog = ApplicationCatalog(folders: configuration.folders, isRoot: configuration.isRoot)
        var findings = catalog.faults.map { Finding(what: "application", fault: $0, good: "") }
        let names = catalog.manifests.map { "\($0.id) \($0.version)" }.joined(separator: ", ")
        findings.append(
            Finding(what: "applications", fault: nil, good: names.isEmpty ? "none installed" : names))
        if let path = configuration.launcher {
            return findings + [check(launcher: path)]
        }
        let user = configuration.isRoot ? Machine.user(named: configuration.user) : nil
        if configuration.isRoot, user?.user ?? 0 == 0 {
            let fault = "there is no user '\(configuration.user)' but root; set [applications] user"
            findings.append(Finding(what: "confinement", fault: fault, good: ""))
            return findings
        }
        let isNeeded = configuration.requiresConfinement && !names.isEmpty
        var probe: ConfinementProbe?
        let fault = await withCheckedContinuation(isolation: isolation) { continuation in
            probe = ConfinementProbe(bubblewrap: configuration.bubblewrap, user: user) {
                continuation.resume(returning: $0)
            }
        }
        withExtendedLifetime(probe) {
            let advice =
                "install bubblewrap and allow user namespaces, or set [applications] confinement=preferred or enabled=no"
            let text = fault.map { "\($0); \(advice)" }
            findings.append(
                Finding(
                    what: "confinement", fault: isNeeded ? text : nil,
                    good: text.map { "none: \($0)" } ?? "bubblewrap works"))
        }
        if let program = configuration.browser.first, !isThere(program) {
            findings.append(Finding(what: "browser", fault: "there is no program '\(program)'", good: ""))
        }
        return findings
    }

    private static func check(launcher path: String) -> Finding {
        do {
            _ = try ByteLink(connectingTo: path)
            return Finding(what: "applications", fault: nil, good: "started by the service at \(path)")
        } catch {
            return Finding(
                what: "applications",
                fault:
                    "\(path) cannot be reached: \(error.message); start linnet-application.socket, or let the daemon "
                    + "start them: set [applications] launcher to nothing", good: "")
        }
    }

    private static func isThere(_ program: String) -> Bool {
        if program.utf8.contains(UInt8(ascii: "/")) { return FileSystem.isExecutable(program) }
        return ["/usr/local/bin", "/usr/bin", "/bin"].contains { FileSystem.isExecutable("\($0)/\(program)") }
    }
}
