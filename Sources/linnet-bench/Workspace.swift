// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// The folder, media, servers and simulated cards of one bench run. Everything goes when the object goes.
final class Workspace {
    let folder: String
    /// The project's support tools: simulated card and quick HTTP server.
    let support: String
    /// The folder of the programs that are measured.
    let programs: String
    private(set) var loopbackURL = ""
    let mpdPort: UInt16 = 16_619
    private var servers: [ChildProcess] = []
    private var network: PeerNetwork?

    /// A network of two ends, one of them in a namespace.
    struct PeerNetwork {
        let name: String
        let interface: String
        /// The peer's address.
        let inside: String
        /// Our media server, as the peer reaches it.
        let serverURL: String
    }

    /// `hasTracks`: the long tracks are made and served, which some benches do without; `hasServer`: what else is made is served.
    /// `hasSupport`: the simulated cards and the media server are there.
    /// `address`: where others find the media server.
    init(
        programs: String, support: String, hasTracks: Bool = true, hasServer: Bool = false,
        hasSupport: Bool = true,
        address: String = "127.0.0.1"
    ) throws {
        (self.programs, self.support) = (programs, support)
        // Programs are started from other folders, so the paths must not depend on this one.
        for tool in ["libasound_module_pcm_simdac.so", "quickhttpd"]
        where hasSupport && readBytes("\(support)/\(tool)", limit: 1) == nil {
            throw ProbeFailure("\(support)/\(tool) is missing; `make support` builds it", 0)
        }
        folder = "/tmp/linnet-bench-\(monotonicNanoseconds())"
        for path in [folder, "\(folder)/card", "\(folder)/state", "\(folder)/www"] {
            try run(["mkdir", "-p", path])
        }
        if hasTracks { try makeMedia() } else if hasServer { try run(["mkdir", "-p", media]) }
        // What `make install` does once: few plugins, and a registry that need not be made at start.
        try run(["\(programs)/linnet-renderer", "--prepare", plugins])
        try configureCards(["", ""])
        guard hasTracks || hasServer else { return }
        let output = "\(folder)/quickhttpd.log"
        servers.append(
            try ChildProcess(["\(support)/quickhttpd", "-a", address, "0", media], output: output))
        loopbackURL = try retry(seconds: 30) {
            let words = readLines(output).first?.split(separator: " ") ?? []
            guard words.count == 3, let port = UInt16(words[2]) else {
                throw ProbeFailure("quickhttpd does not start", 0)
            }
            return "http://\(address):\(port)"
        }
    }

    deinit {
        servers.forEach { $0.kill() }
        if let network { _ = try? run(["ip", "netns", "delete", network.name]) }
        _ = try? run(["rm", "-rf", folder])
    }

    /// Environment for a program that plays to the simulated cards.
    var cardEnvironment: [String: String] {
        ["ALSA_CONFIG_PATH": "\(folder)/asoundrc", "HOME": folder, "XDG_RUNTIME_DIR": folder]
    }

    /// The folder of the applications' Python helper.
    let pythonHelper = absolutePath("packaging/applications/python")

    /// The renderer's prepared plugins.
    var plugins: String { "\(folder)/plugins" }

    /// The recording of card `number`, without its ending.
    func recording(_ number: Int) -> String { "\(folder)/card/sim\(number)" }

    /// Starts card `number` anew.
    func cleanCard(_ number: Int) {
        for ending in ["raw", "seg"] { _ = try? run(["rm", "-f", "\(recording(number)).\(ending)"]) }
    }

    /// Makes a card of each of these settings, the lines of the plugin's configuration, and each anew.
    func configureCards(_ settings: [String]) throws {
        var text =
            "</usr/share/alsa/alsa.conf>\npcm_type.simdac { lib \"\(support)/libasound_module_pcm_simdac.so\" }\n"
        for (number, setting) in settings.enumerated() {
            cleanCard(number)
            text +=
                "pcm.sim\(number) { type simdac path \"\(recording(number))\" \(setting) "
                + "hint { show on description \"sim\" } }\n"
            text +=
                "pcm.plugsim\(number) { type plug slave.pcm sim\(number) hint { show on description \"plug\" } }\n"
        }
        try writeText(text, to: "\(folder)/asoundrc")
    }

