// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Where a device is worn. The raw value is the stable name on the wire and in settings.
package enum DevicePlacement: String, Sendable, CaseIterable {
    case inEar
    case onHead
    case overTheEar
    case offHead

    /// True if what it plays is heard.
    package var isWorn: Bool { self != .offHead }
}
