// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import Synchronization

/// The element that reads addresses of HTTP, as `GstBaseSrc` has it, with its bytes from a `ByteSource`.
package enum ByteSourceElement {
    /// The name of its factory.
    package static let factory = "linnethttpsrc"

    /// Makes the element known to GStreamer, as the first choice for `http` and `https`. `Library.start` comes before.
    package static func register() { _ = registration }

    private static let registration: Bool = makeType()

    private static func makeType() -> Bool {
        var base = unsafe GTypeQuery()
        unsafe g_type_query(gst_base_src_get_type(), &base)
        var information = unsafe GTypeInfo()
        unsafe information.class_size = guint16(base.class_size)
        unsafe information.instance_size = guint16(base.instance_size)
        unsafe information.class_init = { table, _ in unsafe setUp(class: table!) }
        unsafe information.instance_init = { instance, _ in unsafe setUp(instance: instance!) }
        let type = unsafe g_type_register_static(
            gst_base_src_get_type(), "LinnetHTTPSource", &information, GTypeFlags(rawValue: 0))
        let setUpHandler: GInterfaceInitFunc = { table, _ in unsafe setUp(handler: table!) }
        var handler = unsafe GInterfaceInfo(
            interface_init: setUpHandler, interface_finalize: nil, interface_data: nil)
        unsafe g_type_add_interface_static(type, gst_shim_type_uri_handler(), &handler)
        let rank = guint(GST_RANK_PRIMARY.rawValue) + 100
        return unsafe gst_element_register(nil, factory, rank, type) != 0
    }

    /// Gives the element its bytes; before it starts.
    package static func attach(_ source: any ByteSource, to element: Element) {
        unsafe state(of: element.pointer)?.attach(source)
    }

    /// The address that the element was made for.
    package static func uri(of element: Element) -> String? { unsafe state(of: element.pointer)?.uri }
}

/// What one element knows.
private final class SourceState: Sendable {
    private struct Values {
        var uri: String?
        var source: (any ByteSource)?
        var isAnnounced = false
        /// Nil until it was asked.
        var access: ByteSourceAccess?
        var pace = Pace()
    }
    private let values = Mutex(Values())

    var uri: String? {
        get { values.withLock { $0.uri } }
        set { values.withLock { $0.uri = newValue } }
    }
    var source: (any ByteSource)? { values.withLock { $0.source } }
    /// How much the next piece for who is pushed to may hold.
    func piece(at offset: guint64) -> Int {
        if values.withLock({ $0.pace.isUrgent }) { g_thread_yield() }
        return values.withLock { $0.pace.next(at: offset) }
    }
    func noteEnd(_ offset: guint64) { values.withLock { $0.pace.end = offset } }
    /// Waits for the first bytes when it is asked first; later answers are the same.
    var access: ByteSourceAccess {
        if let known = values.withLock({ $0.access }) { return known }
        guard let source else { return .pushed }
        let found = source.awaitAccess()
        return values.withLock { values in
            values.access = values.access ?? found
            return values.access ?? found
        }
    }
    /// True if any place can be asked for, as far as that is known.
    var isSeekable: Bool {
        let (source, access) = values.withLock { ($0.source, $0.access) }
        return source?.isSeekable == true && access != .onward
    }
    func attach(_ source: any ByteSource) { values.withLock { $0.source = source } }

    /// True once the elements behind were told what the head says.
    var isAnnounced: Bool {
        get { values.withLock { $0.isAnnounced } }
        set { values.withLock { $0.isAnnounced = newValue } }
    }
}

/// The sizes of pieces: small ones at first, and after a move, since what follows can begin with little; then larger ones,
/// which cost less.
private struct Pace {
    private static let first = 4 * 1024
    private static let last = 64 * 1024
    /// About what is taken before the queues behind are full.
    private static let urgent = 512 * 1024
    private var size = Self.first
    private var given = 0
    /// Where the last piece ended.
    var end: guint64?

    mutating func next(at offset: guint64) -> Int {
        if let end, end != offset { (size, given) = (2 * Self.first, 0) }
        defer { (size, given) = (min(size * 2, Self.last), min(given + size, Self.urgent)) }
        return size
    }

