// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

/// Finds the receiver that a command is meant for.
@RouteActor enum Finder {
    /// How long the network is listened to when a name was asked for. mDNS answers within a second; a lossy wireless
    /// network takes another question.
    static let patience = Duration.seconds(3)

    /// The receiver by that name or address, or the only one.
    static func receiver(_ wanted: String?) async throws -> Receiver {
        guard let wanted else { return try await onlyOne() }
        if let address = certainAddress(wanted) { return try await at(address) }
        let browser = ReceiverBrowser()
        let isSettled = await wait(for: browser) { match(wanted, in: $0) != nil }
        if let receiver = match(wanted, in: browser.receivers) ?? onlyOne(like: wanted, in: browser.receivers)
        {
            return receiver
        }
        // A bare word may be the name of a host, too.
        if let host = ValueText.host(wanted),
            let receiver = try? await Receiver.at(
                .init(host: host.host, port: host.port ?? Receiver.defaultPort))
        {
            return receiver
        }
        let others = browser.receivers
        throw CommandFailure(
            .receiverNotFound, "no receiver is called '\(TerminalText.clean(wanted))'",
            advice: others.isEmpty
                ? (isSettled ? nothingFound : unavailable(browser)) : "There are: \(list(others)).")
    }

    /// All receivers that answer within `time`.
    static func all(within time: Duration) async throws -> [Receiver] {
        let browser = ReceiverBrowser()
        _ = await wait(for: browser, atMost: time) { _ in false }
        if browser.receivers.isEmpty, case .unavailable(let reason) = browser.state {
            throw CommandFailure(
                .failure, "cannot look for receivers: \(reason)",
                advice: "Start avahi-daemon, or name the receiver's address: --on HOST[:PORT].")
        }
        return browser.receivers
    }

    private static func onlyOne() async throws -> Receiver {
        let browser = ReceiverBrowser()
        let isSettled = await wait(for: browser) { _ in false }
        let found = browser.receivers
        if found.count == 1, let only = found.first { return only }
        guard found.isEmpty else {
            throw CommandFailure(
                .receiverNotFound, "there are several receivers: \(list(found))",
                advice: "Name one: --on '\(TerminalText.clean(found[0].displayName))', or set LINNET_ON.")
        }
        // One on this machine is found without a network's help.
        if let local = try? await Receiver.at(.init(host: "127.0.0.1", port: Receiver.defaultPort)) {
            Machine.write(
                "linnet: nothing was found by discovery; using the receiver on this machine\n", to: .error)
            return local
        }
        throw CommandFailure(
            .receiverNotFound, "no receiver was found",
            advice: isSettled ? nothingFound : unavailable(browser))
    }

    private static let nothingFound =
        "Is it switched on and in the same network? `linnet doctor` looks closer; --on HOST[:PORT] needs no discovery."

    private static func unavailable(_ browser: ReceiverBrowser) -> String {
        guard case .unavailable(let reason) = browser.state else { return nothingFound }
        return "Discovery is not possible (\(reason)). Start avahi-daemon, or use --on HOST[:PORT]."
    }

    /// Waits until the network was asked or `isEnough`. False: discovery is not possible, or took too long.
    private static func wait(
        for browser: ReceiverBrowser, atMost time: Duration = patience,
        until isEnough: @escaping @RouteActor ([Receiver]) -> Bool
    ) async -> Bool {
        let updates = browser.updates()
        let isWholeTime = time != patience
        let watch = Task { @RouteActor in
            @RouteActor func isDone() -> Bool {
                if isEnough(browser.receivers) { return true }
                if case .unavailable = browser.state { return true }
                // Who asked for a time gets it.
                return !isWholeTime && browser.state == .settled
            }
            if isDone() { return }
            for await _ in updates where isDone() { return }
        }
        let timer = Task {
            try? await Task.sleep(for: time)
            watch.cancel()
        }
        await watch.value
        timer.cancel()
        return browser.state == .settled
    }

