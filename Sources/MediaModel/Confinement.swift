// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// One of the walls around the process that decodes media, or around a companion application, and whether it stands.
public struct ConfinementLayer: Equatable, Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// No capabilities, and no program that would give any.
        case privileges
        /// Bounds of memory, open files and file sizes; the first to be ended when memory is short.
        case limits
        /// No files but those that playing needs; nothing is written outside of a scratch folder.
        case files
        /// No server on the network.
        case listening
        /// No signals and no local sockets without a file to processes outside.
        case signals
        /// No system calls but those that playing needs: no other programs, no raw sockets.
        case calls
        /// The kernel counts memory and processes of an application as a whole. The renderer is one process.
        case group
    }

    public let kind: Kind
    /// Why the wall does not stand; nil if it does.
    public let reason: String?
    public var isOn: Bool { reason == nil }

    public init(_ kind: Kind, reason: String? = nil) { (self.kind, self.reason) = (kind, reason) }
}