    /// True while the threads that make sound of the first pieces matter more than further ones do.
    var isUrgent: Bool { given > 0 && given < Self.urgent }
}

private let stateKey: GQuark = unsafe g_quark_from_string("linnet-source")

private func state(of instance: UnsafeMutableRawPointer) -> SourceState? {
    let object = unsafe instance.assumingMemoryBound(to: GObject.self)
    guard let data = unsafe g_object_get_qdata(object, stateKey) else { return nil }
    return unsafe Unmanaged<SourceState>.fromOpaque(data).takeUnretainedValue()
}

private func setUp(instance: UnsafeMutablePointer<GTypeInstance>) {
    let object = unsafe UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GObject.self)
    unsafe g_object_set_qdata_full(
        object, stateKey, Unmanaged.passRetained(SourceState()).toOpaque(),
        { unsafe Unmanaged<SourceState>.fromOpaque($0!).release() })
    let source = unsafe UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GstBaseSrc.self)
    // As much as one read from the cache gives.
    unsafe gst_base_src_set_blocksize(source, 64 * 1024)
}

private func setUp(class table: UnsafeMutableRawPointer) {
    let element = unsafe table.assumingMemoryBound(to: GstElementClass.self)
    unsafe gst_element_class_set_metadata(
        element, "HTTP source", "Source/Network", "Reads what the receiver fetches", "The Linnet contributors"
    )
    let any = unsafe gst_caps_new_any()
    unsafe gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, any))
    unsafe gst_shim_caps_unref(any!)
    let base = unsafe table.assumingMemoryBound(to: GstBaseSrcClass.self)
    unsafe base.pointee.start = { source in
        guard let state = unsafe state(of: source!), state.source != nil else { return 0 }
        state.isAnnounced = false
        return 1
    }
    unsafe base.pointee.stop = { _ in 1 }
    unsafe base.pointee.unlock = { source in
        unsafe state(of: source!)?.source?.interrupt()
        return 1
    }
    unsafe base.pointee.unlock_stop = { source in
        unsafe state(of: source!)?.source?.resume()
        return 1
    }
    unsafe base.pointee.is_seekable = { source in
        unsafe state(of: source!)?.isSeekable == true ? 1 : 0
    }
    unsafe base.pointee.get_size = { source, size in
        guard let known = unsafe state(of: source!)?.source?.size, known >= 0 else { return 0 }
        unsafe size?.pointee = guint64(known)
        return 1
    }
    unsafe base.pointee.query = { source, query in unsafe answer(query!, of: source!) }
    unsafe base.pointee.create = { source, offset, count, buffer in
        unsafe create(from: source!, offset: offset, count: count, into: buffer!)
    }
}

private func setUp(handler table: UnsafeMutableRawPointer) {
    let handler = unsafe table.assumingMemoryBound(to: GstURIHandlerInterface.self)
    unsafe handler.pointee.get_type = { _ in GST_URI_SRC }
    unsafe handler.pointee.get_protocols = { _ in unsafe schemes }
    unsafe handler.pointee.get_uri = { element in
        unsafe state(of: UnsafeMutableRawPointer(element!))?.uri.flatMap { unsafe g_strdup($0) }
    }
    unsafe handler.pointee.set_uri = { element, uri, _ in
        guard let uri = unsafe uri, let state = unsafe state(of: UnsafeMutableRawPointer(element!)) else {
            return 0
        }
        state.uri = unsafe String(cString: uri)
        return 1
    }
}

/// "http", "https" and the end of the list, for as long as the program runs.
nonisolated(unsafe) private let schemes: UnsafePointer<UnsafePointer<gchar>?> = {
    let list = UnsafeMutablePointer<UnsafePointer<gchar>?>.allocate(capacity: 3)
    unsafe list[0] = unsafe UnsafePointer(g_strdup("http"))
    unsafe list[1] = unsafe UnsafePointer(g_strdup("https"))
    unsafe list[2] = nil
    return unsafe UnsafePointer(list)
}()

