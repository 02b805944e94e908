// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import Testing

@Suite struct `A report` {
    private let redaction = Redaction(values: ["hunter2-hunter2", "hunter2-hunter2-longer", "short"])

    @Test(arguments: [
        ("key = abcdefgh", "key = [removed]"), ("    psk=\"abc def\"", "    psk= [removed]"),
        ("Authorization: Bearer abc", "Authorization: [removed]"),
        ("{\"token\":\"abc\",\"x\":1}", "{\"token\": [removed]"),
        ("link-key=0123", "link-key= [removed]"), ("PIN: 1234", "PIN: [removed]"),
        ("wlan0: joined with hunter2-hunter2!", "wlan0: joined with [removed]!"),
        ("x hunter2-hunter2-longer y", "x [removed] y"),
        ("plays http://me:pass@host/a?x=1 now", "plays http://[removed]@host/a?[removed] now"),
        ("plays https://host/a#b", "plays https://host/a?[removed]"),
    ])
    func `has no secret`(line: String, wanted: String) { #expect(redaction.text(line) == wanted) }

    @Test(arguments: [
        "monkey = x", "keyboard: us", "12:30:01 linnetd: the card is open", "device=auto", "key=",
        "a short word",
        "see http://host/path", "two\nlines\n", "",
    ])
    func `has all else`(line: String) { #expect(redaction.text(line) == line) }
}
