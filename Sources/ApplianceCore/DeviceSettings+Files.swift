// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The files that programs on the device read.
extension DeviceSettings {
    /// The settings of the receiver, by groups of its own file.
    package var receiver: [(name: String, values: [(key: String, value: String)])] {
        var groups: [(name: String, values: [(key: String, value: String)])] = []
        if let name = self["device.name"] { groups.append(("receiver", [("name", name)])) }
        if let policy = self["access.policy"] { groups.append(("access", [("policy", policy)])) }
        var output: [(key: String, value: String)] = []
        if let device = self["output.device"] { output.append(("device", device)) }
        if let limit = self["output.volume-limit"].flatMap({ Int($0) }) {
            output.append(("volume-cap", limit == 100 ? "1" : "0.\(limit < 10 ? "0" : "")\(limit)"))
        }
        if !output.isEmpty { groups.append(("output", output)) }
        return groups
    }

    /// What wpa_supplicant reads; nil where no network was chosen. The network's name is written as numbers: it may hold anything.
    package var wireless: String? {
        guard let ssid = self["wifi.ssid"], let country = self["wifi.country"], let key = self["wifi.key"]
        else { return nil }
        var lines = ["country=\(country)", "network={", "    ssid=\(Self.digits(ssid))"]
        if self["wifi.hidden"] == "yes" { lines.append("    scan_ssid=1") }
        switch key.utf8.count {
        case 0: lines.append("    key_mgmt=NONE")
        case 64: lines += ["    psk=\(key)", "    key_mgmt=WPA-PSK WPA-PSK-SHA256"]
        default:
            // Taken up to the last quote of the line, so quotes within are the key's.
            lines += ["    psk=\"\(key)\"", "    key_mgmt=WPA-PSK WPA-PSK-SHA256 SAE", "    ieee80211w=1"]
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private static func digits(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    package var authorizedKeys: String? { self["ssh.key"].map { "\($0)\n" } }

    /// Where and how often updates are looked for; empty if nowhere.
    package var update: [(key: String, value: String)] {
        guard let url = self["update.url"] else { return [] }
        return [("url", url), ("interval-hours", self["update.interval-hours"] ?? "24")]
    }

    /// What the firmware of the board reads: the overlay of the DAC.
    package var overlayLine: String {
        guard let dac = self["output.dac"], dac != "none" else { return "# [output] dac in linnet.conf\n" }
        return "# [output] dac in linnet.conf\ndtoverlay=\(dac)\n"
    }

    /// What counts now, for the person who wrote the file; secrets by name alone.
    package func log(mistakes: [CardFile.Mistake], notes: [String] = []) -> String {
        var text = "What this device made of linnet.conf, written by the device.\n\n"
        text += mistakes.isEmpty ? "No mistakes.\n" : "Mistakes; what counted before counts on there:\n"
        for mistake in mistakes { text += "  \(mistake)\n" }
        for note in notes { text += "\(note)\n" }
        text += values.isEmpty ? "\nNothing is chosen; the built-in values count.\n" : "\nWhat counts now:\n"
        for setting in CardSetting.all {
            guard let value = self[setting.name] else { continue }
            let shown =
                setting.isSecret
                ? (value.isEmpty ? "none, the network is open" : "kept on the device") : value
            text += "  [\(setting.group)] \(setting.key) = \(shown)\n"
        }
        return text
    }
}
