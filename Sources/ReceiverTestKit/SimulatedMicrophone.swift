// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A simulated capture device with its faults, and a jack beside it. It does not capture; the program under test does that, through
/// alsa-lib.
package struct SimulatedMicrophone: Sendable {
    /// The ALSA name of the device, and of the controls with the jack.
    package let device: String
    package let controls: String
    private let path: String
    private let jack: String

    init(device: String, path: String, controls: String, jack: String) {
        (self.device, self.path, self.controls, self.jack) = (device, path, controls, jack)
    }

    /// What an ALSA configuration needs for such devices.
    static let types = """
        pcm_type.simadc { lib "\(SimulatedCard.support)/libasound_module_pcm_simadc.so" }
        ctl_type.simdac { lib "\(SimulatedCard.support)/libasound_module_ctl_simdac.so" }

        """

    /// The line of a configuration that makes a device of 1000 Hz.
    static func device(_ name: String, path: String) -> String {
        "pcm.\(name) { type simadc path \"\(path)\" }\n"
    }

    /// Lets it capture silence, or its tone.
    package func setQuiet(_ isQuiet: Bool) throws(SimulatedCard.Failure) { try set("quiet", isQuiet) }

    /// Unplugs it, or plugs it in again.
    package func setUnplugged(_ isUnplugged: Bool) throws(SimulatedCard.Failure) {
        try set("fail", isUnplugged)
    }

    /// Lets somebody else seem to read it.
    package func setBusy(_ isBusy: Bool) throws(SimulatedCard.Failure) { try set("busy", isBusy) }

    /// Plugs something into the jack, or pulls it out.
    package func setPlugged(_ isPlugged: Bool) throws(SimulatedCard.Failure) {
        try SimulatedCard.write(isPlugged ? "1" : "0", to: jack, truncating: false)
    }

    private func set(_ fault: String, _ isPresent: Bool) throws(SimulatedCard.Failure) {
        let path = "\(path).\(fault)"
        if isPresent {
            try SimulatedCard.write("", to: path)
        } else if unsafe unlink(path) < 0, errno != ENOENT {
            throw SimulatedCard.Failure(path: path, status: errno)
        }
    }
}
