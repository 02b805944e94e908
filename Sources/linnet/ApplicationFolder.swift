// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
import GLibLoop
import RouteWire
import Settings

/// A folder with an application in it, checked as a receiver checks it.
package struct ApplicationFolder {
    /// Where a receiver's administrator puts applications.
    package static let local = "/usr/local/lib/linnet/applications"
    /// The largest file, and the most files, that are installed.
    private static let fileLimit = 256 << 20
    private static let countLimit = 4_096

    package let path: String
    package let manifest: ApplicationManifest
    /// What is allowed and may yet be a mistake.
    package private(set) var warnings: [String] = []

    /// Reads `application.json` and looks for what it names. A Swift package may have it in a folder `application`.
    package init(_ path: String) throws(CommandFailure) {
        let shown = TerminalText.clean(path)
        guard let whole = FileSystem.absolute(path), FileSystem.isDirectory(whole) else {
            throw CommandFailure(.failure, "there is no folder '\(shown)'")
        }
        let inner = "\(whole)/application"
        let folder =
            FileSystem.exists("\(whole)/application.json") || !FileSystem.isDirectory(inner) ? whole : inner
        let file = "\(folder)/application.json"
        do {
            manifest = try ApplicationManifest(
                json: try FileSystem.read(file, maximum: ApplicationManifest.sizeLimit))
        } catch let fault as ManifestFault {
            throw CommandFailure(
                .failure, "\(TerminalText.clean(file)): \(TerminalText.clean(fault.description))",
                advice: "The rules are in Docs/protocols/application.md, section 1.")
        } catch {
            throw CommandFailure(
                .failure, "\(TerminalText.clean(file)) cannot be read",
                advice: "`linnet app new NAME` makes an application to begin with.")
        }
        self.path = folder
        try look()
    }

    /// Whether what the manifest names is there.
    private mutating func look() throws(CommandFailure) {
        switch manifest.content {
        case .program(let program, _):
            try require(program, "executable")
            guard FileSystem.isExecutable("\(path)/\(program)") else {
                throw CommandFailure(
                    .failure, "executable: '\(program)' is not executable", advice: "chmod +x \(program)")
            }
            if manifest.patterns.isEmpty { warnings.append("no URLs: senders must name it by its id") }
        case .page(let page): try require(page, "page")
        }
        if let icon = manifest.icon { try require(icon, "icon") }
        for name in try Self.files(in: path) where name.kind == .link || name.kind == .other {
            throw CommandFailure(
                .failure, "'\(TerminalText.clean(name.path))' is no plain file, and receivers take no others",
                advice: "Put the file itself there.")
        }
    }

    private func require(_ file: String, _ member: String) throws(CommandFailure) {
        guard FileSystem.entry("\(path)/\(file)")?.kind == .file else {
            throw CommandFailure(
                .failure, "\(member): there is no file '\(TerminalText.clean(file))' in the folder")
        }
    }

    private struct Item {
        /// From the folder on.
        let path: String
        let kind: FileSystem.Entry.Kind
        let isExecutable: Bool
    }

    /// All that is in a folder, folders before what they hold.
    private static func files(in folder: String) throws(CommandFailure) -> [Item] {
        var items: [Item] = []
        var waiting = [""]
        while let place = waiting.popLast() {
            let names: [String]
            do { names = try FileSystem.list("\(folder)/\(place)") } catch {
                throw CommandFailure(.failure, error.message)
            }
            for name in names.sorted() {
                let path = place.isEmpty ? name : "\(place)/\(name)"
                guard let entry = FileSystem.entry("\(folder)/\(path)") else { continue }
                items.append(Item(path: path, kind: entry.kind, isExecutable: entry.isExecutable))
                if entry.kind == .folder { waiting.append(path) }
                guard items.count <= countLimit else {
                    throw CommandFailure(.failure, "there are more than \(countLimit) files in \(folder)")
                }
            }
        }
        return items
    }

    // MARK: Installing

    /// Copies it under its id, in place of an older one. Readers see the one or the other. Returns the place.
    package func install(under folder: String) throws(CommandFailure) -> String {
        let place = "\(folder)/\(manifest.id)"
        let fresh = "\(folder)/.\(manifest.id).new"
        let old = "\(folder)/.\(manifest.id).old"
        do {
            if !FileSystem.exists(folder) {
                try FileSystem.makeDirectory(folder)
                try FileSystem.setMode(folder, 0o755)
            }
            Self.removeTree(fresh)
            try copy(to: fresh)
            Self.removeTree(old)
            if FileSystem.exists(place) { try FileSystem.rename(place, to: old) }
            try FileSystem.rename(fresh, to: place)
            Self.removeTree(old)
        } catch let failure as Failure {
            Self.removeTree(fresh)
            throw Self.denied(failure)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        return place
    }

    /// Copies what is in it to a new folder. All may read it, whatever the umask of who installs: another user runs it.
    package func copy(to target: String) throws {
        func makeFolder(_ path: String) throws {
            try FileSystem.makeDirectory(path)
            try FileSystem.setMode(path, 0o755)
        }
        try makeFolder(target)
        for item in try Self.files(in: path) {
            let copy = "\(target)/\(item.path)"
            if item.kind == .folder {
                try makeFolder(copy)
            } else {
                let bytes = try FileSystem.read("\(path)/\(item.path)", maximum: Self.fileLimit)
                try FileSystem.write(bytes, to: copy)
                try FileSystem.setMode(copy, item.isExecutable ? 0o755 : 0o644)
            }
        }
    }

    package static func remove(_ name: String, under folder: String) throws(CommandFailure) {
        guard let id = ApplicationID(name) else {
            throw CommandFailure(
                .usage, "'\(TerminalText.clean(name))' is not the id of an application",
                advice: "An id is like org.example.party.")
        }
        guard FileSystem.exists("\(folder)/\(id)/application.json") else {
            throw CommandFailure(.failure, "\(id) is not installed in \(folder)")
        }
        let old = "\(folder)/.\(id).old"
        removeTree(old)
        do { try FileSystem.rename("\(folder)/\(id)", to: old) } catch { throw denied(error) }
        removeTree(old)
    }

    private static func denied(_ failure: Failure) -> CommandFailure {
        CommandFailure(
            .failure, failure.message,
            advice: Machine.isRoot ? nil : "Applications are installed by root: put sudo before the command.")
    }

    package static func removeTree(_ folder: String) {
        guard FileSystem.exists(folder), let items = try? files(in: folder) else { return }
        for item in items.reversed() {
            let path = "\(folder)/\(item.path)"
            if item.kind == .folder {
                try? FileSystem.removeDirectory(path)
            } else {
                try? FileSystem.remove(path)
            }
        }
        try? FileSystem.removeDirectory(folder)
    }
}
