// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import Settings
import Testing

@testable import linnet

@Suite struct `The file for who is asked for help` {
    @Test @RouteActor func `holds what programs and files say, and no secret`() async throws {
        let trial = try Trial()
        let secrets = [
            "hunter2-hunter2", "AAAAC3NzaC1lZDI1NTE5AAAAIJ9hOJmZcH2rNfYh0Wl1UqQ2x1kYVb3cT5n6m7p8q9r0",
            "link-key-of-phone",
            "token-of-sender",
        ]
        try trial.put(
            "[wifi]\ncountry=DE\nssid=Home\nkey=\(secrets[0])\n[device]\nname=Kitchen\n[ssh]\nkey=ssh-ed25519 \(secrets[1]) me\n",
            "card/linnet.conf")
        _ = await trial.start()
        try trial.put("[accessory]\npairing-key=\(secrets[2])\nbluetooth=yes\n", "etc/linnet/receiver.conf")
        try trial.put("VERSION=1\n", "etc/os-release")
        try trial.put("identifier=\(secrets[3])\n", "data/state/var/lib/linnet/state.conf")
        let said =
            "joined with \(secrets[0])\nAuthorization: \(secrets[3])\nplays http://host/x?token=\(secrets[3])\naccepted \(secrets[1])\n"
        try trial.put(said, "said")
        let bundle = DiagnosticsBundle(
            root: trial.folder,
            commands: [
                ("journal.txt", ["cat", "\(trial.folder)/said"]),
                ("none.txt", ["\(trial.folder)/no-such-program"]),
                ("failed.txt", ["sh", "-c", "echo half; exit 3"]),
            ])
        let file = "\(trial.folder)/out.tar.gz"
        try await bundle.write(to: file)
        #expect(FileSystem.entry(file)?.mode == 0o600)
        #expect(!FileSystem.exists("\(file).parts"))
        try FileSystem.makeDirectory("\(trial.folder)/out")
        let unpacked = try await ChildOutput.run(["tar", "-C", "\(trial.folder)/out", "-xzf", file])
        #expect(unpacked.status == 0)
        let contents = trial.contents("/out/linnet-diagnostics")
        let names = contents.keys.map { String($0.dropFirst("/out/linnet-diagnostics/".count)) }.sorted()
        #expect(names.contains("files/etc/linnet/receiver.conf") && names.contains("version.txt"))
        #expect(names.contains("files/data/device/receiver.conf.d/50-card.conf"))
        for (name, text) in contents {
            for secret in secrets { #expect(!text.contains(secret), "\(name)") }
        }
        let part = { (name: String) in contents["/out/linnet-diagnostics/\(name)"] ?? "" }
        #expect(part("journal.txt").hasPrefix("joined with [removed]\n"))
        #expect(part("files/etc/linnet/receiver.conf").contains("bluetooth=yes"))
        #expect(part("none.txt").contains("is not there"))
        #expect(part("failed.txt") == "half\n\n(status 3)\n")
    }

    @Test func `names no file that holds secrets`() {
        for path in DiagnosticsBundle.files {
            for part in ["wpa", "authorized", "ssh", "state.conf", "shadow", "/settings"] {
                #expect(!path.contains(part), "\(path)")
            }
        }
    }
}
