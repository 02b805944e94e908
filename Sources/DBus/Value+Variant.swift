// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib

extension Value {
    /// A floating reference, for a function that takes it over. Texts that cannot be paths or signatures become empty ones.
    func makeVariant() -> OpaquePointer {
        switch self {
        case .boolean(let value): return unsafe g_variant_new_boolean(value ? 1 : 0)
        case .byte(let value): return unsafe g_variant_new_byte(value)
        case .int16(let value): return unsafe g_variant_new_int16(value)
        case .uint16(let value): return unsafe g_variant_new_uint16(value)
        case .int32(let value): return unsafe g_variant_new_int32(value)
        case .uint32(let value): return unsafe g_variant_new_uint32(value)
        case .int64(let value): return unsafe g_variant_new_int64(gint64(value))
        case .uint64(let value): return unsafe g_variant_new_uint64(guint64(value))
        case .double(let value): return unsafe g_variant_new_double(value)
        case .string(let value): return unsafe g_variant_new_string(value)
        case .objectPath(let value):
            return unsafe g_variant_new_object_path(g_variant_is_object_path(value) != 0 ? value : "/")
        case .signature(let value):
            return unsafe g_variant_new_signature(g_variant_is_signature(value) != 0 ? value : "")
        case .handle(let place): return unsafe g_variant_new_handle(place)
        case .bytes(let values):
            return unsafe array(of: "y", values.map { unsafe g_variant_new_byte($0) })
        case .strings(let values):
            return unsafe array(of: "s", values.map { unsafe g_variant_new_string($0) })
        case .array(let values):
            return unsafe array(of: values.isEmpty ? "v" : nil, values.map { unsafe $0.makeVariant() })
        case .dictionary(let values):
            return unsafe array(
                of: "{sv}",
                values.map {
                    unsafe g_variant_new_dict_entry(
                        g_variant_new_string($0.key), g_variant_new_variant($0.value.makeVariant()))
                })
        case .tuple(let values):
            var children: [OpaquePointer?] = unsafe values.map { unsafe $0.makeVariant() }
            return unsafe g_variant_new_tuple(&children, gsize(children.count))
        case .variant(let value): return unsafe g_variant_new_variant(value.makeVariant())
        }
    }

    /// Nil as `type`: that of the first child.
    private func array(of type: String?, _ children: [OpaquePointer?]) -> OpaquePointer {
        var children = unsafe children
        guard let type else { return unsafe g_variant_new_array(nil, &children, gsize(children.count)) }
        let kind = unsafe g_variant_type_new(type)
        defer { unsafe g_variant_type_free(kind) }
        return unsafe g_variant_new_array(kind, &children, gsize(children.count))
    }

    /// Copies `variant`, which stays with the caller. Nil if it is larger than ``Bounds`` allow.
    static func reading(_ variant: OpaquePointer) -> Value? {
        var reader = Reader()
        return unsafe reader.value(variant, depth: 0)
    }

    /// Counts what it copies.
    private struct Reader {
        private var values = Bounds.values
        private var bytes = Bounds.bytes

        mutating func value(_ variant: OpaquePointer, depth: Int) -> Value? {
            values -= 1
            guard values >= 0, depth < Bounds.depth else { return nil }
            switch unsafe g_variant_classify(variant) {
            case G_VARIANT_CLASS_BOOLEAN: return unsafe .boolean(g_variant_get_boolean(variant) != 0)
            case G_VARIANT_CLASS_BYTE: return unsafe .byte(g_variant_get_byte(variant))
            case G_VARIANT_CLASS_INT16: return unsafe .int16(g_variant_get_int16(variant))
            case G_VARIANT_CLASS_UINT16: return unsafe .uint16(g_variant_get_uint16(variant))
            case G_VARIANT_CLASS_INT32: return unsafe .int32(g_variant_get_int32(variant))
            case G_VARIANT_CLASS_UINT32: return unsafe .uint32(g_variant_get_uint32(variant))
            case G_VARIANT_CLASS_INT64: return unsafe .int64(Int64(g_variant_get_int64(variant)))
            case G_VARIANT_CLASS_UINT64: return unsafe .uint64(UInt64(g_variant_get_uint64(variant)))
            case G_VARIANT_CLASS_HANDLE: return unsafe .handle(g_variant_get_handle(variant))
            case G_VARIANT_CLASS_DOUBLE: return unsafe .double(g_variant_get_double(variant))
            case G_VARIANT_CLASS_STRING: return unsafe text(variant).map(Value.string)
            case G_VARIANT_CLASS_OBJECT_PATH: return unsafe text(variant).map(Value.objectPath)
            case G_VARIANT_CLASS_SIGNATURE: return unsafe text(variant).map(Value.signature)
            case G_VARIANT_CLASS_VARIANT: return unsafe children(variant, depth).flatMap(\.first)
            case G_VARIANT_CLASS_ARRAY: return unsafe array(variant, depth)
            case G_VARIANT_CLASS_TUPLE, G_VARIANT_CLASS_DICT_ENTRY:
                return unsafe children(variant, depth).map(Value.tuple)
            default: return nil
            }
        }

        private mutating func text(_ variant: OpaquePointer) -> String? {
            var length: gsize = 0
            guard let start = unsafe g_variant_get_string(variant, &length), take(Int(clamping: length))
            else {
                return nil
            }
            return unsafe String(cString: start)
        }

        private mutating func take(_ count: Int) -> Bool {
            guard count <= bytes else { return false }
            bytes -= count
            return true
        }

        private mutating func array(_ variant: OpaquePointer, _ depth: Int) -> Value? {
            let type = unsafe String(cString: g_variant_get_type_string(variant))
            if type == "ay" {
                var count: gsize = 0
                let start = unsafe g_variant_get_fixed_array(variant, &count, 1)
                guard take(Int(clamping: count)) else { return nil }
                return .bytes(
                    unsafe Array(
                        UnsafeRawBufferPointer(
                            start: start.map { unsafe UnsafeRawPointer($0) }, count: Int(count))))
            }
            guard let elements = unsafe children(variant, depth) else { return nil }
            if type == "as" { return .strings(elements.compactMap(\.text)) }
            guard ["a{s", "a{o", "a{g"].contains(where: type.hasPrefix) else { return .array(elements) }
            var result: [String: Value] = [:]
            for case .tuple(let pair) in elements where pair.count == 2 {
                if let key = pair[0].text { result[key] = pair[1] }
            }
            return .dictionary(result)
        }

        private mutating func children(_ variant: OpaquePointer, _ depth: Int) -> [Value]? {
            let count = unsafe g_variant_n_children(variant)
            guard count <= values else { return nil }
            var result: [Value] = []
            result.reserveCapacity(Int(count))
            for index in 0..<count {
                let child = unsafe g_variant_get_child_value(variant, index)!
                defer { unsafe g_variant_unref(child) }
                guard let value = unsafe value(child, depth: depth + 1) else { return nil }
                result.append(value)
            }
            return result
        }
    }
}
