// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// An element, a bin or a pipeline of GStreamer, held by one reference.
///
/// GStreamer documents elements as usable from any thread. Changes of state and events may wait for streaming
/// threads: they belong on a `SerialWorker`.
@safe package final class Element: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstElement>

    /// Takes over a reference.
    init(adopting pointer: UnsafeMutablePointer<GstElement>) { unsafe self.pointer = unsafe pointer }

    /// Adds a reference.
    init(retaining pointer: UnsafeMutablePointer<GstElement>) {
        unsafe gst_object_ref(pointer)
        unsafe self.pointer = unsafe pointer
    }

    /// Makes an element by the name of its factory; nil if there is no such plugin.
    package init?(factory: String, name: String? = nil) {
        guard let made = unsafe gst_element_factory_make(factory, name) else { return nil }
        unsafe gst_object_ref_sink(made)
        unsafe pointer = made
    }

    package static func pipeline(named name: String) -> Element {
        let made = unsafe gst_pipeline_new(name)!
        unsafe gst_object_ref_sink(made)
        return unsafe Element(adopting: made)
    }

    package static func bin(named name: String) -> Element {
        let made = unsafe gst_bin_new(name)!
        unsafe gst_object_ref_sink(made)
        return unsafe Element(adopting: made)
    }

    deinit { unsafe gst_object_unref(pointer) }

    /// The factory that made the element, such as `flacparse`.
    package var factoryName: String { unsafe Self.factoryName(of: pointer) }

    static func factoryName(of pointer: UnsafeMutablePointer<GstElement>) -> String {
        guard let name = unsafe gst_shim_factory_name(pointer) else { return "" }
        return unsafe String(cString: name)
    }

    // MARK: Properties

    package func hasProperty(_ name: String) -> Bool { unsafe property(name) != nil }

    private func property(_ name: String) -> UnsafeMutablePointer<GParamSpec>? {
        unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self).withMemoryRebound(
            to: GTypeInstance.self, capacity: 1
        ) {
            let type = unsafe $0.pointee.g_class
            return unsafe g_object_class_find_property(
                UnsafeMutableRawPointer(type!).assumingMemoryBound(to: GObjectClass.self), name)
        }
    }

    /// Sets a property to caps.
    package func set(_ name: String, _ caps: Caps) {
        guard let property = unsafe property(name) else { return }
        var value = GValue()
        unsafe g_value_init(&value, property.pointee.value_type)
        unsafe g_value_set_boxed(&value, UnsafeRawPointer(caps.pointer))
        unsafe g_object_set_property(object, name, &value)
        unsafe g_value_unset(&value)
    }

    /// Sets a property from GStreamer's text form: numbers, booleans, names of an enumeration, caps.
    package func set(_ name: String, _ value: String) {
        guard hasProperty(name) else { return }
        unsafe gst_util_set_object_arg(object, name, value)
    }

    package func set(_ name: String, string: String) {
        guard hasProperty(name) else { return }
        var value = GValue()
        unsafe g_value_init(&value, gst_shim_type_string())
        unsafe g_value_set_string(&value, string)
        unsafe g_object_set_property(object, name, &value)
        unsafe g_value_unset(&value)
    }

    var object: UnsafeMutablePointer<GObject> {
        unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self)
    }

    // MARK: Bins and links

    package func add(_ child: Element) { unsafe gst_bin_add(gst_shim_bin(pointer), child.pointer) }
    package func remove(_ child: Element) { unsafe gst_bin_remove(gst_shim_bin(pointer), child.pointer) }
    package func link(to next: Element) -> Bool { unsafe gst_element_link(pointer, next.pointer) != 0 }
    package func unlink(from next: Element) { unsafe gst_element_unlink(pointer, next.pointer) }

    /// Shows the pad `pad` of `child` as a pad of this bin.
    package func exposePad(_ pad: String, of child: Element) {
        guard let inner = unsafe gst_element_get_static_pad(child.pointer, pad) else { return }
        unsafe gst_element_add_pad(pointer, gst_ghost_pad_new(pad, inner))
        unsafe gst_object_unref(inner)
    }

    /// Gives each new pad of this element whose media type begins with `prefix` a tail of its own: `make` gets the
    /// name of the pad's stream and returns the element to add to `bin` and to link, or nil to leave the pad alone.
    package func linkPads(
        ofType prefix: String, in bin: Element, to make: @escaping @Sendable (_ stream: String) -> Element?
    ) {
        connect("pad-added") { [weak bin] arguments in
            guard let bin, let added = unsafe arguments.object(1) else { return 0 }
            let source = unsafe gst_shim_pad(added)!
            guard unsafe mediaType(of: source).hasPrefix(prefix), let tail = make(unsafe stream(of: source))
            else { return 0 }
            bin.add(tail)
            tail.syncStateWithParent()
            guard let sink = unsafe gst_element_get_static_pad(tail.pointer, "sink") else { return 0 }
            defer { unsafe gst_object_unref(sink) }
            unsafe gst_pad_link_full(source, sink, GST_PAD_LINK_CHECK_NOTHING)
            return 0
        }
    }

    // MARK: State, events, queries

    package enum State: Sendable { case null, ready, paused, playing }

    /// Changes the state. False if that failed at once.
    @discardableResult
    package func setState(_ state: State) -> Bool {
        let target =
            switch state {
            case .null: GST_STATE_NULL
            case .ready: GST_STATE_READY
            case .paused: GST_STATE_PAUSED
            case .playing: GST_STATE_PLAYING
            }
        return unsafe gst_element_set_state(pointer, target) != GST_STATE_CHANGE_FAILURE
    }

    package func syncStateWithParent() { unsafe gst_element_sync_state_with_parent(pointer) }

    /// Has it follow the changes of its bin's state, or keep the one that it has.
    package func lockState(_ isLocked: Bool) {
        unsafe gst_element_set_locked_state(pointer, isLocked ? 1 : 0)
    }

    /// Waits until a change of the state is over, at most `timeout`.
    package func waitForState(timeout: Duration) {
        _ = unsafe gst_element_get_state(pointer, nil, nil, GstClockTime(max(0, timeout / .nanoseconds(1))))
    }

    /// Moves to `position` in nanoseconds, at `rate`; what is under way is dropped. False if that cannot be.
    package func seek(to position: Int64, rate: Double, isAccurate: Bool) -> Bool {
        let precision = isAccurate ? GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_KEY_UNIT
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | precision.rawValue)
        return unsafe gst_element_seek(
            pointer, rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, gint64(max(0, position)),
            GST_SEEK_TYPE_NONE, 0) != 0
    }

    /// Asks for these streams and no others.
    package func selectStreams(_ identifiers: [String]) -> Bool {
        var list: UnsafeMutablePointer<GList>?
        for identifier in identifiers { unsafe list = unsafe g_list_append(list, g_strdup(identifier)) }
        let event = unsafe gst_event_new_select_streams(list)
        unsafe g_list_free_full(list, { unsafe g_free($0) })
        return unsafe gst_element_send_event(pointer, event) != 0
    }

    /// Nanoseconds; nil if unknown.
    package func duration() -> Int64? {
        var duration: gint64 = -1
        guard unsafe gst_element_query_duration(pointer, GST_FORMAT_TIME, &duration) != 0, duration >= 0,
            duration < Self.longest
        else { return nil }
        return Int64(duration)
    }

    /// Demuxers of damaged files are known to answer with overflown sums; nothing lasts thirty years.
    private static let longest = 1_000_000_000_000_000_000

    /// True if the item has a known size in bytes, as a file has and a live stream has not.
    package func hasSize() -> Bool {
        var size: gint64 = -1
        return unsafe gst_element_query_duration(pointer, GST_FORMAT_BYTES, &size) != 0 && size > 0
    }

    /// Whether seeking is possible, and in which stretch, in nanoseconds; an unknown end is nil.
    package func seekable() -> (isPossible: Bool, start: Int64, end: Int64?)? {
        guard let query = unsafe gst_query_new_seeking(GST_FORMAT_TIME) else { return nil }
        defer { unsafe gst_shim_query_unref(query) }
        guard unsafe gst_element_query(pointer, query) != 0 else { return nil }
        var (isPossible, start, end): (gboolean, gint64, gint64) = (0, -1, -1)
        unsafe gst_query_parse_seeking(query, nil, &isPossible, &start, &end)
        return (isPossible != 0, Int64(max(0, start)), end >= 0 && end < Self.longest ? Int64(end) : nil)
    }

    /// Shifts the moment at which running time 0 is shown, for a sink that follows the clock.
    package func setBaseTime(_ time: Int64) {
        unsafe gst_element_set_base_time(pointer, GstClockTime(max(0, time)))
    }

    package func setContext(_ context: Context) { unsafe gst_element_set_context(pointer, context.pointer) }
}

