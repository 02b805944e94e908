// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    /// Media over TLS, from servers with good and bad certificates. The receiver trusts the test's own authority, in a
    /// mount namespace of its own.
    @Suite(
        .enabled(
            if: MountNamespace.isAllowed, "NOT RUN: needs a mount namespace (root, or unprivileged ones)"))
    struct SecureFetchingTests {
        @RouteActor private func use(
            _ body: @RouteActor (ReceiverUnderTest, TLSServers) async throws -> Void
        ) async throws {
            let servers = try await TLSServers()
            defer { servers.close() }
            let trusted = "/etc/ssl/certs/ca-certificates.crt"
            try await ReceiverUnderTest.use(
                inside: { _ in "mount --bind \(servers.authority) \(trusted)" },
                { receiver in try await body(receiver, servers) })
        }

        @RouteActor private func start(_ url: String, on receiver: ReceiverUnderTest) async throws
            -> MediaSession
        {
            let session = RouteSession(url: url)
            receiver.route.addSession(session)
            return try await session.start()
        }

        @Test @RouteActor func `media of a server that is trusted play, by name and by address`() async throws
        {
            try await use { receiver, servers in
                var card = receiver.card
                for host in ["localhost", "127.0.0.1"] {
                    let asked = SimulatedCard.now
                    let session = try await start(servers.url("good", "short.wav", host: host), on: receiver)
                    #expect(await session.ended() == .finished)
                    _ = try await card.sound(from: asked, for: .milliseconds(50))
                }
            }
        }

        @Test @RouteActor func `a certificate that is no good is refused, and the failure says why`()
            async throws
        {
            try await use { receiver, servers in
                for (kind, words) in [
                    ("expired", "expired"), ("other-name", "another name"),
                    ("unknown-authority", "nobody who is trusted"), ("self-signed", "nobody who is trusted"),
                ] {
                    let session = try await start(servers.url(kind, "short.wav"), on: receiver)
                    guard case .failed(let failure) = await session.ended() else {
                        Issue.record("\(kind) plays")
                        continue
                    }
                    #expect(failure.code == .tls, "\(kind): \(failure)")
                    #expect(failure.message.contains(words), "\(kind): \(failure.message)")
                }
                // Nothing of it was heard, and what is trusted plays on.
                var card = receiver.card
                #expect(card.recording().segments.isEmpty)
                let session = try await start(servers.url("good", "short.wav"), on: receiver)
                #expect(await session.ended() == .finished)
            }
        }

        @Test @RouteActor func `a certificate that the sender allows is taken, for that item alone`()
            async throws
        {
            try await use { receiver, servers in
                for kind in ["self-signed", "expired", "other-name"] {
                    let url = servers.url(kind, "short.wav")
                    var options = RouteSession.Options()
                    options.allowsInvalidCertificate = true
                    let session = RouteSession(url: url, options: options)
                    receiver.route.addSession(session)
                    let allowed = try await session.start()
                    #expect(await allowed.ended() == .finished, "\(kind)")
                    // Neither connections nor TLS sessions are left for who did not allow it.
                    let refused = try await start(url, on: receiver)
                    #expect(await refused.ended() == .failed(MediaFailure(.tls, "")), "\(kind)")
                }
            }
        }

        @Test @RouteActor func `the command allows it, if it is told to`() async throws {
            try await use { receiver, servers in
                let command = try receiver.run(
                    "linnet",
                    [
                        "play", servers.url("expired", "short.wav"), "--allow-invalid-certificate",
                        "--on=127.0.0.1:\(receiver.port)",
                    ])
                #expect(await Programs.poll(within: .seconds(30)) { !command.isRunning })
                #expect(command.wait(milliseconds: 0) == 0)
            }
        }

        @Test @RouteActor func `the command says what is wrong with a certificate`() async throws {
            try await use { receiver, servers in
                let output = "\(receiver.folder)/linnet.out"
                let command = try receiver.run(
                    "linnet",
                    ["play", servers.url("expired", "short.wav"), "--on=127.0.0.1:\(receiver.port)"])
                #expect(await Programs.poll(within: .seconds(30)) { !command.isRunning })
                #expect(command.wait(milliseconds: 0) == 5)
                #expect(readText(output).contains("certificate"))
            }
        }
    }
}

/// `tls.py`, in a folder of its own.
@RouteActor final class TLSServers {
    /// The file that has the authority's certificate.
    let authority: String
    private let folder: String
    private let process: ChildProcess
    private var ports: [Substring: Substring] = [:]

    init() async throws {
        folder = try Programs.makeFolder()
        authority = "\(folder)/authority.pem"
        let output = "\(folder)/tls.out"
        let sources = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        process = try Programs.start(
            ["python3", "\(sources)/Support/python/tls.py", folder, "\(Programs.build)/media"], output: output
        )
        guard await Programs.poll(within: .seconds(30), { readLines(output).last == "ready" }) else {
            process.kill()
            throw TestFailure("the servers do not start: \(readText(output))")
        }
        for line in readLines(output).dropLast() {
            let words = line.split(separator: " ")
            ports[words[0]] = words[1]
        }
    }

    func url(_ kind: String, _ path: String, host: String = "localhost") -> String {
        "https://\(host):\(ports[kind[...]] ?? "0")/\(path)"
    }

    func close() {
        process.kill()
        Programs.remove(folder)
    }
}
