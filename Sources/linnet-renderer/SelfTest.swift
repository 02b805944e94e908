// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import MediaModel
import Settings

/// Says what of GStreamer is missing and whether the card can be used, in the form of `linnetd --self-test`.
enum SelfTest {
    /// What is checked is checked within the walls, if they are asked for.
    static func run(
        device: String, video: RendererConfiguration.VideoSink, _ confinement: Confinement
    ) -> Int32 {
        tellConfinement(confinement.apply())
        let hasElements = checkElements()
        let hasTLS = checkTLS()
        let hasCard = checkCard(device)
        let hasDisplay = video == .none || checkDisplay(video)
        return hasElements && hasTLS && hasCard && hasDisplay ? 0 : 1
    }

    private static func checkTLS() -> Bool {
        let authorities = "/etc/ssl/certs/ca-certificates.crt"
        let fault =
            !Machine.hasTLS
            ? "no TLS, so no https; install glib-networking"
            : !FileSystem.exists(authorities)
                ? "no authorities to check servers against, so no https; install ca-certificates" : nil
        tell(fault == nil, "https", fault ?? "TLS is there")
        return fault == nil
    }

    private static func checkDisplay(_ sink: RendererConfiguration.VideoSink) -> Bool {
        let missing = PluginFolder.missing(for: sink)
        for (element, format, package) in missing {
            tell(false, "video", "no \(element), so no \(format); install \(package)")
        }
        if missing.isEmpty { tell(true, "video", "all elements are there") }
        let reason = PluginFolder.tryDisplay(sink)
        tell(
            reason == nil, "display",
            reason ?? "\(sink.rawValue) can be opened")
        return missing.isEmpty && reason == nil
    }

    private static func checkElements() -> Bool {
        let missing = PluginFolder.missing()
        for (element, format, package) in missing {
            tell(false, "GStreamer", "no \(element), so no \(format); install \(package)")
        }
        if missing.isEmpty { tell(true, "GStreamer", "all \(PluginFolder.needed.count) elements are there") }
        return missing.isEmpty
    }

    /// A wall that this host does not offer is told, and no fault.
    private static func tellConfinement(_ layers: [ConfinementLayer]) {
        let standing = layers.filter(\.isOn).map(\.kind.rawValue).joined(separator: ", ")
        let missing = layers.filter { !$0.isOn }
        guard !missing.isEmpty else { return tell(true, "confinement", standing) }
        let words = missing.map { "\($0.kind.rawValue) (\($0.reason ?? ""))" }.joined(separator: ", ")
        tell(true, "confinement", "\(standing.isEmpty ? "none" : standing); not \(words)")
    }

    private static func checkCard(_ device: String) -> Bool {
        let status = AudioOutput.check(device: device)
        switch status.state {
        case .closed, .open: tell(true, "sound card", status.device)
        case .null where device == "null": tell(true, "sound card", "none, as wanted")
        case .null:
            tell(
                false, "sound card",
                "there is none; nothing will be heard, set [output] device if there is one")
        case .busy:
            tell(false, "sound card", "\(status.device): \(status.reason ?? "busy"); end what uses it")
        case .lost:
            let advice = "see aplay -L for names, and set [output] device"
            tell(false, "sound card", "\(status.device): \(status.reason ?? "not there"); \(advice)")
        }
        return status.state != .lost && status.state != .busy && (status.state != .null || device == "null")
    }

    private static func tell(_ isFine: Bool, _ what: String, _ text: String) {
        let blanks = String(repeating: " ", count: max(16 - what.count, 1))
        Machine.write("\(isFine ? "ok  " : "FAIL")  \(what)\(blanks)\(text)\n", to: .output)
    }
}
