// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import MediaModel
import RouteWire

/// A picture that a receiver serves.
public struct ArtworkReference: Sendable, Equatable {
    /// Where it can be fetched: an absolute URL.
    public let url: String
    /// A MIME type.
    public let type: String
    /// Width and height; nil if unknown.
    public let size: PixelSize?
}

/// The sound output of a receiver.
public struct OutputState: Sendable, Equatable {
    /// What the output is doing. Receivers may send names that this version does not list.
    public struct State: RawRepresentable, Hashable, Sendable {
        /// The name in the protocol.
        public let rawValue: String
        /// A state with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The device is there and closed.
        public static let closed = State(rawValue: "closed")
        /// The device is open.
        public static let open = State(rawValue: "open")
        /// The device is not there, or stopped answering.
        public static let lost = State(rawValue: "lost")
        /// Somebody else holds the device.
        public static let busy = State(rawValue: "busy")
        /// There is no device: sound goes nowhere.
        public static let null = State(rawValue: "null")
    }

    /// What the output is doing.
    public let state: State
    /// The ALSA name of the device.
    public let device: String
    /// Why it is lost, or who holds it.
    public let reason: String?
    /// Frames a second; nil unless open.
    public let sampleRate: Int?
    /// True if a mixer of the hardware follows the volume.
    public let hasHardwareVolume: Bool

    static let unknown = OutputState(
        state: .closed, device: "", reason: nil, sampleRate: nil, hasHardwareVolume: false)
}

/// Whether a receiver can be found on the network.
public struct AdvertisementState: Sendable, Equatable {
    /// `registered`, `waiting`, `failed` or `off`.
    public let state: String
    /// The service name in use.
    public let name: String
}

/// Somebody with a route to the same receiver.
public struct ConnectedSender: Sendable, Equatable, Identifiable {
    /// The route's name on the wire.
    public let id: String
    /// The sender's identifier and name.
    public let identity: SenderIdentity
    /// False while its connection is lost and its grace time runs.
    public let isAttached: Bool
}

/// A companion application that is installed at a receiver.
public struct InstalledApplication: Sendable, Equatable, Identifiable {
    /// Reverse DNS, such as `org.example.party`.
    public let id: String
    /// The name for people.
    public let name: String
    /// Its version.
    public let version: String
    /// Where its icon can be fetched: an absolute URL; nil without one.
    public let icon: String?
    /// Patterns of the URLs that it takes; `*` stands for anything.
    public let patterns: [String]
    /// True if all sessions share one instance.
    public let isShared: Bool
}

/// A session as a receiver describes it, in this library's words.
struct SessionSnapshot: Equatable, Sendable {
    var route: String?
    var isReady = false
    var isPlaying = true
    var isBuffering = false
    var isHeard = true
    var state = PlaybackState.normal
    var speed = 1.0
    var scanSpeed = 2.0
    var position = PlaybackPosition.zero
    var timeline = Timeline.unknown
    var segments: [Segment] = []
    var currentSegment = Segment(range: .empty)
    var tracks = Tracks()
    var hasAudio = false
    var hasVideo = false
    var picture = PictureStatus()
    var volume = Volume.full
    var metadata = Metadata()
    var artwork: [ArtworkReference] = []
    var error: MediaFailure?
    var queue = QueueSnapshot()

    /// What is known before the receiver says anything.
    init() {}

    /// `base` is put before artwork URLs that are paths.
    init(_ session: SessionDocument, base: String) {
        (route, isReady, isPlaying) = (session.route, session.isReady, session.isPlaying)
        (isBuffering, state, speed) = (session.isBuffering, PlaybackState(session.state), session.speed)
        (scanSpeed, position, timeline) = (session.scanSpeed, session.position, session.timeline)
        (segments, currentSegment) = (session.segments, session.currentSegment)
        (tracks, hasAudio, hasVideo) = (session.tracks, session.hasAudio, session.hasVideo)
        (picture, isHeard) = (session.picture, session.isHeard)
        (volume, metadata, error) = (session.volume, session.metadata, session.error)
        queue = session.queue.map { QueueSnapshot($0) } ?? QueueSnapshot()
        artwork = session.artwork.map {
            ArtworkReference(
                url: $0.url.hasPrefix("/") ? base + $0.url : $0.url, type: $0.type, size: $0.size)
        }
    }
}

/// A device as it describes itself.
struct DeviceSnapshot: Equatable, Sendable {
    var id = ""
    var name = ""
    var model = ""
    var type = ""
    var volume = Volume.full
    var volumeMode = Receiver.VolumeMode.absolute
    var canMute = true
    var volumeCap = 1.0
    var output = OutputState.unknown
    var advertisement: AdvertisementState?
    var storageFault: String?
    var confinement: [ConfinementLayer]?
    var outputTrim = Duration.zero

    /// What is known before the receiver says anything.
    init() {}

    init(_ device: DeviceDocument) {
        (id, name, model, type) = (device.id, device.name, device.model, device.type)
        (volume, canMute, volumeCap) = (device.volume, device.canMute, device.volumeCap)
        volumeMode = Receiver.VolumeMode(rawValue: device.volumeMode) ?? .absolute
        output = OutputState(
            state: .init(rawValue: device.output.state), device: device.output.device,
            reason: device.output.reason, sampleRate: device.output.sampleRate.map { Int($0) },
            hasHardwareVolume: device.output.hasHardwareVolume)
        advertisement = AdvertisementState(
            state: device.advertisementState, name: device.advertisementName)
        storageFault = device.storageFault
        confinement = device.confinement
        outputTrim = .nanoseconds(device.outputTrim)
    }
}

extension ConnectedSender {
    init(id: String, _ route: RouteDocument) {
        self.init(
            id: id,
            identity: SenderIdentity(name: route.sender.name, identifier: route.sender.identifier),
            isAttached: route.isAttached)
    }
}
