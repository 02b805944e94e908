// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// While messages of a peer are handled: the data frames that they cause are gathered at the connections and leave together at the end.
final class FrameTurn {
    private var depth = 0
    private var connections: [RouteConnection] = []

    var isOpen: Bool { depth > 0 }

    /// Once for each connection that begins to gather.
    func add(_ connection: RouteConnection) { connections.append(connection) }

    func run(_ body: () -> Void) {
        depth += 1
        body()
        depth -= 1
        guard depth == 0 else { return }
        while let connection = connections.popLast() { connection.flush() }
    }
}
