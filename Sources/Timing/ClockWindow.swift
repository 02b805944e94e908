// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The quickest messages of each direction in a short time, of which nothing else is kept.
struct ClockCell: Sendable {
    struct Message: Sendable {
        var time: Double
        var delay: Double
    }

    static let depth = 8
    /// Quickest first, at most `depth`.
    private(set) var up: [Message] = []
    private(set) var down: [Message] = []
    private(set) var count = 0
    private(set) var first = 0.0
    private(set) var last: Double

    init(last: Double = 0) {
        self.last = last
        up.reserveCapacity(Self.depth)
        down.reserveCapacity(Self.depth)
    }

    /// Takes the delays of one exchange, both with the offset in them. `rate` levels the cell, so that its end does not
    /// seem quicker than its beginning.
    mutating func add(up: Double, down: Double, at time: Double, rate: Double) {
        if count == 0 { first = time }
        count += 1
        last = max(last, time)
        Self.keep(Message(time: time, delay: up), in: &self.up, slope: rate)
        Self.keep(Message(time: time, delay: down), in: &self.down, slope: -rate)
    }

    private static func keep(_ message: Message, in quickest: inout [Message], slope: Double) {
        func isQuicker(than other: Message) -> Bool {
            message.delay - other.delay < (message.time - other.time) * slope
        }
        if quickest.count == depth {
            guard let slowest = quickest.last, isQuicker(than: slowest) else { return }
            quickest.removeLast()
        }
        var place = quickest.count
        while place > 0, isQuicker(than: quickest[place - 1]) { place -= 1 }
        quickest.insert(message, at: place)
    }
}

/// What one stretch of time says of the offset, once for each way of telling what "quickest" is.
struct ClockWindow: Sendable {
    /// The mean of how many of the quickest messages, out of `count`: of one, of a thirtieth, of a tenth.
    ///
    /// One is best where the quickest are many and alike, as in a queue that is often empty; a tenth, where a few are
    /// quicker than most by chance.
    static func depth(_ candidate: Int, of count: Int) -> Int {
        switch candidate {
        case 0: 1
        case 1: max(count / 33, 2)
        default: max(count / 10, 2)
        }
    }
    static let candidates = 3
    static let initialCandidate = 2
    /// As many distances as are told from each other.
    static let gapLimit = 40

    /// The middle.
    let time: Double
    let count: Int
    /// Microseconds at `time`, for each candidate.
    private(set) var offsets: [Double] = []
    /// The quickest delays of both directions together, for each candidate.
    private(set) var floors: [Double] = []
    /// The distances between the quickest message and the next, that one and the one after it, and so on: the mean of
    /// both directions.
    private(set) var gaps: [Double] = []

    init(_ cells: some Collection<ClockCell>, rate: Double) {
        var (first, last, count) = (Double.infinity, -Double.infinity, 0)
        for cell in cells {
            (first, last, count) = (min(first, cell.first), max(last, cell.last), count + cell.count)
        }
        (time, self.count) = (first + (last - first) / 2, count)
        var up: [Double] = []
        var down: [Double] = []
        for cell in cells {
            for message in cell.up { up.append(message.delay - (message.time - time) * rate) }
            for message in cell.down { down.append(message.delay + (message.time - time) * rate) }
        }
        up.sort()
        down.sort()
        for candidate in 0..<Self.candidates {
            let depth = min(Self.depth(candidate, of: count), up.count)
            let (there, back) = (Self.mean(up, depth), Self.mean(down, depth))
            offsets.append((there - back) / 2)
            floors.append(there + back)
        }
        for index in 0..<max(min(up.count - 1, Self.gapLimit), 0) {
            let there = up[index + 1] - up[index]
            let back = down[index + 1] - down[index]
            gaps.append((there + back) / 2)
        }
    }

    private static func mean(_ sorted: [Double], _ depth: Int) -> Double {
        var sum = 0.0
        for index in 0..<depth { sum += sorted[index] }
        return sum / Double(max(depth, 1))
    }
}
