// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CInput

/// Reads the kernel's records of input events out of bytes, which may come in any portions.
package struct InputEvents {
    package enum Event: Equatable, Sendable {
        case changed(InputControl, isOn: Bool)
        /// The kernel had no room for some events: what is must be asked.
        case lost
    }

    private var rest: [UInt8] = []
    /// True from a loss until the report that it was in has ended: what comes until then is of no use.
    private var isLosing = false

    package init() {}

    /// Takes bytes, and returns what they tell. Axes, and keys that repeat, tell nothing.
    package mutating func take(_ bytes: some Collection<UInt8>) -> [Event] {
        rest += bytes
        let size = MemoryLayout<input_event>.size
        var events: [Event] = []
        var first = 0
        while rest.count - first >= size {
            let record = unsafe rest.withUnsafeBytes {
                unsafe $0.loadUnaligned(fromByteOffset: first, as: input_event.self)
            }
            first += size
            if let event = take(record) { events.append(event) }
        }
        rest.removeFirst(first)
        return events
    }

    private mutating func take(_ record: input_event) -> Event? {
        switch (Int32(record.type), Int32(record.code)) {
        case (EV_SYN, SYN_DROPPED):
            isLosing = true
            return .lost
        case (EV_SYN, _):
            isLosing = false
            return nil
        case (EV_SW, _) where !isLosing:
            return .changed(InputControl(.switch, record.code), isOn: record.value != 0)
        case (EV_KEY, _) where !isLosing && record.value < 2:
            return .changed(InputControl(.key, record.code), isOn: record.value != 0)
        default: return nil
        }
    }
}
