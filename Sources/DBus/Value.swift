// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A value on a message bus. It is copied out of GLib's, within bounds, so that whoever reads one need not mistrust its size.
///
/// What was read holds no variants: each stands as the value in it. In what is written, the values of a dictionary become
/// variants by themselves.
package indirect enum Value: Equatable, Sendable {
    case boolean(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// The place of a descriptor among those that came with the message.
    case handle(Int32)
    case bytes([UInt8])
    case strings([String])
    /// Never empty when written: its first element says of what type it is.
    case array([Value])
    /// Keys are strings, paths or signatures. Written as `a{sv}`.
    case dictionary([String: Value])
    case tuple([Value])
    /// Only written.
    case variant(Value)

    /// What one message may be made of. A larger one is not read at all.
    package enum Bounds {
        /// Values of any kind, counted at every depth.
        package static let values = 20_000
        package static let depth = 16
        /// Bytes of all texts and arrays of bytes together.
        package static let bytes = 1 << 20
    }

    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// Text of a string or a path.
    package var text: String? {
        switch self {
        case .string(let value), .objectPath(let value), .signature(let value): value
        default: nil
        }
    }
    /// Any whole number that fits.
    package var integer: Int? {
        switch self {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(value)
        case .uint64(let value): Int(exactly: value)
        default: nil
        }
    }
    package var strings: [String]? {
        switch self {
        case .strings(let values): values
        case .array(let values) where values.isEmpty: []
        default: nil
        }
    }
    package var dictionary: [String: Value]? {
        if case .dictionary(let values) = self { values } else { nil }
    }
    package var elements: [Value]? {
        switch self {
        case .array(let values), .tuple(let values): values
        case .strings(let values): values.map(Value.string)
        default: nil
        }
    }
    package var handle: Int? { if case .handle(let place) = self { Int(place) } else { nil } }
}
