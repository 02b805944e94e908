// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// What came of giving frames away.
package enum SinkFlow: Sendable { case ok, flushing, ended }

/// Hears when what a pipeline holds is not wanted any more. Calls come on streaming threads.
package protocol FlushTarget: AnyObject, Sendable {
    func flushStarted()
    func flushStopped()
}

extension Element {
    /// An `appsink` that gives out everything at once; its target does the waiting.
    static func appSink(caps: String) -> Element? {
        guard let element = Element(factory: "appsink") else { return nil }
        for name in ["sync", "async", "qos", "enable-last-sample"] { element.set(name, "false") }
        element.set("max-buffers", "1")
        element.set("caps", caps)
        return element
    }

    /// Tells `target` of the flushes that come to this sink.
    func watchFlushes(_ target: any FlushTarget) {
        guard let pad = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(pad) }
        let box = unsafe Unmanaged.passRetained(FlushBox(target)).toOpaque()
        let mask = GstPadProbeType(
            rawValue: GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue)
        unsafe gst_pad_add_probe(
            pad, mask,
            { _, information, data in
                let target = unsafe Unmanaged<FlushBox>.fromOpaque(data!).takeUnretainedValue().target
                guard let event = unsafe gst_shim_probe_event(information) else { return GST_PAD_PROBE_OK }
                switch unsafe gst_shim_event_type(event) {
                case GST_EVENT_FLUSH_START: target.flushStarted()
                case GST_EVENT_FLUSH_STOP: target.flushStopped()
                default: break
                }
                return GST_PAD_PROBE_OK
            }, box, { unsafe Unmanaged<FlushBox>.fromOpaque($0!).release() })
    }
}

private final class FlushBox {
    let target: any FlushTarget
    init(_ target: any FlushTarget) { self.target = target }
}

extension SinkFlow {
    var code: GstFlowReturn {
        switch self {
        case .ok: GST_FLOW_OK
        case .flushing: GST_FLOW_FLUSHING
        case .ended: GST_FLOW_EOS
        }
    }
}
