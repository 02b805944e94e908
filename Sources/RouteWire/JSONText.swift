// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// JSON text in and out (RFC 8259). The reader is strict and takes a time in proportion to the text, because any client can
/// send one to the thread that serves all of them.
package enum JSONText {
    /// Why a text was not taken.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The deepest nesting that is taken.
    package static let depthLimit = 32

    /// Decodes one value. `limit` bounds the text in bytes. Of duplicate members the first counts; a number without fraction
    /// and exponent that fits 64 bits is an integer.
    package static func decode(_ text: String, limit: Int) throws(Failure) -> JSONValue {
        guard text.utf8.count <= limit else {
            throw Failure(description: "the message has more than \(limit) bytes")
        }
        var reader = JSONReader(text)
        return try reader.whole()
    }

    /// Decodes one value from bytes that must be UTF-8.
    package static func decode(utf8 bytes: [UInt8], limit: Int) throws(Failure) -> JSONValue {
        guard bytes.count <= limit else {
            throw Failure(description: "the message has more than \(limit) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(description: "the text is not UTF-8")
        }
        return try decode(text, limit: limit)
    }

    /// Encodes a value. A number that is not finite becomes null: JSON has no name for it.
    package static func encode(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.put(value)
        return writer.text
    }
}
