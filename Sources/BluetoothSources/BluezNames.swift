// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import SwitchingCore

/// Names on the bus: of BlueZ (its `doc/org.bluez.*`), of bluez-alsa (its `doc/org.bluealsa.PCM1.7`), and of ours.
enum BluezNames {
    static let bluez = "org.bluez"
    static let bluealsa = "org.bluealsa"
    /// Where each has its object manager.
    static let bluezManager = "/"
    static let bluealsaManager = "/org/bluealsa"
    static let bluezRoot = "/org/bluez"

    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let transport = "org.bluez.MediaTransport1"
    static let player = "org.bluez.MediaPlayer1"
    static let agentManager = "org.bluez.AgentManager1"
    static let profileManager = "org.bluez.ProfileManager1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let pcm = "org.bluealsa.PCM1"
    static let properties = "org.freedesktop.DBus.Properties"

    /// The service of a phone that sends sound.
    static let audioSource = "0000110a-0000-1000-8000-00805f9b34fb"

    /// What a device that is trusted may use: sound (A2DP), remote control (AVRCP), calls (HFP, HSP), by the short forms of their
    /// identifiers.
    static let served: Set<String> = [
        "110a", "110b", "110d", "110c", "110e", "110f", "1108", "1112", "111e", "111f",
    ]

    static let agentPath = "/org/linnet/bluetooth/agent"
    static let profilePath = "/org/linnet/bluetooth/profile"
    static let advertisementPath = "/org/linnet/bluetooth/advertisement"

    /// The short form of an identifier that is made from the base of Bluetooth's own; nil of others.
    static func short(_ uuid: String) -> String? {
        let uuid = uuid.lowercased()
        guard uuid.utf8.count == 36, uuid.hasPrefix("0000"), uuid.hasSuffix("-0000-1000-8000-00805f9b34fb")
        else {
            return nil
        }
        return String(uuid.dropFirst(4).prefix(4))
    }
}

/// A call of BlueZ that somebody has to make.
struct BluezCall: Equatable, Sendable {
    /// What is to be done with the outcome.
    enum Purpose: Equatable, Sendable {
        case registerAgent
        case becomeDefaultAgent
        case registerProfile
        case advertise
        case stopAdvertising
        case adapter(property: String, Value)
        case volume(transport: String, Int)
        case join(SourceAddress)
        case sendAway(SourceAddress)
        /// Nothing but a line in the log when it fails.
        case request(String)
    }

    var isOfBluealsa = false
    var path: String
    var interface: String
    var method: String
    var arguments: [Value] = []
    var purpose: Purpose
    /// Connecting may take several attempts to reach the other side, some seconds each.
    var isSlow: Bool { if case .join = purpose { true } else { false } }

    static func set(
        _ path: String, _ interface: String, _ property: String, _ value: Value, _ purpose: Purpose,
        isOfBluealsa: Bool = false
    ) -> BluezCall {
        BluezCall(
            isOfBluealsa: isOfBluealsa, path: path, interface: BluezNames.properties, method: "Set",
            arguments: [.string(interface), .string(property), .variant(value)], purpose: purpose)
    }
}
