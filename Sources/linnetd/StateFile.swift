// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverRuntime
import Settings
import SwitchingCore
import Synchronization

/// Keeps the receiver's identity, name and volume in `state.conf`. What is saved is written in the background, the newest
/// only: a memory card may take a second for it.
final class StateFile: StateStore {
    private static let group = "device"
    private let writer: Writer
    private let log: any Log
    private var path: String { writer.path }

    init(writer: Writer, log: any Log) { (self.writer, self.log) = (writer, log) }

    func load() -> SavedState? {
        guard FileSystem.exists(path) else { return nil }
        do {
            return try Self.state(in: try KeyFile(path: path))
        } catch let failure as Failure {
            log.write(.error, "state", "the state cannot be read, starting afresh", ["reason": "\(failure)"])
        } catch {
            Self.setAside(path, reason: "\(error)", log)
        }
        return nil
    }

    func save(_ state: SavedState) { writer.save(Self.text(of: state)) }

    /// What cannot be understood may still be of use to a person.
    static func setAside(_ path: String, reason: String, _ log: any Log) {
        let other = "\(path).corrupt-\(Machine.secondsSinceEpoch)"
        log.write(
            .warning, "state", "the state is damaged, set aside, starting afresh",
            ["reason": reason, "file": other])
        do {
            try FileSystem.rename(path, to: other)
        } catch {
            log.write(.error, "state", "the damaged state cannot be set aside", ["reason": error.message])
        }
    }

    private static func state(in file: KeyFile) throws(KeyFile.Fault) -> SavedState? {
        guard let identifier = try file.string(group, "identifier"), isIdentifier(identifier) else {
            throw file.fault(group, "identifier", "the identifier is missing or no UUID")
        }
        let name = try file.string(group, "name")
        let level = try file.real(group, "volume", in: 0...1) ?? 0
        let isMuted = try file.boolean(group, "muted") ?? false
        let trim = try file.integer(group, "output-trim", in: -1_000_000...1_000_000) ?? 0
        var preferences: [SourceAddress: SourcePreference] = [:]
        for line in (try file.string(group, "preferences") ?? "").split(separator: " ") {
            let parts = line.split(separator: "=")
            guard parts.count == 2, let address = SourceAddress(String(parts[0])),
                let preference = SourcePreference(rawValue: String(parts[1])),
                preferences.count < SwitchingState.preferenceLimit
            else { continue }
            preferences[address] = preference
        }
        return SavedState(
            identifier: identifier, name: name?.isEmpty == true ? nil : name,
            volume: Volume(level: level, isMuted: isMuted), outputTrim: Int32(trim), preferences: preferences)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(\.isHexDigit)
    }

    private static func text(of state: SavedState) -> String {
        let preferences = state.preferences.sorted { $0.key < $1.key }
            .map { "\($0.key.text)=\($0.value.rawValue)" }.joined(separator: " ")
        let values = [
            ("identifier", state.identifier), ("name", state.name ?? ""), ("volume", "\(state.volume.level)"),
            ("muted", state.volume.isMuted ? "true" : "false"), ("output-trim", "\(state.outputTrim)"),
            ("preferences", preferences),
        ]
        return "# Written by linnetd.\n"
            + KeyFile.text(of: [(group, values.map { (key: $0.0, value: $0.1) })])
    }

    /// Writes the newest text, one write at a time, off the receiver's loop, on a thread that ends when all is written.
    /// What could not be written is tried again.
    final class Writer: Sendable {
        /// Soon after the disk has room again, and rare enough for one that never has.
        private static let retryDelay = Duration.seconds(2)

        private struct State {
            var newest: String?
            /// What could not be written and waits for the next try.
            var unsaved: String?
            /// True while a thread waits to try it again: one is enough, however much is saved meanwhile.
            var isRetryDue = false
            var isWriting = false
            var fault: String?
            var waiters: [@Sendable () -> Void] = []
            var watcher: @Sendable () -> Void = {}
        }
        let folder: String
        private let name: String
        var path: String { "\(folder)/\(name)" }
        /// Why the newest state is not written; nil when it is, again.
        var fault: String? { state.withLock { $0.fault } }
        private let log: any Log
        private let state = Mutex(State())

        init(folder: String, name: String = "state.conf", log: any Log) {
            (self.folder, self.name, self.log) = (folder, name, log)
        }

        /// Calls `body`, on the writer's thread, when `fault` has changed.
        func watch(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.watcher = body } }

        func save(_ text: String) {
            let starts = state.withLock { state in
                (state.newest, state.unsaved) = (text, nil)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if starts { BackgroundThread.run(named: "state") { self.writeAll() } }
        }

        /// Calls `body` when what was saved before is written, or could not be: at once, or on the writer's thread.
        func whenWritten(_ body: @escaping @Sendable () -> Void) {
            tryAgain()
            let isDone = state.withLock {
                if $0.isWriting { $0.waiters.append(body) }
                return !$0.isWriting
            }
            if isDone { body() }
        }

        /// Returns when what was saved before the call is written, or could not be.
        func flush() async {
            await withCheckedContinuation { continuation in whenWritten { continuation.resume() } }
        }

        private func tryAgain() {
            if let text = state.withLock({ $0.unsaved }) { save(text) }
        }

        private func writeAll() {
            while true {
                let text = state.withLock { state in
                    defer { state.newest = nil }
                    state.isWriting = state.newest != nil
                    return state.newest
                }
                guard let text else { break }
                write(text)
            }
            let waiters = state.withLock { state in
                // A write that was begun since then lets them go.
                guard !state.isWriting else { return [@Sendable () -> Void]() }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter() }
        }

        private func write(_ text: String) {
            do {
                try FileSystem.makeDirectory(folder, mode: 0o750)
                try FileSystem.write(Array(text.utf8), to: path)
                if setFault(nil) != nil { log.write(.notice, "state", "the state is written again", [:]) }
            } catch {
                let isFirst = state.withLock { state in
                    if state.newest == nil { state.unsaved = text }
                    defer { state.isRetryDue = true }
                    return !state.isRetryDue
                }
                // One warning is enough until it is well again.
                if setFault(error.message) == nil {
                    log.write(.warning, "state", "the state cannot be written", ["reason": error.message])
                }
                guard isFirst else { return }
                BackgroundThread.run(named: "state", after: Self.retryDelay) {
                    self.state.withLock { $0.isRetryDue = false }
                    self.tryAgain()
                }
            }
        }

        /// Returns what it was before.
        private func setFault(_ fault: String?) -> String? {
            let (before, watcher) = state.withLock { state in
                defer { state.fault = fault }
                return (state.fault, state.watcher)
            }
            if before != fault { watcher() }
            return before
        }
    }
}
