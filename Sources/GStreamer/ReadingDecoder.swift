// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// Decoders that choose the places of the file that they read. GStreamer puts decoders behind a queue, where these get nothing
/// and wait for ever; what it takes for a demuxer stands at the source.
package enum ReadingDecoder {
    /// Has the decoder `factory` taken for a demuxer. False if it is not installed.
    @discardableResult
    package static func adopt(_ factory: String) -> Bool {
        let name = "linnet\(factory)"
        guard !Library.hasElement(name) else { return true }
        guard let found = unsafe gst_element_factory_find(factory) else { return false }
        defer { unsafe gst_object_unref(UnsafeMutableRawPointer(found)) }
        guard let loaded = unsafe gst_plugin_feature_load(found) else { return false }
        defer { unsafe gst_object_unref(UnsafeMutableRawPointer(loaded)) }
        let parent = unsafe gst_element_factory_get_element_type(loaded)
        var query = unsafe GTypeQuery()
        unsafe g_type_query(parent, &query)
        var information = unsafe GTypeInfo()
        unsafe information.class_size = guint16(query.class_size)
        unsafe information.instance_size = guint16(query.instance_size)
        unsafe information.class_init = { table, _ in
            unsafe gst_element_class_set_metadata(
                table!.assumingMemoryBound(to: GstElementClass.self), "Reading decoder",
                "Codec/Demuxer/Audio", "Decodes files whose places it chooses itself",
                "The Linnet contributors")
        }
        unsafe information.instance_init = { instance, _ in unsafe answerForPlaces(instance!) }
        let type = unsafe g_type_register_static(
            parent, "Linnet\(factory)", &information, GTypeFlags(rawValue: 0))
        return unsafe gst_element_register(nil, name, guint(GST_RANK_SECONDARY.rawValue), type) != 0
    }

    /// Lets files of Apple's CAF go to the decoder that reads them: what plays Sony's W64 looks at the content, but is not
    /// offered them.
    package static func takeCAF() {
        let registry = unsafe gst_registry_get()
        guard let known = unsafe gst_registry_lookup_feature(registry, "audio/x-caf") else { return }
        unsafe gst_registry_remove_feature(registry, known)
        unsafe gst_object_unref(UnsafeMutableRawPointer(known))
        let caps = unsafe gst_caps_new_empty_simple("audio/x-w64")
        unsafe gst_type_find_register(
            nil, "linnetcaf", guint(GST_RANK_PRIMARY.rawValue),
            { find, caps in
                guard let head = unsafe gst_type_find_peek(find, 0, 6) else { return }
                let isCAF = (0..<6).allSatisfy { unsafe head[$0] == Array("caff\0\u{1}".utf8)[$0] }
                if isCAF {
                    unsafe gst_type_find_suggest(
                        find, guint(GST_TYPE_FIND_MAXIMUM.rawValue),
                        caps!.assumingMemoryBound(to: GstCaps.self))
                }
            }, "caf", caps, UnsafeMutableRawPointer(caps), nil)
    }
}

/// Says of a decoder that it can be moved wherever its file has sound: it can, and does not say so.
private func answerForPlaces(_ instance: UnsafeMutablePointer<GTypeInstance>) {
    let element = unsafe UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GstElement.self)
    guard let source = unsafe gst_element_get_static_pad(element, "src") else { return }
    defer { unsafe gst_object_unref(source) }
    unsafe gst_pad_add_probe(
        source, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
        { pad, information, _ in
            guard let query = unsafe gst_shim_probe_query(information),
                unsafe gst_shim_query_type(query) == GST_QUERY_SEEKING
            else { return GST_PAD_PROBE_OK }
            var format = GST_FORMAT_UNDEFINED
            unsafe gst_query_parse_seeking(query, &format, nil, nil, nil)
            var duration: gint64 = -1
            guard format == GST_FORMAT_TIME,
                unsafe gst_pad_query_duration(pad, GST_FORMAT_TIME, &duration) != 0, duration > 0
            else { return GST_PAD_PROBE_OK }
            unsafe gst_query_set_seeking(query, GST_FORMAT_TIME, 1, 0, duration)
            return GST_PAD_PROBE_HANDLED
        }, nil, nil)
}
