// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire

/// What a device can do as an accessory. Receivers may have names that this version does not list.
public struct AccessoryCapability: RawRepresentable, Hashable, Sendable {
    /// The name in the protocol.
    public let rawValue: String
    /// A capability of any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It has several sources, and goes from one to the other by itself.
    public static let audioSwitching = AccessoryCapability(rawValue: "audioSwitching")
    /// It senses where it is worn.
    public static let placement = AccessoryCapability(rawValue: "placement")
    /// It places sounds around the listener.
    public static let audioSpatialization = AccessoryCapability(rawValue: "audioSpatialization")
    /// It knows how the head is turned.
    public static let headTracking = AccessoryCapability(rawValue: "headTracking")
}

/// Where a device is worn. Receivers may have names that this version does not list.
public struct AccessoryPlacement: RawRepresentable, Hashable, Sendable {
    /// The name in the protocol.
    public let rawValue: String
    /// A placement of any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// In the ear.
    public static let inEar = AccessoryPlacement(rawValue: "inEar")
    /// On the head.
    public static let onHead = AccessoryPlacement(rawValue: "onHead")
    /// Over the ear.
    public static let overTheEar = AccessoryPlacement(rawValue: "overTheEar")
    /// Taken off.
    public static let offHead = AccessoryPlacement(rawValue: "offHead")
}

/// What an accessory is and does, as far as one registered for it.
public struct AccessoryConfiguration: Sendable, Equatable {
    /// What was registered.
    public var capabilities: Set<AccessoryCapability>
    /// Nil unless `placement` was registered and the device knows.
    public var placement: AccessoryPlacement?
    /// The address of the source that was heard last, six bytes in the order in which they are written; nil without
    /// `audioSwitching` and while there is none.
    public var primarySourceIdentifier: [UInt8]?
    /// The address of the source before it.
    public var secondarySourceIdentifier: [UInt8]?
}

/// One source of an accessory.
public struct AccessorySource: Sendable, Equatable, Identifiable {
    /// The address, such as `A0:B1:C2:D3:E4:F5`. Sources that have none of their own have one that the receiver made up.
    public var id: String
    /// `network`, `application`, `bluetooth`, `lineIn`, or what only a later receiver knows.
    public var kind: String
    /// For people.
    public var name: String
    /// `connected`, `playing`, `paused`, `inCall`, `unavailable`.
    public var state: String
    /// True if this one is heard, or would be if it played.
    public var isActive: Bool
    /// What a person wants of it.
    public var preference: SourcePreference
    /// What it plays, if it says so.
    public var title: String?
    /// More of that.
    public var subtitle: String?
    /// Why it is not available.
    public var fault: String?
}

/// What a person wants of a source.
public enum SourcePreference: String, Sendable, CaseIterable {
    /// Nothing special.
    case normal
    /// Nothing that starts by itself takes the output from it.
    case preferred
    /// It is heard only when somebody asks for it.
    case manual
}

/// Why a source is heard, or is not.
public struct SwitchingDecision: Sendable, Equatable {
    /// Counts the receiver's decisions.
    public var number: Int64
    /// `heard`, `silent`, `refused`, `letGo`, `noted`.
    public var outcome: String
    /// A stable name.
    public var reason: String
    /// A sentence for people.
    public var message: String
    /// The address of the source that it is about.
    public var source: String?
    /// Its name.
    public var name: String
    /// The address of the source that was heard before.
    public var previous: String?
}

/// How far the pairing of a phone has come.
public enum PairingProgress: Sendable, Equatable {
    /// No phone can be paired.
    case closed
    /// Phones find the receiver.
    case open
    /// A person has to say whether this phone is wanted. The passkey, if there is one, is shown by the phone, too.
    case asked(source: String, name: String, passkey: String?)
    /// This phone is paired.
    case paired(source: String)
    /// It did not come to that.
    case failed(reason: String)
}

