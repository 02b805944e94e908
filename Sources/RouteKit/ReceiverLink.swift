// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import RouteWire
import Soup
import Timing

/// Hears what becomes of a link.
@RouteActor protocol ReceiverLinkClient: AnyObject {
    /// The connection was lost (false) or is back (true).
    func link(_ link: ReceiverLink, isConnected: Bool)
    /// The link is over; nothing follows.
    func link(_ link: ReceiverLink, ended reason: RouteEnd)
    /// A session is over, by the receiver's word.
    func link(_ link: ReceiverLink, session: String, ended reason: SessionEnd)
}

/// Talks with one receiver: keeps a connection, makes a new one when it is lost, keeps the state up to date, and
/// carries requests and data.
@RouteActor final class ReceiverLink {
    /// What is asked for when a connection opens.
    enum Purpose {
        /// A route for this sender; nil once it is resumed with a token.
        case route(SenderIdentity)
        /// The state only.
        case observation
        /// An application's own; its one connection is there already and is not made again.
        case application
    }

    let addresses: [Receiver.Address]
    let mirror: ReceiverMirror
    let clock: RemoteClock
    let requests: RequestQueue
    let channel = RouteDataChannel(channel: 0)
    weak var client: (any ReceiverLinkClient)?
    /// The channels of applications' sessions, by number.
    var channels: [UInt32: SessionDataChannel] = [:]
    /// Takes what an application is told.
    var onNotice: ((ApplicationNotice) -> Void)?
    /// The route's name on the wire, once there is one.
    private(set) var route: String?
    private(set) var isConnected = false
    private(set) var end: RouteEnd?
    /// This end of the connection, in numbers; what the receiver can reach us by.
    private(set) var localAddress: String?

    private let purpose: Purpose
    private let timing: LinkTiming
    var socket: (any LinkTransport)?
    /// Where what is sent leaves, as long as there is a socket.
    private(set) var outlet: FrameOutlet?
    private var resumeToken: String?
    private var graceTime = Duration.seconds(30)
    private var work: [Task<Void, Never>] = []
    private var isFetchingState = false

    init(to addresses: [Receiver.Address], for purpose: Purpose, timing: LinkTiming) {
        (self.addresses, self.purpose, self.timing) = (addresses, purpose, timing)
        clock = RemoteClock()
        mirror = ReceiverMirror(clock: clock)
        requests = RequestQueue(timeout: timing.request)
        mirror.performer = self
        mirror.group.attach(to: self)
        mirror.sources.attach(to: self)
    }

    /// The link of an application, over the transport that it was given.
    init(over transport: any LinkTransport) {
        (addresses, purpose, timing) = ([], .application, LinkTiming())
        clock = RemoteClock()
        mirror = ReceiverMirror(clock: clock)
        requests = RequestQueue(timeout: timing.request)
        mirror.performer = self
        mirror.group.attach(to: self)
        mirror.sources.attach(to: self)
        socket = transport
    }

    /// Who this program is for others; an application is known by its receiver.
    var ownName: String { if case .route(let sender) = purpose { sender.name } else { "" } }

    /// Where the receiver is reached; by its applications on the same machine.
    var hostAddresses: [String] {
        if case .application = purpose { return ["127.0.0.1", "::1"] }
        return Array(addresses.map(\.host).prefix(WireLimits.groupAddresses))
    }

    /// On the actor, since the socket belongs to its thread.
    isolated deinit { socket?.abort() }

    // MARK: Opening

    /// Makes the first connection. Trying again is for later losses: here the caller wants to know.
    func open() async throws {
        do {
            try await connect()
        } catch {
            finish(.connectionLost, RoutingError.describing(error))
            throw RoutingError.describing(error)
        }
    }

    private func connect() async throws {
        guard !addresses.isEmpty else {
            throw RoutingError(.connectionFailed, family: .connection, "the receiver's address is not known")
        }
        var failure: (any Error)?
        for address in addresses {
            do {
                try await adopt(
                    Connector.webSocket(address, timeout: timing.request) { [weak self] socket in
                        self?.listen(to: socket)
                    }, from: address)
                try await greet()
                return
            } catch let error as RoutingError where error.isRefusal || error.code == .ended {
                dropSocket()
                throw error
            } catch {
                dropSocket()
                failure = error
            }
        }
        throw failure.map(RoutingError.describing)
            ?? RoutingError(.connectionFailed, family: .connection, "no address answered")
    }

