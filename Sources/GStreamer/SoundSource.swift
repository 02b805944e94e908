// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// The first element of a pipeline that is given sound: 16-bit stereo frames, each block with its place.
@safe package final class SoundSource: Sendable {
    package let element: Element

    /// Makes the source. Nil without the `app` plugin.
    ///
    /// - Parameter limit: Bytes that wait in it at most; then `push` waits.
    package init?(rate: Int32, limit: Int) {
        guard let element = Element(factory: "appsrc") else { return nil }
        self.element = element
        element.set("caps", "audio/x-raw,format=S16LE,layout=interleaved,channels=2,rate=\(rate)")
        element.set("format", "time")
        element.set("block", "true")
        element.set("max-bytes", "\(limit)")
    }

    /// Gives frames to the pipeline, the first at `time` nanoseconds of its running time. Waits for room. False: the pipeline takes
    /// none.
    package func push(_ bytes: [UInt8], at time: Int64, lasting duration: Int64) -> Bool {
        let buffer = unsafe gst_buffer_new_allocate(nil, gsize(bytes.count), nil)
        guard let buffer = unsafe buffer else { return false }
        unsafe bytes.withUnsafeBytes {
            _ = unsafe gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count))
        }
        unsafe gst_shim_set_buffer_pts(buffer, GstClockTime(max(0, time)))
        unsafe gst_shim_set_buffer_duration(buffer, GstClockTime(max(0, duration)))
        return unsafe gst_app_src_push_buffer(gst_shim_app_source(element.pointer), buffer) == GST_FLOW_OK
    }
}

extension Element {
    /// How long a pipeline has played, by its clock: with a sink for sound, what its card has played. Nil before it plays.
    package func runningTime() -> Int64? {
        guard let clock = unsafe gst_element_get_clock(pointer) else { return nil }
        defer { unsafe gst_object_unref(clock) }
        let (base, now) = unsafe (gst_element_get_base_time(pointer), gst_clock_get_time(clock))
        guard base != gst_shim_no_time(), now != gst_shim_no_time(), now >= base else { return nil }
        return Int64(clamping: now - base)
    }
}
