// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel
import SessionCore

/// What an administrator decides about a receiver.
package struct ReceiverConfiguration: Equatable, Sendable {
    /// Used until somebody renames the device.
    package var name: String
    package var model: String
    /// Product and version.
    package var software: String
    /// `speaker` or `tv`.
    package var deviceType: String
    package var port: UInt16
    /// Of the clock of groups; 0 takes a free one.
    package var clockPort: UInt16 = 7381
    package var hostNames: Set<String>
    package var connectionLimit: Int
    /// False: the receiver is found by address only.
    package var advertises: Bool
    /// True: a sender that comes while another plays is refused.
    package var refusesTakeover: Bool
    /// True: playback goes on when its sender is lost for longer than the grace time.
    package var keepsPlaying: Bool
    /// True: senders may have files of this host played.
    package var allowsFiles: Bool
    package var routeLimit: Int
    package var volumeCap: Double
    /// Used until somebody sets the volume.
    package var initialVolume: Volume
    /// How long a route waits for its lost sender.
    package var graceTime: Duration
    /// Longer than any server that still answers; a sender has given up by then.
    package var loadTimeout: Duration
    /// A renderer that does not stop within this time is wedged.
    package var stopTimeout: Duration
    /// How long an item may stand still while it claims to play.
    package var stallTimeout: Duration
    /// How long an announcement may take until it is heard: later it would be of no use.
    package var announcementTimeout = Duration.seconds(10)
    /// What is longer is no announcement.
    package var announcementLength = Duration.seconds(300)
    /// Nil: the network is the only source.
    package var accessory: AccessoryConfiguration?
    /// True: what follows from a command that is to be heard at once is told a moment later, so that the machine is left to
    /// the renderer.
    package var letsSoundGoFirst = false

    package init(
        name: String, model: String = "Linnet", software: String, deviceType: String = "speaker",
        port: UInt16 = 7380, hostNames: Set<String> = [], connectionLimit: Int = 256, advertises: Bool = true,
        refusesTakeover: Bool = false, keepsPlaying: Bool = true, allowsFiles: Bool = false,
        routeLimit: Int = 32,
        volumeCap: Double = 1, initialVolume: Volume = Volume(level: 0.5),
        graceTime: Duration = .seconds(30), loadTimeout: Duration = .seconds(30),
        stopTimeout: Duration = .milliseconds(1500), stallTimeout: Duration = .seconds(5)
    ) {
        (self.name, self.model, self.software, self.deviceType) = (name, model, software, deviceType)
        (self.port, self.hostNames, self.connectionLimit) = (port, hostNames, connectionLimit)
        (self.advertises, self.refusesTakeover, self.keepsPlaying) = (
            advertises, refusesTakeover, keepsPlaying
        )
        self.allowsFiles = allowsFiles
        (self.routeLimit, self.volumeCap, self.initialVolume) = (routeLimit, volumeCap, initialVolume)
        (self.graceTime, self.loadTimeout, self.stopTimeout) = (graceTime, loadTimeout, stopTimeout)
        self.stallTimeout = stallTimeout
    }

    var policy: SessionPolicy {
        SessionPolicy(
            takeover: refusesTakeover ? .refuse : .takeOver, keepsPlaying: keepsPlaying,
            routeLimit: routeLimit, volumeCap: volumeCap,
            allowedSchemes: allowsFiles ? ["http", "https", "file"] : ["http", "https"])
    }
}

/// The outside of a receiver, made on its executor.
package struct ReceiverPorts {
    let renderer: any Renderer
    let listener: any Listener
    let advertiser: any Advertiser
    let store: any StateStore
    let clock: any Clock
    let identifiers: any IdentifierSource
    /// Nil: there are no applications here.
    let applications: (any ApplicationHost)?
    /// Nil: the receiver plays in no groups.
    let groups: GroupPorts?
    /// Nil: there are no sources outside of the network and no sensors.
    let accessory: AccessoryPorts?
    /// Nil: browsers are shown nothing.
    let page: (any PageFiles)?

    package init(
        renderer: any Renderer, listener: any Listener, advertiser: any Advertiser, store: any StateStore,
        clock: any Clock, identifiers: any IdentifierSource, applications: (any ApplicationHost)? = nil,
        groups: GroupPorts? = nil, accessory: AccessoryPorts? = nil, page: (any PageFiles)? = nil
    ) {
        (self.renderer, self.listener, self.advertiser) = (renderer, listener, advertiser)
        (self.store, self.clock, self.identifiers) = (store, clock, identifiers)
        (self.applications, self.groups, self.accessory) = (applications, groups, accessory)
        self.page = page
    }
}

/// What a program says of its receiver.
package struct ReceiverStatus: Equatable, Sendable {
    /// UUID of the device.
    package let identifier: String
    package let name: String
    /// The name that is advertised, different after a collision; nil while nothing is.
    package let advertisedName: String?
    package let port: UInt16
}
