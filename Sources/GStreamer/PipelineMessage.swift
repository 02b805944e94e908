// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// What a pipeline says while it works.
package enum PipelineMessage: Sendable {
    case failed(PipelineFailure)
    /// Something is needed that is not installed, in words for people, and whether it decodes pictures.
    case pluginMissing(description: String, isForPictures: Bool)
    case tagged(TagValues)
    /// All streams of the item; comes again when they change.
    case streamsFound(StreamSet)
    /// The streams that a demuxer of adaptive streams can download; it chooses when this was heard.
    case streamsOffered(StreamSet)
    case streamsSelected([String])
    case durationChanged
    case contextMade(Context)
    case ended
}

/// An error message of an element.
package struct PipelineFailure: Error, Equatable, Sendable {
    /// Which of GStreamer's families the code belongs to.
    package enum Domain: Sendable { case core, library, resource, stream, other }
    package var domain: Domain
    package var code: Int32
    package var message: String
    /// For developers; may hold addresses.
    package var debug: String
    package var httpStatus: Int32?
    /// The factory of the element that failed.
    package var element: String

    package init(
        domain: Domain, code: Int32, message: String, debug: String, httpStatus: Int32?, element: String
    ) {
        (self.domain, self.code, self.message) = (domain, code, message)
        (self.debug, self.httpStatus, self.element) = (debug, httpStatus, element)
    }
}

extension Element {
    /// Passes the pipeline's messages to `body`, on the threads that send them.
    package func onMessage(_ body: @escaping @Sendable (PipelineMessage) -> Void) {
        let bus = unsafe gst_element_get_bus(pointer)
        defer { unsafe gst_object_unref(bus) }
        let box = unsafe Unmanaged.passRetained(MessageBox(body)).toOpaque()
        unsafe gst_bus_set_sync_handler(
            bus,
            { _, message, data in
                let box = unsafe Unmanaged<MessageBox>.fromOpaque(data!).takeUnretainedValue()
                if let message = unsafe message, let copy = unsafe PipelineMessage(message) { box.body(copy) }
                if let message = unsafe message { unsafe gst_shim_message_unref(message) }
                return GST_BUS_DROP
            }, box, { unsafe Unmanaged<MessageBox>.fromOpaque($0!).release() })
    }
}

private final class MessageBox {
    let body: @Sendable (PipelineMessage) -> Void
    init(_ body: @escaping @Sendable (PipelineMessage) -> Void) { self.body = body }
}

extension PipelineMessage {
    fileprivate init?(_ message: UnsafeMutablePointer<GstMessage>) {
        switch unsafe gst_shim_message_type(message) {
        case GST_MESSAGE_ERROR: self = .failed(unsafe PipelineFailure(message))
        case GST_MESSAGE_EOS: self = .ended
        case GST_MESSAGE_DURATION_CHANGED: self = .durationChanged
        case GST_MESSAGE_TAG:
            var list: UnsafeMutablePointer<GstTagList>?
            unsafe gst_message_parse_tag(message, &list)
            guard let list = unsafe list else { return nil }
            var values = unsafe TagValues(list)
            values.isOfServer = unsafe source(message) == ByteSourceElement.factory
            self = .tagged(values)
            unsafe gst_shim_tag_list_unref(list)
        case GST_MESSAGE_STREAM_COLLECTION:
            // Parsers post their own ones as well; these are of all.
            let source = unsafe source(message)
            let isOffer = Element.adaptiveDemuxers.contains(source)
            guard isOffer || source == "decodebin3" else { return nil }
            var collection: UnsafeMutablePointer<GstStreamCollection>?
            unsafe gst_message_parse_stream_collection(message, &collection)
            guard let collection = unsafe collection else { return nil }
            let set = unsafe StreamSet(adopting: collection)
            self = isOffer ? .streamsOffered(set) : .streamsFound(set)
        case GST_MESSAGE_STREAMS_SELECTED:
            self = .streamsSelected(
                (0..<min(64, unsafe gst_message_streams_selected_get_size(message))).compactMap { index in
                    guard let stream = unsafe gst_message_streams_selected_get_stream(message, index) else {
                        return nil
                    }
                    defer { unsafe gst_object_unref(stream) }
                    return unsafe gst_stream_get_stream_id(stream).map { unsafe String(cString: $0) }
                })
        case GST_MESSAGE_HAVE_CONTEXT:
            var context: OpaquePointer?
            unsafe gst_message_parse_have_context(message, &context)
            guard let context = unsafe context else { return nil }
            self = .contextMade(unsafe Context(adopting: context))
        case GST_MESSAGE_ELEMENT:
            guard unsafe gst_is_missing_plugin_message(message) != 0 else { return nil }
            let description = unsafe gst_missing_plugin_message_get_description(message)
            self = .pluginMissing(
                description: unsafe description.map { unsafe String(cString: $0) } ?? "a plugin",
                isForPictures: unsafe isForPictures(message))
            unsafe g_free(description)
        default: return nil
        }
    }
}

/// True if a message about a missing plugin is about a decoder for pictures.
private func isForPictures(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    guard let detail = unsafe gst_missing_plugin_message_get_installer_detail(message) else { return false }
    defer { unsafe g_free(detail) }
    // The fifth part names kind and format, such as "decoder-video/x-h265".
    let kind = unsafe String(cString: detail).split(separator: "|", omittingEmptySubsequences: false)
        .dropFirst(4)
    return kind.first.map { $0.hasPrefix("decoder-video/") || $0.hasPrefix("decoder-image/") } ?? false
}

/// The factory of the element that a message comes from.
private func source(_ message: UnsafeMutablePointer<GstMessage>) -> String {
    guard let source = unsafe gst_shim_message_source(message), unsafe gst_shim_is_element(source) != 0 else {
        return ""
    }
    return unsafe Element.factoryName(of: gst_shim_element(source))
}

extension PipelineFailure {
    fileprivate init(_ message: UnsafeMutablePointer<GstMessage>) {
        var error: UnsafeMutablePointer<GError>?
        var debug: UnsafeMutablePointer<gchar>?
        unsafe gst_message_parse_error(message, &error, &debug)
        defer {
            unsafe g_error_free(error)
            unsafe g_free(debug)
        }
        let quark = unsafe error!.pointee.domain
        domain =
            quark == gst_core_error_quark()
            ? .core
            : quark == gst_library_error_quark()
                ? .library
                : quark == gst_resource_error_quark()
                    ? .resource : quark == gst_stream_error_quark() ? .stream : .other
        code = unsafe error!.pointee.code
        self.message = unsafe String(cString: error!.pointee.message)
        self.debug = unsafe debug.map { unsafe String(cString: $0) } ?? ""
        element = unsafe source(message)
        var details: UnsafePointer<GstStructure>?
        unsafe gst_message_parse_error_details(message, &details)
        var status: UInt32 = 0
        if let details = unsafe details,
            unsafe gst_structure_get_uint(details, "http-status-code", &status) != 0
        {
            httpStatus = Int32(truncatingIfNeeded: status)
        }
    }
}
