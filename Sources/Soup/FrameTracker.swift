// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Follows the frames of a WebSocket in the bytes that leave, and counts the messages that left whole. Control frames lie between them.
struct FrameTracker {
    private(set) var messages: UInt64 = 0
    /// What has come of a header that is not whole.
    private var header: [UInt8] = []
    /// What is still to come of the frame's masking key and payload.
    private var left: UInt64 = 0
    private var isMessageEnd = false

    /// Takes the next bytes, in pieces of any size.
    mutating func follow(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while place < bytes.count {
            if left > 0 {
                let step = min(left, UInt64(bytes.count - place))
                left -= step
                place += Int(step)
            } else {
                unsafe header.append(bytes[place])
                place += 1
                guard header.count == headerLength else { continue }
                begin()
            }
            if left == 0, header.isEmpty, isMessageEnd {
                messages += 1
                isMessageEnd = false
            }
        }
    }

    /// Without the masking key.
    private var headerLength: Int {
        guard header.count > 1 else { return 2 }
        switch header[1] & 0x7f {
        case 126: return 4
        case 127: return 10
        default: return 2
        }
    }

    private mutating func begin() {
        let short = header[1] & 0x7f
        let size = header.count == 2 ? UInt64(short) : header[2...].reduce(0) { $0 << 8 | UInt64($1) }
        left = size &+ (header[1] & 0x80 == 0 ? 0 : 4)
        let (isFinal, isControl) = (header[0] & 0x80 != 0, header[0] & 0x08 != 0)
        isMessageEnd = isFinal && !isControl
        header.removeAll(keepingCapacity: true)
    }
}