// MARK: Questions

private func answer(_ query: UnsafeMutablePointer<GstQuery>, of source: UnsafeMutablePointer<GstBaseSrc>)
    -> gboolean
{
    let state = unsafe state(of: source)
    switch unsafe gst_shim_query_type(query) {
    case GST_QUERY_URI:
        guard let uri = state?.uri else { return 0 }
        unsafe gst_query_set_uri(query, uri)
        if let end = state?.source?.head?.uri, end != uri {
            unsafe gst_query_set_uri_redirection(query, end)
        }
        return 1
    case GST_QUERY_SCHEDULING:
        // Pushed wherever that does: who pulls looks at the end of the resource first, which is another request, and gains
        // nothing in most formats.
        let access = state?.access ?? .pushed
        var flags = GST_SCHEDULING_FLAG_BANDWIDTH_LIMITED.rawValue
        if access != .onward { flags |= GST_SCHEDULING_FLAG_SEEKABLE.rawValue }
        unsafe gst_query_set_scheduling(query, GstSchedulingFlags(rawValue: flags), 1, -1, 0)
        if access == .pulled { unsafe gst_query_add_scheduling_mode(query, GST_PAD_MODE_PULL) }
        unsafe gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH)
        return 1
    default: return unsafe parentClass.pointee.query(source, query)
    }
}

private var parentClass: UnsafeMutablePointer<GstBaseSrcClass> {
    // The class exists as long as one of its subclasses does.
    unsafe UnsafeMutableRawPointer(g_type_class_peek(gst_base_src_get_type())!).assumingMemoryBound(
        to: GstBaseSrcClass.self)
}

// MARK: Bytes

private func create(
    from element: UnsafeMutablePointer<GstBaseSrc>, offset: guint64, count: guint,
    into place: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>
) -> GstFlowReturn {
    guard let state = unsafe state(of: element), let source = state.source else { return GST_FLOW_ERROR }
    let isPulled = unsafe gst_shim_pad_mode(element.pointee.srcpad) == GST_PAD_MODE_PULL
    if !isPulled, !state.isAnnounced, source.awaitHead(), let head = source.head {
        state.isAnnounced = true
        unsafe announce(head, by: element)
        if let size = source.size {
            unsafe gst_shim_set_duration(element, guint64(max(0, size)))
            unsafe gst_element_post_message(
                UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstElement.self),
                gst_message_new_duration_changed(
                    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)))
        }
    }
    var bytes: [UInt8] = []
    let wanted = isPulled ? Int(count) : min(Int(count), state.piece(at: offset))
    while bytes.count < wanted {
        switch source.read(at: Int64(clamping: offset) + Int64(bytes.count), maximum: wanted - bytes.count)
        {
        case .bytes(let piece): bytes = bytes.isEmpty ? piece : bytes + piece
        case .end:
            if bytes.isEmpty { return GST_FLOW_EOS }
            return unsafe give(bytes, at: offset, into: place)
        case .interrupted: return GST_FLOW_FLUSHING
        case .failed(let words):
            unsafe gst_element_message_full(
                UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstElement.self), GST_MESSAGE_ERROR,
                gst_resource_error_quark(), gint(GST_RESOURCE_ERROR_READ.rawValue), g_strdup(words), nil, "",
                "",
                0)
            return GST_FLOW_ERROR
        }
        // Who pulls wants all of it; who is pushed to takes what there is.
        if !isPulled { break }
    }
    if let title = source.title(at: Int64(clamping: offset)) { unsafe tell(title, by: element) }
    state.noteEnd(offset + guint64(bytes.count))
    return unsafe give(bytes, at: offset, into: place)
}

private func give(
    _ bytes: [UInt8], at offset: guint64,
    into place: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>
) -> GstFlowReturn {
    let known = unsafe place.pointee
    guard let buffer = unsafe known ?? gst_buffer_new_allocate(nil, gsize(bytes.count), nil) else {
        return GST_FLOW_ERROR
    }
    let filled = unsafe bytes.withUnsafeBytes {
        unsafe gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count))
    }
    if unsafe known != nil { unsafe gst_buffer_set_size(buffer, gssize(filled)) }
    unsafe gst_shim_set_offsets(buffer, offset, offset + guint64(filled))
    unsafe place.pointee = unsafe buffer
    return GST_FLOW_OK
}

