// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import Glibc
import Testing

@testable import AudioOutput

/// As `snd_ctl_card_info` describes cards: id, driver, name.
private func card(_ index: Int32, _ id: String, _ driver: String, _ name: String, display: Bool? = nil)
    -> SoundCard
{
    SoundCard(index: index, id: id, driver: driver, name: name, hasDisplay: display)
}

private let jack = card(0, "Headphones", "bcm2835_headpho", "bcm2835 Headphones")
private let screen = card(1, "vc4hdmi0", "vc4-hdmi", "vc4-hdmi-0")
private let usb = card(2, "USB", "USB-Audio", "Scarlett 2i2 USB")
private let converter = card(3, "sndrpihifiberry", "RPi-simple", "snd_rpi_hifiberry_dac")
private let board = card(0, "PCH", "HDA-Intel", "HDA Intel PCH", display: true)
private let graphics = card(1, "NVidia", "HDA-Intel", "HDA NVidia", display: true)

@Suite struct `The card that is taken` {
    @Test func `is what was plugged in, then what was built in, then the screen, then the jack`() {
        #expect(
            CardOrder.names(of: [jack, screen, usb, converter]) == [
                "hw:CARD=USB", "hw:CARD=sndrpihifiberry", "hdmi:CARD=vc4hdmi0", "hw:CARD=vc4hdmi0",
                "hw:CARD=Headphones",
            ])
    }

    @Test(arguments: [
        ("IQaudIODAC", "RPi-simple", "IQaudIODAC"), ("sndallodigione", "snd_allo_digion", "snd_allo_digione"),
        ("LinnetPCM5102A", "simple-card", "linnet-pcm5102a"),
        ("sndrpijustboom", "snd_rpi_justboo", "snd_rpi_justboom_dac"),
    ])
    func `may be a converter at the pins, under many names`(id: String, driver: String, name: String) {
        #expect(CardOrder.kind(of: card(4, id, driver, name)) == .converter)
    }

    @Test func `is no screen that is off`() {
        let dark = card(1, "NVidia", "HDA-Intel", "HDA NVidia", display: false)
        #expect(CardOrder.names(of: [dark, board]) == ["hw:CARD=PCH", "hw:CARD=NVidia"])
        #expect(CardOrder.names(of: [board, graphics]) == ["hw:CARD=NVidia", "hw:CARD=PCH"])
        #expect(CardOrder.kind(of: card(0, "HDMI", "HDA-Intel", "HDA Intel HDMI", display: true)) == .display)
        #expect(CardOrder.kind(of: board) == .jack, "its first device are the jacks, whatever else it has")
    }

    @Test func `is the kernel's first of those that are alike`() {
        let cards = [
            card(0, "A", "ICH", "Intel ICH6"), card(1, "B", "ENS1371", "Ensoniq"), card(2, "C", "x", "y"),
        ]
        #expect(CardOrder.names(of: cards) == ["hw:CARD=A", "hw:CARD=B", "hw:CARD=C"])
        #expect(CardOrder.names(of: []) == [])
    }

    @Test func `is not one for other programs while there is another`() {
        let loop = card(0, "Loopback", "Loopback", "Loopback")
        let dummy = card(1, "Dummy", "Dummy", "Dummy")
        #expect(
            CardOrder.names(of: [loop, dummy, jack]) == [
                "hw:CARD=Headphones", "hw:CARD=Loopback", "hw:CARD=Dummy",
            ])
    }

    @Test func `has a display where the kernel's pages say so`() throws {
        var template = Array("/tmp/linnet-cards-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for path in ["card0/eld#0.0", "card0/eld#0.1"] { _ = unsafe unlink("\(folder)/\(path)") }
            _ = unsafe rmdir("\(folder)/card0")
            _ = unsafe rmdir(folder)
        }
        func put(_ connector: String, _ text: String) throws {
            let file = unsafe open("\(folder)/card0/\(connector)", O_WRONLY | O_CREAT, 0o600)
            try #require(file >= 0)
            _ = unsafe write(file, text, text.utf8.count)
            _ = close(file)
        }
        #expect(SoundCard.display(atCard: 0, pages: folder) == nil)
        try #require(unsafe mkdir("\(folder)/card0", 0o755) == 0)
        #expect(SoundCard.display(atCard: 0, pages: folder) == nil)
        try put("eld#0.0", "monitor_present\t\t0\neld_valid\t\t0\n")
        #expect(SoundCard.display(atCard: 0, pages: folder) == false)
        try put("eld#0.1", "monitor_present\t\t1\neld_valid\t\t1\nmonitor_name\t\tTV\n")
        #expect(SoundCard.display(atCard: 0, pages: folder) == true)
    }
}
