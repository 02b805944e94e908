// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import Synchronization

extension Element {
    /// Reads, from the first bytes that come to this parser of MPEG audio, how many frames of the decoded sound
    /// an encoder put in front and behind, and calls `body` with that before anything is decoded. The frames in front are
    /// those of the encoder (12 bits of the tag) and the 529 of every decoder.
    ///
    /// Does nothing where the parser has them cut itself: GStreamer does so by the tags of LAME, and not by those that
    /// libavcodec writes in its place (measured with 1.22).
    package func onEncoderDelay(_ body: @escaping @Sendable (EncoderDelay) -> Void) {
        guard let sink = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(sink) }
        guard let source = unsafe gst_element_get_static_pad(pointer, "src") else { return }
        defer { unsafe gst_object_unref(source) }
        let box = DelayBox(body)
        unsafe watch(sink, DelayProbe(box: box, isSource: false))
        unsafe watch(source, DelayProbe(box: box, isSource: true))
    }

    /// Has the first buffer at a pad looked at.
    private func watch(_ pad: UnsafeMutablePointer<GstPad>, _ probe: DelayProbe) {
        unsafe gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, information, data in
                let probe = unsafe Unmanaged<DelayProbe>.fromOpaque(data!).takeUnretainedValue()
                guard let buffer = unsafe gst_shim_probe_buffer(information) else {
                    return GST_PAD_PROBE_OK
                }
                if probe.isSource {
                    probe.box.tell(isCut: unsafe gst_shim_buffer_is_clipped(buffer) != 0)
                } else {
                    var start = [UInt8](repeating: 0, count: 4096)
                    let count = unsafe start.withUnsafeMutableBytes {
                        unsafe gst_buffer_extract(buffer, 0, $0.baseAddress, 4096)
                    }
                    probe.box.note(EncoderDelay(firstBytes: start.prefix(Int(count))))
                }
                return GST_PAD_PROBE_REMOVE
            }, unsafe Unmanaged.passRetained(probe).toOpaque(),
            { unsafe Unmanaged<DelayProbe>.fromOpaque($0!).release() })
    }
}

/// What was read, until it is known whether it is of use.
private final class DelayBox: Sendable {
    private let body: @Sendable (EncoderDelay) -> Void
    private let delay = Mutex<EncoderDelay?>(nil)
    init(_ body: @escaping @Sendable (EncoderDelay) -> Void) { self.body = body }

    func note(_ found: EncoderDelay?) { delay.withLock { $0 = found } }

    func tell(isCut: Bool) {
        guard let delay = delay.withLock({ $0 }), !isCut else { return }
        body(delay)
    }
}

private final class DelayProbe: Sendable {
    let box: DelayBox
    let isSource: Bool
    init(box: DelayBox, isSource: Bool) { (self.box, self.isSource) = (box, isSource) }
}

/// What the tag in the first frame of an MP3 file says of the sound that the encoder added.
package struct EncoderDelay: Equatable, Sendable {
    /// In front of the sound, of the encoder and the decoder together.
    package let frames: Int
    package let rate: Int
    /// Frames of the sound alone; nil if the tag does not count.
    package let length: Int?

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
        let padding = Int(bytes[at + 22] & 15) << 8 | Int(bytes[at + 23])
        guard delay > 0, delay < 3000 else { return nil }
        frames = delay + 529
        let blocks = flags & 1 != 0 ? bytes[tag + 8..<tag + 12].reduce(0) { $0 << 8 | Int($1) } : 0
        let sound = blocks * (isVersion1 ? 1152 : 576) - delay - padding
        length = sound > 0 ? sound : nil
    }
}
