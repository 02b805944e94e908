// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import RendererWire

/// One life of the renderer process: from its start to its end. Made and used on a loop.
final class RendererLink {
    /// More than a burst of commands ever takes; a renderer that leaves so much unread does not read at all.
    private static let capacity = 1 << 20

    private let child: ChildProcess
    private let socket: ByteLink
    private var decoder = FrameDecoder()
    private var flood = FloodGuard()
    private var greeted = false
    private var ended: ChildProcess.Exit?
    private var fault: String?
    private var finishing: EventSource?
    private var onMessage: ((RendererMessage) -> Void)?
    private var onEnd: ((String) -> Void)?
    let startedAt = MonotonicClock.nanoseconds

    /// Starts the process. Messages come after the hello was checked; the end comes once, with its reason.
    init(
        _ arguments: [String], environment: [String: String], settings: [RendererSetting],
        onMessage: @escaping (RendererMessage) -> Void, onEnd: @escaping (String) -> Void
    ) throws {
        var launched: ChildProcess?
        socket = try ByteLink(capacity: Self.capacity) { other in
            launched = try ChildProcess(arguments, environment: environment, inheriting: other)
        }
        guard let launched else { throw FrameFailure("it was not launched") }
        child = launched
        (self.onMessage, self.onEnd) = (onMessage, onEnd)
        socket.onReceive = { [weak self] in self?.receive($0) }
        socket.onClosed = { [weak self] in self?.closed() }
        // Until the end this keeps the link alive, so that no process goes unobserved.
        child.whenEnded { self.childEnded($0) }
        send(.hello(version: RendererMessage.version))
        send(.configure(settings))
    }

    var process: Int32? { child.identifier }

    func send(_ message: RendererMessage) {
        guard fault == nil, let frame = message.frame else { return }
        send(frame)
    }

    /// Sends a command. A `ping` leaves with it, so that the renderer wakes once.
    func send(_ command: RendererCommand, ping: UInt64?) {
        guard fault == nil, let frame = RendererMessage.command(command).frame else { return }
        send(frame + (ping.flatMap { RendererMessage.ping($0).frame } ?? []))
    }

    /// Gives the renderer a descriptor, which is closed here once it was sent, or cannot be.
    func hand(over descriptor: SharedDescriptor, token: UInt64) {
        guard fault == nil, let frame = RendererMessage.handOver(token: token).frame else { return }
        if !socket.send(frame, passing: descriptor), socket.isOpen { kill("it does not read its commands") }
    }

    /// Lets the renderer take what it was sent before this thread goes on. It costs this thread its turn, so it is for what
    /// somebody waits to hear.
    func letRun() { socket.letReaderRun() }

    private func send(_ bytes: [UInt8]) {
        if !socket.send(bytes), socket.isOpen { kill("it does not read its commands") }
    }

    /// Ends the process by force; the reason is told at the end.
    func kill(_ reason: String) {
        fault = fault ?? reason
        child.forceExit()
    }

    /// Lets the process end by itself, which it does when its socket is closed, and sees to it that it does. Nothing
    /// is told afterwards.
    func retire() {
        (onMessage, onEnd) = (nil, nil)
        socket.close()
        finishing = EventSource.after(.milliseconds(800)) { [child] in child.forceExit() }
    }

    private func receive(_ bytes: [UInt8]) {
        guard fault == nil else { return }
        decoder.push(bytes)
        var count = 0
        do {
            while fault == nil, let message = try decoder.next() {
                count += 1
                try take(message)
            }
        } catch {
            kill("\(error)")
        }
        if !flood.admits(messages: count, bytes: bytes.count, now: MonotonicClock.nanoseconds) {
            kill("it says far too much")
        }
    }

    private func take(_ message: RendererMessage) throws(FrameFailure) {
        guard fault == nil else { return }
        if case .hello(let version) = message {
            guard version == RendererMessage.version else {
                throw FrameFailure("it speaks version \(version), not \(RendererMessage.version)")
            }
            greeted = true
        } else {
            guard greeted else { throw FrameFailure("it did not say hello") }
            onMessage?(message)
        }
    }

    private func closed() {
        if ended != nil { return finish() }
        // A renderer that has closed its socket is of no use, but it may be on its way out by itself, with a status
        // that says more.
        finishing = EventSource.after(.milliseconds(300)) { [weak self] in self?.kill("it closed its socket")
        }
    }

    private func childEnded(_ exit: ChildProcess.Exit) {
        ended = exit
        guard socket.isOpen else { return finish() }
        // What it said before its end is still to be read; a descriptor that leaked to another process must not
        // make this wait for ever.
        finishing = EventSource.after(.milliseconds(100)) { [weak self] in self?.finish() }
    }

    private func finish() {
        socket.close()
        finishing = nil
        let body = onEnd
        (onMessage, onEnd) = (nil, nil)
        body?([fault, ended.map { "\($0)" }].compactMap { $0 }.joined(separator: ", "))
    }
}
