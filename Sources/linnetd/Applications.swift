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
        configuration.launcher = text(.launcher).isEmpty ? nil : text(.launcher)
        let python = text(.pythonFolder)
        configuration.python =
            python.isEmpty ? shipped("python", in: "packaging/applications") : FileSystem.absolute(python)
        configuration.script = shipped("web", in: "packaging/applications").map { "\($0)/linnet.js" }
        return configuration
    }

    /// The receiver's own page; nil if there is to be none.
    var webPage: WebPage? {
        guard flag(.webPage) else { return nil }
        return shipped("page", in: "packaging").map(WebPage.init(folder:))
    }

    /// A folder of files that come with the programs: the one that was installed, or, of a program that was only built, that
    /// of the sources.
    private func shipped(_ name: String, in sources: String) -> String? {
        if let installed = FileSystem.absolute("\(programFolder)/../lib/linnet/\(name)") {
            return installed
        }
        let names = programFolder.split(separator: "/" as Character)
        guard let build = names.lastIndex(of: ".build") else { return nil }
        return FileSystem.absolute("/\(names[..<build].joined(separator: "/"))/\(sources)/\(name)")
    }

    /// What is wrong with applications that are installed, one line each.
    var applicationFaults: [String] {
        guard let applications else { return [] }
        return ApplicationCatalog(folders: applications.folders, isRoot: applications.isRoot).faults
    }
}
