// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// The GStreamer library of this process.
package enum Library {
    /// Starts the library. Only once it was called, anything else of this module may be.
    package static func start() { gst_init(nil, nil) }

    /// The version's numbers.
    package static var version: (major: UInt32, minor: UInt32, micro: UInt32) {
        var (major, minor, micro, nano): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
        unsafe gst_version(&major, &minor, &micro, &nano)
        return (major, minor, micro)
    }

    /// True if there is an element of this name.
    package static func hasElement(_ name: String) -> Bool {
        guard let factory = unsafe gst_element_factory_find(name) else { return false }
        unsafe gst_object_unref(UnsafeMutableRawPointer(factory))
        return true
    }

    /// Loads the plugin of an element, and makes one, so that its first use is quick.
    @discardableResult
    package static func load(_ name: String) -> Bool { Element(factory: name) != nil }

    /// Adds the plugins of a folder. They get a low rank: they serve where nothing else does.
    /// Waits for the files to be read.
    package static func addPlugins(in folder: String) {
        let registry = unsafe gst_registry_get()
        let before = Set(pluginNames())
        unsafe gst_registry_scan_path(registry, folder)
        for name in pluginNames() where !before.contains(name) { setRank(.marginal, ofPlugin: name) }
    }

    /// How gladly elements are chosen.
    package enum Rank: Sendable {
        /// Never by themselves.
        case none
        /// Where nothing else serves.
        case marginal
    }

    /// Gives the elements of one class of a plugin, such as `Decoder/Audio`, a rank; without a class, those that have a
    /// higher one.
    package static func setRank(_ rank: Rank, ofPlugin name: String, class wanted: String = "") {
        let value = UInt32(rank == .none ? GST_RANK_NONE.rawValue : GST_RANK_MARGINAL.rawValue)
        let features = unsafe gst_registry_get_feature_list_by_plugin(gst_registry_get(), name)
        var next = unsafe features
        while let item = unsafe next {
            let feature = unsafe OpaquePointer(item.pointee.data)
            let isMeant =
                unsafe wanted.isEmpty
                ? gst_plugin_feature_get_rank(feature) > value
                : g_strstr_len(gst_shim_feature_class(item.pointee.data), -1, wanted) != nil
            if isMeant { unsafe gst_plugin_feature_set_rank(feature, value) }
            unsafe next = unsafe item.pointee.next
        }
        unsafe gst_plugin_feature_list_free(features)
    }

    /// Has an element never chosen by itself.
    package static func ignore(element name: String) {
        guard let feature = unsafe gst_registry_lookup_feature(gst_registry_get(), name) else { return }
        unsafe gst_plugin_feature_set_rank(feature, guint(GST_RANK_NONE.rawValue))
        unsafe gst_object_unref(UnsafeMutableRawPointer(feature))
    }

    /// Forgets how a plugin recognises formats: to ask it, GStreamer would load it for each file that is not at once of a
    /// sure format.
    package static func removeTypeFinders(ofPlugin name: String) {
        let registry = unsafe gst_registry_get()
        let features = unsafe gst_registry_get_feature_list_by_plugin(registry, name)
        var next = unsafe features
        while let item = unsafe next {
            if unsafe gst_shim_is_type_finder(item.pointee.data) != 0 {
                unsafe gst_registry_remove_feature(registry, OpaquePointer(item.pointee.data))
            }
            unsafe next = unsafe item.pointee.next
        }
        unsafe gst_plugin_feature_list_free(features)
    }

    private static func pluginNames() -> [String] {
        let plugins = unsafe gst_registry_get_plugin_list(gst_registry_get())
        defer { unsafe gst_plugin_list_free(plugins) }
        var names: [String] = []
        var next = unsafe plugins
        while let item = unsafe next {
            if let name = unsafe gst_plugin_get_name(OpaquePointer(item.pointee.data)) {
                names.append(unsafe String(cString: name))
            }
            unsafe next = unsafe item.pointee.next
        }
        return names
    }

    /// The scheme of an address, in small letters; nil if it is no address.
    package static func scheme(of uri: String) -> String? {
        guard unsafe gst_uri_is_valid(uri) != 0, let scheme = unsafe gst_uri_get_protocol(uri) else {
            return nil
        }
        defer { unsafe g_free(scheme) }
        return unsafe String(cString: scheme).lowercased()
    }

    /// Runs a pipeline in the text form of `gst-launch` to its end. False if it failed.
    package static func run(_ description: String, timeout: Duration = .seconds(20)) -> Bool {
        guard let made = unsafe gst_parse_launch(description, nil) else { return false }
        unsafe gst_object_ref_sink(made)
        let pipeline = unsafe Element(adopting: made)
        guard let bus = unsafe gst_element_get_bus(pipeline.pointer) else { return false }
        defer { unsafe gst_object_unref(bus) }
        pipeline.setState(.playing)
        defer { pipeline.setState(.null) }
        let wanted = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
        guard
            let message = unsafe gst_bus_timed_pop_filtered(
                bus, GstClockTime(max(0, timeout / .nanoseconds(1))), wanted)
        else { return false }
        defer { unsafe gst_shim_message_unref(message) }
        return unsafe gst_shim_message_type(message) == GST_MESSAGE_EOS
    }
}
