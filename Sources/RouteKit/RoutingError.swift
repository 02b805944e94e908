// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Why something with a route, a session or a receiver did not work.
public struct RoutingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What happened, by a stable name. Receivers may send names that this version does not list.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name, as in section 4.2 of the protocol for those that come from a receiver.
        public let rawValue: String
        /// A code with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        private init(_ name: String) { rawValue = name }

        // MARK: From this library

        /// No connection to the receiver could be made.
        public static let connectionFailed = Code("connectionFailed")
        /// The connection was lost before the answer came.
        public static let connectionLost = Code("connectionLost")
        /// The receiver did not answer in time.
        public static let timeout = Code("timeout")
        /// The receiver said something that the protocol does not allow.
        public static let badAnswer = Code("badAnswer")
        /// What was asked for is over: a closed route, an ended session.
        public static let ended = Code("ended")
        /// The session belongs to no route.
        public static let notAttached = Code("notAttached")
        /// The session was started before; sessions are used once.
        public static let alreadyStarted = Code("alreadyStarted")
        /// No observer took on the route.
        public static let notHandled = Code("notHandled")
        /// More is under way than this library allows at a time.
        public static let tooMuchAtOnce = Code("tooMuchAtOnce")
        /// Nobody listens for data messages.
        public static let noHandler = Code("noHandler")
        /// A data message or an address is longer than the protocol allows.
        public static let tooLong = Code("tooLong")
        /// A local file cannot be read or served.
        public static let unreadableFile = Code("unreadableFile")
        /// Looking for receivers is not possible.
        public static let discoveryFailed = Code("discoveryFailed")

        // MARK: From receivers

        /// Another version of the protocol is needed.
        public static let versionUnsupported = Code("versionUnsupported")
        /// The receiver wants a code or a password.
        public static let authorizationRequired = Code("authorizationRequired")
        /// The code or the password was wrong.
        public static let authorizationFailed = Code("authorizationFailed")
        /// The request needs an active route.
        public static let routeRequired = Code("routeRequired")
        /// The route is over, or never was.
        public static let routeUnknown = Code("routeUnknown")
        /// The session is over, or never was.
        public static let sessionUnknown = Code("sessionUnknown")
        /// Somebody plays, and the receiver does not let others take over.
        public static let sessionBusy = Code("sessionBusy")
        /// Nothing plays.
        public static let noSession = Code("noSession")
        /// The receiver does not know the application.
        public static let applicationUnknown = Code("applicationUnknown")
        /// The application could not be started, refused the session, or failed.
        public static let applicationFailed = Code("applicationFailed")
        /// An application has not the permission.
        public static let notPermitted = Code("notPermitted")
        /// The receiver cannot play in this mode.
        public static let modeUnsupported = Code("modeUnsupported")
        /// The URL is malformed.
        public static let invalidURL = Code("invalidURL")
        /// The receiver cannot fetch URLs of this scheme.
        public static let unsupportedScheme = Code("unsupportedScheme")
        /// This part of the media allows neither seeking nor scanning.
        public static let linearPlayback = Code("linearPlayback")
        /// The media cannot be moved in.
        public static let notSeekable = Code("notSeekable")
        /// There is no such alternative.
        public static let trackUnknown = Code("trackUnknown")
        /// The queue has no such item, or no longer.
        public static let itemUnknown = Code("itemUnknown")
        /// The media or the receiver cannot do this.
        public static let unsupported = Code("unsupported")
        /// The volume cannot be set.
        public static let volumeUnsupported = Code("volumeUnsupported")
        /// The receiver is in another group.
        public static let groupBusy = Code("groupBusy")
        /// The receiver is in no group, or in another one.
        public static let groupUnknown = Code("groupUnknown")
        /// The receiver takes part in no groups, or the group has no host at present.
        public static let groupUnavailable = Code("groupUnavailable")
        /// Another member is the host.
        public static let groupMoved = Code("groupMoved")
        /// The group has no such member.
        public static let memberUnknown = Code("memberUnknown")
        /// The receiver has not this capability of an accessory.
        public static let accessoryNotCapable = Code("accessoryNotCapable")
        /// The registration is not known, or no longer: register anew.
        public static let invalidated = Code("invalidated")
        /// The request makes no sense as it is.
        public static let invalidRequest = Code("invalidRequest")
        /// The receiver has no such source, or no longer.
        public static let sourceUnknown = Code("sourceUnknown")
        /// The receiver has no sources but the network, or phones cannot be reached at present.
        public static let sourcesUnavailable = Code("sourcesUnavailable")
        /// A value was out of its range or of the wrong kind.
        public static let invalidParams = Code("invalidParams")
        /// The receiver has as many routes or connections as it takes.
        public static let limitReached = Code("limitReached")
        /// Too many requests were in flight.
        public static let tooManyRequests = Code("tooManyRequests")
    }

    /// What part of the work an error belongs to.
    public enum Family: String, Sendable, CaseIterable {
        /// Reaching the receiver and talking with it.
        case connection
        /// Being let in.
        case authorization
        /// Routes and sessions.
        case session
        /// Finding receivers.
        case discovery
        /// Playing.
        case playback
    }

    /// What happened.
    public let code: Code
    /// The part of the work.
    public let family: Family
    /// A sentence for people.
    public let message: String
    /// The number on the wire; nil for errors of this library.
    public let number: Int?

    /// An error; `number` only for what a receiver sent.
    public init(_ code: Code, family: Family, _ message: String, number: Int? = nil) {
        (self.code, self.family, self.message, self.number) = (code, family, message, number)
    }

    /// True if the receiver was reached, understood and said no.
    public var isRefusal: Bool { number.map { $0 >= 1 } ?? false }

    /// The code and the sentence.
    public var description: String { "\(code.rawValue): \(message)" }

    /// Equal by code: the words may change.
    public static func == (one: RoutingError, other: RoutingError) -> Bool { one.code == other.code }
}
