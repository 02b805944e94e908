// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
import GLibLoop
import ReceiverRuntime
import RouteWire
import Settings

/// The applications that are installed, and why others in their folders are not taken.
package struct ApplicationCatalog: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let manifest: ApplicationManifest
        package let folder: String
    }

    /// How many are looked at in each folder.
    package static let limit = 256
    static let iconLimit = 256 << 10

    package private(set) var entries: [ApplicationID: Entry] = [:]
    /// One line for each, with its path.
    package private(set) var faults: [String] = []

    package init() {}

    /// Reads folders of applications; of those with the same id the one in the later folder counts. For root, what
    /// others could change is not taken.
    package init(folders: [String], isRoot: Bool) {
        for folder in folders { read(folder, isRoot: isRoot) }
    }

    /// In the order of their ids.
    package var manifests: [ApplicationManifest] {
        entries.values.map(\.manifest).sorted { $0.id < $1.id }
    }

    private mutating func read(_ folder: String, isRoot: Bool) {
        guard FileSystem.exists(folder) else { return }
        let names: [String]
        do {
            names = try FileSystem.list(folder).filter { !$0.hasPrefix(".") }
        } catch {
            return faults.append("\(folder): \(error.message)")
        }
        if let reason = Self.distrust(folder, .folder, isRoot) {
            return faults.append("\(folder): \(reason)")
        }
        for name in names.prefix(Self.limit) {
            let path = "\(folder)/\(name)"
            do {
                let manifest = try Self.manifest(at: path, name: name, isRoot: isRoot)
                entries[manifest.id] = Entry(manifest: manifest, folder: path)
            } catch {
                faults.append("\(path)\(error.description)")
            }
        }
        if names.count > Self.limit { faults.append("\(folder): only the first \(Self.limit) are taken") }
    }

    /// What is wrong with one application: where in its folder, and what.
    private struct Refusal: Error {
        let description: String
        init(_ place: String, _ reason: String) {
            description = "\(place.isEmpty ? "" : "/")\(place): \(reason)"
        }
    }

    private static func manifest(
        at path: String, name: String, isRoot: Bool
    ) throws(Refusal) -> ApplicationManifest {
        if let reason = distrust(path, .folder, isRoot) { throw Refusal("", reason) }
        let file = "application.json"
        if let reason = distrust("\(path)/\(file)", .file, isRoot) { throw Refusal(file, reason) }
        let manifest: ApplicationManifest
        do {
            let bytes = try FileSystem.read("\(path)/\(file)", maximum: ApplicationManifest.sizeLimit)
            manifest = try ApplicationManifest(json: bytes)
        } catch let fault as ManifestFault {
            throw Refusal(file, fault.description)
        } catch {
            throw Refusal(file, "it cannot be read, or has more than \(ApplicationManifest.sizeLimit) bytes")
        }
        guard manifest.id.text == name else {
            throw Refusal(file, "id: expected '\(name)', the folder's name, found '\(manifest.id)'")
        }
        switch manifest.content {
        case .program(let program, _):
            if let reason = distrust(program, in: path, isRoot) { throw Refusal(program, reason) }
            guard FileSystem.entry("\(path)/\(program)")?.isExecutable == true else {
                throw Refusal(program, "it is not executable")
            }
        case .page(let page):
            if let reason = distrust(page, in: path, isRoot) { throw Refusal(page, reason) }
        }
        if let icon = manifest.icon {
            if let reason = distrust(icon, in: path, isRoot) { throw Refusal(icon, reason) }
            guard let size = FileSystem.entry("\(path)/\(icon)")?.size, size <= iconLimit else {
                throw Refusal(icon, "it has more than \(iconLimit) bytes")
            }
        }
        return manifest
    }

    /// Why a file inside an application's folder is not used. Links lead out of it.
    private static func distrust(_ file: String, in folder: String, _ isRoot: Bool) -> String? {
        var path = folder
        let names = file.split(separator: "/" as Character)
        for (index, name) in names.enumerated() {
            path += "/\(name)"
            let kind = index == names.count - 1 ? FileSystem.Entry.Kind.file : .folder
            if let reason = distrust(path, kind, isRoot) { return reason }
        }
        return nil
    }

    private static func distrust(_ path: String, _ kind: FileSystem.Entry.Kind, _ isRoot: Bool) -> String? {
        guard let entry = FileSystem.entry(path) else { return "there is none" }
        guard entry.kind == kind else {
            return entry.kind == .link ? "it is a link" : kind == .file ? "it is no file" : "it is no folder"
        }
        guard isRoot else { return nil }
        if entry.owner != 0 { return "it does not belong to root" }
        return entry.isWritableByAll ? "everybody may write to it" : nil
    }
}
