// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import InputDevices
package import SwitchingCore

/// What a switch or key of the sensor's device means.
///
/// Written as `SW_FRONT_PROXIMITY=onHead`: on, the device is worn so; off, it is not worn. `!SW_LID=inEar`: the other way round.
/// `SW_HEADPHONE_INSERT=jack:Headphones`: on, something is plugged into that jack.
package struct SensorRule: Equatable, Sendable {
    package enum Meaning: Equatable, Sendable {
        case placement(DevicePlacement)
        case jack(name: String)
    }

    /// More than this is no device that is worn.
    package static let limit = 16
    package let control: InputControl
    /// True if off means what on usually does.
    package let isInverted: Bool
    package let meaning: Meaning

    package init(_ control: InputControl, isInverted: Bool = false, _ meaning: Meaning) {
        (self.control, self.isInverted, self.meaning) = (control, isInverted, meaning)
    }

    /// Nil if the text is no rule.
    package init?(_ text: some StringProtocol) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        let isInverted = text.first == "!"
        let name = isInverted ? text[..<sign].dropFirst() : text[..<sign]
        guard let control = InputControl(named: String(name)) else { return nil }
        let meaning = text[text.index(after: sign)...]
        if let placement = DevicePlacement(rawValue: String(meaning)), placement.isWorn {
            self.init(control, isInverted: isInverted, .placement(placement))
        } else if meaning.hasPrefix("jack:"), meaning.utf8.count > 5, meaning.utf8.count <= 64 {
            self.init(control, isInverted: isInverted, .jack(name: String(meaning.dropFirst(5))))
        } else {
            return nil
        }
    }
}
