// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

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
