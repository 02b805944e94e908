// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SwitchingCore
import Testing

/// Holds `Docs/switching.md` and the state against the same table.
struct DecisionTableTests {
    private static func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return String(
            decoding: try Data(contentsOf: root.appending(path: "Docs/switching.md")), as: UTF8.self)
    }

    @Test(arguments: DecisionTable.rows.indices)
    func `each row of the table is what happens`(_ index: Int) {
        let row = DecisionTable.rows[index]
        var world = World(policy: row.policy)
        world.take(row.before)
        let before = world.state.decisions.last?.number ?? 0
        var effects: [SwitchingEffect] = []
        for step in row.then { effects += world.take(step) }
        let reasons = world.state.decisions.filter { $0.number > before }.map(\.reason)
        #expect(effects == row.effects, "\(row.text)")
        if let reason = row.reason {
            #expect(reasons.contains(reason), "\(row.text)")
        } else {
            #expect(reasons.isEmpty && effects.isEmpty, "\(row.text)")
        }
        #expect(world.faults == [])
    }

    @Test func `the page has the table that is tried`() throws {
        let page = try Self.page()
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let begin = try #require(lines.firstIndex(of: "<!-- decision table -->"))
        let end = try #require(lines.firstIndex(of: "<!-- end of decision table -->"))
        let expected = DecisionTable.text
        #expect(
            Array(lines[(begin + 1)..<end]) == expected,
            "it should be:\n\(expected.joined(separator: "\n"))")
    }

    @Test func `the table has every reason, and the page explains each`() throws {
        #expect(Set(DecisionTable.rows.compactMap(\.reason)) == Set(Reason.allCases))
        let page = try Self.page()
        for reason in Reason.allCases { #expect(page.contains("`\(reason.rawValue)`")) }
    }
}
