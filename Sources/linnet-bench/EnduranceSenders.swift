// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import SeededNumbers
import SystemProbe

/// Two senders and some watchers who do at a receiver what senders do, at random moments of a seed.
@RouteActor final class EnduranceSenders {
    /// What went otherwise than it should, with how often.
    private var problems: [String: Int] = [:]
    /// How many items ended how.
    private var ends: [String: Int] = [:]
    /// The longest time that a stop took, in ms.
    private var slowestStop = 0.0
    private let receiver: Receiver
    let mediaURL: String
    let items: [EnduranceMedia.Item]
    private let longItems: [EnduranceMedia.Item]
    private let controllers = ["first", "second"].map { RouteController(sender: SenderIdentity(name: $0)) }
    private var routes: [Route?] = [nil, nil]
    private var watchers: [ReceiverConnection] = []
    var random: SeededNumbers

    init(port: UInt16, mediaURL: String, plan: EndurancePlan) async throws {
        (items, longItems) = (
            EnduranceMedia.items.filter(plan.takes), EnduranceMedia.longItems.filter(plan.takes)
        )
        receiver = try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
        self.mediaURL = mediaURL
        random = SeededNumbers(seed: plan.seed)
    }

    var results: (problems: [String: Int], ends: [String: Int], slowestStop: Double) {
        (problems, ends, slowestStop)
    }

    /// Plays a short item to its end.
    func playToEnd() async {
        guard let item = items.randomElement(using: &random) else { return }
        do {
            let (session, media) = try await start(item, by: chance(2))
            let end = await within(.seconds(20)) { await media.ended() }
            switch end {
            case .finished where item.isPlayable, .failed where !item.isPlayable:
                count(item.isPlayable ? "finished" : "failed as it should")
            case let end:
                let control = media.playbackControl
                let word =
                    end.map { "\($0)" }
                    ?? "no end within 20 s (ready \(control.isReady), buffering \(control.isBuffering), "
                    + "at \(control.playbackPosition.position.seconds) s)"
                problem("\(item.path): \(word)")
                await stop(session)
            }
        } catch { problem("\(item.path): \(error)") }
    }

    /// Loads an item, does this and that with it, and stops it in one of the ways in which sessions end.
    func loadAndStop() async {
        let number = chance(2)
        guard let item = (items + longItems).randomElement(using: &random)
        else { return }
        do {
            let (session, media) = try await start(item, by: number)
            // Some while they begin.
            let isEarly = chance(3) == 0
            for _ in 0..<(isEarly ? 0 : chance(5)) {
                await rest(milliseconds: 100)
                act(on: media.playbackControl)
                changeWatchers()
            }
            await rest(milliseconds: isEarly ? 40 : 250)
            switch chance(12) {
            case 0:
                // The other sender takes over.
                guard let next = items.randomElement(using: &random) else { return }
                let (second, _) = try await start(next, by: 1 - number)
                await rest(milliseconds: 150)
                await stop(second)
            case 1: break  // The next item takes its place.
            case 2:
                // The end of the route ends the session.
                if let route = routes[number] { await controllers[number].deactivate(route) }
                routes[number] = nil
            case 3:
                // What plays is left to the receiver.
                if let route = routes[number] { await controllers[number].leave(route) }
                routes[number] = nil
            case 4:
                // A lost connection comes back, and the session with it.
                guard let route = routes[number] else { return }
                route.dropConnection()
                _ = await within(.seconds(15)) {
                    for await _ in route.updates() where route.state != .reconnecting { return true }
                    return route.state != .reconnecting
                }
                if route.state != .active {
                    problem("a lost connection: \(route.state)")
                    routes[number] = nil
                }
                await stop(session)
            default: await stop(session)
            }
            count(media.endReason.map { "\($0)".prefix { $0 != "(" } }.map(String.init) ?? "left")
        } catch { problem("\(item.path): \(error)") }
    }

    /// Ends the watching.
    func closeWatchers() {
        watchers.forEach { $0.close() }
        watchers = []
    }

    /// Ends everything.
    func leave() async {
        closeWatchers()
        for (number, route) in routes.enumerated() {
            if let route { await controllers[number].deactivate(route) }
            routes[number] = nil
        }
    }

    /// Stops what plays, whosever it is.
    func stopAll() async {
        closeWatchers()
        do { try await route(of: 0).stopPlayer() } catch { problem("stopping what plays: \(error)") }
    }

    // MARK: Parts

    private func start(
        _ item: EnduranceMedia.Item, by number: Int
    ) async throws -> (RouteSession, MediaSession) {
        let route = try await route(of: number)
        let session = RouteSession(url: "\(mediaURL)/\(item.path)")
        guard route.addSession(session) else { throw ProbeFailure("the session was not taken on", 0) }
        return (session, try await session.start())
    }

    func route(of number: Int) async throws -> Route {
        if let route = routes[number], route.state == .active { return route }
        let route = try await controllers[number].activate(receiver)
        routes[number] = route
        return route
    }

    private func stop(_ session: RouteSession) async {
        let start = monotonicNanoseconds()
        await session.stop()
        slowestStop = max(slowestStop, Double(monotonicNanoseconds() - start) / 1e6)
    }

    private func act(on control: PlaybackControl) {
        switch chance(11) {
        case 0, 1: control.isPlaying.toggle()
        case 2: control.seek(to: place())
        case 3: control.seek(to: place(), tolerance: MediaTime(value: 10, timescale: 1))
        case 4: control.playbackSpeed = [0.5, 0.8, 1, 1.5, 2][chance(5)]
        case 5: control.volume = Double(chance(11)) / 10
        case 6: control.isMuted.toggle()
        case 7: control.state = control.state == .normal ? .scanning : .normal
        case 8: control.currentAudioOption = control.audioOptions.randomElement(using: &random)
        case 9: routes.compactMap { $0 }.first?.device.volume = Double(chance(11)) / 10
        default:
            // A burst, as of a slider that is dragged.
            for _ in 0..<5 { control.seek(to: place()) }
        }
    }

    func place() -> MediaTime { MediaTime(value: Int64(chance(1_000)), timescale: 1_000) }

    /// Watchers come and go, and sometimes somebody connects and says nothing, or looks at a page.
    private func changeWatchers() {
        switch chance(6) {
        case 0 where watchers.count < 4:
            let receiver = receiver
            Task { @RouteActor in
                do { watchers.append(try await ReceiverConnection.open(receiver)) } catch {
                    problem("watching: \(error)")
                }
            }
        case 1: if !watchers.isEmpty { watchers.removeFirst().close() }
        case 2:
            guard let address = receiver.addresses.first,
                let socket = try? StreamSocket(host: "127.0.0.1", port: address.port)
            else { return problem("no connection") }
            if chance(2) == 0 { try? socket.write("GET /v1/receiver HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") }
        default: break
        }
    }

    func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Lets a random time pass, which is part of what is tried.
    func rest(milliseconds: Int) async {
        try? await Task.sleep(for: .milliseconds(chance(milliseconds)))
    }

    func count(_ end: String) { ends[end, default: 0] += 1 }

    func problem(_ text: String) {
        if problems.count < 100 || problems[text] != nil { problems[text, default: 0] += 1 }
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @RouteActor () async -> Value
    ) async -> Value {
        let waiting = Task { @RouteActor in await body() }
        let timer = Task {
            try await Task.sleep(for: limit)
            waiting.cancel()
        }
        defer { timer.cancel() }
        return await waiting.value
    }
}
