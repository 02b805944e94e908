// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Names an application, in reverse-DNS form.
public struct ApplicationID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The longest in bytes.
    public static let limit = 128

    public let text: String

    /// Nil unless it is two or more labels of letters, digits and `-`, joined by `.`.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.limit else { return nil }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isLabel) }) else {
            return nil
        }
        self.text = text
    }

    private static func isLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    public var description: String { text }
    public static func < (one: ApplicationID, other: ApplicationID) -> Bool { one.text < other.text }
}

/// What an application says about itself in `application.json` (`Docs/protocols/application.md`, section 1).
public struct ApplicationManifest: Equatable, Sendable {
    /// What runs for it. Paths are inside its folder.
    public enum Content: Equatable, Sendable {
        case program(path: String, arguments: [String])
        case page(path: String)
    }

    public enum InstancePolicy: String, Sendable, CaseIterable { case perSession, shared }
    /// What becomes of a session whose sender did not come back.
    public enum LostSender: String, Sendable, CaseIterable { case end, stay }
    public enum Restart: String, Sendable, CaseIterable { case never, onFailure }
    public enum Permission: String, Sendable, CaseIterable { case player, volume, network, storage }

    public struct Limits: Equatable, Sendable {
        /// Bytes of all its processes.
        public var memory = 128 << 20
        /// Bytes of its own folder.
        public var storage = 16 << 20
        public var processes = 32
        /// The longest data message in bytes.
        public var message = 1 << 20
        /// How long a shared instance stays without a session.
        public var idleSeconds = 10
        public init() {}

        public static let memoryRange = (16 << 20)...(1 << 30)
        public static let storageRange = (64 << 10)...(1 << 30)
        public static let processRange = 1...256
        public static let messageRange = (1 << 10)...(1 << 20)
        public static let idleRange = 0...86_400
    }

    public var id: ApplicationID
    public var name: String
    public var version: String
    public var content: Content
    public var icon: String?
    public var patterns: [URLPattern] = []
    public var instance = InstancePolicy.perSession
    /// Messages on a sender's route channel reach it.
    public var hasRouteChannel = false
    public var whenSenderLost = LostSender.end
    public var restart = Restart.never
    public var permissions: Set<Permission> = []
    public var limits = Limits()

    public init(id: ApplicationID, name: String, version: String, content: Content) {
        (self.id, self.name, self.version, self.content) = (id, name, version, content)
    }
}

extension [ApplicationManifest] {
    /// The application that claims a URL: the longest pattern, then the first id.
    public func claiming(_ url: String) -> ApplicationManifest? {
        compactMap { manifest -> (ApplicationManifest, Int)? in
            let lengths = manifest.patterns.filter { $0.matches(url) }.map(\.text.utf8.count)
            return lengths.max().map { (manifest, $0) }
        }
        .max { one, other in one.1 == other.1 ? one.0.id > other.0.id : one.1 < other.1 }?.0
    }
}
