// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Where a stream of web radio stands between its sound and its texts, so that another connection can go on in step: each
/// one counts from its own first byte.
struct TextPhase: Equatable, Sendable {
    private enum Place: Equatable {
        /// So many bytes of sound come before the next text.
        case sound(left: Int)
        /// The length of a text comes.
        case length
        case text(left: Int)
    }

    let interval: Int
    private var place: Place

    /// Nil if there are no texts.
    init?(interval: Int32?) {
        guard let interval, interval > 0 else { return nil }
        self.interval = Int(interval)
        place = .sound(left: Int(interval))
    }

    /// True if the next byte is one of sound.
    var isInSound: Bool { if case .sound = place { true } else { false } }

    /// Follows bytes that were given to the reader.
    mutating func pass(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while let first = rest.first {
            switch place {
            case .sound(let left):
                let step = min(left, rest.count)
                rest = rest.dropFirst(step)
                place = step == left ? .length : .sound(left: left - step)
            case .length:
                rest = rest.dropFirst()
                place = first == 0 ? .sound(left: interval) : .text(left: Int(first) * 16)
            case .text(let left):
                let step = min(left, rest.count)
                rest = rest.dropFirst(step)
                place = step == left ? .sound(left: interval) : .text(left: left - step)
            }
        }
    }

    /// How to go on with a new connection: bytes that are to be put before it, and how many of its own are to be left out.
    var join: (filling: Int, skipping: Int) {
        switch place {
        case .sound(let left): (0, interval - left)
        // No text comes.
        case .length: (1, 0)
        // The rest of the text is empty.
        case .text(let left): (left, 0)
        }
    }
}

/// Finds out whether a server that begins anew, of a resource without a length, sends the same again or what is live now.
struct NewBeginning: Equatable, Sendable {
    /// What is compared at most: headers of formats are alike in every stream of an encoder, and are shorter.
    static let length = 16 * 1024

    enum Finding: Equatable {
        case undecided
        /// The bytes stand at the very beginning.
        case same([UInt8])
        /// The bytes go on where the old connection ended.
        case live([UInt8])
    }

    /// Where the old connection ended.
    let edge: Int64
    private let expected: [UInt8]
    private var bytes: [UInt8] = []

    init(after edge: Int64, expecting expected: [UInt8]) { (self.edge, self.expected) = (edge, expected) }

    mutating func add(_ piece: [UInt8]) -> Finding {
        bytes += piece
        let count = min(bytes.count, expected.count)
        if bytes[..<count] != expected[..<count] { return .live(bytes) }
        return bytes.count >= expected.count ? .same(bytes) : .undecided
    }
}
