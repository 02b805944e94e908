// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Element {
    /// Reads, from the first bytes that come to this parser of MPEG audio, how many frames of the decoded sound
    /// an encoder put in front, and calls `body` with that number and the rate. The frames are those of the
    /// encoder (12 bits of the LAME tag) and the 529 of every decoder.
    ///
    /// Does nothing from GStreamer 1.24 on, whose parser cuts them itself.
    package func onEncoderDelay(_ body: @escaping @Sendable (_ frames: Int, _ rate: Int) -> Void) {
        let version = Library.version
        guard version.major == 1, version.minor < 22,
            let pad = unsafe gst_element_get_static_pad(pointer, "sink")
        else { return }
        defer { unsafe gst_object_unref(pad) }
        let box = unsafe Unmanaged.passRetained(DelayBox(body)).toOpaque()
        unsafe gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, information, data in
                let box = unsafe Unmanaged<DelayBox>.fromOpaque(data!).takeUnretainedValue()
                guard let buffer = unsafe gst_shim_probe_buffer(information) else { return GST_PAD_PROBE_OK }
                var start = [UInt8](repeating: 0, count: 4096)
                let count = unsafe start.withUnsafeMutableBytes {
                    unsafe gst_buffer_extract(buffer, 0, $0.baseAddress, 4096)
                }
                if let delay = EncoderDelay(firstBytes: start.prefix(Int(count))) {
                    box.body(delay.frames, delay.rate)
                }
                return GST_PAD_PROBE_REMOVE
            }, box, { unsafe Unmanaged<DelayBox>.fromOpaque($0!).release() })
    }
}

private final class DelayBox {
    let body: @Sendable (Int, Int) -> Void
    init(_ body: @escaping @Sendable (Int, Int) -> Void) { self.body = body }
}

/// The delay that the tag in the first frame of an MP3 file names.
package struct EncoderDelay: Equatable, Sendable {
    package let frames: Int
    package let rate: Int

    /// Nil if there is no such tag at the beginning of `bytes`.
    package init?(firstBytes bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count > 200, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return nil }
        let isVersion1 = bytes[1] & 0x18 == 0x18
        let isMono = bytes[3] >> 6 == 3
        let rates = [44_100, 48_000, 32_000]
        let index = Int(bytes[2] >> 2 & 3)
        guard index < 3 else { return nil }
        rate = isVersion1 ? rates[index] : bytes[1] & 0x18 == 0x10 ? rates[index] / 2 : rates[index] / 4
        let tag = 4 + (isVersion1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
        guard tag + 160 <= bytes.count else { return nil }
        let name = Array(bytes[tag..<tag + 4])
        guard name == Array("Xing".utf8) || name == Array("Info".utf8) else { return nil }
        // Four optional fields, then the encoder's: its name and, 21 bytes on, two numbers of 12 bits.
        let flags = bytes[tag + 7]
        let fields =
            (flags & 1 != 0 ? 4 : 0) + (flags & 2 != 0 ? 4 : 0) + (flags & 4 != 0 ? 100 : 0)
            + (flags & 8 != 0 ? 4 : 0)
        let at = tag + 8 + fields
        guard at + 24 <= bytes.count, bytes[at] == UInt8(ascii: "L") else { return nil }
        let delay = Int(bytes[at + 21]) << 4 | Int(bytes[at + 22] >> 4)
        guard delay > 0, delay < 3000 else { return nil }
        frames = delay + 529
    }
}
