// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import SystemProbe

/// Receivers of ours in one group.
@RouteActor final class OurGroup {
    private let host: Route
    let ticket: GroupTicket

    init(_ host: Route, _ members: [Route]) async throws {
        self.host = host
        ticket = try await host.group.create(named: "bench")
        for member in members { try await join(member) }
    }

    /// Takes a receiver in and waits until it reads the group's clock. `by`: a ticket that names another host.
    func join(_ member: Route, by other: GroupTicket? = nil) async throws {
        try await member.group.join(other ?? ticket)
        let limit = monotonicNanoseconds() + 20_000_000_000
        while !(member.group.state?.phase == .joined && member.group.state?.isClockKnown == true) {
            guard monotonicNanoseconds() < limit else {
                throw ProbeFailure(
                    "the group did not come about: \(String(describing: member.group.state))", 0)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// When a receiver is the host; nil if that takes over half a minute.
    static func hostTime(of member: Route) async throws -> Int64? {
        let limit = monotonicNanoseconds() + 30_000_000_000
        while member.group.state?.isHost != true || member.group.state?.phase != .joined {
            guard monotonicNanoseconds() < limit else { return nil }
            try await Task.sleep(for: .milliseconds(5))
        }
        return monotonicNanoseconds()
    }

    func reports() -> [SyncReport] { host.group.state?.members.compactMap(\.sync) ?? [] }
}
