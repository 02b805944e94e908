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

        @Test func `members that join, leave, stand still and die at random are one group in the end`()
            async throws
        {
            let (lines, exit) = try await ProgramRun.output(
                of: "linnet-bench", ["group-soak", "--quick", "--support", "\(Programs.build)/support"])
            #expect(exit == .status(0), "\(lines.joined(separator: "\n"))")
            #expect(lines.contains { $0.hasPrefix("group-soak largest offset of two survivors: ") })
        }
    }
}
