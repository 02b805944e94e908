// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Settings

/// Forgets what the device keeps: identity, pairings, settings, logs. The system that runs stays, and so does what the updater knows of it.
/// It is asked for by a file on the data partition and done at the next start, before anything reads there; one that was
/// cut off goes on at the start after that.
struct DeviceReset {
    /// What is no choice of anybody's: the slots' books, and what the checks of the starts found.
    static let kept: Set<String> = ["rauc", "lost+found", "health", marker]
    static let marker = "linnet-reset"

    let data: String
    var write: ([UInt8], String, UInt32) throws -> Void = { try FileSystem.write($0, to: $1, mode: $2) }
    /// Called before each thing that is removed. Tests count the steps.
    var willRemove: () throws -> Void = {}

    var isAsked: Bool { FileSystem.exists("\(data)/\(Self.marker)") }

    func ask() throws { try write([], "\(data)/\(Self.marker)", 0o600) }
    func withdraw() throws { try FileSystem.remove("\(data)/\(Self.marker)") }

    func run() throws {
        for name in try FileSystem.list(data) where !Self.kept.contains(name) {
            try remove("\(data)/\(name)")
        }
        try withdraw()
    }

    /// Never follows a link.
    private func remove(_ path: String) throws {
        guard FileSystem.entry(path)?.kind == .folder else {
            try willRemove()
            return try FileSystem.remove(path)
        }
        for name in try FileSystem.list(path) { try remove("\(path)/\(name)") }
        try willRemove()
        try FileSystem.removeDirectory(path)
    }
}
