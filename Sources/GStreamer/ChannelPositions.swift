// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Element {
    /// Gives the channels of sound that comes to this element their usual places where a file does not say any: GStreamer
    /// mixes no channels without them.
    package func placeChannels() {
        guard let sink = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(sink) }
        unsafe gst_pad_add_probe(
            sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { _, information, _ in
                guard let event = unsafe gst_shim_probe_event(information),
                    unsafe gst_shim_event_type(event) == GST_EVENT_CAPS, let caps = unsafe placed(event)
                else { return GST_PAD_PROBE_OK }
                defer { unsafe gst_shim_caps_unref(caps) }
                guard let new = unsafe gst_event_new_caps(caps) else { return GST_PAD_PROBE_OK }
                unsafe gst_event_set_seqnum(new, gst_shim_event_seqnum(event))
                unsafe information!.pointee.data = UnsafeMutableRawPointer(new)
                unsafe gst_shim_event_unref(event)
                return GST_PAD_PROBE_OK
            }, nil, nil)
    }
}

/// The caps of an event with places for the channels; nil if they have some, or there are too many to have any.
private func placed(_ event: UnsafeMutablePointer<GstEvent>) -> UnsafeMutablePointer<GstCaps>? {
    var caps: UnsafeMutablePointer<GstCaps>?
    unsafe gst_event_parse_caps(event, &caps)
    guard let known = unsafe caps, unsafe gst_caps_get_size(known) > 0,
        let structure = unsafe gst_caps_get_structure(known, 0)
    else { return nil }
    var (channels, mask): (gint, guint64) = (0, 0)
    guard unsafe gst_structure_get_int(structure, "channels", &channels) != 0, channels > 2,
        unsafe gst_shim_get_mask(structure, "channel-mask", &mask) == 0 || mask == 0
    else { return nil }
    let usual = gst_audio_channel_get_fallback_mask(channels)
    guard usual != 0, let new = unsafe gst_caps_copy(known) else { return nil }
    unsafe gst_shim_set_mask(new, "channel-mask", usual)
    return unsafe new
}
