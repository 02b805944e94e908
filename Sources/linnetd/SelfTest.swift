// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationProcess
import AvahiAdvertiser
import GLibLoop
import ReceiverRuntime
import Settings
import SoupListener

/// Looks at everything that the receiver needs from this host and says what to do about what is missing.
actor SelfTest {
    private nonisolated let loop: GLibLoop
    private let configuration: Configuration
    private var faults = 0

    init(_ configuration: Configuration, loop: GLibLoop) {
        (self.configuration, self.loop) = (configuration, loop)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// Prints a line for each check. Returns the exit code.
    func run() async -> Int32 {
        Journal.start(level: .error)
        tell("settings", nil, good: "no mistakes")
        checkState()
        checkPort()
        await checkAvahi()
        await checkRenderer()
        await checkApplications()
        Machine.write(faults == 0 ? "All is well.\n" : "Something is missing, see above.\n", to: .output)
        return faults == 0 ? 0 : 1
    }

    /// One line: `ok` or `FAIL`, what was looked at, what was found.
    private func tell(_ what: String, _ fault: String?, good: String) {
        if fault != nil { faults += 1 }
        let blanks = String(repeating: " ", count: max(16 - what.count, 1))
        Machine.write("\(fault == nil ? "ok  " : "FAIL")  \(what)\(blanks)\(fault ?? good)\n", to: .output)
    }

    private func checkState() {
        let folder = configuration.stateFolder
        let scratch = "\(folder)/self-test"
        do {
            try FileSystem.makeDirectory(folder, mode: 0o750)
            try FileSystem.write([10], to: scratch)
            try FileSystem.remove(scratch)
            tell("state folder", nil, good: folder)
        } catch {
            tell(
                "state folder", "\(error.message); give it to the user of linnetd, or set [state] folder",
                good: "")
        }
    }

    private func checkPort() {
        let wanted = UInt16(clamping: configuration.integer(.port))
        do {
            let port = try SoupListener.freePort(wanted)
            tell("port", nil, good: wanted == 0 ? "any, such as \(port)" : "\(port) is free")
        } catch {
            tell("port", "\(error.message); does another linnetd run? Else set [network] port", good: "")
        }
    }

    private func checkAvahi() async {
        guard configuration.flag(.advertise) else { return tell("Avahi", nil, good: "not wanted") }
        var probe: AnyObject?
        let fault = await withCheckedContinuation { continuation in
            probe = AvahiAdvertiser.fault(after: .seconds(3)) { continuation.resume(returning: $0) }
        }
        withExtendedLifetime(probe) {
            let advice = "install and start avahi-daemon, or set [network] advertise=no"
            tell("Avahi", fault.map { "\($0); \(advice)" }, good: "answers")
        }
    }

    private func checkApplications() async {
        guard let applications = configuration.applications else {
            return tell("applications", nil, good: "not wanted")
        }
        for finding in await ApplicationProcesses.check(applications, isolation: self) {
            tell(finding.what, finding.fault, good: finding.good)
        }
    }

    /// The renderer knows what it needs; it prints its lines in the same form.
    private func checkRenderer() async {
        let program = configuration.rendererProgram
        do {
            let arguments =
                [
                    program, "--self-test", "--device=\(configuration.text(.device))",
                    "--video-sink=\(configuration.text(.videoSink))",
                ] + configuration.confinement
            let child = try ChildProcess(arguments, environment: configuration.rendererEnvironment)
            let exit = try await child.wait()
            switch exit {
            case .status(0): tell("renderer", nil, good: program)
            case .status(1): faults += 1
            default: tell("renderer", "\(program) ended with \(exit)", good: "")
            }
        } catch {
            tell(
                "renderer", "\(program) cannot be launched; is it installed? Else set [renderer] program",
                good: "")
        }
    }
}
