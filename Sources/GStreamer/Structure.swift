// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// Puts a text into a structure of names and values.
func put(_ text: String, as name: String, into structure: UnsafeMutablePointer<GstStructure>) {
    var value = GValue()
    unsafe g_value_init(&value, gst_shim_type_string())
    unsafe g_value_set_string(&value, text)
    unsafe gst_structure_set_value(structure, name, &value)
    unsafe g_value_unset(&value)
}

/// Puts a structure into another one, and takes over the reference to it.
func put(
    adopting part: UnsafeMutablePointer<GstStructure>, as name: String,
    into whole: UnsafeMutablePointer<GstStructure>
) {
    var value = GValue()
    unsafe g_value_init(&value, gst_shim_type_structure())
    unsafe gst_value_set_structure(&value, part)
    unsafe gst_structure_set_value(whole, name, &value)
    unsafe g_value_unset(&value)
    unsafe gst_structure_free(part)
}
