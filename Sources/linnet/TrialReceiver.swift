// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import RouteKit
import Settings

/// A receiver of one's own that has one application, for its author. Its log goes to the terminal.
@RouteActor final class TrialReceiver {
    /// How long a receiver may take to start.
    private static let patience = Duration.seconds(15)

    /// Where it is reached.
    let address: String
    private let process: ChildProcess
    private let folder: String

    init(for application: ApplicationFolder) async throws {
        let folder = "\(Machine.environment("TMPDIR") ?? "/tmp")/linnet-\(Machine.makeUUID())"
        do {
            try FileSystem.makeDirectory(folder, mode: 0o755)
            try FileSystem.makeDirectory("\(folder)/applications")
            try application.copy(to: "\(folder)/applications/\(application.manifest.id)")
            guard let (process, port) = await Self.start(application.manifest.name, in: folder) else {
                throw CommandFailure(
                    .failure, "the receiver for the trial did not start",
                    advice: "What it said is above; if that is nothing, linnetd is not installed.")
            }
            (self.process, self.folder, address) = (process, folder, "127.0.0.1:\(port)")
        } catch {
            ApplicationFolder.removeTree(folder)
            throw error
        }
    }

    /// Starts it at a port that is likely to be free, and at another one if it was not.
    private static func start(_ name: String, in folder: String) async -> (ChildProcess, UInt16)? {
        for _ in 0..<3 {
            let port = UInt16.random(in: 20_000..<32_000)
            if await answers(port) { continue }
            guard let process = launch(name, in: folder, port) else { return nil }
            if await isUp(process, port) { return (process, port) }
            process.forceExit()
        }
        return nil
    }

    private static func launch(_ name: String, in folder: String, _ port: UInt16) -> ChildProcess? {
        try? ChildProcess(
            [
                program, "--config-dir", folder, "--name", "Trial of \(name)", "--port", "\(port)",
                "--advertise", "false", "--state-dir", "\(folder)/state",
                "--applications-local-folder", "\(folder)/applications",
                "--applications-system-folder", "\(folder)/none",
                "--applications-storage-folder", "\(folder)/storage",
            ], inheriting: nil)
    }

    /// Waits until the receiver answers; false if it ends, or takes too long.
    private static func isUp(_ process: ChildProcess, _ port: UInt16) async -> Bool {
        let end = ContinuousClock.now + patience
        while process.identifier != nil, ContinuousClock.now < end {
            if await answers(port) { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    /// On its own, since the compiler's optimiser fails on more than one of these in a function.
    @inline(never) private static func answers(_ port: UInt16) async -> Bool {
        do {
            _ = try await Receiver.at(.init(host: "127.0.0.1", port: port))
            return true
        } catch {
            return false
        }
    }

    /// The one beside this program, else the one of the system.
    private static var program: String {
        let beside = Machine.programPath.map {
            $0.prefix { _ in true }.split(separator: "/" as Character).dropLast()
        }
        let path = "/" + (beside?.joined(separator: "/") ?? "") + "/linnetd"
        return FileSystem.isExecutable(path) ? path : "linnetd"
    }

    /// Ends it and takes away what it has left.
    func end() async {
        process.send(signal: 15)
        _ = try? await process.wait()
        ApplicationFolder.removeTree(folder)
    }
}
