// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import Settings

/// Looks again and again at what instances use, on a thread of its own, and tells who uses more than it may. Nothing wakes
/// while there is no instance.
final class UsageWatch<Key: Hashable & Sendable> {
    struct Target: Sendable, Equatable {
        /// What everything of the instance descends from.
        let process: Int32
        let limits: ApplicationManifest.Limits
        /// The folder whose size is bounded.
        let storage: String?
        /// False where the kernel counts memory and processes itself.
        let looksAtMemory: Bool
    }

    /// So often memory is looked at, and each fourth time storage.
    static var interval: Duration { .milliseconds(250) }
    /// How many names a storage folder may have.
    static var nameLimit: Int { 10_000 }

    private var targets: [Key: Target] = [:]
    private let findings: Inbox<[Key: (Target, String)]>
    private var timer: EventSource?
    private var isLooking = false
    private var count = 0
    private let onBreach: (Key, String) -> Void

    init(on loop: GLibLoop, onBreach: @escaping (Key, String) -> Void) {
        self.onBreach = onBreach
        findings = Inbox(on: loop, limit: 1)
        findings.open { [weak self] in self?.take($0) }
    }

    func add(_ key: Key, _ target: Target) {
        targets[key] = target
        guard timer == nil else { return }
        timer = EventSource.repeating(every: Self.interval) { [weak self] in self?.look() }
    }

    func remove(_ key: Key) {
        targets[key] = nil
        if targets.isEmpty { timer = nil }
    }

    private func look() {
        guard !isLooking else { return }
        isLooking = true
        count += 1
        let (targets, findings, withStorage) = (targets, findings, count % 4 == 0)
        BackgroundThread.run(named: "usage") {
            findings.yield(
                targets.compactMapValues { target in
                    target.breach(withStorage: withStorage, nameLimit: Self.nameLimit).map { (target, $0) }
                })
        }
    }

    private func take(_ found: [Key: (Target, String)]) {
        isLooking = false
        for (key, (target, breach)) in found where targets[key] == target { onBreach(key, breach) }
    }
}

extension UsageWatch.Target {
    /// What it uses too much of. May wait for a disk.
    func breach(withStorage: Bool, nameLimit: Int) -> String? {
        let processes = ProcessTable.descendants(of: process, limit: 1024)
        if looksAtMemory {
            // Those of bubblewrap and of what follows a parent's end.
            guard processes.count <= limits.processes + 4 else {
                return "more than \(limits.processes) processes"
            }
            let memory = processes.reduce(0) { $0 + ProcessTable.memory(of: $1) }
            guard memory <= limits.memory else { return "more than \(limits.memory >> 20) MiB of memory" }
        }
        guard withStorage, let storage else { return nil }
        let contents = FileSystem.contents(of: storage, limit: nameLimit)
        guard contents.entries <= nameLimit else { return "more than \(nameLimit) files" }
        let unnamed = processes.reduce(0) { $0 + ProcessTable.unnamedBytes(of: $1, on: storage) }
        guard contents.bytes + unnamed <= limits.storage else {
            return "more than \(limits.storage >> 10) KiB of storage"
        }
        return nil
    }
}