/// A phone that is paired with a receiver.
public struct PairedSource: Sendable, Equatable, Identifiable {
    /// Its address.
    public var id: String
    /// For people.
    public var name: String
    /// It is there.
    public var isConnected: Bool
    /// It may connect by itself.
    public var isTrusted: Bool
}

/// A receiver as an accessory with several sources.
public struct AccessoryState: Sendable, Equatable {
    /// What the device can do.
    public var capabilities: Set<AccessoryCapability>
    /// Where it is worn; nil if that is not sensed, or not known.
    public var placement: AccessoryPlacement?
    /// Whether something is plugged into its jack; nil if nobody looks.
    public var isPlugged: Bool?
    /// The one that was heard last comes first, then the one before it.
    public var sources: [AccessorySource]
    /// The last decisions; the newest comes last.
    public var decisions: [SwitchingDecision]
    /// Nil: phones can be connected; else why they cannot.
    public var bluetoothFault: String?
    /// How far the pairing of a phone has come.
    public var pairing: PairingProgress
    /// Phones that are paired.
    public var paired: [PairedSource]
    /// The address of the source that was heard last.
    public var primary: String?
    /// The one before.
    public var secondary: String?

    /// The source that has the output.
    public var active: AccessorySource? { sources.first(where: \.isActive) }

    init(_ document: AccessoryDocument) {
        capabilities = Set(document.capabilities.map { AccessoryCapability(rawValue: $0) })
        placement = document.placement.map { AccessoryPlacement(rawValue: $0) }
        isPlugged = document.isPlugged
        let order = [document.primary, document.secondary].compactMap(\.self)
        sources = document.sources.map { AccessorySource(id: $0, $1, isActive: $0 == document.active) }
            .sorted { one, other in
                let (first, second) = (
                    order.firstIndex(of: one.id) ?? 2, order.firstIndex(of: other.id) ?? 2
                )
                return (first, one.id) < (second, other.id)
            }
        decisions = document.decisions.map {
            SwitchingDecision(
                number: $0.number, outcome: $0.outcome, reason: $0.reason, message: $0.message,
                source: $0.source, name: $0.name, previous: $0.previous)
        }
        bluetoothFault =
            document.bluetooth == "ready" ? nil : document.bluetoothReason ?? document.bluetooth
        switch document.pairing.state {
        case "open": pairing = .open
        case "asked":
            pairing = .asked(
                source: document.pairing.source ?? "", name: document.pairing.name ?? "",
                passkey: document.pairing.passkey)
        case "paired": pairing = .paired(source: document.pairing.source ?? "")
        case "failed": pairing = .failed(reason: document.pairing.reason ?? "")
        default: pairing = .closed
        }
        paired = document.known.map {
            PairedSource(
                id: $0.address, name: $0.name, isConnected: $0.isConnected, isTrusted: $0.isTrusted)
        }
        (primary, secondary) = (document.primary, document.secondary)
    }
}

extension AccessorySource {
    init(id: String, _ document: SourceDocument, isActive: Bool) {
        (self.id, kind, name, state) = (id, document.kind, document.name, document.state)
        self.isActive = isActive
        preference = SourcePreference(rawValue: document.preference) ?? .normal
        (title, subtitle, fault) = (document.title, document.subtitle, document.fault)
    }
}

extension AccessoryConfiguration {
    init(_ answer: AccessoryAnswer) {
        capabilities = Set(answer.capabilities.map { AccessoryCapability(rawValue: $0) })
        placement = answer.placement.map { AccessoryPlacement(rawValue: $0) }
        primarySourceIdentifier = answer.primary.flatMap(Self.bytes)
        secondarySourceIdentifier = answer.secondary.flatMap(Self.bytes)
    }

    /// The six bytes of an address.
    private static func bytes(_ address: String) -> [UInt8]? {
        let parts = address.split(separator: ":").map { UInt8($0, radix: 16) }
        let bytes = parts.compactMap(\.self)
        return parts.count == 6 && bytes.count == 6 ? bytes : nil
    }
}
