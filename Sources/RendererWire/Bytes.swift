// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Builds the body of a frame. Integers are big endian, texts and lists have their length in four bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put<Value: FixedWidthInteger>(_ value: Value) {
        let width = Value.bitWidth / 8
        for index in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> ((width - 1 - index) * 8))) }
    }
    mutating func put(_ value: Bool) { put(UInt8(value ? 1 : 0)) }
    mutating func put(_ value: Double) { put(value.bitPattern) }
    mutating func put(_ text: String) { put(Array(text.utf8)) }
    mutating func put(_ data: [UInt8]) {
        put(UInt32(truncatingIfNeeded: data.count))
        bytes += data
    }
    mutating func optional<Value>(_ value: Value?, _ body: (Value, inout ByteWriter) -> Void) {
        put(value != nil)
        if let value { body(value, &self) }
    }
    mutating func list<Value>(_ values: [Value], _ body: (Value, inout ByteWriter) -> Void) {
        put(UInt32(truncatingIfNeeded: values.count))
        for value in values { body(value, &self) }
    }
}

/// Reads the body of a frame. Nothing in it can trap, and what it allocates stays in proportion to the body.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var remaining: Int { bytes.endIndex - offset }
    var isAtEnd: Bool { remaining == 0 }

    mutating func byte() throws(FrameFailure) -> UInt8 { try integer() }

    mutating func integer<Value: FixedWidthInteger>() throws(FrameFailure) -> Value {
        let width = Value.bitWidth / 8
        guard remaining >= width else { throw FrameFailure("a frame is shorter than its contents") }
        var value: Value = 0
        for index in 0..<width {
            value = (width > 1 ? value << 8 : 0) | Value(truncatingIfNeeded: bytes[offset + index])
        }
        offset += width
        return value
    }

    mutating func bool() throws(FrameFailure) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw FrameFailure("a boolean is neither 0 nor 1")
        }
    }

    mutating func double() throws(FrameFailure) -> Double { Double(bitPattern: try integer()) }

    mutating func data() throws(FrameFailure) -> [UInt8] {
        let count: UInt32 = try integer()
        guard Int(count) <= remaining else { throw FrameFailure("a frame is shorter than its contents") }
        defer { offset += Int(count) }
        return Array(bytes[offset..<offset + Int(count)])
    }

    mutating func text() throws(FrameFailure) -> String {
        guard let text = String(validating: try data(), as: UTF8.self) else {
            throw FrameFailure("a text is not UTF-8")
        }
        return text
    }

    mutating func optional<Value>(
        _ body: (inout ByteReader) throws(FrameFailure) -> Value
    ) throws(FrameFailure) -> Value? {
        try bool() ? try body(&self) : nil
    }

    mutating func list<Value>(
        _ body: (inout ByteReader) throws(FrameFailure) -> Value
    ) throws(FrameFailure) -> [Value] {
        let count: UInt32 = try integer()
        // Each element takes at least a byte, so a count beyond the frame is a lie.
        guard Int(count) <= remaining else { throw FrameFailure("a list is longer than its frame") }
        var values: [Value] = []
        for _ in 0..<count { values.append(try body(&self)) }
        return values
    }

    mutating func choice<Choice: RawRepresentable>(
        _ type: Choice.Type
    ) throws(FrameFailure) -> Choice where Choice.RawValue == UInt8 {
        guard let choice = Choice(rawValue: try byte()) else { throw FrameFailure("a choice is unknown") }
        return choice
    }

    mutating func choice<Choice: RawRepresentable>(
        named type: Choice.Type
    ) throws(FrameFailure) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: try text()) else { throw FrameFailure("a name is unknown") }
        return choice
    }
}
