// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationProcess
import Settings

extension Configuration {
    /// What is chosen for companion applications; nil if there are to be none.
    var applications: ApplicationProcesses.Configuration? {
        guard flag(.applications) else { return nil }
        let folders = [text(.systemApplications), text(.localApplications)].filter { !$0.isEmpty }
        let storage = text(.applicationStorage)
        var configuration = ApplicationProcesses.Configuration(
            folders: folders, storageFolder: storage.isEmpty ? "\(stateFolder)/application-storage" : storage)
        configuration.user = text(.applicationUser)
        configuration.requiresConfinement = text(.applicationConfinement) == "required"
        configuration.browser = text(.browser).split(separator: " " as Character).map(String.init)
        configuration.isRoot = Machine.isRoot
        let python = text(.pythonFolder)
        configuration.python = python.isEmpty ? helpers("python") : FileSystem.absolute(python)
        configuration.script = helpers("web").map { "\($0)/linnet.js" }
        return configuration
    }

    /// A folder of what helps applications: the one that was installed, or, of a program that was only built, that of
    /// the sources.
    private func helpers(_ language: String) -> String? {
        if let installed = FileSystem.absolute("\(programFolder)/../lib/linnet/\(language)") {
            return installed
        }
        let names = programFolder.split(separator: "/" as Character)
        guard let build = names.lastIndex(of: ".build") else { return nil }
        return FileSystem.absolute(
            "/\(names[..<build].joined(separator: "/"))/packaging/applications/\(language)")
    }

    /// What is wrong with applications that are installed, one line each.
    var applicationFaults: [String] {
        guard let applications else { return [] }
        return ApplicationCatalog(folders: applications.folders, isRoot: applications.isRoot).faults
    }
}
