// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CSoup
import GLibLoop
import Synchronization

/// What a library may need to know of its requests before it cancels them, and what libsoup needs to live through that.
///
/// GStreamer's demuxers (1.22) take back what they asked for in vain while it is on its way to the thread that
/// sends it: it is sent nevertheless, and its answer ends the process (`request->in_use == FALSE`). libsoup has no sign
/// that a message was made, so the function of its class that is called then is wrapped.
///
/// libsoup (3.2) ends the process if a request is cancelled between its answer and the call that hands that over: the
/// stream of the answer is closed when its message has left the session. So the function that closes it is wrapped,
/// too, and leaves such streams alone.
@safe package final class CancelledRequests: Sendable {
    package static let shared = CancelledRequests()

    /// Messages that were made and are in no session yet, by their addresses in memory, which they keep until then.
    private let unsent = Mutex<Set<UInt>>([])
    private let gate = Gate()
    private let functions = Mutex(Functions())

    /// The name of the class of answers, which libsoup does not publish.
    private static let answers = "SoupClientInputStream"

    /// Hooks into every session and message of this process, for good.
    private init() {
        let (session, message) = (soup_session_get_type(), soup_message_get_type())
        let kind = unsafe g_type_class_ref(message)!.assumingMemoryBound(to: GObjectClass.self)
        functions.withLock { unsafe $0.construct = unsafe kind.pointee.constructed }
        unsafe kind.pointee.constructed = constructNoted
        // A signal can be looked up once its class is there.
        unsafe g_type_class_ref(session)
        unsafe g_signal_add_emission_hook(
            g_signal_lookup("request-queued", session), 0,
            { _, count, values, _ in
                unsafe CancelledRequests.shared.begun(RequestTap.object(1, of: values, count: count))
                return 1
            }, nil, nil)
        unsafe g_signal_add_emission_hook(
            g_signal_lookup("request-unqueued", session), 0,
            { _, count, values, _ in
                unsafe CancelledRequests.shared.ended(RequestTap.object(1, of: values, count: count))
                return 1
            }, nil, nil)
    }

    /// To be called before there are requests that may be cancelled.
    static func prepare() { _ = shared }

    /// True while a message was made and is not in a session yet.
    package var areSending: Bool { !unsent.withLock { $0.isEmpty } }

    /// Waits until all messages that were made by now are in a session or gone, `limit` at most; false after that. Those
    /// that are late are not waited for again.
    @discardableResult
    package func awaitSending(atMost limit: Duration) -> Bool {
        let waited: Set<UInt> = unsent.withLock { $0 }
        let end = g_get_monotonic_time() + gint64(limit / .microseconds(1))
        while true {
            let ticket = gate.ticket
            if unsent.withLock({ $0.isDisjoint(with: waited) }) { return true }
            let left = end - g_get_monotonic_time()
            guard left > 0 else { break }
            gate.pass(ticket, timeout: .microseconds(left))
        }
        unsent.withLock { $0.subtract(waited) }
        return false
    }

    /// A message entered a session.
    private func begun(_ message: OpaquePointer?) {
        guard let message = unsafe message else { return }
        unsafe g_object_set_qdata(Self.object(message), Marks.unsent, nil)
        unsafe g_object_set_qdata(Self.object(message), Marks.left, nil)
    }

    /// A message left its session. Its answer's class is there by now, if it has an answer.
    private func ended(_ message: OpaquePointer?) {
        guard let message = unsafe message else { return }
        unsafe g_object_set_qdata(Self.object(message), Marks.left, UnsafeMutableRawPointer(message))
        functions.withLock { functions in
            guard unsafe functions.close == nil else { return }
            let type = unsafe g_type_from_name(Self.answers)
            guard type != 0, let found = unsafe g_type_class_ref(type) else { return }
            let kind = unsafe found.assumingMemoryBound(to: GInputStreamClass.self)
            unsafe functions.close = unsafe kind.pointee.close_fn
            unsafe kind.pointee.close_fn = closeUnlessLeft
        }
    }

    fileprivate func construct(_ object: UnsafeMutablePointer<GObject>) {
        unsafe functions.withLock { unsafe $0.construct }?(object)
        _ = unsent.withLock { $0.insert(UInt(bitPattern: object)) }
        // Taken off when it is sent or freed, whichever is first.
        unsafe g_object_set_qdata_full(object, Marks.unsent, object) {
            CancelledRequests.shared.noted(UInt(bitPattern: $0))
        }
    }

    private func noted(_ address: UInt) {
        if unsent.withLock({ $0.remove(address) }) != nil { gate.open() }
    }

    fileprivate var close: CloseFunction? { unsafe functions.withLock { unsafe $0.close } }

    private static func object(_ message: OpaquePointer) -> UnsafeMutablePointer<GObject> {
        unsafe UnsafeMutableRawPointer(message).assumingMemoryBound(to: GObject.self)
    }
}

/// What the classes do by themselves.
@safe private struct Functions: @unchecked Sendable {
    var construct: ConstructFunction?
    var close: CloseFunction?
}

/// The names under which a message keeps what is known of it.
private enum Marks {
    static let unsent = unsafe g_quark_from_string("linnet-unsent")
    static let left = unsafe g_quark_from_string("linnet-left")
}

private typealias ConstructFunction = @convention(c) (UnsafeMutablePointer<GObject>?) -> Void
private typealias CloseFunction =
    @convention(c) (
        UnsafeMutablePointer<GInputStream>?, UnsafeMutablePointer<GCancellable>?,
        UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
    ) -> gboolean

private let constructNoted: ConstructFunction = { object in
    guard let object = unsafe object else { return }
    unsafe CancelledRequests.shared.construct(object)
}

private let closeUnlessLeft: CloseFunction = { stream, cancellable, error in
    var value = GValue()
    unsafe g_value_init(&value, soup_message_get_type())
    unsafe g_object_get_property(
        UnsafeMutableRawPointer(stream!).assumingMemoryBound(to: GObject.self), "message", &value)
    defer { unsafe g_value_unset(&value) }
    if let message = unsafe g_value_get_object(&value),
        unsafe g_object_get_qdata(message.assumingMemoryBound(to: GObject.self), Marks.left) != nil
    {
        return 1
    }
    return unsafe CancelledRequests.shared.close?(stream, cancellable, error) ?? 1
}
