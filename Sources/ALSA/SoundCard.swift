// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// A sound card of the machine.
package struct SoundCard: Equatable, Sendable {
    package let index: Int32
    /// The identifier that does not change with the order of cards.
    package let id: String
    /// What the kernel calls the driver and the card, such as `USB-Audio` and `Scarlett 2i2`.
    package let driver: String
    package let name: String
    /// Whether a display is connected, where the card can tell: HDMI and DisplayPort.
    package let hasDisplay: Bool?

    package init(index: Int32, id: String, driver: String = "", name: String = "", hasDisplay: Bool? = nil) {
        (self.index, self.id, self.driver, self.name) = (index, id, driver, name)
        self.hasDisplay = hasDisplay
    }

    /// The cards that can play, in the kernel's order.
    package static func playing() -> [SoundCard] {
        alsa_shim_silence()
        var cards: [SoundCard] = []
        var index: Int32 = -1
        // The kernel numbers at most 32 cards; the bound guards against a library that goes round.
        while cards.count < 32, unsafe snd_card_next(&index) == 0, index >= 0 {
            var control: OpaquePointer?
            guard unsafe snd_ctl_open(&control, "hw:\(index)", 0) == 0 else { continue }
            defer { unsafe snd_ctl_close(control) }
            var device: Int32 = -1
            guard unsafe snd_ctl_pcm_next_device(control, &device) == 0, device >= 0 else { continue }
            var information: OpaquePointer?
            guard unsafe snd_ctl_card_info_malloc(&information) == 0 else { continue }
            defer { unsafe snd_ctl_card_info_free(information) }
            guard unsafe snd_ctl_card_info(control, information) == 0,
                let id = unsafe snd_ctl_card_info_get_id(information)
            else { continue }
            cards.append(
                SoundCard(
                    index: index, id: unsafe String(cString: id),
                    driver: unsafe snd_ctl_card_info_get_driver(information).map {
                        unsafe String(cString: $0)
                    } ?? "",
                    name: unsafe snd_ctl_card_info_get_name(information).map { unsafe String(cString: $0) }
                        ?? "",
                    hasDisplay: display(atCard: index)))
        }
        return cards
    }

    /// By the pages that the kernel has of what displays say about themselves: one for each connector.
    package static func display(atCard index: Int32, pages: String = "/proc/asound") -> Bool? {
        let card = "\(pages)/card\(index)"
        let connectors = entries(of: card).filter { $0.hasPrefix("eld#") }
        guard !connectors.isEmpty else { return nil }
        return connectors.contains { connector in
            text(of: "\(card)/\(connector)").split(separator: "\n" as Character).contains { line in
                let words = line.split(whereSeparator: \.isWhitespace)
                return words.count == 2 && words[0] == "monitor_present" && words[1] == "1"
            }
        }
    }

    /// The card's index that an ALSA name such as `hw:CARD=Foo,DEV=0` or `plughw:1` speaks of.
    package static func index(inName name: String) -> Int32? {
        guard let colon = name.firstIndex(of: ":") else { return nil }
        let first = name[name.index(after: colon)...].split(separator: ",").first ?? ""
        let card = first.hasPrefix("CARD=") ? first.dropFirst(5) : first
        if let index = Int32(card) { return index }
        let index = unsafe snd_card_get_index(String(card))
        return index >= 0 ? index : nil
    }

    /// A process that holds a playback device of card `index`, as its name and number, if the kernel tells.
    ///
    /// ALSA's own pages tell anybody. The open files of a process, which is what is left for a driver without such pages,
    /// are seen only by who may look into that process.
    package static func holder(
        ofCard index: Int32, pages: String = "/proc/asound", devices: String = "/dev/snd"
    ) -> String? {
        guard let process = owner(ofCard: index, pages) ?? opener(ofCard: index, devices) else { return nil }
        return "\(firstLine(of: "/proc/\(process)/comm") ?? "process") (\(process))"
    }

    /// The process that opened a substream, by the pages of the card's devices.
    private static func owner(ofCard index: Int32, _ pages: String) -> String? {
        let card = "\(pages)/card\(index)"
        for device in entries(of: card) where device.hasPrefix("pcm") && device.hasSuffix("p") {
            for part in entries(of: "\(card)/\(device)") where part.hasPrefix("sub") {
                let status = text(of: "\(card)/\(device)/\(part)/status")
                // The thread that opened it; a thread has a folder of its own that names its process.
                guard let thread = value(of: "owner_pid", in: status) else { continue }
                return value(of: "Tgid", in: text(of: "/proc/\(thread)/status")) ?? thread
            }
        }
        return nil
    }

    private static func opener(ofCard index: Int32, _ devices: String) -> String? {
        let prefix = "\(devices)/pcmC\(index)D"
        for process in entries(of: "/proc") where process.first?.isNumber == true {
            for descriptor in entries(of: "/proc/\(process)/fd") {
                guard let target = target(of: "/proc/\(process)/fd/\(descriptor)") else { continue }
                if target.hasPrefix(prefix), target.hasSuffix("p") { return process }
            }
        }
        return nil
    }

    /// The value of a line `name : value`.
    private static func value(of name: String, in text: String) -> String? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            guard let value = line.split(separator: ":").dropFirst().first else { continue }
            return value.split(whereSeparator: \.isWhitespace).first.map(String.init)
        }
        return nil
    }

    private static func entries(of path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { _ = unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe readlink(link, $0.baseAddress!.assumingMemoryBound(to: CChar.self), 256)
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    private static func firstLine(of path: String) -> String? {
        text(of: path).split(separator: "\n").first.map(String.init)
    }

    /// The first 4 KiB of a file; empty if it cannot be read.
    private static func text(of path: String) -> String {
        guard let file = unsafe fopen(path, "re") else { return "" }
        defer { _ = unsafe fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe fread($0.baseAddress!, 1, $0.count, file) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
