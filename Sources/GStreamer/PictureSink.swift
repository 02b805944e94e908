// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// One decoded picture with its place on the media timeline.
@safe package final class Picture: @unchecked Sendable {
    // Samples are immutable and reference-counted atomically.
    fileprivate let sample: OpaquePointer
    /// Nanoseconds of the media; nil for a picture without a time.
    package let position: Int64?
    /// Nanoseconds that it is shown for; nil if the media does not say.
    package let duration: Int64?

    /// Takes over a reference.
    fileprivate init(adopting sample: OpaquePointer) {
        unsafe self.sample = sample
        guard let buffer = unsafe gst_sample_get_buffer(sample),
            let segment = unsafe gst_sample_get_segment(sample)
        else {
            (position, duration) = (nil, nil)
            return
        }
        let time = unsafe gst_segment_to_stream_time(segment, GST_FORMAT_TIME, gst_shim_buffer_pts(buffer))
        let length = unsafe gst_shim_buffer_duration(buffer)
        position = time == gst_shim_no_time() ? nil : Int64(clamping: time)
        duration = length == gst_shim_no_time() || length == 0 ? nil : Int64(clamping: length)
    }

    deinit { unsafe gst_shim_sample_unref(sample) }
}

/// Where decoded pictures go. Calls come on a streaming thread, which may be held back in `write` and `ended` until
/// `flushStarted`.
package protocol PictureSinkTarget: FlowTarget {
    func write(_ picture: Picture) -> SinkFlow
    /// No pictures follow.
    func ended()
}

/// The last element of a pipeline for pictures: gives them to a target.
@safe package final class PictureSink: Sendable {
    package let element: Element

    /// Makes the sink. Nil without the `app` plugin.
    package init?(target: any PictureSinkTarget) {
        guard let element = Element.appSink(caps: "video/x-raw(ANY)") else { return nil }
        self.element = element
        let receiver = unsafe Unmanaged.passRetained(PictureReceiver(target)).toOpaque()
        var callbacks = GstAppSinkCallbacks()
        unsafe callbacks.new_sample = { sink, data in
            guard let sample = unsafe gst_app_sink_pull_sample(sink!) else { return GST_FLOW_EOS }
            let target = unsafe Unmanaged<PictureReceiver>.fromOpaque(data!).takeUnretainedValue().target
            return target.write(unsafe Picture(adopting: sample)).code
        }
        unsafe callbacks.eos = { _, data in
            unsafe Unmanaged<PictureReceiver>.fromOpaque(data!).takeUnretainedValue().target.ended()
        }
        unsafe gst_app_sink_set_callbacks(
            gst_shim_app_sink(element.pointer), &callbacks, receiver,
            { unsafe Unmanaged<PictureReceiver>.fromOpaque($0!).release() })
        element.watchFlow(target)
    }
}

private final class PictureReceiver {
    let target: any PictureSinkTarget
    init(_ target: any PictureSinkTarget) { self.target = target }
}

/// The first element of a pipeline that shows pictures.
@safe package final class PictureSource: Sendable {
    package let element: Element

    /// Makes the source. Nil without the `app` plugin.
    package init?() {
        guard let element = Element(factory: "appsrc") else { return nil }
        self.element = element
        element.set("format", "time")
        element.set("is-live", "true")
        // Whoever pushes counts what is under way.
        element.set("max-bytes", "0")
        element.set("max-buffers", "0")
    }

    /// Gives a picture to the pipeline, marked with `mark`, which arrives with it where pictures are watched.
    /// False if the pipeline takes none.
    package func push(_ picture: Picture, mark: Int64) -> Bool {
        guard let whole = unsafe gst_sample_get_buffer(picture.sample),
            let copy = unsafe gst_buffer_copy(whole)
        else { return false }
        unsafe gst_shim_set_buffer_pts(copy, GstClockTime(max(0, mark)))
        let source = unsafe gst_shim_app_source(element.pointer)
        if let caps = unsafe gst_sample_get_caps(picture.sample) { unsafe gst_app_src_set_caps(source, caps) }
        return unsafe gst_app_src_push_buffer(source, copy) == GST_FLOW_OK
    }
}

extension Element {
    /// Calls `body` with the mark of each picture that comes to the pad `pad`, on the thread that brings it, which may
    /// be held back; a picture for which it returns false goes no further.
    package func onPicture(at pad: String, _ body: @escaping @Sendable (Int64) -> Bool) {
        guard let pad = unsafe gst_element_get_static_pad(pointer, pad) else { return }
        defer { unsafe gst_object_unref(pad) }
        let box = unsafe Unmanaged.passRetained(MarkBox(body)).toOpaque()
        unsafe gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, information, data in
                let box = unsafe Unmanaged<MarkBox>.fromOpaque(data!).takeUnretainedValue()
                guard let buffer = unsafe gst_shim_probe_buffer(information) else { return GST_PAD_PROBE_OK }
                let mark = unsafe gst_shim_buffer_pts(buffer)
                return box.body(Int64(clamping: mark)) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
            }, box, { unsafe Unmanaged<MarkBox>.fromOpaque($0!).release() })
    }
}

private final class MarkBox {
    let body: @Sendable (Int64) -> Bool
    init(_ body: @escaping @Sendable (Int64) -> Bool) { self.body = body }
}
