// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteKit
import Settings

/// A program that is run for what it says.
@RouteActor enum ChildOutput {
    /// Nobody needs more of it.
    private static let limit = 4 << 20

    struct Answer: Sendable {
        var status: Int32
        /// Output and errors, in the order in which they came.
        var text: String
        var lines: [String] { text.split(separator: "\n" as Character).map { String($0) } }
    }

    /// Runs it to its end. `onLine` gets each line as it comes.
    static func run(
        _ arguments: [String], onLine: (@RouteActor (String) -> Void)? = nil
    ) async throws -> Answer {
        var environment = [
            "PATH": Machine.environment("PATH") ?? "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
        ]
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = Machine.environment("DBUS_SYSTEM_BUS_ADDRESS")
        var launched: ChildProcess?
        let link = try ByteLink.pipe { writing in
            launched = try ChildProcess(
                arguments, environment: environment, bounds: ChildBounds(), output: writing,
                inheriting: Inheritance())
        }
        guard let child = launched else {
            throw Failure(domain: "child", code: 0, message: "it was not started")
        }
        let collector = Collector(limit: limit, onLine: onLine)
        let (ends, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        link.onReceive = { bytes in collector.take(bytes) }
        link.onClosed = { continuation.finish() }
        let exit = try await child.wait(isolation: RouteActor.shared)
        for await _ in ends {}
        link.close()
        collector.flush()
        let status: Int32 = if case .status(let number) = exit { number } else { 128 }
        return Answer(status: status, text: String(decoding: collector.bytes, as: UTF8.self))
    }

    /// Whether a program of this name is in the path.
    static func hasProgram(_ name: String) -> Bool {
        let path = Machine.environment("PATH") ?? "/usr/sbin:/usr/bin:/sbin:/bin"
        return path.split(separator: ":" as Character).contains { FileSystem.isExecutable("\($0)/\(name)") }
    }

    private final class Collector {
        var bytes: [UInt8] = []
        private var line: [UInt8] = []
        private let limit: Int
        private let onLine: (@RouteActor (String) -> Void)?

        init(limit: Int, onLine: (@RouteActor (String) -> Void)?) {
            (self.limit, self.onLine) = (limit, onLine)
        }

        @RouteActor func take(_ piece: [UInt8]) {
            bytes += piece.prefix(max(limit - bytes.count, 0))
            for byte in piece {
                if byte == 10 || byte == 13 { flush() } else if line.count < 4096 { line.append(byte) }
            }
        }

        @RouteActor func flush() {
            if !line.isEmpty { onLine?(String(decoding: line, as: UTF8.self)) }
            line = []
        }
    }
}
