// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel
package import SwitchingCore

// The ports of a receiver that has more sources than the network. As the other ports: used on the receiver's executor alone,
// reporting there, never from inside a call.

/// What a receiver needs in order to switch between sources.
package struct AccessoryPorts {
    /// Nil: no phones play here.
    let sources: (any ExternalSources)?
    /// Nil: nobody knows where the device is worn or what is plugged in.
    let placement: (any PlacementSensors)?

    package init(sources: (any ExternalSources)? = nil, placement: (any PlacementSensors)? = nil) {
        (self.sources, self.placement) = (sources, placement)
    }
}

/// Sources outside of the network: phones by Bluetooth.
package protocol ExternalSources: AnyObject {
    /// Begins to report. Called once, before anything is sent.
    func start(report: @escaping (ExternalSourceEvent) -> Void)
    func send(_ command: ExternalSourceCommand)
    /// Lets everything go. Nothing is reported afterwards.
    func shutDown()
}

/// What sources outside of the network report.
package enum ExternalSourceEvent: Equatable, Sendable {
    case availabilityChanged(ExternalAvailability)
    case connected(SourceAddress, name: String)
    case disconnected(SourceAddress)
    /// Samples come, in this format, or do not come any more.
    case streaming(SourceAddress, CaptureFormat?)
    /// What the source's player does, and plays.
    case playerChanged(SourceAddress, PlayerStatus, Metadata)
    /// The source has set this volume, 0...1.
    case volumeChanged(SourceAddress, Double)
    /// The answer to `open`. The descriptor belongs to the receiver, which closes it.
    case opened(SourceAddress, descriptor: Int32, CaptureFormat)
    case openFailed(SourceAddress, reason: String)
    case inCall(SourceAddress, Bool)
    case pairingChanged(PairingState)
    /// Those that are paired, in a stable order.
    case known([KnownSource])
}

/// What sources outside of the network can be told. Outcomes come as events.
package enum ExternalSourceCommand: Equatable, Sendable {
    /// Answered with `opened` or `openFailed`, once.
    case open(SourceAddress)
    /// What was opened is not read any more.
    case close(SourceAddress)
    case play(SourceAddress)
    case pause(SourceAddress)
    /// 0...1.
    case setVolume(SourceAddress, Double)
    case openPairing(seconds: Int)
    case closePairing
    case confirmPairing(SourceAddress, Bool)
    case forget(SourceAddress)
    case disconnect(SourceAddress)
}

/// Whether there can be sources outside of the network.
package enum ExternalAvailability: Equatable, Sendable {
    case ready
    /// There is an adapter, and it does not work now.
    case off(reason: String)
    /// There is none.
    case absent(reason: String)
}

package enum PlayerStatus: String, Equatable, Sendable, CaseIterable { case playing, paused, stopped }

/// Whether new sources may come, and how far one has come.
package enum PairingState: Equatable, Sendable {
    case closed
    /// `until`: a moment of the receiver's clock, in nanoseconds.
    case open(until: Int64)
    /// Somebody has to say whether this is the one; the passkey, if there is one, is shown on both sides.
    case asked(SourceAddress, name: String, passkey: UInt32?)
    case paired(SourceAddress)
    case failed(reason: String)
}

/// A source that is paired.
package struct KnownSource: Equatable, Sendable {
    package var address: SourceAddress
    package var name: String
    package var isConnected: Bool
    package var isTrusted: Bool

    package init(address: SourceAddress, name: String, isConnected: Bool, isTrusted: Bool) {
        (self.address, self.name) = (address, name)
        (self.isConnected, self.isTrusted) = (isConnected, isTrusted)
    }
}

/// Knows where the device is worn and what is plugged into it.
package protocol PlacementSensors: AnyObject {
    /// Begins to report. Called once.
    func start(report: @escaping (PlacementReading) -> Void)
    /// Nothing is reported afterwards.
    func shutDown()
}

package enum PlacementReading: Equatable, Sendable {
    /// Nil: the sensor does not know.
    case placement(DevicePlacement?)
    case jack(name: String, isPlugged: Bool)
    case unavailable(reason: String)
}
