// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import Testing

@Suite struct `Versions of images` {
    @Test(arguments: [
        ("1.2.0", "1.10.0"), ("1.2.0~rc1", "1.2.0"), ("1.2.0", "1.2.0+1"), ("1.2", "1.2.0"), ("0.9", "1"),
        ("1.0~~", "1.0~"), ("1.0a", "1.0b"), ("2024.12.1", "2025.1"),
        ("99999999999999999999", "100000000000000000000"),
    ])
    func `are in order`(older: String, newer: String) {
        #expect(BundleVersion(older) < BundleVersion(newer))
        #expect(!(BundleVersion(newer) < BundleVersion(older)))
        #expect(BundleVersion(older) != BundleVersion(newer))
    }

    @Test func `are equal whatever zeros lead`() {
        #expect(BundleVersion("1.02") == BundleVersion("1.2"))
        #expect(BundleVersion("") == BundleVersion(""))
    }
}

@Suite struct `The slots of a device` {
    private func slots(otherIsGood: Bool = true, next: String = "A", runningIsGood: Bool = true) -> Slots {
        Slots(
            compatible: "linnet-test",
            slots: [
                .init(name: "A", version: "1.1", installed: nil, runs: true, isGood: runningIsGood),
                .init(name: "B", version: "1.0", installed: nil, runs: false, isGood: otherIsGood),
            ], next: next)
    }

    @Test func `have nothing to say when all is well`() { #expect(slots().remarks == []) }

    @Test func `say that there is no fallback`() {
        let remarks = slots(otherIsGood: false).remarks
        #expect(remarks.count == 1)
        #expect(remarks[0].hasPrefix("There is no fallback: slot B"))
    }

    @Test func `say that there was none yet on a new device`() {
        var slots = slots(otherIsGood: false)
        slots.slots[1].version = nil
        #expect(
            slots.remarks == [
                "There is no fallback yet: slot B was never written whole. The next update brings it."
            ])
    }

    @Test func `say what the next start takes, and that what runs is not proved`() {
        #expect(slots(otherIsGood: false, next: "B").remarks.count == 1)
        #expect(slots(runningIsGood: false).remarks == ["Slot A, which runs, did not prove itself yet."])
    }

    @Test func `say why one was left, until something newer has proved itself`() {
        func left(_ version: String, runningIsGood: Bool = true) -> [String] {
            var slots = slots(runningIsGood: runningIsGood)
            slots.left = Slots.Left(Array("slot=B\nversion=\(version)\nreason=it is not up\n".utf8))
            return slots.remarks
        }
        #expect(left("1.2") == ["Slot B with version 1.2 was left because its check failed: it is not up"])
        #expect(left("") == ["Slot B was left because its check failed: it is not up"])
        #expect(left("1.0") == [])
        #expect(left("1.1") == [])
        #expect(left("1.1", runningIsGood: false).count == 2)
        #expect(Slots.Left(Array("slot=B\n\n=\nreason\n".utf8)) == nil)
    }

    @Test func `refuse what is for another board, and what is older unless it is wished`() {
        let slots = slots()
        func refusal(_ compatible: String?, _ version: String?, _ allowsOlder: Bool = false) -> String? {
            slots.refusal(compatible: compatible, version: version, running: "1.1", allowsOlder: allowsOlder)
        }
        #expect(refusal("linnet-test", "1.2") == nil)
        #expect(refusal("linnet-test", "1.1") == nil)
        #expect(refusal("linnet-test", "1.0") == "it is older than what runs: 1.0, and 1.1 runs")
        #expect(refusal("linnet-test", "1.0", true) == nil)
        #expect(
            refusal("linnet-other", "1.2") == "it is for another board: linnet-other, and this is linnet-test"
        )
        #expect(refusal("linnet-other", "1.2", true) != nil)
        #expect(
            refusal(nil, "1.2") == "it is for another board: it does not say which, and this is linnet-test")
        #expect(refusal("linnet-test", nil) == "it does not say its version")
    }

    @Test(arguments: [
        (
            "signature verification failed: Verify error: self-signed certificate",
            "its signature is not one that this device trusts"
        ),
        (
            "Invalid bundle format: Signature size (58) exceeds bundle size",
            "it is not whole: cut off, or no bundle"
        ),
        (
            "Failed updating slot rootfs.1: Failed to copy data: Error reading from file: Input/output error",
            "it is damaged, or what it lies on is (Failed updating slot"
        ),
        ("No such file: /x", "there is no such file"),
        (
            "Failed mounting bundle: Failed to open /dev/mapper/control: No such file or directory",
            "Failed mounting bundle: Failed to open /dev/mapper/control"
        ), ("Failed mounting bundle: weather", "Failed mounting bundle: weather"),
        ("", "the updater did not say why"),
    ])
    func `tell in plain words what the updater says`(complaint: String, words: String) {
        #expect(UpdateRefusal.words(for: complaint).hasPrefix(words))
    }
}
