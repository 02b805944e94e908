// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Element {
    /// Calls `pass` with the time, in nanoseconds of the media, of each buffer of sound that is about to enter this
    /// queue, on the thread that brings it. `pass` may hold that thread back.
    package func onSoundOffered(_ pass: @escaping @Sendable (Int64) -> Void) {
        connect("pad-added") { arguments in
            guard let added = unsafe arguments.object(1) else { return 0 }
            let pad = unsafe gst_shim_pad(added)!
            guard unsafe gst_pad_get_direction(pad) == GST_PAD_SINK else { return 0 }
            let box = unsafe Unmanaged.passRetained(PassBox(pass)).toOpaque()
            unsafe gst_pad_add_probe(
                pad, GST_PAD_PROBE_TYPE_BUFFER,
                { pad, information, data in
                    let box = unsafe Unmanaged<PassBox>.fromOpaque(data!).takeUnretainedValue()
                    guard let pad = unsafe pad, let buffer = unsafe gst_shim_probe_buffer(information) else {
                        return GST_PAD_PROBE_OK
                    }
                    if unsafe box.isSound(pad), let time = unsafe mediaTime(of: buffer, at: pad) {
                        box.pass(time)
                    }
                    return GST_PAD_PROBE_OK
                }, box, { unsafe Unmanaged<PassBox>.fromOpaque($0!).release() })
            return 0
        }
    }
}

/// Where a buffer stands on the media timeline, in nanoseconds; nil if that is not known.
private func mediaTime(of buffer: UnsafeMutablePointer<GstBuffer>, at pad: UnsafeMutablePointer<GstPad>)
    -> Int64?
{
    guard let event = unsafe gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0) else { return nil }
    defer { unsafe gst_shim_event_unref(event) }
    var segment: UnsafePointer<GstSegment>?
    unsafe gst_event_parse_segment(event, &segment)
    guard let segment = unsafe segment, unsafe segment.pointee.format == GST_FORMAT_TIME else { return nil }
    let time = unsafe gst_segment_to_stream_time(segment, GST_FORMAT_TIME, gst_shim_buffer_pts(buffer))
    return time == gst_shim_no_time() ? nil : Int64(clamping: time)
}

/// What one pad's probe knows; used by the thread that holds the pad's stream lock.
private final class PassBox {
    let pass: @Sendable (Int64) -> Void
    private var known: Bool?
    init(_ pass: @escaping @Sendable (Int64) -> Void) { self.pass = pass }

    func isSound(_ pad: UnsafeMutablePointer<GstPad>) -> Bool {
        if let known { return known }
        let found = unsafe mediaType(of: pad).hasPrefix("audio/")
        known = found
        return found
    }
}
