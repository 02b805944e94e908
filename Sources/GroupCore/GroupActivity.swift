// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What people do together, as a sender shows it. Texts that are too long are cut.
package struct GroupActivity: Equatable, Sendable {
    package enum Kind: String, Equatable, Sendable, CaseIterable { case listen, watch }
    package let kind: Kind
    package let title: String
    /// The sender's own name of it.
    package let identifier: String?
    package init(kind: Kind = .listen, title: String = "", identifier: String? = nil) {
        self.kind = kind
        self.title = title.prefix(bytes: GroupLimits.titleBytes)
        self.identifier = identifier?.prefix(bytes: GroupLimits.identifierBytes)
    }
}

/// What the receivers of a group are to play.
package struct GroupItem: Equatable, Sendable {
    /// The item's name in commands and timelines. Each time that an item is played anew it needs a new one.
    package let identifier: String
    /// What a receiver needs in order to load it, in the words of those who made it; the core passes it on.
    package let descriptor: String
    package init(identifier: String, descriptor: String = "") {
        (self.identifier, self.descriptor) = (identifier, descriptor)
    }

    var isAcceptable: Bool {
        identifier.isIdentifier && descriptor.utf8.count <= GroupLimits.descriptorBytes
    }
}