    /// Makes a namespace joined to this host, with a media server inside; once.
    func peerNetwork() throws -> PeerNetwork {
        if let network { return network }
        let name = "linnet-bench"
        _ = try? run(["ip", "netns", "delete", name])
        try run(["ip", "netns", "add", name])
        let result = PeerNetwork(
            name: name, interface: "eth0", inside: "10.79.0.1", serverURL: "http://10.79.0.1:18198")
        network = result
        try run(["ip", "-n", name, "link", "set", "lo", "up"])
        try run(["ip", "link", "add", "linnetb0", "type", "veth", "peer", "name", "eth0", "netns", name])
        try run(["ip", "addr", "add", "10.79.0.2/24", "dev", "linnetb0"])
        try run(["ip", "link", "set", "linnetb0", "up"])
        try run(["ip", "-n", name, "addr", "add", "10.79.0.1/24", "brd", "+", "dev", "eth0"])
        try run(["ip", "-n", name, "link", "set", "eth0", "up"])
        try run(["ip", "-n", name, "route", "add", "224.0.0.0/4", "dev", "eth0"])
        servers.append(
            try ChildProcess(
                ["ip", "netns", "exec", name, "\(support)/quickhttpd", "-a", "0.0.0.0", "18198", media],
                output: "\(folder)/quickhttpd-peer.log"))
        _ = try retry(seconds: 5) { try StreamSocket(host: "10.79.0.1", port: 18_198) }
        return result
    }

    // MARK: Media

    var media: String { "\(support)/bench-media" }

    /// Says which media lie there, so that those of an earlier version are made anew.
    private static let mediaVersion = "3"

    /// 120 s of a tone and noise, on the left alone in the first half, on the right alone in the second, so that
    /// what is heard after a seek shows where it comes from. Kept beside the support tools.
    private func makeMedia() throws {
        let wave = "\(media)/track.wav"
        if readText("\(media)/complete") == Self.mediaVersion { return }
        try run(["mkdir", "-p", media])
        try writeWave(wave)
        // Encoders that leave the silent side silent, as voaacenc and joint stereo of others do not.
        let encoders = [
            ("flac", "flacenc"), ("bare.mp3", "lamemp3enc target=bitrate bitrate=256 cbr=true"),
            ("m4a", "avenc_aac bitrate=192000 aac-ms=false aac-is=false ! aacparse ! mp4mux faststart=true"),
        ]
        for (ending, encoder) in encoders {
            let stages =
                "filesrc location=\(wave) ! wavparse ! audioconvert ! \(encoder) ! "
                + "filesink location=\(media)/track.\(ending)"
            try run(["gst-launch-1.0", "-q"] + stages.split(separator: " ").map(String.init), seconds: 180)
        }
        guard let bare = readBytes("\(media)/track.bare.mp3") else {
            throw ProbeFailure("the MP3 file was not made", 0)
        }
        try writeBytes(LameTag.added(to: bare, frames: Self.rate * Self.seconds), to: "\(media)/track.mp3")
        try run(["rm", "\(media)/track.bare.mp3"])
        try writeText(Self.mediaVersion, to: "\(media)/complete")
    }

    private static let rate = 44_100
    private static let seconds = 120

    private static func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// The header of a stereo file of 16 bits.
    static func waveHeader(rate: Int, frames: Int) -> [UInt8] {
        Array("RIFF".utf8) + little(36 + frames * 4, 4) + Array("WAVEfmt ".utf8)
            + little(16, 4) + little(1, 2) + little(2, 2) + little(rate, 4) + little(rate * 4, 4)
            + little(4, 2) + little(16, 2) + Array("data".utf8) + little(frames * 4, 4)
    }

    private func writeWave(_ path: String) throws {
        let rate = Self.rate
        let frames = rate * Self.seconds
        var bytes = Self.waveHeader(rate: rate, frames: frames)
        bytes.reserveCapacity(44 + frames * 4)
        // A rotating pointer makes the 1 kHz sine; started off zero so that the first sample is not silent.
        let (cosine, sine) = (0.989_863_9, 0.142_018_8)
        var (x, y) = (0.540_302, 0.841_471)
        var noise: UInt32 = 2_463_534_242
        for frame in 0..<frames {
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
            noise ^= noise << 13
            noise ^= noise >> 17
            noise ^= noise << 5
            let hiss = Double(Int32(bitPattern: noise)) / 2_147_483_648 * 0.08
            let sample = Self.little(Int((0.3 * y + hiss) * 32_767), 2)
            bytes += frame < frames / 2 ? sample + [0, 0] : [0, 0] + sample
        }
        try writeBytes(bytes, to: path)
    }
}

/// Runs a short program to its end; an exit code other than 0 is an error that names the program.
func run(_ arguments: [String], seconds: Int = 20) throws {
    let process = try ChildProcess(arguments)
    guard let code = process.wait(milliseconds: seconds * 1_000) else {
        throw ProbeFailure("\(arguments[0]) did not end within \(seconds) s", 0)
    }
    if code != 0 { throw ProbeFailure("`\(arguments.joined(separator: " "))` ended with \(code)", 0) }
}
