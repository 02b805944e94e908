// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Testing

extension Receiving {
    /// The short form of `make endurance`, with bounds that only what grows with every track goes beyond.
    struct EnduranceTests {
        @Test func `short tracks, and stops at random moments, leave nothing behind`() async throws {
            let (lines, exit) = try await ProgramRun.output(
                of: "linnet-bench", ["endurance", "--quick", "--support", "\(Programs.build)/support"])
            #expect(exit == .status(0), "\(lines.joined(separator: "\n"))")
            #expect(lines.contains { $0.hasPrefix("endurance threads of linnet-renderer: ") })
        }
    }
}
