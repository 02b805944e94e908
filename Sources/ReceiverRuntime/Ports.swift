// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel
import RouteWire
package import SessionCore
package import SwitchingCore

// The ports of the receiver. Each is implemented by one adapter on one fence, and by a fake in `ReceiverTestKit`.
//
// Implementations are not `Sendable`: they are made and used on the receiver's executor alone (`Receiver.install`), and
// they report through closures that are called there, never from inside a call of the port.

/// Plays media. Every command returns at once.
package protocol Renderer: AnyObject {
    /// Begins to report. Called once, before anything is sent.
    func start(report: @escaping (RendererEvent) -> Void)
    func send(_ command: RendererCommand)
    /// Gives the renderer a descriptor to read, for a capture source that names it by `token`. The descriptor belongs to the
    /// renderer from now on: it is closed with the load that reads it, and after ten seconds if none does.
    func hand(over descriptor: Int32, token: UInt64)
    /// Ends the renderer by force; it starts again by itself and reports `exited`, then `started`.
    func restart(reason: String)
    /// Ends the renderer for good. Nothing is reported afterwards.
    func shutDown()
}

/// Takes connections of clients over HTTP and WebSocket.
package protocol Listener: AnyObject {
    /// Opens the port (0 takes a free one) and returns the one taken.
    func start(_ configuration: ListenerConfiguration, service: any ListenerService) throws -> UInt16
    /// Refuses new connections and closes the port; open WebSockets stay until they are closed.
    func stop()
}

/// Where and for whom a listener listens.
package struct ListenerConfiguration: Equatable, Sendable {
    package var port: UInt16
    /// Names besides IP literals and `localhost` under which requests are taken (`Host`), without port.
    package var hostNames: Set<String>
    package var connectionLimit: Int
    package init(port: UInt16, hostNames: Set<String>, connectionLimit: Int = 256) {
        (self.port, self.hostNames, self.connectionLimit) = (port, hostNames, connectionLimit)
    }
}

/// What a listener asks of the receiver, on the receiver's executor.
package protocol ListenerService: AnyObject {
    /// Answers `GET` and `HEAD` of a path; nil is 404.
    func page(at path: String) -> Page?
    /// A WebSocket was opened at `/v1/route`. The service holds the client until `clientClosed`.
    func clientOpened(_ client: any Client)
    /// A WebSocket was opened at `/v1/application`, by who knows a token; it is closed if the token is not awaited.
    func clientOpened(_ client: any Client, token: String)
    func clientReceived(text: String, from client: any Client)
    func clientReceived(binary: [UInt8], from client: any Client)
    /// Runs `body`, in which a client hands over several messages: what they cause leaves together.
    func together(_ body: () -> Void)
    /// The client takes more: libsoup's queue and the kernel's are empty.
    func clientDrained(_ client: any Client)
    func clientClosed(_ client: any Client)
}

extension ListenerService {
    package func together(_ body: () -> Void) { body() }
}

/// One open WebSocket. Compared by identity.
package protocol Client: AnyObject {
    /// The peer's address.
    var address: String { get }
    /// Links of this machine, such as `eth0`, on which an IPv6 address that counts on one link can be meant: first the one
    /// that has this address, or else the one that the peer came by.
    func linkZones(for address: String) -> [String]
    /// True from a send until everything sent is in the network's hands.
    var isCongested: Bool { get }
    /// The same, but not late where much else is to be done: whether the peer is to blame for what waits.
    var isBehind: Bool { get }
    /// Bytes that were sent since the client last drained.
    var pendingBytes: Int { get }
    /// Asks the peer once a second whether it is there, and gives it up when nothing is heard of it for so long.
    func watch(silence: Duration)
    func send(text: String)
    func send(binary: [UInt8])
    /// Sends data frames, in their order and at one time where that can be done. They go as one message where the peer agreed to that.
    func send(frames: [[UInt8]], areJoined: Bool)
    /// Closes with a handshake; a peer that does not read is cut.
    func close(code: UInt16, reason: String)
}

extension Client {
    package var isBehind: Bool { isCongested }

    package func watch(silence: Duration) {}

    package func send(frames: [[UInt8]], areJoined: Bool) {
        guard areJoined, frames.count > 1 else { return frames.forEach { send(binary: $0) } }
        send(binary: JoinedFrames.join(frames))
    }
}

/// A whole HTTP answer.
package struct Page: Equatable, Sendable {
    package var type: String
    package var body: [UInt8]
    package var headers: [String: String]
    package init(type: String, body: [UInt8], headers: [String: String] = [:]) {
        (self.type, self.body, self.headers) = (type, body, headers)
    }
}

/// The files of the page that the receiver shows to browsers.
package protocol PageFiles: AnyObject {
    /// Nil: there is no such file.
    func page(named name: String) -> Page?
}

/// Makes the receiver known by DNS-SD.
package protocol Advertiser: AnyObject {
    func start(_ advertisement: AdvertisedService, report: @escaping (AdvertisementStatus) -> Void)
    /// Changes name and TXT; collisions rename by the usual rule and are reported.
    func update(_ advertisement: AdvertisedService)
    /// Says goodbye.
    func withdraw()
}

/// What is advertised.
package struct AdvertisedService: Equatable, Sendable {
    package var name: String
    package var port: UInt16
    /// TXT entries `key=value`, in order.
    package var text: [String]
    package init(name: String, port: UInt16, text: [String]) {
        (self.name, self.port, self.text) = (name, port, text)
    }
}

/// Keeps what must survive a restart.
package protocol StateStore: AnyObject {
    func load() -> SavedState?
    /// Atomic. A failure is logged and tried again with the next change.
    func save(_ state: SavedState)
}

/// What survives a restart.
package struct SavedState: Equatable, Sendable {
    /// UUID of the device.
    package var identifier: String
    /// Nil until somebody renamed the receiver: then the configured name does not count any more.
    package var name: String?
    package var volume: Volume
    /// Output latency trim in microseconds, for playing in a group.
    package var outputTrim: Int32
    /// What people want of single sources.
    package var preferences: [SourceAddress: SourcePreference]
    package init(
        identifier: String, name: String? = nil, volume: Volume, outputTrim: Int32 = 0,
        preferences: [SourceAddress: SourcePreference] = [:]
    ) {
        (self.identifier, self.name, self.volume, self.outputTrim) = (identifier, name, volume, outputTrim)
        self.preferences = preferences
    }
}

/// Time and timers.
package protocol Clock: AnyObject {
    /// Nanoseconds of CLOCK_MONOTONIC.
    var now: Int64 { get }
    /// Identity of the clock, a UUID that changes at reboot.
    var identifier: String { get }
    /// Calls `body` once on the receiver's executor. The timer dies with the returned object.
    func schedule(after delay: Duration, _ body: @escaping () -> Void) -> any ScheduledTimer
}

/// A timer that has not fired; dropping it cancels it.
package protocol ScheduledTimer: AnyObject {}

/// Randomness for identifiers, so that tests can fix it.
package protocol IdentifierSource: AnyObject {
    /// A fresh UUID in lower case.
    func uuid() -> String
    /// At least 128 unpredictable bits as text.
    func token() -> String
}

/// Where log lines go.
package protocol Log: Sendable {
    func write(_ level: LogLevel, _ label: String, _ message: String, _ metadata: [String: String])
}

package enum LogLevel: Int, Sendable, Comparable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
    package static func < (one: LogLevel, other: LogLevel) -> Bool { one.rawValue < other.rawValue }
}
