// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import Observation
import RouteWire

/// The sources that a receiver switches between, as an object that mirrors them and takes commands. Sources are named by their
/// addresses.
@RouteActor @Observable public final class SourceControl {
    /// The sources, who is heard and why; nil if the network is the receiver's only source.
    public private(set) var state: AccessoryState?

    @ObservationIgnored private weak var link: ReceiverLink?
    @ObservationIgnored private let announcer = Announcer()

    init() {}

    func attach(to link: ReceiverLink) { self.link = link }

    /// A value after each change, the latest only; ends with the connection.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    /// Has a source heard at once, whatever else is.
    public func take(_ source: String) async throws { _ = try await ask(.take(source)) }

    /// Has a source, or the one that is heard, make way; what was heard before goes on.
    public func yield(_ source: String? = nil) async throws { _ = try await ask(.yield(source)) }

    /// Says what is wanted of a source from now on.
    public func prefer(_ source: String, _ preference: SourcePreference) async throws {
        _ = try await ask(.prefer(source, WireSourcePreference(rawValue: preference.rawValue) ?? .normal))
    }

    /// Has the receiver forget a paired phone, and what was wanted of it.
    public func forget(_ source: String) async throws { _ = try await ask(.forget(source)) }

    /// Lets phones be paired for some time, 600 s at most; `state.pairing` tells how that goes.
    public func pair(for seconds: Int = 120) async throws {
        _ = try await ask(.pair(seconds: Int64(min(max(seconds, 1), 600))))
    }

    /// Lets no phone be paired any more.
    public func stopPairing() async throws { _ = try await ask(.pair(seconds: 0)) }

    /// Answers whether the phone that asks is wanted.
    public func confirm(_ source: String, _ isWanted: Bool) async throws {
        _ = try await ask(.confirm(source, isWanted))
    }

    /// Ends the connection of a phone.
    public func disconnect(_ source: String) async throws { _ = try await ask(.disconnect(source)) }

    func ask(_ request: WireAccessoryRequest) async throws -> JSONValue {
        guard let link else {
            throw RoutingError(.ended, family: .connection, "the connection is closed")
        }
        return try await link.requests.send(.accessory(request))
    }

    func mirror(_ document: AccessoryDocument?) {
        let new = document.map { AccessoryState($0) }
        guard new != state else { return }
        state = new
        announcer.announce()
    }

    func finish() {
        link = nil
        announcer.finish()
    }
}
