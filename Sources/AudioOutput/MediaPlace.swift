// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Where a frame stands on the media timeline, and how fast the timeline runs there.
struct MediaPlace: Equatable, Sendable {
    /// Nanoseconds.
    var position: Double
    /// Media nanoseconds for each frame, negative when playing backward.
    var step: Double

    func advanced(by frames: Int64) -> MediaPlace {
        MediaPlace(position: position + step * Double(frames), step: step)
    }
}

/// The media positions of the frames in the ring: one mark where a line begins, none where it goes on.
struct MarkList: Equatable, Sendable {
    struct Mark: Equatable, Sendable {
        var frame: Int64
        var place: MediaPlace
    }
    /// More lines than this in half a second of sound are not told apart.
    private static let limit = 64
    private var marks: [Mark] = []
    private var isCut = false

    /// The next mark begins a line of its own, wherever it stands.
    mutating func cut() { isCut = true }

    /// Notes that `frame` stands at `place`. Within two frames of the line so far it is rounding.
    mutating func note(_ place: MediaPlace, at frame: Int64) {
        if let last = marks.last, !isCut {
            let expected = last.place.advanced(by: frame - last.frame)
            let isSame =
                last.place.step == place.step
                && (expected.position - place.position).magnitude <= 2 * place.step.magnitude
            if isSame { return }
            if last.frame == frame { marks.removeLast() }
        }
        isCut = false
        if marks.count == Self.limit { marks.removeFirst() }
        marks.append(Mark(frame: frame, place: place))
    }

    func place(of frame: Int64) -> MediaPlace? {
        guard let mark = marks.last(where: { $0.frame <= frame }) else { return nil }
        return mark.place.advanced(by: frame - mark.frame)
    }

    var isEmpty: Bool { marks.isEmpty }
    var count: Int { marks.count }

    /// The beginning of a line, in the order of the frames.
    func line(_ index: Int) -> Mark? { marks.indices.contains(index) ? marks[index] : nil }

    /// The line that a place between frames belongs to.
    func lastIndex(before frame: Double) -> Int? { marks.lastIndex { Double($0.frame) <= frame } }

    /// The frame after `frame` at which another line begins.
    func nextChange(after frame: Int64) -> Int64? { marks.first { $0.frame > frame }?.frame }

    /// Forgets lines that ended before `frame`.
    mutating func forget(before frame: Int64) {
        while marks.count > 1, marks[1].frame <= frame { marks.removeFirst() }
    }

    /// Forgets lines that begin at `frame` or later.
    mutating func forget(from frame: Int64) {
        while let last = marks.last, last.frame >= frame { marks.removeLast() }
        isCut = false
    }

    mutating func removeAll() {
        marks.removeAll(keepingCapacity: true)
        isCut = false
    }
}

/// Which frame of the ring each frame given to the card was. Silence that the output put in stands still.
struct CardMap: Equatable, Sendable {
    private struct Piece: Equatable, Sendable {
        var cardFrame: Int64
        var ringFrame: Int64
        var isSilence: Bool
    }
    private static let limit = 64
    private var pieces: [Piece] = []

    /// Notes that the card's frames from `cardFrame` on are those of the ring from `ringFrame` on.
    mutating func append(cardFrame: Int64, ringFrame: Int64, isSilence: Bool) {
        if let last = pieces.last, last.isSilence == isSilence {
            let expected = isSilence ? last.ringFrame : last.ringFrame + cardFrame - last.cardFrame
            if expected == ringFrame { return }
        }
        if pieces.count == Self.limit { pieces.removeFirst() }
        pieces.append(Piece(cardFrame: cardFrame, ringFrame: ringFrame, isSilence: isSilence))
    }

    /// The ring's frame that is heard with the card's frame, and whether it is silence that waits before it.
    func ringFrame(of cardFrame: Int64) -> (frame: Int64, isSilence: Bool)? {
        guard let piece = pieces.last(where: { $0.cardFrame <= cardFrame }) ?? pieces.first else {
            return nil
        }
        let offset = piece.isSilence ? 0 : max(0, cardFrame - piece.cardFrame)
        return (piece.ringFrame + offset, piece.isSilence)
    }

    var isEmpty: Bool { pieces.isEmpty }

    mutating func removeAll() { pieces.removeAll(keepingCapacity: true) }
}
