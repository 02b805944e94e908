// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Names one connection of a client. Never used again.
package struct ConnectionID: Equatable, Hashable, Sendable, Comparable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: ConnectionID, other: ConnectionID) -> Bool { one.number < other.number }
}

/// Names one request of a connection, so that its answer finds the way back.
package struct RequestID: Equatable, Hashable, Sendable {
    package let connection: ConnectionID
    package let number: UInt64
    package init(connection: ConnectionID, number: UInt64) {
        (self.connection, self.number) = (connection, number)
    }
}

/// Names one activation by one sender. Random text made by the owner of the state, never used again.
package struct RouteID: Equatable, Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// Names one session. Never used again.
package struct SessionID: Equatable, Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// Names one run of an application, from its launch to its end; a restart after a crash goes on with it. Never used again.
package struct InstanceID: Equatable, Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// The secret that gives a sender its route back after a lost connection.
package struct ResumeToken: Equatable, Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// Who a sender says it is.
package struct Sender: Equatable, Sendable {
    package let identifier: String
    package let name: String
    package init(identifier: String, name: String) { (self.identifier, self.name) = (identifier, name) }
}

/// Who caused a change of the state.
package enum Origin: Equatable, Sendable {
    case sender(RouteID, name: String)
    case application(InstanceID, name: String)
    /// The receiver itself.
    case device
    /// The media: its end, its tags, its timeline.
    case content
    /// Buttons and mixers.
    case local
    case group
    /// The choice between sources.
    case switching
}
