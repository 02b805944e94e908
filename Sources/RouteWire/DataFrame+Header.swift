// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

extension DataFrame {
    /// What must be known of a frame to pass it on. Its payload is not looked at and not copied.
    package struct Header: Equatable, Sendable {
        package let kind: Kind
        package let channel: UInt32
        package let message: UInt64
        package let endpointLength: Int
        package let payloadLength: Int

        package init(decoding bytes: [UInt8]) throws(Failure) {
            guard bytes.count >= DataFrame.headerLength else {
                throw Failure(description: "the frame is shorter than its header")
            }
            guard bytes[0] == 1 else {
                throw Failure(description: "version \(bytes[0]) of the data frame is unknown")
            }
            guard let kind = Kind(rawValue: bytes[1]) else {
                throw Failure(description: "kind \(bytes[1]) of the data frame is unknown")
            }
            endpointLength = Int(bytes[2]) << 8 | Int(bytes[3])
            payloadLength = bytes.count - DataFrame.headerLength - endpointLength
            guard endpointLength <= DataFrame.endpointLimit, payloadLength >= 0,
                kind == .message || endpointLength == 0
            else { throw Failure(description: "the length of the endpoint's name is wrong") }
            guard payloadLength <= DataFrame.payloadLimit else {
                throw Failure(description: "the payload has more than \(DataFrame.payloadLimit) bytes")
            }
            var message: UInt64 = 0
            for index in 8..<16 { message = message << 8 | UInt64(bytes[index]) }
            guard message != 0 else { throw Failure(description: "message id 0 is not allowed") }
            var channel: UInt32 = 0
            for index in 4..<8 { channel = channel << 8 | UInt32(bytes[index]) }
            (self.kind, self.channel, self.message) = (kind, channel, message)
        }
    }

    /// The bytes of a frame, of a payload that is copied once. Their lengths are the caller's concern.
    package static func bytes(
        _ kind: Kind, channel: UInt32, message: UInt64, endpoint: String = "", payload: ArraySlice<UInt8> = []
    ) -> [UInt8] {
        let nameLength = endpoint.utf8.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerLength + nameLength + payload.count)
        bytes += repeatElement(0, count: headerLength)
        (bytes[0], bytes[1]) = (1, kind.rawValue)
        bytes[2] = UInt8(truncatingIfNeeded: nameLength >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: nameLength)
        for index in 0..<4 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: channel >> UInt32((3 - index) * 8))
        }
        setMessage(message, in: &bytes)
        if nameLength > 0 { bytes += endpoint.utf8 }
        bytes += payload
        return bytes
    }

    /// Gives a frame that is to be passed on another number.
    package static func setMessage(_ message: UInt64, in bytes: inout [UInt8]) {
        guard bytes.count >= headerLength else { return }
        for index in 0..<8 {
            bytes[8 + index] = UInt8(truncatingIfNeeded: message >> UInt64((7 - index) * 8))
        }
    }

    /// The payload of a refusal.
    package static func refusal(_ reason: String, _ message: String) -> [UInt8] {
        Array(JSONText.encode(["reason": .text(reason), "message": .text(message)]).utf8)
    }
}
