// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A simulated card in a folder of its own: its ALSA configuration, its faults and what it has recorded so far.
/// It does not run the card; the program under test does that, through alsa-lib.
package struct SimulatedCard: Sendable {
    /// The folder of the configuration and of the recording.
    package let folder: String
    package let number: Int
    private var recorded = CardRecording()
    private var readSegments = 0
    private var readFrames = 0
    private var unfinishedLine = ""

    /// The card `number` of a folder that `configure` or `Tests/Support/asoundrc.sh` has prepared.
    package init(folder: String, number: Int = 0) { (self.folder, self.number) = (folder, number) }

    /// The ALSA name of the card itself.
    package var device: String { "sim\(number)" }
    /// The ALSA name of the card behind ALSA's conversions.
    package var convertingDevice: String { "plugsim\(number)" }
    private var path: String { "\(folder)/sim\(number)" }

    /// The folder of the plugins after `make support`, beside the sources.
    static let support: String = {
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(here)/.build/support"
    }()
    package static let plugin = "\(support)/libasound_module_pcm_simdac.so"

    /// Writes `folder/asound.conf` with `count` cards and returns its path, the value for `ALSA_CONFIG_PATH`.
    /// `settings` are lines of the plugin's configuration, such as `formats "S16_LE S32_LE"`.
    ///
    /// With a mixer, card 0 is also `hardwareDevice`, since a mixer belongs to a card of the machine.
    package static func configure(
        folder: String, count: Int = 1, settings: String = "", mixer: MixerKind? = nil
    ) throws(Failure) -> String {
        var text = "</usr/share/alsa/alsa.conf>\npcm_type.simdac { lib \"\(plugin)\" }\n"
        for number in 0..<count {
            text += "pcm.sim\(number) { type simdac path \"\(folder)/sim\(number)\" \(settings) }\n"
            text += "pcm.plugsim\(number) { type plug slave.pcm sim\(number) }\n"
        }
        if let mixer { text += hardware(folder, settings, mixer) }
        let path = "\(folder)/asound.conf"
        try write(text, to: path)
        return path
    }

    /// Card 0 of the machine, as far as alsa-lib knows.
    private static func hardware(_ folder: String, _ settings: String, _ mixer: MixerKind) -> String {
        let card = "@args.CARD { type string default \"0\" }"
        let device = "@args.DEV { type integer default 0 } @args.SUBDEV { type integer default -1 }"
        return """
            ctl_type.simdac { lib "\(support)/libasound_module_ctl_simdac.so" }
            pcm.!hw { @args [ CARD DEV SUBDEV ] \(card) \(device) type simdac path "\(folder)/sim0" \(settings) }
            ctl.!hw { @args [ CARD ] \(card) type simdac path "\(folder)/sim0" \(mixer.settings) }

            """
    }

    package struct Failure: Error, Equatable {
        package let path: String
        package let status: Int32
    }

    // MARK: Faults

    /// Unplugs the card, or plugs it in again.
    package func setUnplugged(_ isUnplugged: Bool) throws(Failure) { try set("fail", isUnplugged) }

    /// Lets somebody else seem to hold the card.
    package func setBusy(_ isBusy: Bool) throws(Failure) { try set("busy", isBusy) }

    /// Lets the card run dry at its next look, though the program is in time.
    package func runDry() throws(Failure) { try set("dry", true) }

    private func set(_ fault: String, _ isPresent: Bool) throws(Failure) {
        let path = "\(path).\(fault)"
        if isPresent {
            try Self.write("", to: path)
        } else if unsafe unlink(path) < 0, errno != ENOENT {
            throw Failure(path: path, status: errno)
        }
    }

    // MARK: Mixer

    /// The ALSA name of card 0 where it has a mixer.
    package static let hardwareDevice = "hw:0"

    /// What a card's mixer is like.
    package struct MixerKind: Sendable {
        /// The lowest gain in hundredths of a decibel; the highest is 0.
        package let lowest: Int
        package let steps: Int
        package let hasSwitch: Bool
        package let hasJack: Bool
        package init(lowest: Int, steps: Int, hasSwitch: Bool = true, hasJack: Bool = false) {
            (self.lowest, self.steps) = (lowest, steps)
            (self.hasSwitch, self.hasJack) = (hasSwitch, hasJack)
        }
        fileprivate var settings: String {
            "lowest \(lowest) steps \(steps) switch \(hasSwitch ? 1 : 0) jack \(hasJack ? 1 : 0)"
        }
    }

    /// Where a card's mixer stands.
    package struct Mixer: Equatable, Sendable {
        package let value: Int
        /// False: its switch mutes.
        package let isOn: Bool
        package init(value: Int, isOn: Bool) { (self.value, self.isOn) = (value, isOn) }
    }

    /// Where the mixer stands; nil before anybody opened it.
    package var mixer: Mixer? {
        let numbers = String(decoding: Self.read("\(path).mixer", from: 0), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return numbers.count == 2 ? Mixer(value: numbers[0], isOn: numbers[1] == 1) : nil
    }

    /// Moves the mixer as a hand at the card would.
    package func setMixer(_ mixer: Mixer) throws(Failure) {
        // In place, and as wide as what stands there: whoever reads meanwhile finds a whole number.
        let value = String(mixer.value)
        let blanks = String(repeating: " ", count: max(5 - value.utf8.count, 0))
        try Self.write("\(blanks)\(value) \(mixer.isOn ? 1 : 0)\n", to: "\(path).mixer", truncating: false)
    }

    /// Plugs something into the jack of card 0, or pulls it out.
    package func setPlugged(_ isPlugged: Bool) throws(Failure) {
        try Self.write(isPlugged ? "1" : "0", to: "\(path).jack", truncating: false)
    }

    // MARK: Recording

    /// Reads what has come since the last call and returns all of it.
    package mutating func recording() -> CardRecording {
        // Frames are written before the segment that ends with them, so the lines are read first: then every frame
        // that a line names is there.
        let lines = Self.read("\(path).seg", from: readSegments)
        readSegments += lines.count
        let text = unfinishedLine + String(decoding: lines, as: UTF8.self)
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
        for line in parts.dropLast() { recorded.add(line: line) }
        unfinishedLine = String(parts.last ?? "")
        readFrames = recorded.forgetTakenBack(readBytes: readFrames)
        let bytes = Self.read("\(path).raw", from: readFrames)
        let whole = bytes.count - bytes.count % 2
        readFrames += whole
        recorded.add(frames: Array(bytes[..<whole]))
        return recorded
    }

    /// Waits until the recording is as wanted and returns it; nil when that has not come within `limit`. The file
    /// has no event to wait for, so it is looked at again every two milliseconds.
    package mutating func recording(
        within limit: Duration, where isWanted: (CardRecording) -> Bool
    ) async -> CardRecording? {
        let end = ContinuousClock.now + limit
        while true {
            let recording = recording()
            if isWanted(recording) { return recording }
            guard ContinuousClock.now < end else { return nil }
            try? await Task.sleep(for: .milliseconds(2))
            if Task.isCancelled { return nil }
        }
    }

    /// The clock of the recording.
    package static var now: Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: Files

    /// All bytes of a file from a place on; none when there is no file.
    private static func read(_ path: String, from start: Int) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 262_144)
        while true {
            let at = off_t(start + bytes.count)
            let got = unsafe chunk.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, at) }
            guard got > 0 else { return bytes }
            bytes += chunk[..<got]
        }
    }

    static func write(_ text: String, to path: String, truncating: Bool = true) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | (truncating ? O_TRUNC : 0) | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Failure(path: path, status: errno) }
        defer { close(file) }
        let bytes = Array(text.utf8)
        let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw Failure(path: path, status: errno) }
    }
}
