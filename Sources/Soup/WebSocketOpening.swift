// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
package import GLibLoop

/// The opening of one WebSocket, told to a closure: nothing of it passes through Dispatch's threads, which would wake a program that
/// stays. Lives on the loop of its client. Dropping it gives it up, and nothing is told.
@safe package final class WebSocketOpening {
    private let cancellable: UnsafeMutablePointer<GCancellable>
    private var deadline: EventSource?
    private var done: ((Result<WebSocket, Failure>) -> Void)?
    private let limits: WebSocket.Limits

    fileprivate init(limits: WebSocket.Limits, done: @escaping (Result<WebSocket, Failure>) -> Void) {
        unsafe cancellable = g_cancellable_new()
        (self.limits, self.done) = (limits, done)
    }

    deinit {
        deadline?.destroy()
        unsafe g_cancellable_cancel(cancellable)
        unsafe g_object_unref(cancellable)
    }

    fileprivate func start(
        _ session: UnsafeMutablePointer<SoupSession>, _ message: OpaquePointer, timeout: Duration
    ) {
        deadline = EventSource.after(timeout) { [weak self] in self?.finish(.failure(.timedOut)) }
        let box = Box(self)
        unsafe soup_session_websocket_connect_async(
            session, message, nil, nil, G_PRIORITY_DEFAULT, cancellable,
            { source, result, data in
                let box = unsafe Unmanaged<Box>.fromOpaque(data!).takeRetainedValue()
                let session = unsafe UnsafeMutableRawPointer(source!).assumingMemoryBound(
                    to: SoupSession.self)
                var error: UnsafeMutablePointer<GError>?
                let connection = unsafe soup_session_websocket_connect_finish(session, result, &error)
                guard let connection = unsafe connection else {
                    let failure = unsafe Failure(adopting: error)
                    box.opening?.finish(.failure(failure))
                    return
                }
                defer { unsafe g_object_unref(UnsafeMutableRawPointer(connection)) }
                guard let opening = box.opening else { return }
                opening.finish(.success(unsafe WebSocket(retaining: connection, opening.limits)))
            }, Unmanaged.passRetained(box).toOpaque())
    }

    fileprivate func finish(_ result: Result<WebSocket, Failure>) {
        let done = done
        self.done = nil
        deadline?.destroy()
        deadline = nil
        done?(result)
    }

    /// What the callback is given: it may come after the opening was given up.
    private final class Box {
        weak var opening: WebSocketOpening?
        init(_ opening: WebSocketOpening) { self.opening = opening }
    }
}

extension HTTPClient {
    /// Opens a WebSocket and tells the outcome once, never from inside the call. No message is missed by who sets its
    /// callbacks there.
    package func open(
        _ uri: String, limits: WebSocket.Limits = WebSocket.Limits(), timeout: Duration,
        done: @escaping (Result<WebSocket, Failure>) -> Void
    ) throws(Failure) -> WebSocketOpening {
        let message = unsafe try makeMessage(uri)
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(message)) }
        let opening = WebSocketOpening(limits: limits, done: done)
        unsafe opening.start(pointer, message, timeout: timeout)
        return opening
    }
}
