// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop

/// Where everything of this library happens: one thread with a GLib main loop, which the library owns.
///
/// The classes of the library belong to this actor rather than to the main actor, because a program without
/// a user interface need not run anything on its main thread, and because the network's callbacks arrive
/// here: what they change can be read without another hop. Code that uses the classes a lot is marked
/// `@RouteActor`; other code awaits.
@globalActor public actor RouteActor {
    /// The one instance.
    public static let shared = RouteActor()

    nonisolated let loop = GLibLoop(named: "routekit")

    /// The loop, for programs of this package that have something of their own on it.
    package static var loop: GLibLoop { shared.loop }

    private init() {}

    /// The thread of the loop.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Runs `body` on the actor.
    public static func run<Value: Sendable>(
        _ body: @RouteActor () throws -> Value
    ) async rethrows -> Value {
        try await body()
    }
}
