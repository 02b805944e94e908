// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import SwitchingCore

/// What a device can do as an accessory. The raw value is the stable name on the wire and in settings.
package enum AccessoryCapability: String, Sendable, CaseIterable {
    /// It has several sources, and goes from one to the other by itself.
    case audioSwitching
    /// It senses where it is worn.
    case placement
    case audioSpatialization
    case headTracking
}

/// What an administrator decides about a receiver as an accessory.
package struct AccessoryConfiguration: Equatable, Sendable {
    /// A capture device that is a source while something comes from it.
    package struct LineIn: Equatable, Sendable {
        /// The ALSA name.
        package var device: String
        /// For people.
        package var name: String
        /// Decibels below full scale.
        package var threshold: Double
        package var holdMilliseconds: Int32
        package init(
            device: String, name: String, threshold: Double = -50, holdMilliseconds: Int32 = 10_000
        ) {
            (self.device, self.name) = (device, name)
            (self.threshold, self.holdMilliseconds) = (threshold, holdMilliseconds)
        }

        var source: SourceID { SourceID(.lineIn, SourceAddress(derivedFrom: "lineIn/\(device)")) }
    }

    /// What is declared. Only that is ever reported.
    package var capabilities: Set<AccessoryCapability>
    package var policy: SwitchingPolicy
    package var lineIns: [LineIn]
    /// The control of the output's card that tells whether something is plugged in, such as `Headphone Jack`; empty: none is
    /// looked at.
    package var jack: String
    /// The ALSA device that has the output while something is plugged in; empty: the usual one.
    package var jackDevice: String

    package init(
        capabilities: Set<AccessoryCapability> = [.audioSwitching], policy: SwitchingPolicy = .init(),
        lineIns: [LineIn] = [], jack: String = "", jackDevice: String = ""
    ) {
        (self.capabilities, self.policy) = (capabilities, policy)
        (self.lineIns, self.jack, self.jackDevice) = (lineIns, jack, jackDevice)
    }
}
