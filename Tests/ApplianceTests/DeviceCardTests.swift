// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteKit
import Settings
import Testing

@testable import linnet

/// A card and a data partition, as folders.
final class Trial: Sendable {
    let folder = "/tmp/linnet-appliance-\(Machine.makeUUID())"
    var card: String { "\(folder)/card" }
    var data: String { "\(folder)/data" }
    struct Cut: Error {}

    init() throws {
        try FileSystem.makeDirectory(card)
        try FileSystem.makeDirectory(data)
    }

    deinit { Trial.removeTree(folder) }

    static func removeTree(_ path: String) {
        if FileSystem.entry(path)?.kind == .folder {
            for name in (try? FileSystem.list(path)) ?? [] { removeTree("\(path)/\(name)") }
            try? FileSystem.removeDirectory(path)
        } else {
            try? FileSystem.remove(path)
        }
    }

    func put(_ text: String, _ path: String) throws {
        let parts = path.split(separator: "/").dropLast()
        try FileSystem.makeDirectory(folder + "/" + parts.joined(separator: "/"))
        try FileSystem.write(Array(text.utf8), to: "\(folder)/\(path)")
    }

    func text(_ path: String) -> String? {
        (try? FileSystem.read("\(folder)/\(path)", maximum: 1 << 20)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Every file and what is in it.
    func contents(_ path: String = "") -> [String: String] {
        var all: [String: String] = [:]
        for name in (try? FileSystem.list("\(folder)\(path)")) ?? [] {
            let place = "\(path)/\(name)"
            if FileSystem.isDirectory(folder + place) {
                all.merge(contents(place)) { first, _ in first }
            } else {
                all[place] = text(place)
            }
        }
        return all
    }

    /// Takes over what the card says. After so many writes the power is gone.
    @RouteActor func start(cutAfter limit: Int = .max) async -> DeviceCard.Outcome {
        var count = 0
        let device = DeviceCard(
            card: card, data: data,
            write: { bytes, path, mode in
                guard count < limit else { throw Cut() }
                count += 1
                try FileSystem.write(bytes, to: path, mode: mode)
            },
            overwrite: { bytes, offset, path in
                guard count < limit else { throw Cut() }
                count += 1
                try FileSystem.overwrite(bytes, at: offset, of: path)
            })
        return await device.apply()
    }
}

private let secret = "hunter2-hunter2"
private let file = """
    [device]
    name = Kitchen
    [wifi]
    country = DE
    ssid = Home
    key = \(secret)
    [output]
    device = Headphones
    volume-limit = 7
    [ssh]
    key = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9hOJmZcH2rNfYh0Wl1UqQ2x1kYVb3cT5n6m7p8q9r0 me@home
    [update]
    url = http://updates.example.org
    """

@Suite struct `The card at the start` {
    @Test func `is taken over, and has no secret afterwards`() async throws {
        let trial = try Trial()
        try trial.put(file, "card/linnet.conf")
        let outcome = await trial.start()
        #expect(outcome.lines == [])
        #expect(!outcome.wantsRestart)
        for (path, text) in trial.contents("/card") { #expect(!text.contains(secret), "\(path)") }
        #expect(
            trial.text("card/linnet.conf")?.contains("ssid = Home\n# taken over         \n[output]") == true)
        #expect(trial.text("data/device/wpa_supplicant.conf")?.contains("psk=\"\(secret)\"") == true)
        for path in ["settings", "wpa_supplicant.conf", "authorized_keys"] {
            #expect(FileSystem.entry("\(trial.data)/device/\(path)")?.mode == 0o600, "\(path)")
        }
        #expect(
            trial.text("data/device/receiver.conf.d/50-card.conf")
                == """
                # Made from linnet.conf on the card.
                [receiver]
                name=Kitchen

                [output]
                device=Headphones
                volume-cap=0.07

                """)
        #expect(trial.text("data/device/authorized_keys")?.hasPrefix("ssh-ed25519 AAAA") == true)
        #expect(
            UpdateServer.chosen(in: ["\(trial.data)/device/update.conf"])?.url == "http://updates.example.org"
        )
        #expect(trial.text("card/linnet-boot.log")?.contains("No mistakes.") == true)
    }

    @Test func `is left alone when there is nothing new`() async throws {
        let trial = try Trial()
        try trial.put(file, "card/linnet.conf")
        _ = await trial.start()
        let before = trial.contents()
        let outcome = await trial.start(cutAfter: 0)
        #expect(outcome.lines == [])
        #expect(trial.contents() == before)
    }

    @Test func `may lose its power between any two steps`() async throws {
        let whole = try Trial()
        try whole.put(file, "card/linnet.conf")
        _ = await whole.start()
        let wanted = whole.contents()
        for limit in 0..<12 {
            let trial = try Trial()
            try trial.put(file, "card/linnet.conf")
            let outcome = await trial.start(cutAfter: limit)
            // Where anything was to be written, what was cut off is not taken for done.
            #expect(outcome.isComplete == (limit >= 7))
            let onCard = trial.text("card/linnet.conf")?.contains(secret) == true
            let kept = trial.text("data/device/settings")?.contains(secret) == true
            let used = trial.text("data/device/wpa_supplicant.conf")?.contains(secret) == true
            #expect(onCard || kept && used, "the key is lost after \(limit) writes")
            _ = await trial.start()
            #expect(trial.contents() == wanted, "after \(limit) writes")
        }
    }

