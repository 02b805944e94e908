// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import LinnetApplication
import RouteKit

@main enum PartyQueue {
    static func main() async { await serve() }

    @RouteActor private static func serve() async {
        let party = Party()
        await Application.run(delegate: party) { party.host($0) }
    }
}
