// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Settings

/// `write-probe FILE` writes until it is killed.
@main struct Probe {
    static func main() throws {
        guard Swift.CommandLine.arguments.count == 2 else { return }
        var turn = 0
        while true {
            turn += 1
            let count = 1 + turn * 7919 % 60_000
            let letter = UInt8(ascii: "a") + UInt8(turn % 26)
            let text = [UInt8](repeating: letter, count: count) + Array("\n\(count)\n".utf8)
            try FileSystem.write(text, to: Swift.CommandLine.arguments[1])
        }
    }
}
