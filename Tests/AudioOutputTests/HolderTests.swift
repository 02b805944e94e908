// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import Glibc
import Testing

/// Who holds a card, told from a real process and from folders that stand for the kernel's.
struct HolderTests {
    private let folder: String

    init() throws {
        var template = Array("/tmp/linnet-holder-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func write(_ text: String, to path: String) throws {
        guard let file = unsafe fopen("\(folder)/\(path)", "w") else { throw Missing() }
        _ = unsafe fputs(text, file)
        _ = unsafe fclose(file)
    }

    /// The one line of a file as soon as it is there: its writer cannot tell.
    private func line(_ path: String) throws -> String {
        for _ in 0..<2_000 {
            if let file = unsafe fopen("\(folder)/\(path)", "r") {
                defer { _ = unsafe fclose(file) }
                var buffer = [UInt8](repeating: 0, count: 64)
                let count = unsafe fread(&buffer, 1, 64, file)
                if count > 0, buffer[count - 1] == 10 {
                    return String(decoding: buffer[..<(count - 1)], as: UTF8.self)
                }
            }
            usleep(1_000)
        }
        throw Missing()
    }

    private struct Missing: Error {}

    /// A process that holds the folder's `name` open. Its number, and how to end it.
    private func hold(_ name: String) throws -> (pid: String, end: () -> Void) {
        let script = "exec 5<'\(folder)/\(name)'; echo $$ >'\(folder)/pid'; exec sleep 1000"
        guard let process = unsafe popen(script, "w") else { throw Missing() }
        let pid = try line("pid")
        return (
            pid,
            {
                _ = kill(Int32(pid) ?? 0, SIGKILL)
                _ = unsafe pclose(process)
            }
        )
    }

    @Test func `the process that has the device open is named`() throws {
        for name in ["pcmC3D0p", "pcmC3D0c", "pcmC30D0p"] { try write("", to: name) }
        #expect(SoundCard.holder(ofCard: 3, pages: "\(folder)/none", devices: folder) == nil)
        let (pid, end) = try hold("pcmC3D0p")
        defer { end() }
        #expect(SoundCard.holder(ofCard: 3, pages: "\(folder)/none", devices: folder) == "sleep (\(pid))")
        // Neither a recorder nor the user of another card.
        #expect(SoundCard.holder(ofCard: 30, pages: "\(folder)/none", devices: folder) == nil)
    }

    @Test func `the kernel's page names a process that nobody may look into`() throws {
        try write("", to: "unused")
        let (pid, end) = try hold("unused")
        defer { end() }
        for path in [
            "card3", "card3/pcm0c", "card3/pcm0c/sub0", "card3/pcm0p", "card3/pcm0p/sub0", "card3/pcm0p/sub1",
        ] {
            #expect(unsafe mkdir("\(folder)/\(path)", 0o755) == 0)
        }
        try write("state: RUNNING\nowner_pid   : 1\n", to: "card3/pcm0c/sub0/status")
        try write("closed\n", to: "card3/pcm0p/sub0/status")
        #expect(SoundCard.holder(ofCard: 3, pages: folder, devices: "\(folder)/none") == nil)
        try write("state: RUNNING\nowner_pid   : \(pid)\ntrigger_time: 1.2\n", to: "card3/pcm0p/sub1/status")
        #expect(SoundCard.holder(ofCard: 3, pages: folder, devices: "\(folder)/none") == "sleep (\(pid))")
    }
}
