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
        let header = try Header(decoding: bytes)
        (kind, channel, message) = (header.kind, header.channel, header.message)
        let payloadStart = Self.headerLength + header.endpointLength
        if header.endpointLength == 0 {
            endpoint = ""
        } else {
            guard let name = String(validating: bytes[Self.headerLength..<payloadStart], as: UTF8.self) else {
                throw Failure(description: "the endpoint's name is not UTF-8")
            }
            endpoint = name
        }
        payload = Array(bytes[payloadStart...])
    }

    /// The frame as bytes; nil if name or payload is too long.
    package var bytes: [UInt8]? {
        let name = endpoint.utf8
        guard name.count <= Self.endpointLimit, payload.count <= Self.payloadLimit, message != 0,
            kind == .message || name.isEmpty
        else { return nil }
        return Self.bytes(kind, channel: channel, message: message, endpoint: endpoint, payload: payload[...])
    }
}