    /// By name whatever its case, or by UUID.
    private static func match(_ wanted: String, in receivers: [Receiver]) -> Receiver? {
        receivers.first { $0.displayName == wanted || $0.id == wanted }
            ?? receivers.first { $0.displayName.lowercased() == wanted.lowercased() }
    }

    /// The only one whose name begins so; to be asked when all are known.
    private static func onlyOne(like wanted: String, in receivers: [Receiver]) -> Receiver? {
        let alike = receivers.filter { $0.displayName.lowercased().hasPrefix(wanted.lowercased()) }
        return alike.count == 1 ? alike[0] : nil
    }

    private static func list(_ receivers: [Receiver]) -> String {
        receivers.map { "'\(TerminalText.clean($0.displayName))'" }.joined(separator: ", ")
    }

    /// What can only be an address: it has a port, or is made of numbers, or is this machine.
    private static func certainAddress(_ text: String) -> Receiver.Address? {
        guard let host = ValueText.host(text) else { return nil }
        let isNumeric =
            host.host.contains(":")
            || (host.host.contains(".") && host.host.allSatisfy { $0.isNumber || $0 == "." })
        guard host.port != nil || isNumeric || host.host == "localhost" else { return nil }
        return .init(host: host.host, port: host.port ?? Receiver.defaultPort)
    }

    private static func at(_ address: Receiver.Address) async throws -> Receiver {
        do {
            return try await Receiver.at(address)
        } catch {
            throw CommandFailure(
                .receiverNotFound, CommandFailure(error, at: nil).message,
                advice: CommandFailure.advice(for: .connectionFailed))
        }
    }
}

/// A command on a route: finds the receiver, opens a route, and names the receiver in whatever goes wrong.
@RouteActor func withRoute(
    _ invocation: Invocation, _ body: @RouteActor (Route) async throws -> ExitCode
) async throws -> ExitCode {
    try await withRoute(to: try await Finder.receiver(invocation.on)) { route, _ in try await body(route) }
}

/// Opens a route to a receiver that was found, and names it in whatever goes wrong.
@RouteActor func withRoute<Value>(
    to receiver: Receiver, _ body: @RouteActor (Route, RouteController) async throws -> Value
) async throws -> Value {
    do {
        let controller = RouteController(sender: .commandLine)
        let route = try await controller.activate(receiver)
        do {
            let value = try await body(route, controller)
            await controller.deactivate(route)
            return value
        } catch {
            await controller.deactivate(route)
            throw error
        }
    } catch {
        throw CommandFailure(error, at: TerminalText.clean(receiver.displayName))
    }
}

/// What plays at the other end of a route, with a position that can be trusted.
@RouteActor func playing(on route: Route) async throws -> PlaybackControl {
    // The clock's offset comes with the first answers; a few milliseconds.
    for _ in 0..<50 where route.clockOffset == nil { try? await Task.sleep(for: .milliseconds(10)) }
    guard let player = route.player else {
        throw RoutingError(.noSession, family: .session, "nothing plays")
    }
    return player
}

extension SenderIdentity {
    /// Who this program is to receivers.
    static var commandLine: SenderIdentity { SenderIdentity(name: "linnet on \(Machine.hostName)") }
}

/// Says that a local file is missing before a receiver is looked for.
func requireFile(_ path: String) throws(CommandFailure) {
    guard FileSystem.exists(path) else {
        throw CommandFailure(
            .failure, "there is no file '\(TerminalText.clean(path))'",
            advice: "A URL begins with http:// or https://.")
    }
}

/// The address at which a receiver reaches what is served here.
@RouteActor func servingAddress(of route: Route) throws(CommandFailure) -> String {
    guard let address = route.localAddress else {
        throw CommandFailure(
            .failure, "cannot tell the address that \(TerminalText.clean(route.displayName)) reaches us at")
    }
    return address
}
