// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SeededNumbers
import Testing

@testable import RouteWire

/// Holds our JSON against FoundationEssentials' and the table of RFC 8259.
struct JSONReferenceTests {
    /// A value of any kind, decoded by the toolchain.
    private struct Reference: Decodable {
        let value: JSONValue
        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: Key.self) {
                var members: [String: JSONValue] = [:]
                for key in container.allKeys {
                    members[key.stringValue] = try container.decode(Reference.self, forKey: key).value
                }
                value = .object(members)
            } else if var container = try? decoder.unkeyedContainer() {
                var elements: [JSONValue] = []
                while !container.isAtEnd { elements.append(try container.decode(Reference.self).value) }
                value = .array(elements)
            } else {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    value = .text(text)
                } else if let bool = try? container.decode(Bool.self) {
                    value = .bool(bool)
                } else if let integer = try? container.decode(Int64.self) {
                    value = .integer(integer)
                } else if let number = try? container.decode(Double.self) {
                    value = .number(number)
                } else {
                    value = .null
                }
            }
        }
    }

    /// Ours makes a number of `1.0` and theirs an integer: whole numbers are compared as integers, and those that a `Double` has
    /// no room for as such, since theirs cuts the fraction off before it rounds.
    private func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number, .integer:
            value.integerValue.map { $0.magnitude < 1 << 53 ? .integer($0) : .number(Double($0)) } ?? value
        case .array(let elements): .array(elements.map(plain))
        case .object(let members): .object(members.mapValues(plain))
        default: value
        }
    }

    @Test func `what ours takes, the toolchain's takes with the same value`() throws {
        var random = SeededNumbers(seed: 3)
        let seeds = [
            #"{"a":[1,-2.5e3,0,true,false,null,"x\n\u00e9\ud83c\udfb5\/"],"b":{"c":{}},"c":"ä🎵"}"#,
            JSONText.encode(Fixtures.state.json), #"[[],[[]],{"":{"":[]}},"",-0.0,1E+2,10e-1]"#,
        ].map { Array($0.utf8) }
        var taken = 0
        for index in 0..<4_000 {
            var bytes = seeds[index % 9 == 0 ? 1 : index % 2 * 2]
            for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = Array("{}[],:\"\\0159-+.eEutn ".utf8).randomElement(using: &random) ?? 0
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let ours = try? JSONText.decode(text, limit: 65_536) else { continue }
            taken += 1
            let theirs = try JSONDecoder().decode(Reference.self, from: Data(text.utf8)).value
            #expect(plain(ours) == plain(theirs), "\(text)")
            #expect(plain(try JSONText.decode(JSONText.encode(ours), limit: 1 << 20)) == plain(ours))
        }
        #expect(taken > 1_000)
    }

    @Test(arguments: [
        "0", "-0", "-1", "1.0", "1e5", "1E-5", "1.5e+3", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "1e-400", "0.1", "123456789012345678901234567890",
    ])
    func `numbers of the grammar are taken`(_ text: String) throws {
        let value = try JSONText.decode(" \t\r\n\(text) ", limit: 100)
        #expect(value.numberValue == Double(text))
    }

    @Test(arguments: [
        "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "1_0", "-01", "1e400", "--1", "infinity", "nan",
        "[1,]", "[,]", "[1 2]", "{,}", #"{"a":1,}"#, #"{"a" 1}"#, #"{"a":}"#, "{1:2}", "[1]]", "]", "}",
        "tru",
        "truex", "True", #""\x""#, #""\u12""#, #""\u12g4""#, #""\ud83c""#, #""\ud83cx""#, #""\ud83c\u0041""#,
        #""\udfb5""#, "\"a\nb\"", "\"a", "\"\\", "//", "[1]/**/",
    ])
    func `what the grammar does not have is refused`(_ text: String) {
        #expect(throws: JSONText.Failure.self) { try JSONText.decode(text, limit: 1_000) }
    }

    @Test func `every character is written so that it is read again, and control characters are escaped`()
        throws
    {
        var scalars = (0..<0x300).compactMap { Unicode.Scalar($0 as UInt32) }
        scalars += [0x2028, 0xfffd, 0xffff, 0x1_0000, 0x1_f3b5, 0x10_ffff].compactMap { Unicode.Scalar($0) }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        let written = JSONText.encode(.object([text: .text(text)]))
        #expect(written.utf8.allSatisfy { $0 >= 0x20 })
        #expect(try JSONText.decode(written, limit: 10_000) == .object([text: .text(text)]))
        #expect(JSONText.encode("\u{1f}\"\\\n\u{7f}") == #""\u001f\"\\\n"# + "\u{7f}\"")
    }

    @Test func `a whole number stands without fraction and others with the fewest digits`() throws {
        for (value, text, read) in [
            (JSONValue.number(4), "4", JSONValue.integer(4)), (.number(-0.0), "0", 0), (0.1, "0.1", 0.1),
            (4, "4", 4), (1e300, "1e+300", 1e300), (.number(-2.5e-7), "-2.5e-07", .number(-2.5e-7)),
        ] {
            #expect(JSONText.encode(value) == text)
            #expect(try JSONText.decode(text, limit: 100) == read)
        }
        #expect(try JSONText.decode("4.0", limit: 100).integerValue == 4)
    }

    @Test func `bytes that are not UTF-8 are refused`() throws {
        #expect(try JSONText.decode(utf8: Array("[1]".utf8), limit: 3) == [1])
        #expect(throws: JSONText.Failure(description: "the text is not UTF-8")) {
            try JSONText.decode(utf8: [0x22, 0xff, 0x22], limit: 3)
        }
        #expect(throws: JSONText.Failure.self) { try JSONText.decode(utf8: [0x5b, 0x5d, 0x20], limit: 2) }
    }
}
