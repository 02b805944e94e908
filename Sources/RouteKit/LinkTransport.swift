// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteWire
import Soup

/// What carries the messages of a link: a WebSocket to a receiver, or the socket that an application has inherited.
@RouteActor protocol LinkTransport: AnyObject {
    var onMessage: ((WebSocket.Message) -> Void)? { get set }
    /// Called once, unless this side ended it.
    var onClosed: ((_ code: UInt16, _ reason: String?) -> Void)? { get set }
    var isOpen: Bool { get }
    /// This end of the connection in numbers; nil where there is no network.
    var localAddress: String? { get }
    func send(_ message: WebSocket.Message)
    /// Sends data frames at one time; as one message where the other end agreed to that.
    func send(frames: [[UInt8]], areJoined: Bool)
    /// Lets a receiver on this machine take what was sent before this thread goes on.
    func letReaderRun()
    func close(code: UInt16, reason: String)
    func abort()
}

extension WebSocket: @RouteActor LinkTransport {
    func send(frames: [[UInt8]], areJoined: Bool) {
        guard areJoined, frames.count > 1 else { return frames.forEach { send(.binary($0)) } }
        send(.binary(JoinedFrames.join(frames)))
    }
}

/// The socket between an application and its receiver (`Docs/protocols/application.md`, section 2).
@RouteActor final class SocketTransport: LinkTransport {
    /// Sixteen messages of data and their answers on each of some channels; whoever has more under way than a receiver ever
    /// takes has lost count.
    private static let capacity = 64 << 20

    var onMessage: ((WebSocket.Message) -> Void)?
    var onClosed: ((_ code: UInt16, _ reason: String?) -> Void)?
    let localAddress: String? = nil
    private let link: ByteLink
    private var reader = SocketMessageReader()

    init(adopting descriptor: consuming Descriptor) {
        link = ByteLink(descriptor, capacity: Self.capacity)
        link.onReceive = { [weak self] in self?.receive($0) }
        link.onClosed = { [weak self] in self?.end(code: 1006, nil) }
    }

    var isOpen: Bool { link.isOpen }

    func send(_ message: WebSocket.Message) {
        let message: SocketMessage =
            switch message {
            case .text(let text): .text(text)
            case .binary(let bytes): .binary(bytes)
            }
        guard let frame = message.frame, link.isOpen else { return }
        if !link.send(frame) { end(code: 1006, "the receiver does not read") }
    }

    /// On a stream messages need no joining to be written at once.
    func send(frames: [[UInt8]], areJoined: Bool) {
        guard link.isOpen else { return }
        if !link.send(SocketMessage.bytes(of: frames)) { end(code: 1006, "the receiver does not read") }
    }

    func letReaderRun() { link.letReaderRun() }

    func close(code: UInt16, reason: String) { abort() }

    func abort() {
        (onMessage, onClosed) = (nil, nil)
        link.close()
    }

    private func receive(_ bytes: [UInt8]) {
        reader.push(bytes)
        do {
            while link.isOpen, let message = try reader.next() {
                switch message {
                case .text(let text): onMessage?(.text(text))
                case .binary(let bytes): onMessage?(.binary(bytes))
                }
            }
        } catch {
            end(code: 1002, "\(error)")
        }
    }

    private func end(code: UInt16, _ reason: String?) {
        link.close()
        let body = onClosed
        (onMessage, onClosed) = (nil, nil)
        body?(code, reason)
    }
}
