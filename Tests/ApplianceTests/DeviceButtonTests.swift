// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import RouteKit
import Settings
import Testing

@testable import linnet

/// A pipe in the place of the kernel's device: it carries the same records.
private final class Button: Sendable {
    let folder = "/tmp/linnet-button-\(Machine.makeUUID())"
    var path: String { "\(folder)/event0" }
    private let writer: Int32

    init() throws {
        try FileSystem.makeDirectory(folder)
        try #require(unsafe mkfifo("\(folder)/event0", 0o600) == 0)
        writer = unsafe open("\(folder)/event0", O_RDWR | O_CLOEXEC)
        try #require(writer >= 0)
    }

    deinit { Trial.removeTree(folder) }

    /// A record of the kernel's: time, kind (a key), code, value.
    func send(code: UInt16 = 408, value: Int32) {
        var bytes = [UInt8](repeating: 0, count: 16) + [1, 0]
        bytes += [UInt8(truncatingIfNeeded: code), UInt8(code >> 8)]
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Int32(shift)))
        }
        _ = unsafe write(writer, bytes, bytes.count)
    }

    func unplug() { _ = close(writer) }
}

@Suite struct `The button` {
    @Test func `counts when it was held`() async throws {
        let button = try Button()
        button.send(value: 1)
        #expect(try await DeviceButton.waitUntilHeld(button.path, key: "KEY_408", for: .milliseconds(50)))
        button.unplug()
    }

    @Test func `that is let go, or is another one, counts for nothing`() async throws {
        let button = try Button()
        button.send(value: 1)
        button.send(value: 2)
        button.send(value: 0)
        button.send(code: 116, value: 1)
        // The answer is no when the device goes: nothing was held for an hour.
        let answer = Task {
            try await DeviceButton.waitUntilHeld(button.path, key: "KEY_408", for: .seconds(3600))
        }
        let other = try Button()
        other.send(value: 1)
        #expect(try await DeviceButton.waitUntilHeld(other.path, key: "KEY_408", for: .milliseconds(50)))
        other.unplug()
        button.unplug()
        #expect(try await answer.value == false)
    }

    @Test func `that is none is refused`() async {
        await #expect(throws: CommandFailure.self) {
            _ = try await DeviceButton.waitUntilHeld("/dev/null", key: "RESET", for: .seconds(1))
        }
        await #expect(throws: CommandFailure.self) {
            _ = try await DeviceButton.waitUntilHeld("/nowhere/event0", key: "KEY_408", for: .seconds(1))
        }
    }
}
