// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteKit
import Settings

@testable import linnet

/// RAUC itself on a bus of its own, with two files as slots and a script as the boot loader's state.
@RouteActor final class SlotLab {
    let trial: Trial
    private var bus: ChildProcess?
    private var service: ChildProcess?
    let updater: Updater
    private var folder: String { trial.folder }

    /// What is missing here for a bundle to be installed; nil if nothing is.
    nonisolated static var absence: String? {
        if !Machine.isRoot { return "root" }
        if !FileSystem.exists("/dev/loop-control") { return "/dev/loop-control" }
        return missingProgram
    }

    nonisolated static var missingProgram: String? {
        ["rauc", "mksquashfs", "dbus-daemon", "openssl"].first { name in
            !(Machine.environment("PATH") ?? "").split(separator: ":").contains {
                FileSystem.isExecutable("\($0)/\(name)")
            }
        }
    }

    init() async throws {
        trial = try Trial()
        var updater = Updater()
        updater.release = "\(trial.folder)/os-release"
        updater.data = trial.data
        updater.rauc = "\(trial.folder)/rauc"
        self.updater = updater
        try trial.put("IMAGE_ID=linnet-test\nIMAGE_VERSION=\"1.1.0\"\n", "os-release")
        try script(
            "rauc",
            """
            export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$d/bus
            case $1 in info) shift; exec rauc info --conf="$d/system.conf" "$@" ;; *) exec rauc "$@" ;; esac
            """)
        try script(
            "slots",
            """
            case $1 in
            get-primary) cat "$d/primary" 2>/dev/null || echo A ;;
            get-current) echo A ;;
            set-primary) echo "$2" >"$d/primary"; echo good >"$d/state-$2" ;;
            get-state) cat "$d/state-$2" 2>/dev/null || echo good ;;
            set-state) echo "$3" >"$d/state-$2" ;;
            esac
            """)
        try trial.put(
            """
            [system]
            compatible=linnet-test
            bootloader=custom
            bundle-formats=plain verity
            data-directory=\(trial.data)
            mountprefix=\(folder)/mount
            [keyring]
            path=\(folder)/right.pem
            [handlers]
            bootloader-custom-backend=\(folder)/slots
            [slot.rootfs.0]
            device=\(folder)/slot-a
            type=raw
            bootname=A
            [slot.rootfs.1]
            device=\(folder)/slot-b
            type=raw
            bootname=B

            """, "system.conf")
        try trial.put(
            """
            <busconfig><type>system</type><listen>unix:path=\(folder)/bus</listen>
            <policy context="default"><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy>
            </busconfig>
            """, "bus.conf")
        try FileSystem.makeDirectory("\(folder)/mount")
        for slot in ["a", "b"] {
            try FileSystem.write(Array(repeating: 0, count: 1 << 20), to: "\(folder)/slot-\(slot)")
        }
        for name in ["right", "wrong"] {
            _ = try await run([
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                "\(folder)/\(name).key",
                "-out", "\(folder)/\(name).pem", "-days", "3650", "-subj", "/CN=\(name)",
            ])
        }
        try await startService()
    }

    private func script(_ name: String, _ body: String) throws {
        try trial.put("#!/bin/sh\nd=\(folder)\n\(body)\n", name)
        try FileSystem.setMode("\(folder)/\(name)", 0o755)
    }

    private func startService() async throws {
        bus = try ChildProcess(["dbus-daemon", "--config-file=\(folder)/bus.conf", "--nofork", "--nosyslog"])
        for _ in 0..<2000 where !FileSystem.exists("\(folder)/bus") {
            try await Task.sleep(for: .milliseconds(10))
        }
        service = try ChildProcess(
            [
                "sh", "-c",
                "exec rauc service --conf=\(folder)/system.conf --mount=\(folder)/mount --override-boot-slot=A 2>\(folder)/log",
            ], environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder)/bus"])
        for _ in 0..<400 {
            if (try? await updater.slots()) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(domain: "rauc", code: 0, message: trial.text("log") ?? "it did not start")
    }

    /// Whether this machine lets a bundle be mounted, as RAUC does.
    func canMount() async throws -> Bool {
        try trial.put("x", "probe/x")
        _ = try await run(["mksquashfs", "\(folder)/probe", "\(folder)/probe.squashfs", "-quiet"])
        let script =
            "mount -t squashfs -o loop,ro \(folder)/probe.squashfs \(folder)/mount && umount \(folder)/mount"
        let answer = try await ChildOutput.run(["sh", "-c", script])
        if answer.status != 0 { print("NOT RUN: bundles cannot be mounted here: \(answer.text)") }
        return answer.status == 0
    }

    func end() async {
        for process in [service, bus] {
            process?.forceExit()
            _ = try? await process?.wait()
        }
    }

    /// The path of a bundle that was made and signed.
    func bundle(
        version: String, compatible: String = "linnet-test", key: String = "right", format: String = "plain"
    ) async throws -> String {
        let path = "\(folder)/\(version)-\(compatible)-\(key).raucb"
        try trial.put(
            """
            [update]
            compatible=\(compatible)
            version=\(version)
            [bundle]
            format=\(format)
            [image.rootfs]
            filename=rootfs.img

            """, "bundle/manifest.raucm")
        try trial.put(String(repeating: "system \(version)\n", count: 20_000), "bundle/rootfs.img")
        _ = try await run([
            "rauc", "bundle", "--cert=\(folder)/\(key).pem", "--key=\(folder)/\(key).key", "\(folder)/bundle",
            path,
        ])
        return path
    }

    private func run(_ arguments: [String]) async throws -> ChildOutput.Answer {
        let answer = try await ChildOutput.run(arguments)
        guard answer.status == 0 else {
            throw Failure(domain: "lab", code: answer.status, message: answer.text)
        }
        return answer
    }
}
