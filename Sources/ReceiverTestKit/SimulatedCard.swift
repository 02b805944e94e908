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

    /// Where the plugin is after `make support`, beside the sources.
    package static let plugin: String = {
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(here)/.build/support/libasound_module_pcm_simdac.so"
    }()

    /// Writes `folder/asound.conf` with `count` cards and returns its path, the value for `ALSA_CONFIG_PATH`.
    /// `settings` are lines of the plugin's configuration, such as `formats "S16_LE S32_LE"`.
    package static func configure(
        folder: String, count: Int = 1, settings: String = ""
    ) throws(Failure) -> String {
        var text = "</usr/share/alsa/alsa.conf>\npcm_type.simdac { lib \"\(plugin)\" }\n"
        for number in 0..<count {
            text += "pcm.sim\(number) { type simdac path \"\(folder)/sim\(number)\" \(settings) }\n"
            text += "pcm.plugsim\(number) { type plug slave.pcm sim\(number) }\n"
        }
        let path = "\(folder)/asound.conf"
        try write(text, to: path)
        return path
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

    private func set(_ fault: String, _ isPresent: Bool) throws(Failure) {
        let path = "\(path).\(fault)"
        if isPresent {
            try Self.write("", to: path)
        } else if unsafe unlink(path) < 0, errno != ENOENT {
            throw Failure(path: path, status: errno)
        }
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

    static func write(_ text: String, to path: String) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Failure(path: path, status: errno) }
        defer { close(file) }
        let bytes = Array(text.utf8)
        let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw Failure(path: path, status: errno) }
    }
}
