// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// A program run as a child, with its end awaited on the loop. It lives on the thread that made it. Not `Sendable`.
///
/// The child's standard input is /dev/null; output and error are inherited. Dropping the last reference does not end
/// the child.
@safe package final class ChildProcess {
    /// How a child ended.
    package enum Exit: Equatable, Sendable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)

        package var description: String {
            switch self {
            case .status(let number): "exit status \(number)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    private let pointer: OpaquePointer
    /// The child's process id, nil once it has ended and was reaped.
    package var identifier: Int32? {
        unsafe g_subprocess_get_identifier(pointer).flatMap { unsafe Int32(String(cString: $0)) }
    }

    /// Starts `arguments`, whose first is the program's path or a name looked up in `PATH`.
    ///
    /// `environment` adds to what is inherited. `inherited` becomes descriptor 3 in the child and is closed here.
    package convenience init(
        _ arguments: [String], environment: [String: String] = [:],
        inheriting inherited: consuming Descriptor?
    ) throws(Failure) {
        let launcher = unsafe g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_NONE)!
        for (name, value) in environment {
            unsafe g_subprocess_launcher_setenv(launcher, name, value, 1)
        }
        if let inherited { unsafe g_subprocess_launcher_take_fd(launcher, inherited.take(), 3) }
        unsafe try self.init(spawning: arguments, by: launcher)
    }

    /// Starts `arguments` with nothing but `environment`, within `bounds`. Standard output and error go to `output`;
    /// what is `inherited` has the numbers from 3 on.
    package convenience init(
        _ arguments: [String], environment: [String: String], bounds: ChildBounds,
        output: consuming Descriptor?, inheriting inherited: consuming Inheritance
    ) throws(Failure) {
        let launcher = unsafe g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_NONE)!
        let empty = unsafe g_strv_builder_new()
        let none = unsafe g_strv_builder_end(empty)!
        unsafe g_strv_builder_unref(empty)
        unsafe g_subprocess_launcher_set_environ(launcher, none)
        unsafe g_strfreev(none)
        for (name, value) in environment {
            unsafe g_subprocess_launcher_setenv(launcher, name, value, 1)
        }
        unsafe bounds.set(on: launcher)
        if let output {
            let number = output.take()
            unsafe g_subprocess_launcher_take_stderr_fd(launcher, fcntl(number, F_DUPFD_CLOEXEC, 3))
            unsafe g_subprocess_launcher_take_stdout_fd(launcher, number)
        }
        var inherited = inherited
        for (index, number) in inherited.take().enumerated() {
            unsafe g_subprocess_launcher_take_fd(launcher, number, Int32(3 + index))
        }
        unsafe try self.init(spawning: arguments, by: launcher)
    }

    /// Takes over the launcher.
    private init(spawning arguments: [String], by launcher: OpaquePointer) throws(Failure) {
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(launcher)) }
        let builder = unsafe g_strv_builder_new()
        for argument in arguments { unsafe g_strv_builder_add(builder, argument) }
        let vector = unsafe g_strv_builder_end(builder)!
        unsafe g_strv_builder_unref(builder)
        defer { unsafe g_strfreev(vector) }
        var error: UnsafeMutablePointer<GError>?
        let child = unsafe vector.withMemoryRebound(
            to: UnsafePointer<CChar>?.self, capacity: arguments.count + 1
        ) {
            unsafe g_subprocess_launcher_spawnv(launcher, $0, &error)
        }
        guard let child = unsafe child else { throw unsafe Failure(adopting: error) }
        unsafe pointer = child
    }

    /// The same without a descriptor to pass on.
    package convenience init(_ arguments: [String], environment: [String: String] = [:]) throws(Failure) {
        try self.init(arguments, environment: environment, inheriting: nil)
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// Sends a UNIX signal; nothing happens if the child has ended.
    package func send(signal: Int32) { unsafe g_subprocess_send_signal(pointer, signal) }

    /// Kills the child.
    package func forceExit() { unsafe g_subprocess_force_exit(pointer) }

    /// Calls `body` on this loop once the child has ended and was reaped, whether or not this object still exists.
    package func whenEnded(_ body: @escaping (Exit) -> Void) {
        let box = unsafe Unmanaged.passRetained(ExitBody(body))
        unsafe g_subprocess_wait_async(
            pointer, nil,
            { child, result, data in
                let box = unsafe Unmanaged<ExitBody>.fromOpaque(data!).takeRetainedValue()
                let child = unsafe OpaquePointer(child!)
                unsafe g_subprocess_wait_finish(child, result, nil)
                unsafe box.body(ChildProcess.exit(of: child))
            }, box.toOpaque())
    }

    private static func exit(of child: OpaquePointer) -> Exit {
        if unsafe g_subprocess_get_if_signaled(child) != 0 {
            return .signal(unsafe g_subprocess_get_term_sig(child))
        }
        return .status(unsafe g_subprocess_get_exit_status(child))
    }

    /// Waits for the end. Cancelling the task ends the wait, not the child.
    package func wait(isolation: isolated any Actor = #isolation) async throws -> Exit {
        try unsafe await asyncResult(
            start: { cancellable, callback, data in
                unsafe g_subprocess_wait_async(pointer, cancellable, callback, data)
            },
            finish: { child, result in
                var error: UnsafeMutablePointer<GError>?
                guard unsafe g_subprocess_wait_finish(OpaquePointer(child), result, &error) != 0 else {
                    throw unsafe Failure(adopting: error)
                }
                return ()
            })
        return unsafe Self.exit(of: pointer)
    }
}

private final class ExitBody {
    let body: (ChildProcess.Exit) -> Void
    init(_ body: @escaping (ChildProcess.Exit) -> Void) { self.body = body }
}
