// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// The jacks of one card that can tell whether something is plugged in. Moving it moves the handle; dropping it closes it.
@safe package struct JackControls: ~Copyable {
    /// One jack.
    package struct Jack: Equatable, Sendable {
        package let name: String
        package var isPlugged: Bool
        fileprivate let number: UInt32
    }

    /// No card has nearly so many.
    private static let limit = 64
    private let handle: OpaquePointer
    /// How they are, as far as it was read.
    package private(set) var jacks: [Jack]

    /// Opens the controls of a card such as `hw:0`, and reads how its jacks are. Nil if it has none, or is not there.
    package init?(card: String) {
        alsa_shim_silence()
        var opened: OpaquePointer?
        guard unsafe snd_ctl_open(&opened, card, Int32(SND_CTL_NONBLOCK)) == 0, let opened = unsafe opened
        else {
            return nil
        }
        var found = unsafe Self.find(in: opened)
        guard !found.isEmpty, unsafe snd_ctl_subscribe_events(opened, 1) >= 0 else {
            _ = unsafe snd_ctl_close(opened)
            return nil
        }
        // What changed before the subscription was not told.
        for index in found.indices {
            if let isPlugged = unsafe Self.read(found[index].number, of: opened) {
                found[index].isPlugged = isPlugged
            }
        }
        unsafe handle = opened
        jacks = found
    }

    deinit { _ = unsafe snd_ctl_close(handle) }

    /// Waits until a control has changed, for `wakeUp`, or for `timeout`.
    package func wait(or wakeUp: WakeUp, timeout: Duration?) {
        let count = min(8, max(0, Int(unsafe snd_ctl_poll_descriptors_count(handle))))
        var entries = [pollfd](repeating: pollfd(), count: count)
        _ = unsafe entries.withUnsafeMutableBufferPointer {
            unsafe snd_ctl_poll_descriptors(handle, $0.baseAddress, UInt32(count))
        }
        _ = wakeUp.wait(and: &entries, timeout: timeout)
    }

    /// Takes up what has changed since the last time, and returns the jacks that are otherwise than before. Nil if the card is
    /// gone.
    package mutating func changes() -> [Jack]? {
        var event: OpaquePointer?
        guard unsafe snd_ctl_event_malloc(&event) == 0 else { return nil }
        defer { unsafe snd_ctl_event_free(event) }
        var isNews = false
        for _ in 0..<1_000 {
            let status = unsafe snd_ctl_read(handle, event)
            if status == -EAGAIN || status == 0 { break }
            guard status > 0 else { return nil }
            isNews = true
        }
        guard isNews else { return [] }
        var changed: [Jack] = []
        for index in jacks.indices {
            guard let isPlugged = unsafe Self.read(jacks[index].number, of: handle) else { return nil }
            guard isPlugged != jacks[index].isPlugged else { continue }
            jacks[index].isPlugged = isPlugged
            changed.append(jacks[index])
        }
        return changed
    }

    /// The controls whose name ends in `Jack`, as the kernel has it (Documentation/sound/designs/jack-controls.rst).
    private static func find(in control: OpaquePointer) -> [Jack] {
        var list: OpaquePointer?
        guard unsafe snd_ctl_elem_list_malloc(&list) == 0 else { return [] }
        defer { unsafe snd_ctl_elem_list_free(list) }
        guard unsafe snd_ctl_elem_list(control, list) == 0 else { return [] }
        let count = unsafe snd_ctl_elem_list_get_count(list)
        guard count > 0, count < 10_000, unsafe snd_ctl_elem_list_alloc_space(list, count) == 0 else {
            return []
        }
        defer { unsafe snd_ctl_elem_list_free_space(list) }
        guard unsafe snd_ctl_elem_list(control, list) == 0 else { return [] }
        var jacks: [Jack] = []
        for index in 0..<min(count, unsafe snd_ctl_elem_list_get_used(list)) where jacks.count < limit {
            guard let text = unsafe snd_ctl_elem_list_get_name(list, index) else { continue }
            var name = unsafe String(cString: text)
            guard name.hasSuffix(" Jack") else { continue }
            let which = unsafe snd_ctl_elem_list_get_index(list, index)
            if which > 0 { name += ",\(which)" }
            let number = unsafe snd_ctl_elem_list_get_numid(list, index)
            guard let isPlugged = unsafe read(number, of: control) else { continue }
            jacks.append(Jack(name: name, isPlugged: isPlugged, number: number))
        }
        return jacks
    }

    private static func read(_ number: UInt32, of control: OpaquePointer) -> Bool? {
        var value: OpaquePointer?
        guard unsafe snd_ctl_elem_value_malloc(&value) == 0 else { return nil }
        defer { unsafe snd_ctl_elem_value_free(value) }
        unsafe snd_ctl_elem_value_set_numid(value, number)
        guard unsafe snd_ctl_elem_read(control, value) == 0 else { return nil }
        return unsafe snd_ctl_elem_value_get_boolean(value, 0) != 0
    }
}
