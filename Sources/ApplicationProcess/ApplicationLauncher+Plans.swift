// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import MediaModel
import Sandbox
import Settings

extension ApplicationLauncher {
    typealias Refusal = ApplicationProcesses.Refusal

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

    func plan(for entry: ApplicationCatalog.Entry) throws(Refusal) -> LaunchPlan {
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
        } else if configuration.requiresConfinement {
            throw Refusal("applications cannot be confined on this host")
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

    func plan(showing page: String, for entry: ApplicationCatalog.Entry) throws(Refusal) -> LaunchPlan {
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
