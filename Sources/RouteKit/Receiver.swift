// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What is known of a receiver before a connection is made: who it is, what it can do, where it answers.
public struct Receiver: Sendable, Equatable, Identifiable {
    /// A place where a receiver answers.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
        /// A host name, or an address in numbers; IPv6 without brackets, with a scope as in `fe80::1%eth0`.
        public let host: String
        /// The port of HTTP and WebSocket.
        public let port: UInt16
        /// An address.
        public init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }
        /// As it stands in a URL, with brackets round IPv6.
        public var description: String {
            guard host.contains(":") else { return "\(host):\(port)" }
            let parts = host.split(separator: "%", maxSplits: 1)
            return "[\(parts.joined(separator: "%25"))]:\(port)"
        }
    }

    /// How the device's volume can be changed.
    public enum VolumeMode: String, Sendable, CaseIterable {
        /// Not at all.
        case none
        /// In steps only.
        case relative
        /// To any level.
        case absolute
    }

    /// What a receiver can be used for.
    public struct Capabilities: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8
        /// A set from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// It fetches and plays URLs.
        public static let urlPlayback = Capabilities(rawValue: 1)
        /// It launches applications.
        public static let appLaunch = Capabilities(rawValue: 2)
        /// It takes audio as it is made.
        public static let realtimeAudioStreaming = Capabilities(rawValue: 4)
        /// It takes video as it is made.
        public static let realtimeVideoStreaming = Capabilities(rawValue: 8)

        /// The set with these names of the protocol; unknown names count for nothing.
        init(names: some Sequence<some StringProtocol>) {
            self = []
            for name in names {
                switch String(name) {
                case "url": insert(.urlPlayback)
                case "app": insert(.appLaunch)
                case "realtimeAudio": insert(.realtimeAudioStreaming)
                case "realtimeVideo": insert(.realtimeVideoStreaming)
                default: break
                }
            }
        }
    }

    /// The UUID of the device, the only identity it has.
    public let id: String
    /// The name that people gave it.
    public var displayName: String
    /// The model.
    public var model: String
    /// `speaker` or `tv`; others may come.
    public var deviceType: String
    /// What it can be used for.
    public var capabilities: Capabilities
    /// How its volume can be changed.
    public var volumeMode: VolumeMode
    /// True if it can be muted.
    public var canMute: Bool
    /// How many sessions it takes at a time.
    public var sessionLimit: Int
    /// True if it can play in a group with others.
    public var canGroup: Bool
    /// The versions of the protocol that it speaks.
    public var protocolVersions: [Int]
    /// Who is let in; `open` is everybody.
    public var accessPolicy: String
    /// Name and version of its software; nil where only the advertisement is known.
    public var software: String?
    /// Where it answers, best first. Empty while an advertisement is not resolved.
    public var addresses: [Address]
    /// The UDP port of the group clock.
    public var clockPort: UInt16?

    /// A receiver made by hand, as from a list of one's own.
    public init(
        id: String, displayName: String, addresses: [Address], model: String = "",
        deviceType: String = "speaker", capabilities: Capabilities = .urlPlayback,
        volumeMode: VolumeMode = .relative, canMute: Bool = true, sessionLimit: Int = 1,
        canGroup: Bool = false, protocolVersions: [Int] = [1], accessPolicy: String = "open",
        software: String? = nil, clockPort: UInt16? = nil
    ) {
        (self.id, self.displayName, self.addresses, self.model) = (id, displayName, addresses, model)
        (self.deviceType, self.capabilities, self.volumeMode) = (deviceType, capabilities, volumeMode)
        (self.canMute, self.sessionLimit, self.canGroup) = (canMute, sessionLimit, canGroup)
        (self.protocolVersions, self.accessPolicy) = (protocolVersions, accessPolicy)
        (self.software, self.clockPort) = (software, clockPort)
    }

    /// True if this library speaks a version that the receiver speaks.
    public var isCompatible: Bool { protocolVersions.contains(1) }
}
