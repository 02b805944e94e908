// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinnetApplication
import RouteKit
import SystemProbe

/// The bench's own program as an application: sends messages back, or to all sessions.
@RouteActor final class BenchApplication: ApplicationDelegate, SessionDataChannelDelegate {
    enum Kind: String { case echo, broadcast, soak }

    private let kind: Kind
    private weak var application: Application?

    private init(_ kind: Kind) { self.kind = kind }

    static func run(_ kind: Kind) async {
        if kind == .soak { return await SoakApplication.run() }
        let delegate = BenchApplication(kind)
        await Application.run(delegate: delegate) { delegate.application = $0 }
    }

    func application(_ application: Application, opened session: ApplicationSession) async throws {
        session.dataChannel.delegate = self
    }

    func dataChannel(_ channel: SessionDataChannel, receive message: [UInt8]) async throws {
        switch kind {
        case .echo: try await channel.post(message)
        case .broadcast: await application?.broadcast(message)
        case .soak: break
        }
    }
}

/// The applications of the benches, in a folder that a receiver takes them from.
struct BenchApplications {
    static let echo = "org.linnet.bench-echo"
    static let broadcast = "org.linnet.bench-broadcast"
    static let python = "org.linnet.bench-python"
    static let soakShared = "org.linnet.bench-soak-shared"
    static let soakAlone = "org.linnet.bench-soak-alone"
    let folder: String

    /// Copies this program, so that a receiver finds it inside the folders.
    init(_ bench: Workspace) throws {
        folder = "\(bench.folder)/applications"
        for (id, kind, policy) in [
            (Self.echo, "echo", "perSession"), (Self.broadcast, "broadcast", "shared"),
            (Self.soakShared, SoakApplication.word, "shared"),
            (Self.soakAlone, SoakApplication.word, "perSession"),
        ] {
            try run(["mkdir", "-p", "\(folder)/\(id)"])
            try run(["cp", "--remove-destination", "\(bench.programs)/linnet-bench", "\(folder)/\(id)/bench"])
            try writeText(
                """
                {"id": "\(id)", "name": "\(kind)", "version": "1", "protocol": [1], "executable": "bench",
                 "arguments": ["--application", "\(kind)"], "instance": "\(policy)",
                 "permissions": ["storage"], "restart": "\(kind == SoakApplication.word ? "onFailure" : "never")",
                 "limits": {"memory": \(256 << 20), "storage": \(1 << 30)}}
                """, to: "\(folder)/\(id)/application.json")
        }
        try run(["mkdir", "-p", "\(folder)/\(Self.python)"])
        try writeText(
            """
            {"id": "\(Self.python)", "name": "python", "version": "1", "protocol": [1], "executable": "echo.py"}
            """, to: "\(folder)/\(Self.python)/application.json")
        try writeText(
            """
            #!/usr/bin/env python3
            from linnet_application import Application
            class Echo(Application):
                async def message(self, session, payload):
                    await session.post(payload)
            Echo().run()

            """, to: "\(folder)/\(Self.python)/echo.py")
        try run(["chmod", "755", "\(folder)/\(Self.python)/echo.py"])
    }

    /// Options of `linnetd` with these applications.
    func settings(_ bench: Workspace) -> [String] {
        [
            "--applications-local-folder", folder, "--applications-system-folder", "\(bench.folder)/none",
            "--applications-storage-folder", "\(bench.folder)/storage",
            "--applications-python-folder", bench.pythonHelper,
        ]
    }
}
