// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The limits of `Docs/protocols/route.md`, section 11, that messages themselves must keep.
package enum WireLimits {
    /// Bytes of a text frame from a client.
    package static let textFrame = 65_536
    /// Bytes of a text frame from a receiver: a snapshot with every route and the longest track lists.
    package static let serverFrame = 1 << 20
    package static let batch = 16
    package static let url = 8_192
    package static let headers = 16
    package static let headerBytes = 4_096
    package static let segments = 64
    /// Items of a queue, and bytes of a name that a receiver gave to one, and of one that a sender gave.
    package static let queue = 1_000
    package static let queueItemID = 64
    package static let itemIdentifier = 256
    package static let name = 63
    package static let senderName = 128
    package static let token = 128
    /// `Docs/protocols/group.md`, section 10.
    package static let groupMembers = 64
    package static let groupAddresses = 8
    package static let suspensions = 16
    package static let policyReasons = 32
    package static let groupItems = 80
    package static let groupItem = 1_024
    /// Bytes of a group's queue, as the host writes it without failures: with the members it is less than a text frame of a
    /// receiver.
    package static let groupQueue = 524_288
    /// The greatest number of an item of it, far from where counting on would begin anew.
    package static let queueItemNumber = UInt64(Int64.max)
    package static let suspensionReason = 128
    package static let outputTrim: Int64 = 500_000_000
    package static let groupRate = 4.0
    /// How long the window for pairing is open if nobody says otherwise.
    package static let pairingSeconds: Int64 = 120
    package static let epoch = Int64(UInt32.max)
}
