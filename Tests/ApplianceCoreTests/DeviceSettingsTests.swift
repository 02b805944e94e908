// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import Testing

private let goodKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9hOJmZcH2rNfYh0Wl1UqQ2x1kYVb3cT5n6m7p8q9r0 me@home"

private func read(
    _ text: String, before: DeviceSettings = DeviceSettings(), overlays: Set<String>? = nil
) -> DeviceSettings.Reading {
    before.reading(CardFile(Array(text.utf8)), overlays: overlays)
}

@Suite struct `The settings on the card` {
    @Test func `are taken over as they stand`() {
        let reading = read(
            """
            # My speaker
            [device]
            name = Küche
            [wifi]
            country=de
            ssid = Home "5" \\ net
            key = pass # word = "x"\\s
            hidden = yes
            [output]
            device = Headphones
            volume-limit = 80
            [access]
            policy = open
            [ssh]
            key = \(goodKey)
            [update]
            url = https://updates.example.org/linnet
            """)
        #expect(reading.mistakes == [])
        #expect(reading.settings.values["device.name"] == "Küche")
        #expect(reading.settings.values["wifi.country"] == "DE")
        #expect(reading.settings.values["wifi.ssid"] == "Home \"5\" \\ net")
        #expect(reading.settings.values["wifi.key"] == "pass # word = \"x\"\\s")
        #expect(reading.settings.values["ssh.key"] == goodKey)
        #expect(reading.secrets == [7])
        #expect(reading.settings.receiver.map(\.name) == ["receiver", "access", "output"])
        #expect(reading.settings.receiver[2].values.map(\.value) == ["Headphones", "0.80"])
        #expect(reading.settings.update.map(\.value) == ["https://updates.example.org/linnet", "24"])
        #expect(DeviceSettings(kept: reading.settings.kept) == reading.settings)
    }

    @Test(arguments: [
        ("[device]\nname=", 2, "[device] name: must be a name of 1 to 63 bytes"),
        ("[device]\nnmae=x", 2, "[device] has no 'nmae'; it has name"),
        (
            "[devise]\nname=x", 2,
            "there is no [devise]; there are [device], [wifi], [output], [access], [ssh], [update]"
        ),
        ("name=x", 1, "stands before any [group], such as [device]"),
        ("[device]\nname", 2, "is no 'key = value', no [group] and no # comment"),
        (
            "[wifi]\ncountry=Germany\nssid=x\nkey=12345678", 2,
            "[wifi] country: must be two letters, such as DE"
        ),
        (
            "[wifi]\ncountry=DE\nssid=x\nkey=short", 4,
            "[wifi] key: must be 8 to 63 plain characters, or nothing for an open network"
        ),
        ("[wifi]\ncountry=DE\nkey=12345678", 2, "[wifi] ssid is missing: the network's name"),
        ("[wifi]\nssid=x\nkey=12345678", 2, "[wifi] country is missing: two letters, such as DE"),
        (
            "[wifi]\ncountry=DE\nssid=x", 3,
            "[wifi] key is missing; 'key =' alone stands for an open network"
        ),
        ("[wifi]\ncountry=DE\nssid=x\nkey=\nhidden=perhaps", 5, "[wifi] hidden: must be yes or no"),
        ("[output]\nvolume-limit=0", 2, "[output] volume-limit: must be a whole number from 1 to 100"),
        ("[output]\ndac=hifiberry-dac", 2, "[output] dac: this board has no connector for one"),
        ("[access]\npolicy=closed", 2, "[access] policy: must be open"),
        (
            "[ssh]\nkey=command=\"x\" \(goodKey)", 2,
            "[ssh] key: must be a public key on one line, such as ssh-ed25519 AAAA… me@home"
        ),
        ("[update]\nurl=ftp://x", 2, "[update] url: must be an address that begins with https:// or http://"),
        ("[update]\ninterval-hours=0", 2, "[update] interval-hours: must be a whole number from 1 to 720"),
    ])
    func `name the line of each mistake, and what is allowed`(text: String, line: Int, message: String) {
        #expect(read(text).mistakes == [CardFile.Mistake(line: line, message)])
    }

    @Test func `count as before where there is a mistake, and elsewhere anew`() {
        let before = read("[device]\nname=Old\n[output]\nvolume-limit=50").settings
        let after = read("[device]\nname=\n[output]\nvolume-limit=60", before: before)
        #expect(after.settings.values == ["device.name": "Old", "output.volume-limit": "60"])
        #expect(read("", before: before).settings.values == [:])
    }

    @Test func `leave the network as it was, whatever part of it is wrong`() {
        let before = read("[wifi]\ncountry=DE\nssid=Home\nkey=12345678").settings
        for text in [
            "[wifi]\ncountry=DE\nssid=Other", "[wifi]\ncountry=D\nssid=Other\nkey=87654321",
            "[wifi]\ncountry=DE\nkey=87654321", "[wifi]\ncountry=DE\nssid=Other\nkey=short",
        ] {
            let after = read(text, before: before)
            #expect(after.settings == before)
            #expect(!after.mistakes.isEmpty)
            #expect(after.secrets == [], "a secret that was not taken over stays where it is")
        }
    }

