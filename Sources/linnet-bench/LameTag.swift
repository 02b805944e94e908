// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The tag that the program `lame` puts in front of an MP3 file, and GStreamer's encoder does not. It says how much of the
/// beginning is the encoder's delay: without it every player is measured with the same 12 ms of silence on top.
enum LameTag {
    private static let samplesPerFrame = 1_152
    /// What LAME puts in front of the sound.
    private static let delay = 576
    private static let bitRates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]

    /// A file of frames of MPEG 1, stereo, 44.1 kHz, made of `frames` of sound, with the tag.
    static func added(to file: [UInt8], frames: Int) -> [UInt8] {
        func length(at place: Int) -> Int {
            144 * bitRates[Int(file[place + 2] >> 4)] * 1_000 / 44_100 + Int(file[place + 2] >> 1 & 1)
        }
        var (count, place) = (0, 0)
        while place + 4 <= file.count, file[place] == 0xFF {
            place += length(at: place)
            count += 1
        }
        guard count > 0 else { return file }
        let padding = min(max(count * samplesPerFrame - delay - frames, 0), 4_095)
        var tag = [UInt8](repeating: 0, count: length(at: 0))
        func put(_ bytes: [UInt8], at place: Int) {
            tag.replaceSubrange(place..<place + bytes.count, with: bytes)
        }
        put(Array(file[..<4]), at: 0)
        // Behind the side information: the number of frames is said, and nothing else.
        put(Array("Info".utf8) + [0, 0, 0, 1], at: 36)
        put((0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }, at: 44)
        put(Array("LAME3.100".utf8), at: 48)
        let sizes = delay << 12 | padding
        put((0..<3).map { UInt8(truncatingIfNeeded: sizes >> (16 - 8 * $0)) }, at: 69)
        return tag + file
    }
}
