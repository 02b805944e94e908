// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What a renderer is asked to play.
public struct MediaItem: Equatable, Sendable {
    public var uri: String
    /// Request headers, sent with every request of the item, in order.
    public var headers: [HeaderField]
    /// Nil: the renderer's own.
    public var userAgent: String?
    /// True if the host of `uri` may show a certificate that is expired, of another name, or signed by nobody who is trusted.
    public var allowsInvalidCertificate: Bool
    /// Where to begin; zero is the start, for a live stream the live edge.
    public var startPosition: MediaTime

    public init(
        uri: String, headers: [HeaderField] = [], userAgent: String? = nil,
        allowsInvalidCertificate: Bool = false, startPosition: MediaTime = .zero
    ) {
        (self.uri, self.headers) = (uri, headers)
        (self.userAgent, self.startPosition) = (userAgent, startPosition)
        self.allowsInvalidCertificate = allowsInvalidCertificate
    }
}

/// One request header.
public struct HeaderField: Equatable, Hashable, Sendable {
    public let name: String
    public let value: String
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }

    /// True if the text can be the name of a header. Anything else could end the header early.
    package static func isName(_ text: some StringProtocol) -> Bool {
        // RFC 9110, section 5.6.2: the characters of a token.
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// True if the text can be the value of a header: one line.
    package static func isValue(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}

/// What is known of a media item, for people to read.
public struct Metadata: Equatable, Sendable {
    public var title: String?
    /// The artist of music, the series of an episode.
    public var subtitle: String?
    public var album: String?
    /// Width and height in pixels; nil without video.
    public var videoSize: PixelSize?
    /// Who sends what is heard; nil of what comes from no station.
    public var station: String?
    public var genre: String?

    public init(
        title: String? = nil, subtitle: String? = nil, album: String? = nil, videoSize: PixelSize? = nil,
        station: String? = nil, genre: String? = nil
    ) {
        (self.title, self.subtitle, self.album, self.videoSize) = (title, subtitle, album, videoSize)
        (self.station, self.genre) = (station, genre)
    }
}

/// Width and height in pixels.
public struct PixelSize: Equatable, Hashable, Sendable {
    public let width: Int32
    public let height: Int32
    public init(width: Int32, height: Int32) { (self.width, self.height) = (width, height) }
}

/// A picture found in a media item.
public struct Artwork: Equatable, Sendable {
    /// The largest picture that is taken over, in bytes. Larger ones are left out.
    public static let maximumBytes = 4 * 1024 * 1024

    public let bytes: [UInt8]
    /// A MIME type such as `image/jpeg`.
    public let type: String
    public let size: PixelSize?

    public init(bytes: [UInt8], type: String, size: PixelSize?) {
        (self.bytes, self.type, self.size) = (bytes, type, size)
    }
}

/// The kinds of alternatives that a listener chooses among.
public enum TrackKind: UInt8, Sendable, CaseIterable {
    case audio = 0
    case audioDescription = 1
    case legible = 2
}

/// One alternative of a kind.
public struct TrackOption: Equatable, Sendable {
    /// Stable for the same item, so that it can be used again in a later session.
    public let identifier: String
    public let displayName: String
    /// A BCP 47 tag, if the media names the language.
    public let languageTag: String?
    /// Such as `forced`, `transcribesDialogue`.
    public let characteristics: [String]

    public init(
        identifier: String, displayName: String, languageTag: String? = nil, characteristics: [String] = []
    ) {
        (self.identifier, self.displayName) = (identifier, displayName)
        (self.languageTag, self.characteristics) = (languageTag, characteristics)
    }
}

/// The alternatives of one kind and which of them is in use; nil is none.
public struct TrackSelection: Equatable, Sendable {
    public var options: [TrackOption]
    public var current: String?
    public init(options: [TrackOption] = [], current: String? = nil) {
        (self.options, self.current) = (options, current)
    }
}

/// The alternatives of all kinds.
public struct Tracks: Equatable, Sendable {
    public var audio: TrackSelection
    public var audioDescription: TrackSelection
    public var legible: TrackSelection

    public init(
        audio: TrackSelection = .init(), audioDescription: TrackSelection = .init(),
        legible: TrackSelection = .init()
    ) {
        (self.audio, self.audioDescription, self.legible) = (audio, audioDescription, legible)
    }

    public subscript(kind: TrackKind) -> TrackSelection {
        get {
            switch kind {
            case .audio: audio
            case .audioDescription: audioDescription
            case .legible: legible
            }
        }
        set {
            switch kind {
            case .audio: audio = newValue
            case .audioDescription: audioDescription = newValue
            case .legible: legible = newValue
            }
        }
    }
}

/// Why an item does not play, or stopped playing.
public struct MediaFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of fault it is; the raw value is the stable name on the wire.
    public enum Code: String, Sendable, CaseIterable {
        case invalidURL
        case unsupportedScheme
        case notFound
        case accessDenied
        case httpStatus
        case network
        case timeout
        case tls
        case unsupportedFormat
        case missingPlugin
        case decode
        case output
        case rendererCrashed
        case rendererUnavailable
        /// It claimed to play and stood still, whatever was tried.
        case stalled
        case internalFailure
    }

    public let code: Code
    /// A sentence for people. It never holds the query of a URL.
    public let message: String
    /// The HTTP status, where there was one.
    public let httpStatus: Int32?

    public init(_ code: Code, _ message: String, httpStatus: Int32? = nil) {
        (self.code, self.message, self.httpStatus) = (code, message, httpStatus)
    }

    public var description: String { "\(code.rawValue): \(message)" }

    /// Equal by code and status: the words may change.
    public static func == (one: MediaFailure, other: MediaFailure) -> Bool {
        one.code == other.code && one.httpStatus == other.httpStatus
    }
}
