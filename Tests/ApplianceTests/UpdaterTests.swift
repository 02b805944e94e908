// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import RouteWire
import Settings
import Testing

@testable import linnet

@Suite struct `Updates by RAUC itself` {
    @RouteActor private func refusal(
        _ lab: SlotLab, _ bundle: String, allowsOlder: Bool = false
    ) async -> CommandFailure? {
        do {
            _ = try await lab.updater.install(bundle, allowsOlder: allowsOlder) { _, _ in }
            return nil
        } catch {
            return error as? CommandFailure ?? CommandFailure(.failure, "\(error)")
        }
    }

    @Test(.enabled(if: SlotLab.missingProgram == nil, "needs rauc, squashfs-tools, dbus and openssl"))
    @RouteActor func `are refused with the reason`() async throws {
        let lab = try await SlotLab()
        let wrong = await refusal(lab, try await lab.bundle(version: "1.2.0", key: "wrong"))
        #expect(wrong?.code == .refused)
        #expect(wrong?.message.hasPrefix("its signature is not one that this device trusts") == true)

        let good = try await lab.bundle(version: "1.2.0")
        let bytes = try FileSystem.read(good, maximum: 1 << 24)
        let short = "\(lab.trial.folder)/short.raucb"
        try FileSystem.write(Array(bytes.prefix(bytes.count / 2)), to: short)
        let truncated = await refusal(lab, short)
        #expect(truncated?.code == .refused)
        #expect(truncated?.message.hasPrefix("it is not whole") == true)

        let other = await refusal(lab, try await lab.bundle(version: "1.2.0", compatible: "linnet-other"))
        #expect(other?.code == .refused)
        #expect(other?.message == "it is for another board: linnet-other, and this is linnet-test")

        let older = await refusal(lab, try await lab.bundle(version: "1.0.9"))
        #expect(older?.code == .refused)
        #expect(older?.message == "it is older than what runs: 1.0.9, and 1.1.0 runs")
        #expect(older?.advice == "--allow-older installs it all the same.")

        let missing = await refusal(lab, "\(lab.trial.folder)/none.raucb")
        #expect(missing?.message.hasPrefix("there is no such file") == true)
        #expect(try FileSystem.read("\(lab.trial.folder)/slot-b", maximum: 1 << 21).allSatisfy { $0 == 0 })
        await lab.end()
    }

    @Test(.enabled(if: SlotLab.absence == nil, "needs root, loop devices, rauc and squashfs-tools"))
    @RouteActor func `are written to the slot that does not run, shown, and taken back`() async throws {
        let lab = try await SlotLab()
        guard try await lab.canMount() else { return await lab.end() }
        var before = try await lab.updater.slots()
        #expect(before.running?.name == "A" && before.running?.version == "1.1.0")
        #expect(before.next == "A")
        #expect(before.remarks == [])
        var progress: [Int] = []
        let bundle = try await lab.bundle(version: "1.2.0")
        let version = try await lab.updater.install(bundle, allowsOlder: false) { percent, _ in
            progress.append(percent)
        }
        #expect(version == "1.2.0")
        #expect(progress.first == 0 && progress.last == 100)
        #expect(progress == progress.sorted())
        let written = try FileSystem.read("\(lab.trial.folder)/slot-b", maximum: 1 << 21)
        #expect(String(decoding: written.prefix(12), as: UTF8.self) == "system 1.2.0")
        var after = try await lab.updater.slots()
        #expect(after.next == "B" && after.other?.version == "1.2.0" && after.other?.isGood == true)
        #expect(after.remarks.count == 1)

        // Back to what runs.
        _ = try await ChildOutput.run([lab.updater.rauc, "status", "mark-active", "booted"])
        after = try await lab.updater.slots()
        #expect(after.next == "A")
        let slot = try await lab.updater.rollBack()
        #expect(slot.name == "B")
        after = try await lab.updater.slots()
        #expect(after.next == "B")

        // Older, when it is wished.
        let older = try await lab.bundle(version: "1.0.0")
        _ = try await lab.updater.install(older, allowsOlder: true) { _, _ in }
        before = try await lab.updater.slots()
        #expect(before.other?.version == "1.0.0")

        // What is bad is no fallback, and nothing to go back to.
        _ = try await ChildOutput.run([lab.updater.rauc, "status", "mark-active", "booted"])
        _ = try await ChildOutput.run([lab.updater.rauc, "status", "mark-bad", "other"])
        try lab.trial.put(
            "slot=B\nversion=1.3.0\ntime=2026-12-01T00:00:00Z\nreason=the receiver is not up\n",
            "data/health/left")
        let bad = try await lab.updater.slots()
        #expect(bad.remarks.count == 2)
        #expect(bad.remarks[0].hasPrefix("There is no fallback"))
        #expect(
            bad.remarks[1]
                == "Slot B with version 1.3.0 was left because its check failed: the receiver is not up (2026-12-01T00:00:00Z)"
        )
        #expect(UpdateText.json(bad).line.contains("\"hasFallback\":false"))
        await #expect(throws: CommandFailure.self) { try await lab.updater.rollBack() }
        await lab.end()
    }

    @Test @RouteActor func `are not there on a machine without slots`() async throws {
        let trial = try Trial()
        var updater = Updater()
        updater.rauc = "/bin/true"
        updater.release = "\(trial.folder)/os-release"
        try trial.put("ID=debian\n", "os-release")
        #expect(throws: CommandFailure.self) { try updater.requireSlots() }
        try trial.put("ID=debian\nIMAGE_ID=linnet-test\nIMAGE_VERSION=1.0\n", "os-release")
        #expect(throws: Never.self) { try updater.requireSlots() }
        updater.rauc = "\(trial.folder)/none"
        #expect(throws: CommandFailure.self) { try updater.requireSlots() }
    }
}

