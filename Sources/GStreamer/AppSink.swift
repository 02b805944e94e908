// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// What came of giving frames away.
package enum SinkFlow: Sendable { case ok, flushing, ended }

/// Hears what comes to the end of a pipeline between samples. Calls come on streaming threads.
package protocol FlowTarget: AnyObject, Sendable {
    /// What the pipeline holds is not wanted any more.
    func flushStarted()
    func flushStopped()
    /// What follows is another stream than what was before.
    func streamBegan()
    /// What follows has this title; empty is none.
    func titleCame(_ title: String)
}

extension FlowTarget {
    package func streamBegan() {}
    package func titleCame(_ title: String) {}
}

/// How a `ByteSource`'s title travels through a pipeline.
enum TitleEvent {
    static let name = "linnet-title"
    static let field = "text"
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

    /// Tells `target` of what comes to this sink between samples.
    func watchFlow(_ target: any FlowTarget) {
        guard let pad = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(pad) }
        let box = unsafe Unmanaged.passRetained(FlowBox(target)).toOpaque()
        let mask = GstPadProbeType(
            rawValue: GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue)
        unsafe gst_pad_add_probe(
            pad, mask,
            { _, information, data in
                let target = unsafe Unmanaged<FlowBox>.fromOpaque(data!).takeUnretainedValue().target
                guard let event = unsafe gst_shim_probe_event(information) else { return GST_PAD_PROBE_OK }
                switch unsafe gst_shim_event_type(event) {
                case GST_EVENT_FLUSH_START: target.flushStarted()
                case GST_EVENT_FLUSH_STOP: target.flushStopped()
                case GST_EVENT_STREAM_START: target.streamBegan()
                case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
                    guard let structure = unsafe gst_event_get_structure(event),
                        unsafe gst_structure_has_name(structure, TitleEvent.name) != 0,
                        let text = unsafe gst_structure_get_string(structure, TitleEvent.field)
                    else { break }
                    target.titleCame(unsafe String(cString: text))
                    return GST_PAD_PROBE_DROP
                default: break
                }
                return GST_PAD_PROBE_OK
            }, box, { unsafe Unmanaged<FlowBox>.fromOpaque($0!).release() })
    }
}

private final class FlowBox {
    let target: any FlowTarget
    init(_ target: any FlowTarget) { self.target = target }
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
