// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
package import GLibLoop

/// An attempt to reach a bus. It lives on the thread that made it; dropping it gives the attempt up.
@safe package final class Connecting {
    private let cancellable = Cancellable()
    private let answer: Answer
    private var deadline: EventSource?

    /// Connects to the bus at `address`. `outcome` is called once, in a later turn of the loop, unless this object is dropped
    /// before.
    package init(
        to address: String, within patience: Duration = .seconds(5),
        _ outcome: @escaping (Result<Bus, Failure>) -> Void
    ) {
        answer = Answer(outcome)
        let flags = GDBusConnectionFlags(
            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        unsafe g_dbus_connection_new_for_address(
            address, flags, nil, cancellable.pointer,
            { _, result, data in
                let answer = unsafe Unmanaged<Answer>.fromOpaque(data!).takeRetainedValue()
                var error: UnsafeMutablePointer<GError>?
                if let pointer = unsafe g_dbus_connection_new_for_address_finish(result, &error) {
                    // A bus that nobody waits for any more is left with its last reference.
                    answer.give(.success(unsafe Bus(adopting: pointer)))
                } else {
                    answer.give(.failure(unsafe Failure(adopting: error)))
                }
            }, Unmanaged.passRetained(answer).toOpaque())
        deadline = EventSource.after(patience) { [weak self] in
            self?.cancellable.cancel()
            self?.answer.give(.failure(.timedOut))
        }
    }

    deinit {
        answer.outcome = nil
        deadline?.destroy()
        cancellable.cancel()
    }

    private final class Answer {
        var outcome: ((Result<Bus, Failure>) -> Void)?
        init(_ outcome: @escaping (Result<Bus, Failure>) -> Void) { self.outcome = outcome }

        func give(_ result: Result<Bus, Failure>) {
            let outcome = self.outcome
            self.outcome = nil
            outcome?(result)
        }
    }
}