    /// Sets the callbacks, so that no message is missed. They hear of this socket only while it is ours.
    private func listen(to socket: any LinkTransport) {
        socket.onMessage = { [weak self, weak socket] message in
            guard let self, let socket, self.socket === socket else { return }
            received(message)
        }
        socket.onClosed = { [weak self, weak socket] code, _ in
            guard let self, let socket, self.socket === socket else { return }
            lost(code: code)
        }
    }

    private func adopt(_ socket: any LinkTransport, from address: Receiver.Address) throws {
        guard end == nil else {
            socket.abort()
            throw RoutingError(.ended, family: .connection, "the connection was closed meanwhile")
        }
        guard socket.isOpen else {
            throw RoutingError(.connectionFailed, family: .connection, "\(address) closed the connection")
        }
        use(socket)
        localAddress = socket.localAddress
        mirror.base = "http://\(address)"
    }

    private func use(_ socket: any LinkTransport) {
        self.socket = socket
        let outlet = FrameOutlet(socket)
        self.outlet = outlet
        requests.connected { outlet.send(text: $0) }
        channel.connected { outlet.send($0) }
        openChannels()
    }

    /// Says hello as an application and subscribes.
    func openApplication(library: String) async throws -> HelloResult {
        guard let socket, !isConnected, end == nil else {
            throw RoutingError(.ended, family: .connection, "the connection was opened before")
        }
        listen(to: socket)
        use(socket)
        do {
            let hello = RouteRequest.application(.hello(library: library))
            let result = try HelloResult(json: try await requests.send(hello, urgent: true))
            try await greet()
            return result
        } catch {
            finish(.connectionLost, RoutingError.describing(error))
            throw RoutingError.describing(error)
        }
    }

    /// Activates, or subscribes, and takes over the full state that comes with it.
    private func greet() async throws {
        let answer: Greeting
        switch purpose {
        case .route(let sender):
            let activation = Activation(
                sender: SenderInfo(identifier: sender.identifier, name: sender.name),
                capabilities: [JoinedFrames.capability], resume: resumeToken)
            answer = try await Codec.greeting(
                requests.send(.activate(activation), urgent: true), activates: true)
        case .observation, .application:
            answer = try await Codec.greeting(requests.send(.subscribe, urgent: true), activates: false)
        }
        if let token = answer.resumeToken { resumeToken = token }
        if let grace = answer.graceTime { graceTime = grace }
        route = answer.route ?? route
        outlet?.joinsFrames = answer.joinsFrames
        guard mirror.replace(version: answer.version, document: answer.state, isFresh: true) else {
            throw RoutingError.badAnswer
        }
        isConnected = true
        connectChannels()
        requests.open()
        work.append(keepReadingClock())
    }

    private func dropSocket() {
        let socket = socket
        (self.socket, outlet) = (nil, nil)
        isConnected = false
        // Its callbacks are ignored from here on, as it is no longer ours.
        socket?.abort()
        for task in work { task.cancel() }
        work = []
        isFetchingState = false
        requests.disconnected()
        channel.disconnected()
        for channel in channels.values { channel.disconnected() }
    }

    // MARK: Losing and coming back

    private func lost(code: UInt16) {
        let wasConnected = isConnected
        dropSocket()
        guard end == nil else { return }
        if code == 4000 {
            return finish(
                .resumedElsewhere,
                RoutingError(.ended, family: .session, "the route was taken over by another connection"))
        }
        if case .application = purpose {
            return finish(.shutdown, RoutingError(.ended, family: .connection, "the receiver is gone"))
        }
        // During the opening, its caller sees to it.
        guard wasConnected else { return }
        client?.link(self, isConnected: false)
        mirror.announce()
        Task { [weak self] in await self?.comeBack() }
    }

    /// Cuts the connection as a failing network would.
    func cut() { lost(code: 1006) }

    private func comeBack() async {
        let lostAt = ContinuousClock.now
        var attempt = 0
        while end == nil {
            try? await RouteActor.shared.loop.sleep(for: timing.retryDelay(attempt))
            guard end == nil else { return }
            attempt += 1
            do {
                try await connect()
                client?.link(self, isConnected: true)
                mirror.announce()
                return
            } catch let error as RoutingError where error.isRefusal && error.code != .limitReached {
                return finish(error.code == .routeUnknown ? .graceExpired : .connectionLost, error)
            } catch {
                // The receiver has ended the route by now, so there is nothing to come back to.
                if case .route = purpose, ContinuousClock.now - lostAt > graceTime {
                    return finish(.connectionLost, RoutingError.describing(error))
                }
            }
        }
    }

    // MARK: Ending

    /// Ends the route in good order: its sessions end with it.
    func deactivate() async {
        guard end == nil else { return }
        if isConnected { _ = try? await requests.send(.deactivate) }
        close(.deactivated)
    }

