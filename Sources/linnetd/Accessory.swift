// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import BluetoothSources
import PlacementSensors
import ReceiverRuntime
import SwitchingCore

// The receiver as an accessory with several sources: group `accessory` of the settings.

extension Configuration {
    /// Nil: the network is the only source, and nothing else is declared that somebody could ask for.
    var accessory: AccessoryConfiguration? {
        let capabilities = Set(words(.accessoryCapabilities).compactMap { AccessoryCapability(rawValue: $0) })
        let hasSources = flag(.bluetooth) || !words(.lineIns).isEmpty
        guard hasSources || !text(.placementSensor).isEmpty || !text(.jack).isEmpty else { return nil }
        return AccessoryConfiguration(
            // With one source there is nothing to switch between.
            capabilities: hasSources ? capabilities : capabilities.subtracting([.audioSwitching]),
            policy: switching, lineIns: lineIns, jack: text(.jack),
            jackDevice: text(.jackDevice))
    }

    /// What is there besides the network, as it is set. Made on the receiver's loop.
    func accessoryPorts(log: any Log) -> AccessoryPorts {
        var phones: BluetoothSources?
        if flag(.bluetooth) {
            phones = BluetoothSources(
                .init(name: text(.name), confirmsPairing: flag(.confirmPairing)), log: log)
        }
        var sensor: InputPlacementSensors?
        if !text(.placementSensor).isEmpty {
            sensor = InputPlacementSensors(
                .init(
                    device: text(.placementSensor),
                    rules: words(.placementRules).compactMap { SensorRule($0) }))
        }
        return AccessoryPorts(sources: phones, placement: sensor)
    }

    private var switching: SwitchingPolicy {
        var policy = SwitchingPolicy()
        policy.hold = Int64(number(.switchHold) * 1e9)
        policy.resume = SwitchingPolicy.Resume(rawValue: text(.switchResume)) ?? .always
        policy.resumeLimit = Int64(integer(.switchResumeLimit)) * 1_000_000_000
        policy.wearLimit = Int64(integer(.wearLimit)) * 1_000_000_000
        policy.pausesWhenUnplugged = text(.unplugged) == "pause"
        return policy
    }

    private var lineIns: [AccessoryConfiguration.LineIn] {
        words(.lineIns).map { word in
            let (name, device) = Self.lineIn(word)
            return AccessoryConfiguration.LineIn(
                device: device, name: name, threshold: number(.lineInThreshold),
                holdMilliseconds: Int32(number(.lineInHold) * 1_000))
        }
    }

    /// `NAME=DEVICE`, or a device alone. ALSA's own names have `=` only behind a colon.
    private static func lineIn(_ word: String) -> (name: String, device: String) {
        guard let sign = word.firstIndex(of: "="), !word[..<sign].contains(where: { $0 == ":" }) else {
            return (word, word)
        }
        return (String(word[..<sign]), String(word[word.index(after: sign)...]))
    }

    /// What of the group does not fit together.
    var accessoryMistakes: [Mistake] {
        var mistakes: [Mistake] = []
        func tell(_ setting: Setting, _ message: String) { mistakes.append(mistake(setting, message)) }
        let named = words(.accessoryCapabilities)
        for word in named where AccessoryCapability(rawValue: word) == nil {
            let all = AccessoryCapability.allCases.map(\.rawValue).joined(separator: ", ")
            tell(.accessoryCapabilities, "there is no '\(word)'; there are \(all)")
        }
        let declares = named.contains(AccessoryCapability.placement.rawValue)
        if declares, text(.placementSensor).isEmpty {
            tell(.accessoryCapabilities, "placement is declared, and no placement-sensor is named")
        }
        for word in words(.placementRules) where SensorRule(word) == nil {
            tell(.placementRules, "'\(word)' is no rule")
        }
        let places = words(.placementRules).compactMap { SensorRule($0) }.contains {
            if case .placement = $0.meaning { true } else { false }
        }
        if places != declares, !text(.placementSensor).isEmpty {
            tell(
                .placementRules,
                declares
                    ? "placement is declared, and no rule tells it"
                    : "a rule tells the placement, which is not among the capabilities")
        }
        let seesJack = words(.placementRules).compactMap { SensorRule($0) }.contains {
            if case .jack = $0.meaning { true } else { false }
        }
        if !text(.jackDevice).isEmpty {
            if text(.jack).isEmpty, text(.placementSensor).isEmpty || !seesJack {
                tell(
                    .jackDevice,
                    "nothing tells whether something is plugged in; [accessory] jack names what does")
            }
            if text(.jackDevice) == text(.device) { tell(.jackDevice, "it is the usual device") }
            if text(.jackDevice) == "auto" { tell(.jackDevice, "it must be one device") }
        }
        let lines = words(.lineIns)
        if lines.count > 8 { tell(.lineIns, "at most 8 are listened to") }
        if lines.contains(where: { Self.lineIn($0).device.isEmpty || Self.lineIn($0).name.isEmpty }) {
            tell(.lineIns, "a name or a device is empty")
        }
        let devices = lines.map { Self.lineIn($0).device }
        if Set(devices).count != devices.count { tell(.lineIns, "a device is named twice") }
        return mistakes
    }
}
