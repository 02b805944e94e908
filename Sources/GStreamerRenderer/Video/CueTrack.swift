// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import Synchronization

/// The texts of one track that were read so far, with the stretches of the media that they belong to.
final class CueTrack: TextSinkTarget {
    /// Texts ahead of the picture: more than a demuxer reads ahead.
    private static let limit = 500
    private let cues = Mutex<[Cue]>([])

    func write(_ cue: Cue) {
        cues.withLock {
            if $0.count == Self.limit { $0.removeFirst() }
            $0.append(cue)
        }
    }

    func flushStarted() {}
    func flushStopped() { cues.withLock { $0.removeAll() } }

    /// The text at `position` in nanoseconds, as markup; empty if there is none. Forgets what ended before it.
    func text(at position: Int64) -> String {
        cues.withLock { cues in
            cues.removeAll { $0.end.map { $0 <= position } ?? false }
            // One without an end is there until another begins.
            let present = cues.filter { $0.start <= position }
            let latest = present.last { $0.end == nil }
            return present.filter { $0.end != nil || $0 == latest }.map(\.markup).joined(separator: "\n")
        }
    }
}

extension Cue {
    /// What an overlay may be given: only bold, italic and underlined text, properly closed, and everything else as it
    /// is read. Pango refuses the whole of a text with one wrong mark.
    var markup: String {
        guard isMarkup else { return Self.escaped(text) }
        var (result, open): (String, [String]) = ("", [])
        var rest = text[...]
        while let next = rest.firstIndex(where: { $0 == "<" || $0 == "&" || $0 == ">" }) {
            result += rest[..<next]
            let tail = rest[next...]
            rest = tail.dropFirst()
            if tail.first == "&", let end = Self.entityEnd(tail) {
                result += tail[...end]
                rest = tail[end...].dropFirst()
            } else if tail.first == "<", let end = tail.firstIndex(of: ">") {
                let name = tail[tail.index(after: next)..<end]
                rest = tail[end...].dropFirst()
                if Self.marks.contains(String(name)) {
                    open.append(String(name))
                    result += "<\(name)>"
                } else if name.first == "/", open.last == String(name.dropFirst()) {
                    open.removeLast()
                    result += "<\(name)>"
                }
            } else {
                result += Self.escaped(String(tail.prefix(1)))
            }
        }
        result += rest
        for name in open.reversed() { result += "</\(name)>" }
        return result
    }

    private static let marks: Set<String> = ["b", "i", "u"]
    private static let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"]

    private static func entityEnd(_ text: Substring) -> Substring.Index? {
        guard let entity = entities.first(where: { text.hasPrefix($0) }) else { return nil }
        return text.index(text.startIndex, offsetBy: entity.count - 1)
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            default: result.append(character)
            }
        }
    }
}