    /// Closes the connection without a word; the receiver keeps the route for its grace time, and what plays plays on
    /// where its administrator lets it.
    func close(_ reason: RouteEnd) {
        finish(reason, RoutingError(.ended, family: .connection, "the connection was closed"))
    }

    private func finish(_ reason: RouteEnd, _ error: RoutingError) {
        guard end == nil else { return }
        end = reason
        let socket = socket
        outlet?.flush()
        (self.socket, outlet) = (nil, nil)
        isConnected = false
        socket?.close(code: 1000, reason: "")
        for task in work { task.cancel() }
        work = []
        requests.close(error)
        channel.close(error)
        closeChannels(error)
        mirror.finish(reason == .shutdown ? .shutdown : reason == .deactivated ? .routeEnded : .lost)
        client?.link(self, ended: reason)
    }

    // MARK: Incoming

    private func received(_ message: WebSocket.Message) {
        switch message {
        case .text(let text):
            // What makes no sense is passed over: a later receiver may say more than this version knows.
            for message in (try? ServerMessage.decode(text)) ?? [] { received(message) }
        case .binary(let bytes):
            // They may be right behind the answer that grants them.
            guard JoinedFrames.isJoined(bytes) else { return receive(bytes) }
            for frame in (try? JoinedFrames.split(bytes)) ?? [] { receive(frame) }
        }
    }

    private func receive(_ bytes: [UInt8]) {
        guard let frame = try? DataFrame(decoding: bytes) else { return }
        guard frame.channel == 0 else { return received(frame) }
        switch frame.kind {
        case .message: channel.received(frame.message, from: frame.endpoint, frame.payload)
        case .acknowledged: channel.acknowledged(frame.message)
        case .refused: channel.refused(frame.message, Codec.refusal(frame.payload))
        }
    }

    private func received(_ message: ServerMessage) {
        switch message {
        case .response(let id, let result): requests.answered(id, result.mapError { RoutingError($0) })
        case .stateChanged(let step): if !mirror.apply(step) { fetchState() }
        case .sessionEnded(let session, let reason, let by, let error, let application):
            let end = Codec.end(reason: reason, by: by, error: error, application: application)
            closeChannel(of: session)
            mirror.ended(session, end)
            client?.link(self, session: session, ended: end)
        case .announcementEnded(let announcement, let reason, let by, let error):
            mirror.announcementEnded(
                announcement, AnnouncementEnd(reason: reason, by: by, error: error))
        case .routeEnded(let ended, let reason, let words):
            guard ended == route else { return }
            finish(
                RouteEnd(rawValue: reason) ?? .connectionLost,
                RoutingError(.ended, family: .session, words))
        case .application(let notice): onNotice?(notice)
        case .group, .unknown: break
        }
    }

    /// Asks for the whole state after a gap. Once at a time: its answer is newer than every push before it.
    private func fetchState() {
        guard !isFetchingState else { return }
        isFetchingState = true
        requests.send(.getState) { [weak self] result in
            guard let self else { return }
            isFetchingState = false
            guard let answer = try? result.get(), let greeting = try? Codec.greeting(answer, activates: false)
            else { return }
            mirror.replace(version: greeting.version, document: greeting.state, isFresh: false)
        }
    }

    // MARK: Clock

    /// Reads the receiver's clock now and then. A receiver that does not answer is given up, and the connection made
    /// anew: a half-open one would stand for ever.
    private func keepReadingClock() -> Task<Void, Never> {
        Task { [weak self, timing] in
            var number = 0
            // Only weakly, so that a link that nobody holds does not stay.
            while !Task.isCancelled, await self?.readClock() == true {
                number += 1
                // A few at once, so that the first estimate is good; then seldom.
                let wait = number < 4 ? .milliseconds(20) : timing.clockReading
                try? await RouteActor.shared.loop.sleep(for: wait)
            }
        }
    }

    /// False: there is nothing to read from any more.
    private func readClock() async -> Bool {
        guard isConnected else { return false }
        let sent = LocalClock.now
        do {
            let reading = try PingResult(json: await requests.send(.ping))
            let arrived = LocalClock.now
            clock.identify(reading.id)
            clock.add(
                ClockExchange(
                    requestSent: sent, requestReceived: reading.received, answerSent: reading.sent,
                    answerReceived: arrived))
            return isConnected
        } catch let error as RoutingError where error.code == .timeout {
            if !Task.isCancelled, isConnected { lost(code: 1006) }
            return false
        } catch {
            return false
        }
    }
}
