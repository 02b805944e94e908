// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Element {
    /// The factories of the demuxers of adaptive streams.
    package static let adaptiveDemuxers: Set<String> = ["hlsdemux2", "dashdemux2", "mssdemux2"]

    /// Tells a demuxer of adaptive streams the user agent for its own requests, as an HTTP source before it does, and
    /// later than that: just before the demuxer reads its manifest. That it does not do if `isOver` by then.
    package func announceUserAgent(_ agent: String, unless isOver: @escaping @Sendable () -> Bool) {
        guard let pad = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(pad) }
        let box = unsafe Unmanaged.passRetained(AgentBox(agent, isOver)).toOpaque()
        unsafe gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { pad, information, data in
                guard let event = unsafe gst_shim_probe_event(information),
                    unsafe gst_shim_event_type(event) == GST_EVENT_EOS
                else { return GST_PAD_PROBE_OK }
                let box = unsafe Unmanaged<AgentBox>.fromOpaque(data!).takeUnretainedValue()
                if box.isOver() { return GST_PAD_PROBE_DROP }
                unsafe gst_pad_send_event(pad, box.event())
                return GST_PAD_PROBE_OK
            }, box, { unsafe Unmanaged<AgentBox>.fromOpaque($0!).release() })
    }

    /// True while a demuxer of adaptive streams is given its manifest, or reads it.
    package var takesManifest: Bool {
        guard let pad = unsafe gst_element_get_static_pad(pointer, "sink") else { return false }
        defer { unsafe gst_object_unref(pad) }
        return unsafe gst_shim_pad_takes(pad) != 0
    }

    /// Calls `body` when a demuxer of adaptive streams is about to move: its threads stand still, and it has not given up
    /// yet what it asked for. On the thread that moves it.
    package func beforeMoves(_ body: @escaping @Sendable () -> Void) {
        connect("pad-added") { arguments in
            guard let added = unsafe arguments.object(1) else { return 0 }
            let box = unsafe Unmanaged.passRetained(MoveBox(body)).toOpaque()
            unsafe gst_pad_add_probe(
                gst_shim_pad(added), GST_PAD_PROBE_TYPE_EVENT_FLUSH,
                { _, information, data in
                    if let event = unsafe gst_shim_probe_event(information),
                        unsafe gst_shim_event_type(event) == GST_EVENT_FLUSH_START
                    {
                        unsafe Unmanaged<MoveBox>.fromOpaque(data!).takeUnretainedValue().body()
                    }
                    return GST_PAD_PROBE_OK
                }, box, { unsafe Unmanaged<MoveBox>.fromOpaque($0!).release() })
            return 0
        }
    }
}

private final class MoveBox: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private final class AgentBox {
    private let agent: String
    let isOver: @Sendable () -> Bool

    init(_ agent: String, _ isOver: @escaping @Sendable () -> Bool) {
        (self.agent, self.isOver) = (agent, isOver)
    }

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