    @Test func `with mistakes leaves what counted before, and says so beside the file`() async throws {
        let trial = try Trial()
        try trial.put(file, "card/linnet.conf")
        _ = await trial.start()
        let network = trial.text("data/device/wpa_supplicant.conf")
        try trial.put(
            "[device]\nname = \n[wifi]\ncountry = DE\nssid = Other\nkey = short\nnonsense\n",
            "card/linnet.conf")
        let outcome = await trial.start()
        #expect(outcome.lines.count == 3 && outcome.isComplete)
        #expect(trial.text("data/device/wpa_supplicant.conf") == network)
        #expect(trial.text("data/device/receiver.conf.d/50-card.conf")?.contains("name=Kitchen") == true)
        let log = trial.text("card/linnet-boot.log") ?? ""
        #expect(log.contains("line 2: [device] name: must be"))
        #expect(log.contains("line 6: [wifi] key: must be"))
        #expect(log.contains("line 7: is no 'key = value'"))
        #expect(trial.text("card/linnet.conf")?.contains("key = short") == true)
    }

    @Test func `without a file changes nothing, and what is taken out of it no longer counts`() async throws {
        let trial = try Trial()
        _ = await trial.start()
        #expect(trial.contents() == [:])
        try trial.put(file, "card/linnet.conf")
        _ = await trial.start()
        try FileSystem.remove("\(trial.card)/linnet.conf")
        let before = trial.contents("/data")
        _ = await trial.start()
        #expect(trial.contents("/data") == before)
        try trial.put("# nothing\n", "card/linnet.conf")
        _ = await trial.start()
        #expect(trial.contents("/data") == ["/data/device/settings": ""])
    }

    @Test func `keeps its secret where the data partition cannot be written`() async throws {
        let trial = try Trial()
        try trial.put(file, "card/linnet.conf")
        try trial.put("in the way", "data/device")
        let outcome = await trial.start()
        #expect(outcome.lines.count == 1 && !outcome.isComplete)
        #expect(trial.text("card/linnet.conf") == file)
        #expect(trial.text("card/linnet-boot.log")?.contains("Nothing could be kept") == true)
    }

    @Test func `has the firmware read the overlay of a DAC, after one restart`() async throws {
        let trial = try Trial()
        try trial.put("", "card/config.txt")
        try trial.put("", "card/overlays/hifiberry-dac.dtbo")
        try trial.put("[output]\ndac = hifiberry-dac\n", "card/linnet.conf")
        let first = await trial.start()
        #expect(first.lines == [] && first.wantsRestart)
        #expect(trial.text("card/linnet-dac.txt")?.contains("dtoverlay=hifiberry-dac\n") == true)
        let second = await trial.start()
        #expect(!second.wantsRestart)
    }

    @Test func `dates what it says by the calendar`() {
        #expect(DeviceCard.day(0) == "1970-01-01")
        #expect(DeviceCard.day(951_782_400) == "2000-02-29")
        #expect(DeviceCard.day(1_796_083_200) == "2026-12-01")
    }
}

@Suite struct `A reset` {
    private func used() throws -> Trial {
        let trial = try Trial()
        try trial.put("x", "data/state/var/lib/linnet/state.conf")
        try trial.put("x", "data/state/var/log/journal/a/b")
        try trial.put("x", "data/device/settings")
        try trial.put("x", "data/rauc/central.raucs")
        try trial.put("1.0", "data/health/passed")
        try FileSystem.link("\(trial.data)/state/link", to: "\(trial.data)/rauc")
        return trial
    }
    private let left = ["/data/health/passed": "1.0", "/data/rauc/central.raucs": "x"]

    @Test func `forgets all but the books of the updater`() throws {
        let trial = try used()
        let reset = DeviceReset(data: trial.data)
        #expect(!reset.isAsked)
        try reset.ask()
        #expect(reset.isAsked)
        try reset.run()
        #expect(!reset.isAsked)
        #expect(trial.contents("/data") == left)
    }

    @Test func `that is cut off goes on at the next start`() async throws {
        for limit in 0..<10 {
            let trial = try used()
            var count = 0
            let reset = DeviceReset(
                data: trial.data,
                willRemove: {
                    guard count < limit else { throw Trial.Cut() }
                    count += 1
                })
            try reset.ask()
            try? reset.run()
            let outcome = await trial.start()
            #expect(trial.contents("/data") == left)
            #expect(outcome.wasReset || limit > 8)
        }
    }

    @Test func `is asked for by a file on the card, once`() async throws {
        let trial = try used()
        try trial.put("", "card/linnet-reset")
        try trial.put("[device]\nname=New\n", "card/linnet.conf")
        let outcome = await trial.start()
        #expect(outcome.wasReset)
        #expect(!FileSystem.exists("\(trial.card)/linnet-reset"))
        #expect(trial.text("data/device/settings") == "device.name=New\n")
        #expect(trial.text("data/state/var/lib/linnet/state.conf") == nil)
        let again = await trial.start()
        #expect(!again.wasReset)
    }

    @Test func `does not happen when the wish cannot be taken off the card`() async throws {
        let trial = try used()
        // A folder with something in it cannot be removed as a file is.
        try trial.put("", "card/linnet-reset/x")
        let outcome = await trial.start()
        #expect(!outcome.wasReset)
        #expect(trial.text("data/device/settings") == "x")
        #expect(!FileSystem.exists("\(trial.data)/linnet-reset"))
    }
}
