// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SeededNumbers
import Testing

@testable import RouteWire

struct JSONTextTests {
    private func decode(_ text: String) throws -> JSONValue { try JSONText.decode(text, limit: 65_536) }

    @Test func `nesting of 32 is taken and of 33 is refused`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try decode(nested(32))
        #expect(throws: JSONText.Failure.self) { try decode(nested(33)) }
        #expect(throws: JSONText.Failure.self) { try decode("{\"a\":" + nested(60_000)) }
    }

    @Test func `brackets inside text do not count as nesting`() throws {
        let text = String(repeating: "[", count: 100)
        #expect(try decode("\"\(text)\\\"[\"") == .text(text + "\"["))
    }

    @Test(arguments: [
        "", " ", "{", "[1,", "\u{feff}{}", "{\"a\":1} x", "nul", "\"\u{1}\"", "1e400", "\"\\ud800\"", "'a'",
        "NaN",
        "{\"a\":\u{0}1}",
    ])
    func `what is not JSON is refused`(_ text: String) {
        #expect(throws: JSONText.Failure.self) { try decode(text) }
    }

    @Test func `a text over the limit is refused by its size`() {
        #expect(throws: JSONText.Failure(description: "the message has more than 4 bytes")) {
            try JSONText.decode("[1,2]", limit: 4)
        }
    }

    @Test func `64-bit integers survive both ways`() throws {
        for number in [Int64.min, -1, 0, 9_007_199_254_740_993, .max] {
            let text = JSONText.encode(.integer(number))
            #expect(text == "\(number)")
            #expect(try decode(text) == .integer(number))
        }
    }

    @Test func `kinds of values are told apart`() throws {
        let value = try decode(#"{"a":true,"b":null,"c":1.5,"d":"x","e":[1,"2",false],"f":{}}"#)
        let expected: JSONValue = [
            "a": true, "b": .null, "c": 1.5, "d": "x", "e": [1, "2", false], "f": [:],
        ]
        #expect(value == expected)
    }

    @Test func `of duplicate members the first counts`() throws {
        #expect(try decode(#"{"a":1,"a":2}"#) == ["a": 1])
    }

    @Test func `a number that is not finite is written as null`() {
        #expect(JSONText.encode([.number(.infinity), .number(.nan)]) == "[null,null]")
    }

    @Test func `slashes are not escaped`() { #expect(JSONText.encode("a/b") == "\"a/b\"") }
}

struct MergePatchTests {
    /// The table of RFC 7396, appendix A.
    private static let table: [(String, String, String)] = [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, "\"bar\"", "\"bar\""),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
        (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ]

    @Test(arguments: MergePatchTests.table)
    func `the table of the RFC holds`(_ row: (String, String, String)) throws {
        func value(_ text: String) throws -> JSONValue { try JSONText.decode(text, limit: 1_000) }
        #expect(MergePatch.apply(try value(row.1), to: try value(row.0)) == (try value(row.2)))
    }

    @Test func `a difference applied gives the new value`() {
        var random = SeededNumbers(seed: 7)
        for _ in 0..<2_000 {
            let old = random.object(depth: 3)
            let new = random.mutated(old)
            guard let patch = MergePatch.diff(from: old, to: new) else {
                #expect(old == new)
                continue
            }
            #expect(MergePatch.apply(patch, to: old) == new)
        }
    }

    @Test func `equal values have no difference and null counts as absent`() {
        #expect(MergePatch.diff(from: ["a": 1], to: ["a": 1, "b": .null]) == nil)
        #expect(MergePatch.diff(from: ["a": 1, "b": 2], to: ["a": 1, "b": .null]) == ["b": .null])
    }
}

extension SeededNumbers {
    mutating func scalar() -> JSONValue {
        switch Int.random(in: 0..<4, using: &self) {
        case 0: .integer(Int64.random(in: -5...5, using: &self))
        case 1: .bool(Bool.random(using: &self))
        case 2: .text(String(repeating: "x", count: Int.random(in: 0..<4, using: &self)))
        default: .array([.integer(Int64.random(in: 0..<3, using: &self))])
        }
    }

    mutating func object(depth: Int) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for key in ["a", "b", "c", "d"] where Bool.random(using: &self) {
            members[key] = depth > 0 && Bool.random(using: &self) ? object(depth: depth - 1) : scalar()
        }
        return .object(members)
    }

    mutating func mutated(_ value: JSONValue) -> JSONValue {
        guard case .object(var members) = value else { return scalar() }
        for key in ["a", "b", "c", "d"] {
            switch Int.random(in: 0..<4, using: &self) {
            case 0: members[key] = nil
            case 1: members[key] = object(depth: 1)
            case 2: if let member = members[key] { members[key] = mutated(member) }
            default: break
            }
        }
        return .object(members)
    }
}
