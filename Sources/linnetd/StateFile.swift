// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverRuntime
import Settings
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
            setAside(reason: "\(error)")
        }
        return nil
    }

    func save(_ state: SavedState) { writer.save(Self.text(of: state)) }

    /// What cannot be understood may still be of use to a person.
    private func setAside(reason: String) {
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
        return SavedState(
            identifier: identifier, name: name?.isEmpty == true ? nil : name,
            volume: Volume(level: level, isMuted: isMuted), outputTrim: Int32(trim))
    }

    private static func isIdentifier(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(\.isHexDigit)
    }

    private static func text(of state: SavedState) -> String {
        let values = [
            ("identifier", state.identifier), ("name", state.name ?? ""), ("volume", "\(state.volume.level)"),
            ("muted", state.volume.isMuted ? "true" : "false"), ("output-trim", "\(state.outputTrim)"),
        ]
        return "# Written by linnetd.\n"
            + KeyFile.text(of: [(group, values.map { (key: $0.0, value: $0.1) })])
    }

    /// Writes the newest text, one write at a time, off the receiver's loop. What could not be written is tried again.
    actor Writer {
        /// Soon after the disk has room again, and rare enough for one that never has.
        private static let retryDelay = Duration.seconds(2)

        nonisolated let folder: String
        nonisolated var path: String { "\(folder)/state.conf" }
        /// Why the newest state is not written, and nil when it is, again. Only the newest news is kept.
        nonisolated let faults: AsyncStream<String?>
        private let faultInput: AsyncStream<String?>.Continuation
        private let log: any Log
        private var fault: String?
        private var retry: Task<Void, Never>?
        private let newest = Mutex<String?>(nil)

        init(folder: String, log: any Log) {
            (self.folder, self.log) = (folder, log)
            (faults, faultInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        nonisolated func save(_ text: String) {
            newest.withLock { $0 = text }
            Task { await self.flush() }
        }

        /// Returns when what was saved before the call is written, or could not be.
        func flush() {
            let text = newest.withLock { text in
                defer { text = nil }
                return text
            }
            guard let text else { return }
            do {
                try FileSystem.makeDirectory(folder, mode: 0o750)
                try FileSystem.write(Array(text.utf8), to: path)
                if fault != nil { log.write(.notice, "state", "the state is written again", [:]) }
                tell(nil)
            } catch {
                newest.withLock { $0 = $0 ?? text }
                // One warning is enough until then.
                if fault == nil {
                    log.write(.warning, "state", "the state cannot be written", ["reason": error.message])
                }
                tell(error.message)
                tryAgainLater()
            }
        }

        private func tell(_ fault: String?) {
            guard fault != self.fault else { return }
            self.fault = fault
            faultInput.yield(fault)
        }

        private func tryAgainLater() {
            guard retry == nil else { return }
            retry = Task {
                try? await Task.sleep(for: Self.retryDelay)
                retry = nil
                flush()
            }
        }
    }
}