/// Tells the elements behind what the first answer said.
private func announce(_ head: ByteSourceHead, by element: UnsafeMutablePointer<GstBaseSrc>) {
    let whole = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstElement.self)
    let object = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
    if let caps = unsafe caps(of: head) {
        unsafe gst_base_src_set_caps(element, caps)
        unsafe gst_shim_caps_unref(caps)
    }
    if let request = unsafe gst_structure_new_empty("request-headers"),
        let response = unsafe gst_structure_new_empty("response-headers"),
        let both = unsafe gst_structure_new_empty("http-headers")
    {
        for field in head.requestHeaders { unsafe put(field.value, as: field.name, into: request) }
        for field in head.responseHeaders { unsafe put(field.value, as: field.name, into: response) }
        unsafe put(state(of: element)?.uri ?? head.uri, as: "uri", into: both)
        if head.uri != (unsafe state(of: element)?.uri) {
            unsafe put(head.uri, as: "redirection-uri", into: both)
        }
        unsafe put(adopting: request, as: "request-headers", into: both)
        unsafe put(adopting: response, as: "response-headers", into: both)
        unsafe gst_pad_push_event(
            element.pointee.srcpad, gst_event_new_custom(gst_shim_sticky_custom(), both))
    }
    guard head.station != nil || head.genre != nil, let tags = unsafe gst_tag_list_new_empty() else { return }
    unsafe gst_tag_list_set_scope(tags, GST_TAG_SCOPE_GLOBAL)
    for (name, text) in [("organization", head.station), ("genre", head.genre)] {
        guard let text, !text.isEmpty else { continue }
        var value = GValue()
        unsafe g_value_init(&value, gst_shim_type_string())
        unsafe g_value_set_string(&value, text)
        unsafe gst_tag_list_add_value(tags, GST_TAG_MERGE_APPEND, name, &value)
        unsafe g_value_unset(&value)
    }
    unsafe gst_element_post_message(whole, gst_message_new_tag(object, tags))
}

/// Lets a title travel with the sound that it is of, to `Element.watchFlow`. It sticks to the pads that it comes to, so
/// that those that are linked later have it, too.
private func tell(_ title: String, by element: UnsafeMutablePointer<GstBaseSrc>) {
    guard let structure = unsafe gst_structure_new_empty(TitleEvent.name) else { return }
    unsafe put(title, as: TitleEvent.field, into: structure)
    unsafe gst_pad_push_event(
        element.pointee.srcpad, gst_event_new_custom(gst_shim_sticky_custom(), structure))
}

/// What only the head tells of the format; nil leaves it to be recognised by the bytes.
private func caps(of head: ByteSourceHead) -> UnsafeMutablePointer<GstCaps>? {
    guard let format = head.contentType.flatMap(LinearFormat.init) else { return nil }
    return unsafe gst_caps_from_string(
        "audio/x-unaligned-raw,format=S16BE,layout=interleaved,rate=\(format.rate),channels=\(format.channels)"
    )
}

/// Samples of 16 bits without a container, as `audio/L16` of RFC 2586 has them.
private struct LinearFormat {
    var rate: Int32
    var channels: Int32

    init?(_ type: String) {
        let parts = type.lowercased().split(separator: ";").map { $0.filter { $0 != " " } }
        guard parts.first == "audio/l16" else { return nil }
        func number(_ name: String) -> Int32? {
            parts.first { $0.hasPrefix("\(name)=") }.flatMap { Int32($0.dropFirst(name.count + 1)) }
        }
        guard let rate = number("rate"), (1000...768_000).contains(rate) else { return nil }
        let channels = number("channels") ?? 1
        guard (1...8).contains(channels) else { return nil }
        (self.rate, self.channels) = (rate, channels)
    }
}
