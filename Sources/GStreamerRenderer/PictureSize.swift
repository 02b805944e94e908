// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension PixelSize {
    /// The size of a coded picture, read from its first bytes; nil if it is none of PNG, JPEG and GIF,
    /// or is cut off.
    init?(ofPicture bytes: [UInt8]) {
        func number(_ at: Int, bytes count: Int, isBigEndian: Bool = true) -> Int? {
            guard at >= 0, at + count <= bytes.count else { return nil }
            let part = bytes[at..<at + count]
            return (isBigEndian ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        func make(_ width: Int?, _ height: Int?) -> PixelSize? {
            guard let width, let height, (1...65535).contains(width), (1...65535).contains(height) else {
                return nil
            }
            return PixelSize(width: Int32(width), height: Int32(height))
        }
        var found: PixelSize?
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
            found = make(number(16, bytes: 4), number(20, bytes: 4))
        } else if bytes.starts(with: [0x47, 0x49, 0x46, 0x38]) {
            found = make(number(6, bytes: 2, isBigEndian: false), number(8, bytes: 2, isBigEndian: false))
        } else if bytes.starts(with: [0xFF, 0xD8]) {
            var at = 2
            // Each turn moves on by at least two bytes.
            while let marker = number(at, bytes: 2), marker >> 8 == 0xFF,
                let length = number(at + 2, bytes: 2), length >= 2
            {
                let isFrame =
                    (0xFFC0...0xFFCF).contains(marker) && ![0xFFC4, 0xFFC8, 0xFFCC].contains(marker)
                if isFrame {
                    found = make(number(at + 7, bytes: 2), number(at + 5, bytes: 2))
                    break
                }
                at += 2 + length
            }
        }
        guard let found else { return nil }
        self = found
    }
}
