// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA

/// Which card is taken where nobody chose one: what somebody plugged in or built in for listening comes before what the board
/// has anyway. Within a kind the kernel's order counts.
enum CardOrder {
    /// The best first.
    enum Kind: Int, Comparable {
        case usb
        /// A converter at the pins of a board.
        case converter
        /// HDMI or DisplayPort with a display, or whose driver cannot tell and refuses when there is none.
        case display
        /// A headphone jack, and everything that is not known better.
        case jack
        case darkDisplay
        /// Sound for other programs, and for nobody.
        case virtual

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// The names of devices to try, one after the other.
    static func names(of cards: [SoundCard]) -> [String] {
        let kinds = cards.map { kind(of: $0) }
        let order = cards.indices.sorted { (kinds[$0], $0) < (kinds[$1], $1) }
        return order.flatMap { number in
            let card = cards[number]
            // The driver wants frames that alsa-lib makes under this name.
            return (card.driver.hasPrefix("vc4-hdmi") ? ["hdmi:CARD=\(card.id)"] : []) + [
                "hw:CARD=\(card.id)"
            ]
        }
    }

    static func kind(of card: SoundCard) -> Kind {
        if card.driver == "USB-Audio" { return .usb }
        if card.driver == "Loopback" || card.driver == "Dummy" { return .virtual }
        if card.driver.hasPrefix("vc4-hdmi") { return card.hasDisplay == false ? .darkDisplay : .display }
        if card.driver.hasPrefix("HDA") {
            // A card with jacks has connectors for displays beside them; its first device are the jacks.
            guard words(card.name).contains("hdmi") || words(card.name).contains("nvidia") else {
                return .jack
            }
            return card.hasDisplay == true ? .display : .darkDisplay
        }
        // Named so by the overlays that describe them.
        let marks = [
            "dac", "i2s", "pcm51", "hifiberry", "iqaudio", "justboom", "allo", "digiamp", "max98357",
        ]
        let names = [card.id, card.driver, card.name].map { $0.lowercased() }
        return marks.contains { mark in names.contains { holds($0, mark) } } ? .converter : .jack
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map { String($0) }
    }

    /// By bytes: searching a text in a text would bring the engine of regular expressions with it.
    private static func holds(_ text: String, _ mark: String) -> Bool {
        let (text, mark) = (Array(text.utf8), Array(mark.utf8))
        guard text.count >= mark.count else { return false }
        return (0...(text.count - mark.count)).contains { text[$0..<($0 + mark.count)].elementsEqual(mark) }
    }
}