@Suite struct `What the updater says of its slots` {
    /// As RAUC 1.8 prints it on a device with a boot partition in each slot.
    private static let captured = """
        {"compatible":"linnet-test","variant":"","booted":"A","boot_primary":"rootfs.1","slots":[{"boot.1":{"class":"boot","device":"/b",\
        "type":"raw","bootname":null,"state":"inactive","parent":"rootfs.1","boot_status":null,"slot_status":{}}},{"rootfs.1":{"class":"rootfs",\
        "device":"/dev/8","type":"raw","bootname":"B","state":"inactive","parent":null,"mountpoint":null,"boot_status":"bad","slot_status":\
        {"bundle":{"compatible":"linnet-test","version":"1.2.0"},"installed":{"timestamp":"2026-12-01T00:19:48Z","count":1},"status":"ok"}}},\
        {"rootfs.0":{"class":"rootfs","device":"/dev/6","type":"raw","bootname":"A","state":"booted","parent":null,"mountpoint":null,\
        "boot_status":"good","slot_status":{"bundle":{"compatible":null}}}}]}
        """

    @Test func `is read`() throws {
        let slots = try #require(
            Updater.slots(in: try RouteWire.JSONText.decode(Self.captured, limit: 65_536)))
        #expect(
            slots.slots == [
                .init(name: "A", version: nil, installed: nil, runs: true, isGood: true),
                .init(
                    name: "B", version: "1.2.0", installed: "2026-12-01T00:19:48Z", runs: false, isGood: false
                ),
            ])
        #expect(slots.next == "B")
        #expect(
            UpdateText.people(slots) == [
                "linnet-test", "Slot A  as it was written first  runs, good",
                "Slot B  1.2.0  waits, does not start, taken at the next start, installed 2026-12-01T00:19:48Z",
            ] + slots.remarks)
    }

    @Test func `may be anything`() throws {
        for text in ["{}", "[]", "{\"compatible\":1,\"slots\":[]}", "{\"compatible\":\"x\",\"slots\":3}"] {
            #expect(Updater.slots(in: try RouteWire.JSONText.decode(text, limit: 100)) == nil)
        }
        let empty = Updater.slots(
            in: try RouteWire.JSONText.decode("{\"compatible\":\"x\",\"slots\":[{},3]}", limit: 100))
        #expect(empty == Slots(compatible: "x", slots: [], next: nil))
    }
}

@Suite struct `A server of updates` {
    private func offer(_ text: String) -> UpdateServer.Offer? {
        UpdateServer.offer(in: Array(text.utf8), base: "https://example.org/linnet-test")
    }

    @Test func `names a version, and a bundle beside its index`() {
        let offer = offer(#"{"version": "1.2.0", "bundle": "linnet-test-1.2.0.raucb"}"#)
        #expect(
            offer == .init(version: "1.2.0", place: "https://example.org/linnet-test/linnet-test-1.2.0.raucb")
        )
        #expect(offer.flatMap { UpdateServer.Offer(text: Array($0.text.utf8)) } == offer)
    }

    @Test(arguments: [
        #"{"version": "1.2.0"}"#, #"{"version": 1, "bundle": "x"}"#, #"{"version": "1", "bundle": "../x"}"#,
        #"{"version": "1", "bundle": "http://other/x"}"#, #"{"version": "1\n2", "bundle": "x"}"#,
        #"{"version": "", "bundle": "x"}"#, "<html>", "",
    ])
    func `is not believed anything else`(text: String) { #expect(offer(text) == nil) }

    @Test(arguments: [
        "1.0\n", "1.0\nfile:///etc/passwd\n", "1.0\nhttps://x\nmore\n", "1.0\nhttps://x y\n", "", "\n\n",
    ])
    func `cannot have anything else installed`(text: String) {
        #expect(UpdateServer.Offer(text: Array(text.utf8)) == nil)
    }
}
