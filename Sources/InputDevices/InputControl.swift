// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CInput

/// A switch or key of an input device, by the kernel's numbers (linux/input-event-codes.h).
package struct InputControl: Equatable, Hashable, Sendable {
    package enum Kind: Equatable, Hashable, Sendable {
        case `switch`
        case key
    }

    package let kind: Kind
    package let code: UInt16

    package init(_ kind: Kind, _ code: UInt16) { (self.kind, self.code) = (kind, code) }

    /// A switch by the kernel's name, such as `SW_HEADPHONE_INSERT`, or either by its number: `SW_2`, `KEY_163`. Nil for anything else.
    package init?(named name: String) {
        if let code = Self.switches[name] {
            self.init(.switch, code)
        } else if let code = Self.number(name, "SW_"),
            code < UInt16(INPUT_SHIM_SWITCHES)
        {
            self.init(.switch, code)
        } else if let code = Self.number(name, "KEY_"), code < UInt16(INPUT_SHIM_KEYS) {
            self.init(.key, code)
        } else {
            return nil
        }
    }

    private static func number(_ name: String, _ prefix: String) -> UInt16? {
        name.hasPrefix(prefix) ? UInt16(name.dropFirst(prefix.count)) : nil
    }

    private static let switches: [String: UInt16] = [
        "SW_LID": 0, "SW_TABLET_MODE": 1, "SW_HEADPHONE_INSERT": 2, "SW_RFKILL_ALL": 3,
        "SW_MICROPHONE_INSERT": 4,
        "SW_DOCK": 5, "SW_LINEOUT_INSERT": 6, "SW_JACK_PHYSICAL_INSERT": 7, "SW_VIDEOOUT_INSERT": 8,
        "SW_CAMERA_LENS_COVER": 9, "SW_KEYPAD_SLIDE": 10, "SW_FRONT_PROXIMITY": 11, "SW_ROTATE_LOCK": 12,
        "SW_LINEIN_INSERT": 13, "SW_MUTE_DEVICE": 14, "SW_PEN_INSERTED": 15, "SW_MACHINE_COVER": 16,
    ]
}
