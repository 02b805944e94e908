// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The two systems of the device, and what they mean for who looks at them.
package struct Slots: Equatable, Sendable {
    package struct Slot: Equatable, Sendable {
        /// `A` or `B`.
        package var name: String
        /// What was installed there; nil if no update ever was.
        package var version: String?
        package var installed: String?
        package var runs: Bool
        package var isGood: Bool
        package init(name: String, version: String?, installed: String?, runs: Bool, isGood: Bool) {
            (self.name, self.version, self.installed) = (name, version, installed)
            (self.runs, self.isGood) = (runs, isGood)
        }
    }

    package var compatible: String
    package var slots: [Slot]
    /// The one that the next start takes.
    package var next: String?
    /// The last start that did not pass its check.
    package var left: Left?

    package init(compatible: String, slots: [Slot], next: String?, left: Left? = nil) {
        (self.compatible, self.slots, self.next, self.left) = (compatible, slots, next, left)
    }

    /// Why the device left a slot by itself, as the check of the start wrote it down.
    package struct Left: Equatable, Sendable {
        package var slot: String
        package var version: String?
        package var time: String?
        package var reason: String

        /// Lines `slot=`, `version=`, `time=`, `reason=`; nil without slot and reason.
        package init?(_ bytes: [UInt8]) {
            var values: [String: String] = [:]
            for line in bytes.prefix(4096).split(separator: 10) {
                guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
                let text = String(decoding: line[line.index(after: equals)...], as: UTF8.self)
                values[String(decoding: line[..<equals], as: UTF8.self)] = text.isEmpty ? nil : text
            }
            guard let slot = values["slot"], let reason = values["reason"] else { return nil }
            (self.slot, self.version, self.time, self.reason) = (
                slot, values["version"], values["time"], reason
            )
        }
    }

    /// What was left, as long as nothing newer has proved itself since.
    package var leftStill: Left? {
        guard let left, let running else { return left }
        guard let version = left.version, let now = running.version else { return left }
        let isOver = BundleVersion(version) == BundleVersion(now) && running.isGood
        return isOver || BundleVersion(version) < BundleVersion(now) ? nil : left
    }

    package var running: Slot? { slots.first { $0.runs } }
    package var other: Slot? { slots.first { !$0.runs } }

    /// What should be known, in whole sentences.
    package var remarks: [String] {
        var remarks: [String] = []
        if let running, let next, next != running.name {
            remarks.append(
                "Slot \(next) is taken at the next start: linnet update status after it tells how that went.")
        }
        if let other, !other.isGood, next != other.name {
            remarks.append(
                other.version == nil
                    ? "There is no fallback yet: slot \(other.name) was never written whole. The next update brings it."
                    : "There is no fallback: slot \(other.name) holds nothing that starts, as after an update that was "
                        + "cut off. Install an update, and it does again.")
        }
        if let running, !running.isGood {
            remarks.append("Slot \(running.name), which runs, did not prove itself yet.")
        }
        if let left = leftStill {
            let version = left.version.map { " with version \($0)" } ?? ""
            let time = left.time.map { " (\($0))" } ?? ""
            remarks.append(
                "Slot \(left.slot)\(version) was left because its check failed: \(left.reason)\(time)")
        }
        return remarks
    }

    /// Whether a bundle may be installed; the refusal in words if not.
    package func refusal(
        compatible bundle: String?, version: String?, running: String?, allowsOlder: Bool
    ) -> String? {
        guard let bundle, bundle == compatible else {
            return "it is for another board: \(bundle ?? "it does not say which"), and this is \(compatible)"
        }
        guard let version, !version.isEmpty else { return "it does not say its version" }
        guard let running, !allowsOlder, BundleVersion(version) < BundleVersion(running) else { return nil }
        return "it is older than what runs: \(version), and \(running) runs"
    }
}

/// What the updater says, in words for who owns the device.
package enum UpdateRefusal {
    package static func words(for complaint: String) -> String {
        // By what the updater's messages have in common over its versions.
        let known: [(needle: String, words: String)] = [
            ("exceeds bundle size", "it is not whole: cut off, or no bundle"),
            ("Signature size", "it is not whole: cut off, or no bundle"),
            ("Failed to seek", "it is not whole: cut off, or no bundle"),
            ("Failed to read from bundle", "it is not whole: cut off, or no bundle"),
            ("Invalid bundle format", "it is not whole: cut off, or no bundle"),
            ("signature verification failed", "its signature is not one that this device trusts"),
            ("Verify error", "its signature is not one that this device trusts"),
            ("Failed to load keyring", "this device has no certificate to check it with"),
            ("Compatible mismatch", "it is for another board"),
            ("not enough space", "it does not fit into the slot"),
            ("Input/output error", "it is damaged, or what it lies on is"),
            ("No space left", "there is no room for it"),
        ]
        if complaint.hasPrefix("No such file") { return "there is no such file" }
        let line = complaint.split(separator: "\n" as Character).last.map { String($0) } ?? ""
        guard let found = known.first(where: { contains(complaint, $0.needle) }) else {
            return line.isEmpty ? "the updater did not say why" : line
        }
        return line.isEmpty ? found.words : "\(found.words) (\(line))"
    }

    private static func contains(_ text: String, _ needle: String) -> Bool {
        let (text, needle) = (Array(text.utf8), Array(needle.utf8))
        guard text.count >= needle.count else { return false }
        return (0...(text.count - needle.count)).contains {
            text[$0..<($0 + needle.count)].elementsEqual(needle)
        }
    }
}
