// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@Suite struct `A text of strangers` {
    @Test(arguments: [
        (Array("Café 東京".utf8), "Café 東京"), ([0x43, 0xe9], "Cé"), ([0x93, 0x41, 0x94], "“A”"),
        ([0xc3, 0x28], "Ã("), ([], ""), ([0xff, 0xfe], "ÿþ"),
    ])
    func `is UTF-8, or else Latin-1`(bytes: [UInt8], text: String) {
        #expect(ForeignText.string(bytes) == text)
    }

    @Test func `that was cut loses its last character, not its encoding`() {
        for count in 1..<4 {
            let bytes = Array("é𝄞".utf8).dropLast(4 - count)
            #expect(ForeignText.string(bytes, isCut: true) == "é")
            #expect(ForeignText.string(bytes) != "é")
        }
        #expect(ForeignText.string([0x41, 0x80, 0x80, 0x80, 0x80], isCut: true) == "A€€€€")
    }

    @Test func `is one line without control characters`() {
        #expect(
            ForeignText.words("\u{1b}[1mA\r\n\u{0}B\u{9b}\u{2028}C \t D\u{202e}E\u{feff} ") == "[1mA B C DE")
        for text in ["", " ", "\n\u{7}", "\u{202e}"] { #expect(ForeignText.words(text) == nil) }
    }

    @Test func `has at most so many bytes, and whole characters`() {
        #expect(ForeignText.words(String(repeating: "é", count: 5000))?.utf8.count == 1000)
        #expect(ForeignText.words("aéb", limit: 2) == "a")
        #expect(ForeignText.words("a b", limit: 2) == "a")
        // One letter with marks without end is one character to Swift.
        let pile = "a" + String(repeating: "\u{301}", count: 5000)
        #expect(ForeignText.words(pile)?.utf8.count == 999)
    }
}
