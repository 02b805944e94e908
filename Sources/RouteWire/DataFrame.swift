// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// A binary frame of a data channel (`Docs/protocols/route.md`, section 9).
package struct DataFrame: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        case message = 1
        case acknowledged = 2
        case refused = 3
    }

    /// Why bytes are no frame.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package static let headerLength = 16
    package static let endpointLimit = 128
    package static let payloadLimit = 1 << 20
    /// Messages that may be unanswered on one channel in one direction.
    package static let window = 16
    /// The longest frame.
    package static let limit = headerLength + endpointLimit + payloadLimit

    package var kind: Kind
    /// 0 is the route's own channel.
    package var channel: UInt32
    /// Counted by the side that sends the message; never 0.
    package var message: UInt64
    /// The service that is meant; only in messages.
    package var endpoint: String
    package var payload: [UInt8]

    package init(
        kind: Kind, channel: UInt32 = 0, message: UInt64, endpoint: String = "", payload: [UInt8] = []
    ) {
        (self.kind, self.channel, self.message) = (kind, channel, message)
        (self.endpoint, self.payload) = (endpoint, payload)
    }

    package init(decoding bytes: [UInt8]) throws(Failure) {
        guard bytes.count >= Self.headerLength else {
            throw Failure(description: "the frame is shorter than its header")
        }
        guard bytes.count <= Self.limit else {
            throw Failure(description: "the frame has more than \(Self.limit) bytes")
        }
        guard bytes[0] == 1 else {
            throw Failure(description: "version \(bytes[0]) of the data frame is unknown")
        }
        guard let kind = Kind(rawValue: bytes[1]) else {
            throw Failure(description: "kind \(bytes[1]) of the data frame is unknown")
        }
        func number(_ range: Range<Int>) -> UInt64 { range.reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
        let nameLength = Int(number(2..<4))
        guard nameLength <= Self.endpointLimit, Self.headerLength + nameLength <= bytes.count,
            kind == .message || nameLength == 0
        else { throw Failure(description: "the length of the endpoint's name is wrong") }
        let payloadStart = Self.headerLength + nameLength
        guard bytes.count - payloadStart <= Self.payloadLimit else {
            throw Failure(description: "the payload has more than \(Self.payloadLimit) bytes")
        }
        guard let name = String(validating: bytes[Self.headerLength..<payloadStart], as: UTF8.self) else {
            throw Failure(description: "the endpoint's name is not UTF-8")
        }
        message = number(8..<16)
        guard message != 0 else { throw Failure(description: "message id 0 is not allowed") }
        (self.kind, channel, endpoint) = (kind, UInt32(number(4..<8)), name)
        payload = Array(bytes[payloadStart...])
    }

    /// The frame as bytes; nil if name or payload is too long.
    package var bytes: [UInt8]? {
        let name = Array(endpoint.utf8)
        guard name.count <= Self.endpointLimit, payload.count <= Self.payloadLimit, message != 0,
            kind == .message || name.isEmpty
        else { return nil }
        func big(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64((count - 1 - $0) * 8)) }
        }
        return [1, kind.rawValue] + big(UInt64(name.count), 2) + big(UInt64(channel), 4) + big(message, 8)
            + name + payload
    }
}