    @Test func `keep a key that has left the card for as long as the network is the same`() {
        let before = read("[wifi]\ncountry=DE\nssid=Home\nkey=12345678").settings
        let same = read("[wifi]\ncountry=AT\nssid=Home\n# key was taken over", before: before)
        #expect(same.mistakes == [])
        #expect(same.settings.values["wifi.key"] == "12345678")
        #expect(same.settings.values["wifi.country"] == "AT")
        #expect(read("[device]\nname=x", before: before).settings.wireless == nil)
    }

    @Test func `say nothing when the file is no text`() {
        let before = read("[device]\nname=Old").settings
        for bytes: [UInt8] in [[0xff, 0xfe, 91, 0], Array(repeating: 35, count: CardFile.sizeLimit + 1)] {
            let reading = before.reading(CardFile(bytes), overlays: nil)
            #expect(reading.settings == before)
            #expect(reading.mistakes.map(\.line) == [0])
        }
    }

    @Test func `come from any editor`() {
        let text =
            "\u{feff}[device]\r\nname = Küche \r\n\r\n; remark\r\n[wifi]\r\ncountry=DE\r\nssid=x\r\nkey=\r\n"
        let reading = read(text)
        #expect(reading.mistakes == [])
        #expect(reading.settings.values["device.name"] == "Küche")
        #expect(reading.settings.values["wifi.key"] == "")
        #expect(reading.secrets == [], "an open network has no secret")
    }

    @Test(arguments: ["\n", "\r\n"])
    func `lose a secret where it lies, and nothing else`(end: String) {
        let key = String(repeating: "k", count: 30)
        let text = ["[wifi]", "country=DE", "ssid=x", "key=87654321", "key = \(key)", "# ä", ""].joined(
            separator: end)
        let reading = read(text)
        #expect(reading.secrets == [4, 5])
        var bytes = Array(text.utf8)
        for blank in CardFile.blanks(for: reading.secrets, in: bytes, day: "2026-12-01") {
            bytes.replaceSubrange(blank.offset..<(blank.offset + blank.bytes.count), with: blank.bytes)
        }
        let wanted = [
            "[wifi]", "country=DE", "ssid=x", "# taken over", "# taken over on 2026-12-01          ", "# ä",
            "",
        ].joined(separator: end)
        #expect(String(decoding: bytes, as: UTF8.self) == wanted)
        #expect(read(wanted, before: reading.settings).settings == reading.settings)
    }

    @Test func `of any bytes never trap`() {
        var state: UInt64 = 7
        let alphabet = Array("[]=#;\n\r \tkeywifi.ssd\u{0}\u{7f}ü\\\"".utf8) + [0xff, 0xc3]
        for _ in 0..<2000 {
            var bytes: [UInt8] = Array("[wifi]\n".utf8)
            for _ in 0..<40 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            let reading = DeviceSettings().reading(CardFile(bytes), overlays: [])
            _ = reading.settings.log(mistakes: reading.mistakes)
            for blank in CardFile.blanks(for: reading.secrets, in: bytes, day: "2026-12-01") {
                #expect(blank.offset + blank.bytes.count <= bytes.count)
            }
            #expect(DeviceSettings(kept: reading.settings.kept) == reading.settings)
        }
    }

    @Test func `choose a DAC of those that the board has`() {
        let overlays: Set<String> = ["hifiberry-dac", "linnet-pcm5102a"]
        let right = read("[output]\ndac=hifiberry-dac", overlays: overlays)
        #expect(right.mistakes == [])
        #expect(right.settings.overlayLine == "# [output] dac in linnet.conf\ndtoverlay=hifiberry-dac\n")
        #expect(
            read("[output]\ndac=none", overlays: overlays).settings.overlayLine
                == "# [output] dac in linnet.conf\n")
        let wrong = read("[output]\ndac=hifibery", overlays: overlays)
        #expect(
            wrong.mistakes.map(\.message)
                == ["[output] dac: there is no 'hifibery'; there are none, hifiberry-dac, linnet-pcm5102a"])
    }

    @Test func `never show a secret in the log`() {
        let secret = "hunter2-hunter2"
        let reading = read(
            "[wifi]\ncountry=DE\nssid=Home\nkey=\(secret)\nkye=\(secret)\n\(secret)\n[\(goodKey)\n")
        let log = reading.settings.log(mistakes: reading.mistakes)
        #expect(log.contains("[wifi] key = kept on the device"))
        #expect(!log.contains(secret))
        #expect(reading.mistakes.map(\.line) == [5, 6, 7])
    }
}

@Suite struct `What Wi-Fi is given` {
    @Test func `holds names and keys of any characters`() {
        let settings = read("[wifi]\ncountry=de\nssid=Ü\"\\\nkey=a\"b#c\\d e\"\nhidden=yes").settings
        #expect(
            settings.wireless == """
                country=DE
                network={
                    ssid=c39c225c
                    scan_ssid=1
                    psk="a"b#c\\d e""
                    key_mgmt=WPA-PSK WPA-PSK-SHA256 SAE
                    ieee80211w=1
                }

                """)
    }

    @Test func `is open where the key is empty, and takes keys as numbers`() {
        let open = read("[wifi]\ncountry=de\nssid=x\nkey=").settings
        #expect(open.wireless == "country=DE\nnetwork={\n    ssid=78\n    key_mgmt=NONE\n}\n")
        let raw = String(repeating: "0a", count: 32)
        let settings = read("[wifi]\ncountry=de\nssid=x\nkey=\(raw)").settings
        #expect(settings.wireless?.contains("    psk=\(raw)\n") == true)
    }
}
