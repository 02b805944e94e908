// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinnetApplication
import RouteKit

@main enum PartyQueue {
    static func main() async throws { try await serve() }

    @RouteActor private static func serve() async throws {
        let party = Party()
        let application = try await Application.connect(delegate: party)
        party.host(application)
        await application.ended()
    }
}
