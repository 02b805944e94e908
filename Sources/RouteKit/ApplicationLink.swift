// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop
package import RouteWire

/// The link of an application to its receiver: what `LinnetApplication` stands on. Playing, the device and the data channels are
/// those of a sender.
@RouteActor package final class ApplicationLink {
    /// Takes what the receiver tells. Set before `open`.
    package var onNotice: ((ApplicationNotice) -> Void)?
    /// The receiver is gone.
    package var onEnd: (() -> Void)?
    private let link: ReceiverLink
    private var instance = ""

    /// Takes over the socket that the application inherited.
    package init(adopting descriptor: consuming Descriptor) {
        link = ReceiverLink(over: SocketTransport(adopting: descriptor))
        link.client = self
        link.onNotice = { [weak self] in self?.onNotice?($0) }
    }

    /// Says hello. Once.
    package func open(library: String) async throws -> HelloResult {
        let answer = try await link.openApplication(library: library)
        instance = answer.instance
        return answer
    }

    package var device: DeviceControl { link.mirror.device }
    /// The group that the receiver plays in, as sessions that this application may join as a player.
    package func groupSessions() -> AsyncStream<GroupSession> { link.mirror.group.sessions() }
    package var senders: [ConnectedSender] { link.mirror.senders }
    /// What this application plays; nil while that is nothing.
    package var player: PlaybackControl? {
        link.mirror.state?.instances[instance]?.media.flatMap { link.mirror.control($0) }
    }
    /// A value after each change of what is known of the receiver, the latest only; ends with the link.
    package func updates() -> AsyncStream<Void> { link.mirror.updates() }

    /// Plays in place of what this application plays.
    package func play(_ url: String, options: RouteSession.Options) async throws -> MediaSession {
        MediaSession(control: try await link.start(url: url, mode: .player, options: options))
    }

    package func stop(_ session: String) async throws { try await link.stop(session: session) }

    /// Ends a sender's session: finished, or failed with these words.
    package func endSession(_ session: String, failure: String?) async throws {
        _ = try await link.requests.send(.application(.endSession(session: session, failure: failure)))
    }

    package func channel(_ number: UInt32) -> SessionDataChannel { link.channel(number: number) }
    package func closeChannel(_ number: UInt32) { link.closeChannel(number: number) }
    package func close() { link.close(.left) }
}

extension ApplicationLink: ReceiverLinkClient {
    func link(_ link: ReceiverLink, isConnected: Bool) {}
    func link(_ link: ReceiverLink, session: String, ended reason: SessionEnd) {}
    func link(_ link: ReceiverLink, ended reason: RouteEnd) {
        let body = onEnd
        (onNotice, onEnd) = (nil, nil)
        body?()
    }
}