/// Something elements share, such as an HTTP session.
@safe package final class Context: @unchecked Sendable {
    // Contexts are immutable and reference-counted atomically.
    let pointer: OpaquePointer
    package let type: String
    /// Takes over a reference.
    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        type = unsafe String(cString: gst_context_get_context_type(pointer))
    }
    deinit { unsafe gst_shim_context_unref(pointer) }
}

/// What passes between elements, made once and kept: decodebin3 and uridecodebin3 of GStreamer 1.22 never free the caps
/// that they are given, which costs nothing where they are always the same.
@safe package final class Caps: @unchecked Sendable {
    // Caps that are shared are not changed, and are counted atomically.
    let pointer: UnsafeMutablePointer<GstCaps>
    /// Decoded sound of every kind.
    package static let sound = Caps(mediaType: "audio/x-raw")
    private init(mediaType: String) { unsafe pointer = unsafe gst_caps_new_empty_simple(mediaType)! }
    deinit { unsafe gst_shim_caps_unref(pointer) }
}

/// The media type a pad carries or would carry.
func mediaType(of pad: UnsafeMutablePointer<GstPad>) -> String {
    let caps = unsafe gst_pad_get_current_caps(pad) ?? gst_pad_query_caps(pad, nil)
    guard let caps = unsafe caps else { return "" }
    defer { unsafe gst_shim_caps_unref(caps) }
    guard unsafe gst_caps_get_size(caps) > 0, let structure = unsafe gst_caps_get_structure(caps, 0),
        let name = unsafe gst_structure_get_name(structure)
    else { return "" }
    return unsafe String(cString: name)
}

/// The name of the stream that a pad carries; empty if it has none yet.
private func stream(of pad: UnsafeMutablePointer<GstPad>) -> String {
    guard let name = unsafe gst_pad_get_stream_id(pad) else { return "" }
    defer { unsafe g_free(name) }
    return unsafe String(cString: name)
}
