// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

public import Observation
import RouteWire

/// A receiver that was registered as an accessory, so that a companion application can pass its configuration on to its system.
///
/// ```swift
/// let device = try await AccessoryDevice.register(route, capabilities: [.audioSwitching])
/// for await configuration in device.updates() { … }
/// ```
@RouteActor @Observable public final class AccessoryDevice {
    /// As the receiver is now; changes with each connection, disconnection and placement.
    public private(set) var configuration: AccessoryConfiguration

    @ObservationIgnored private let registration: String
    @ObservationIgnored private weak var sources: SourceControl?
    @ObservationIgnored private var observation: Task<Void, Never>?
    @ObservationIgnored private let announcer = Announcer()

    private init(_ answer: AccessoryAnswer, sources: SourceControl) {
        (registration, self.sources) = (answer.registration, sources)
        configuration = AccessoryConfiguration(answer)
        follow(sources)
    }

    /// Registers a receiver with what of its capabilities is wanted.
    ///
    /// Throws `accessoryNotCapable` if it has not all of them.
    public static func register(
        _ route: Route, capabilities: Set<AccessoryCapability>
    ) async throws -> AccessoryDevice {
        let names = capabilities.map(\.rawValue).sorted()
        let answer = try await route.sources.ask(.register(names))
        return AccessoryDevice(try read(answer), sources: route.sources)
    }

    /// The receiver as it was registered before; asks for the present configuration.
    ///
    /// Throws `invalidated` if the receiver knows nothing of that any more: register anew.
    public static func current(for device: AccessoryDevice) async throws -> AccessoryDevice {
        let answer = try await device.connected().ask(.current(device.registration))
        device.take(try read(answer))
        return device
    }

    /// Changes members of the configuration; what is nil stays.
    ///
    /// - Parameter primary: The six bytes of a source's address, which then is heard.
    public func update(
        capabilities: Set<AccessoryCapability>? = nil, placement: AccessoryPlacement? = nil,
        primary: [UInt8]? = nil
    ) async throws {
        let change = AccessoryChange(
            capabilities: capabilities.map { $0.map(\.rawValue).sorted() }, placement: placement?.rawValue,
            primary: primary.map(Self.text))
        take(try Self.read(try await connected().ask(.update(registration, change))))
    }

    /// The configuration after each change, the latest only; ends with the connection.
    public func updates() -> AsyncStream<Void> { announcer.stream() }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    private static func read(_ answer: JSONValue) throws(RoutingError) -> AccessoryAnswer {
        guard let answer = try? AccessoryAnswer(json: answer) else { throw RoutingError.badAnswer }
        return answer
    }

    private func connected() throws(RoutingError) -> SourceControl {
        guard let sources else {
            throw RoutingError(.ended, family: .connection, "the connection is closed")
        }
        return sources
    }

    private func take(_ answer: AccessoryAnswer) {
        let new = AccessoryConfiguration(answer)
        guard new != configuration else { return }
        configuration = new
        announcer.announce()
    }

    /// Follows what the receiver pushes.
    private func follow(_ sources: SourceControl) {
        let updates = sources.updates()
        observation = Task { @RouteActor [weak self, weak sources] in
            for await _ in updates {
                guard let self, let state = sources?.state else { continue }
                mirror(state)
            }
            self?.announcer.finish()
        }
    }

    private func mirror(_ state: AccessoryState) {
        let wanted = configuration.capabilities
        let switches = wanted.contains(.audioSwitching)
        take(
            AccessoryAnswer(
                registration: registration, capabilities: wanted.map(\.rawValue),
                placement: wanted.contains(.placement) ? state.placement?.rawValue : nil,
                primary: switches ? state.primary : nil, secondary: switches ? state.secondary : nil))
    }

    isolated deinit { observation?.cancel() }
}
