// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// Where the end of a pipeline leads: calls come on streaming threads, which may be held back in `setRate` and
/// `write` until `flushStarted`.
package protocol AudioSinkTarget: FlowTarget {
    func setRate(_ rate: Int32) -> SinkFlow
    /// Stereo frames; the first stands at `position` nanoseconds of the media, the next ones `step` on each.
    func write(_ frames: Span<Float>, position: Double, step: Double) -> SinkFlow
    /// No frames follow.
    func ended()
}

/// The last element of a pipeline for sound: gives stereo floating frames to a target.
@safe package final class AudioSink: Sendable {
    package let element: Element

    /// Makes the sink. `rates` are those that may arrive; empty is any. Nil without the `app` plugin.
    package init?(rates: [Int32], target: any AudioSinkTarget) {
        guard let element = Element.appSink(caps: Self.caps(rates)) else { return nil }
        self.element = element
        let receiver = unsafe Unmanaged.passRetained(SinkReceiver(target)).toOpaque()
        var callbacks = GstAppSinkCallbacks()
        unsafe callbacks.new_sample = { sink, data in
            unsafe Unmanaged<SinkReceiver>.fromOpaque(data!).takeUnretainedValue().pull(sink!)
        }
        unsafe callbacks.eos = { _, data in
            unsafe Unmanaged<SinkReceiver>.fromOpaque(data!).takeUnretainedValue().target.ended()
        }
        unsafe gst_app_sink_set_callbacks(
            gst_shim_app_sink(element.pointer), &callbacks, receiver,
            { unsafe Unmanaged<SinkReceiver>.fromOpaque($0!).release() })
        element.watchFlow(target)
    }

    private static func caps(_ rates: [Int32]) -> String {
        let list = rates.isEmpty ? "[1,768000]" : "{\(rates.map(String.init).joined(separator: ","))}"
        return "audio/x-raw,format=F32LE,layout=interleaved,channels=2,rate=\(list)"
    }
}

/// Takes samples out of the sink, on the streaming thread.
@safe private final class SinkReceiver {
    let target: any AudioSinkTarget
    private var caps: UnsafeMutablePointer<GstCaps>?
    private var rate: Int32 = 0

    init(_ target: any AudioSinkTarget) { self.target = target }

    deinit { if let caps = unsafe caps { unsafe gst_shim_caps_unref(caps) } }

    func pull(_ sink: UnsafeMutablePointer<GstAppSink>) -> GstFlowReturn {
        guard let sample = unsafe gst_app_sink_pull_sample(sink) else { return GST_FLOW_EOS }
        defer { unsafe gst_shim_sample_unref(sample) }
        guard let caps = unsafe gst_sample_get_caps(sample) else { return GST_FLOW_NOT_NEGOTIATED }
        if unsafe caps != self.caps {
            var information = unsafe GstAudioInfo()
            guard unsafe gst_audio_info_from_caps(&information, caps) != 0, unsafe information.rate > 0,
                unsafe information.channels == 2
            else { return GST_FLOW_NOT_NEGOTIATED }
            let flow = unsafe target.setRate(information.rate)
            guard flow == .ok else { return flow.code }
            if let old = unsafe self.caps { unsafe gst_shim_caps_unref(old) }
            unsafe self.caps = unsafe gst_shim_caps_ref(caps)
            rate = unsafe information.rate
        }
        return unsafe write(sample)
    }

    private func write(_ sample: OpaquePointer) -> GstFlowReturn {
        guard let whole = unsafe gst_sample_get_buffer(sample),
            let segment = unsafe gst_sample_get_segment(sample)
        else { return GST_FLOW_OK }
        // Frames before or after the stretch that was asked for are cut off. Takes over one reference.
        guard
            let buffer = unsafe gst_audio_buffer_clip(
                gst_shim_buffer_ref(whole), segment, rate, Int32(2 * MemoryLayout<Float>.size))
        else { return GST_FLOW_OK }
        defer { unsafe gst_shim_buffer_unref(buffer) }
        let time = unsafe gst_segment_to_stream_time(segment, GST_FORMAT_TIME, gst_shim_buffer_pts(buffer))
        let applied = unsafe segment.pointee.applied_rate
        var map = unsafe GstMapInfo()
        guard unsafe gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return GST_FLOW_ERROR }
        defer { unsafe gst_buffer_unmap(buffer, &map) }
        guard let data = unsafe map.data, unsafe map.size >= 8 else { return GST_FLOW_OK }
        let count = unsafe Int(map.size) / 8 * 2
        let samples = unsafe UnsafeBufferPointer(
            start: UnsafeRawPointer(data).assumingMemoryBound(to: Float.self), count: count)
        return unsafe target.write(
            samples.span, position: time == gst_shim_no_time() ? .nan : Double(time),
            step: applied * 1e9 / Double(rate)
        ).code
    }
}
