// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Element {
    /// The factories of the demuxers of adaptive streams.
    package static let adaptiveDemuxers: Set<String> = ["hlsdemux2", "dashdemux2", "mssdemux2"]

    /// Tells a demuxer of adaptive streams the user agent for its own requests, as an HTTP source before it does, and
    /// later than that: just before the demuxer reads its manifest.
    package func announceUserAgent(_ agent: String) {
        guard let pad = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(pad) }
        let box = unsafe Unmanaged.passRetained(AgentBox(agent)).toOpaque()
        unsafe gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { pad, information, data in
                guard let event = unsafe gst_shim_probe_event(information),
                    unsafe gst_shim_event_type(event) == GST_EVENT_EOS
                else { return GST_PAD_PROBE_OK }
                let box = unsafe Unmanaged<AgentBox>.fromOpaque(data!).takeUnretainedValue()
                unsafe gst_pad_send_event(pad, box.event())
                return GST_PAD_PROBE_OK
            }, box, { unsafe Unmanaged<AgentBox>.fromOpaque($0!).release() })
    }
}

private final class AgentBox {
    private let agent: String
    init(_ agent: String) { self.agent = agent }

    /// The event that sources send downstream when they have an answer.
    func event() -> UnsafeMutablePointer<GstEvent>? {
        guard let fields = unsafe gst_structure_new_empty("request-headers"),
            let headers = unsafe gst_structure_new_empty("http-headers")
        else { return nil }
        unsafe put(agent, as: "User-Agent", into: fields)
        unsafe put(adopting: fields, as: "request-headers", into: headers)
        return unsafe gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, headers)
    }
}
