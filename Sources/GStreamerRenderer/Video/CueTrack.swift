// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import Synchronization

/// The texts of one track that were read so far, with the stretches of the media that they belong to. They are kept over
/// moves: a demuxer does not read one again that began before the place that it goes to.
final class CueTrack: TextSinkTarget {
    /// Texts of an hour or more, and their bytes. The oldest ones go.
    private static let limit = (cues: 2000, bytes: 262_144)

    private struct State {
        /// In the order of their beginnings.
        var cues: [Cue] = []
        var bytes = 0
    }
    private let state = Mutex(State())

    func write(_ cue: Cue) {
        state.withLock { state in
            let place = (state.cues.lastIndex { $0.start <= cue.start } ?? -1) + 1
            if place > 0,
                state.cues[..<place].reversed().prefix(while: { $0.start == cue.start }).contains(cue)
            {
                return
            }
            state.cues.insert(cue, at: place)
            state.bytes += cue.text.utf8.count
            while state.cues.count > Self.limit.cues || state.bytes > Self.limit.bytes {
                state.bytes -= state.cues.removeFirst().text.utf8.count
            }
        }
    }

    func flushStarted() {}
    func flushStopped() {}

    /// The text at `position` in nanoseconds, as markup; empty if there is none.
    func text(at position: Int64) -> String {
        state.withLock { state in
            let begun = state.cues.prefix { $0.start <= position }
            // One without an end is there until another begins.
            let present = begun.indices.filter { index in
                begun[index].end.map { $0 > position } ?? (index == begun.endIndex - 1)
            }
            return present.map { begun[$0].markup }.joined(separator: "\n")
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
