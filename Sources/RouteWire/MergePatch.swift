// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// JSON Merge Patch (RFC 7396).
package enum MergePatch {
    /// The patch that makes `new` of `old`, or nil if they are equal. Null members inside objects count as absent.
    package static func diff(from old: JSONValue, to new: JSONValue) -> JSONValue? {
        // Parts that were taken over share their storage, which is seen at a glance: a queue has a thousand members.
        if old == new { return nil }
        guard case .object(let before) = old, case .object(let after) = new else { return new }
        var patch: [String: JSONValue] = [:]
        for (key, value) in after where !value.isNull {
            guard let earlier = before[key], !earlier.isNull else {
                patch[key] = value
                continue
            }
            if let change = diff(from: earlier, to: value) { patch[key] = change }
        }
        for (key, value) in before where !value.isNull {
            if after[key]?.isNull ?? true { patch[key] = .null }
        }
        return patch.isEmpty ? nil : .object(patch)
    }

    /// `target` with `patch` applied, as in section 2 of the RFC.
    package static func apply(_ patch: JSONValue, to target: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members = target.objectValue ?? [:]
        for (key, change) in changes {
            members[key] = change.isNull ? nil : apply(change, to: members[key] ?? .null)
        }
        return .object(members)
    }
}
