// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// One text of a track, with the stretch of the media that it belongs to.
package struct Cue: Equatable, Sendable {
    /// Nanoseconds of the media.
    package var start: Int64
    /// Nil: until the next one.
    package var end: Int64?
    package var text: String
    /// True if the text may hold Pango's markup, false if it is plain.
    package var isMarkup: Bool

    package init(start: Int64, end: Int64?, text: String, isMarkup: Bool) {
        (self.start, self.end, self.text, self.isMarkup) = (start, end, text, isMarkup)
    }
}

/// Where the texts of a track go. Calls come on a streaming thread and must return at once.
package protocol TextSinkTarget: FlowTarget {
    func write(_ cue: Cue)
}

/// The last element of a pipeline for texts: gives them to a target as soon as they are read.
@safe package final class TextSink: Sendable {
    package let element: Element
    /// Nobody reads more on a screen; the rest is cut off.
    private static let longestText = 4096

    /// Makes the sink. Nil without the `app` plugin.
    package init?(target: any TextSinkTarget) {
        guard let element = Element.appSink(caps: "text/x-raw") else { return nil }
        self.element = element
        let receiver = unsafe Unmanaged.passRetained(TextReceiver(target)).toOpaque()
        var callbacks = GstAppSinkCallbacks()
        unsafe callbacks.new_sample = { sink, data in
            guard let sample = unsafe gst_app_sink_pull_sample(sink!) else { return GST_FLOW_EOS }
            defer { unsafe gst_shim_sample_unref(sample) }
            let target = unsafe Unmanaged<TextReceiver>.fromOpaque(data!).takeUnretainedValue().target
            if let cue = unsafe TextSink.cue(sample) { target.write(cue) }
            return GST_FLOW_OK
        }
        unsafe gst_app_sink_set_callbacks(
            gst_shim_app_sink(element.pointer), &callbacks, receiver,
            { unsafe Unmanaged<TextReceiver>.fromOpaque($0!).release() })
        element.watchFlow(target)
    }

    private static func cue(_ sample: OpaquePointer) -> Cue? {
        guard let buffer = unsafe gst_sample_get_buffer(sample),
            let segment = unsafe gst_sample_get_segment(sample)
        else { return nil }
        let time = unsafe gst_segment_to_stream_time(segment, GST_FORMAT_TIME, gst_shim_buffer_pts(buffer))
        guard time != gst_shim_no_time() else { return nil }
        let length = unsafe gst_shim_buffer_duration(buffer)
        let start = Int64(clamping: time)
        let size = unsafe min(Int(gst_buffer_get_size(buffer)), longestText)
        var bytes = [UInt8](repeating: 0, count: size)
        let copied = unsafe bytes.withUnsafeMutableBytes {
            unsafe gst_buffer_extract(buffer, 0, $0.baseAddress, gsize(size))
        }
        let text = String(decoding: bytes.prefix(Int(copied)).prefix { $0 != 0 }, as: UTF8.self)
        return Cue(
            start: start,
            end: length == gst_shim_no_time()
                ? nil : start.addingReportingOverflow(Int64(clamping: length)).0,
            text: text, isMarkup: unsafe isMarkup(sample))
    }

    private static func isMarkup(_ sample: OpaquePointer) -> Bool {
        guard let caps = unsafe gst_sample_get_caps(sample), unsafe gst_caps_get_size(caps) > 0,
            let structure = unsafe gst_caps_get_structure(caps, 0),
            let format = unsafe gst_structure_get_string(structure, "format")
        else { return false }
        return unsafe String(cString: format) == "pango-markup"
    }
}

private final class TextReceiver {
    let target: any TextSinkTarget
    init(_ target: any TextSinkTarget) { self.target = target }
}
