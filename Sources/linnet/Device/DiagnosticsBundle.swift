// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import Settings

/// What somebody needs who is asked why a device does not work, in one file and without secrets: what programs say, and the few files that
/// are named here. No folder is taken as a whole.
struct DiagnosticsBundle {
    /// Where files are looked for; tests have a folder there.
    var root = ""
    /// Tests have none of the machine's.
    var commands: [(name: String, arguments: [String])] = Self.all

    static let all: [(name: String, arguments: [String])] = [
        ("journal.txt", ["journalctl", "--boot", "--no-pager", "--output=short-monotonic", "--lines=5000"]),
        (
            "journal-before.txt",
            ["journalctl", "--boot=-1", "--no-pager", "--output=short-monotonic", "--lines=2000"]
        ),
        ("units.txt", ["systemctl", "list-units", "--all", "--no-pager", "--plain"]),
        ("failed.txt", ["systemctl", "list-units", "--failed", "--no-pager", "--plain"]),
        ("linnetd.txt", ["systemctl", "status", "linnetd", "--no-pager", "--lines=0"]),
        ("settings.txt", ["linnetd", "--print-config"]),
        ("receiver.json", ["linnet", "status", "--json", "--on", "127.0.0.1"]),
        ("slots.json", ["linnet", "update", "status", "--json"]),
        ("network.txt", ["ip", "address"]),
        ("routes.txt", ["ip", "route"]),
        ("disks.txt", ["df", "-h"]),
        ("memory.txt", ["free", "-m"]),
        ("cards.txt", ["aplay", "-l"]),
        ("kernel.txt", ["uname", "-a"]),
    ]
    static let files = [
        "/etc/os-release", "/etc/linnet/receiver.conf", "/proc/asound/cards", "/proc/cmdline", "/proc/uptime",
        "/proc/device-tree/model", "/data/health/left", "/data/health/passed", "/data/health/renewed",
        "/run/linnet/data-ready.log",
        "/data/device/receiver.conf.d/50-card.conf", "/data/device/update.conf",
    ]
    /// More than that of one thing tells nobody more.
    private static let limit = 2 << 20

    /// What the device keeps secret, to be taken out wherever it was written.
    private var redaction: Redaction {
        let kept = DeviceSettings(
            kept: (try? FileSystem.read("\(root)/data/device/settings", maximum: 65_536)) ?? [])
        var secrets = CardSetting.all.filter(\.isSecret).compactMap { kept.values[$0.name] }
        // Who may log in is nobody's business either.
        secrets += [kept.values["ssh.key"]].compactMap { $0 }
        secrets += (kept.values["ssh.key"] ?? "").split(separator: " " as Character).map { String($0) }.filter
        {
            $0.hasPrefix("AAAA")
        }
        return Redaction(values: secrets)
    }

    /// Every file of the bundle: its name and what is in it.
    @RouteActor func contents() async -> [(name: String, text: String)] {
        let redaction = redaction
        var contents: [(name: String, text: String)] = []
        for (name, arguments) in commands {
            let text: String
            do {
                let answer = try await ChildOutput.run(arguments)
                text = answer.status == 0 ? answer.text : "\(answer.text)\n(status \(answer.status))\n"
            } catch {
                text = "(\(arguments[0]) is not there)\n"
            }
            contents.append((name, redaction.text(text)))
        }
        for path in Self.files {
            guard let bytes = try? FileSystem.read(root + path, maximum: Self.limit) else { continue }
            let name = "files" + path
            contents.append((name, redaction.text(String(decoding: bytes, as: UTF8.self))))
        }
        contents.append(("version.txt", "linnet \(Product.version)\n"))
        return contents
    }

    /// Writes the bundle, readable by its owner alone. The folder it is packed from lies beside it and goes again.
    @RouteActor func write(to path: String) async throws {
        let folder = "\(path).parts"
        ApplicationFolder.removeTree(folder)
        defer { ApplicationFolder.removeTree(folder) }
        do {
            try FileSystem.makeDirectory(folder, mode: 0o700)
            for (name, text) in await contents() {
                let place = "\(folder)/linnet-diagnostics/\(name)"
                try FileSystem.makeDirectory(
                    String(place[..<(place.lastIndex(of: "/") ?? place.endIndex)]), mode: 0o700)
                try FileSystem.write(Array(text.utf8), to: place, mode: 0o600)
            }
        } catch {
            throw CommandFailure(.failure, error.message)
        }
        let packed = try await ChildOutput.run(["tar", "-C", folder, "-czf", path, "linnet-diagnostics"])
        guard packed.status == 0 else {
            throw CommandFailure(.failure, "it could not be packed: \(packed.lines.last ?? "tar failed")")
        }
        try? FileSystem.setMode(path, 0o600)
    }
}
