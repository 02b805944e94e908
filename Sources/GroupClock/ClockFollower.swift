// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop
package import MediaModel
package import Timing

/// Whose clock is followed.
package struct ClockServer: Equatable, Sendable {
    /// An address in numbers.
    package let host: String
    package let port: UInt16
    /// Under what the machine's rate is remembered.
    package let machine: String

    package init(host: String, port: UInt16, machine: String) {
        (self.host, self.port, self.machine) = (host, port, machine)
    }
}

/// Asks another machine's clock, again and again, and tells on the loop how it is read by ours. Lives on the loop; has a
/// thread from its beginning to its end.
package final class ClockFollower {
    /// Reports come about every 100 ms while something plays, several a second otherwise, and at once when the state
    /// changes. None comes after `stop()`.
    package var onReport: ((ClockReport) -> Void)?
    /// The last report.
    package private(set) var report = ClockReport()

    /// Whether somebody plays by the clock: otherwise it is asked seldom once it is known.
    package var isPlaying = true {
        didSet { work.setPlaying(isPlaying) }
    }

    /// A rate that was measured for less is not worth remembering (20 s).
    private static let learningTime: Int64 = 20_000_000_000

    private let server: ClockServer
    private let memory: ClockRateMemory
    private let inbox: Inbox<ClockReport>
    private let work: FollowerWork
    private var learnedAt: Int64?
    private var isStopped = false

    /// Begins to follow. Another identity of the clock, or another address, needs another follower.
    package init(_ server: ClockServer, memory: ClockRateMemory, on loop: GLibLoop) throws {
        (self.server, self.memory) = (server, memory)
        let inbox = Inbox<ClockReport>(on: loop, limit: 64)
        self.inbox = inbox
        work = try FollowerWork(server, rate: memory.rate(of: server.machine)) { inbox.yield($0) }
        work.start()
        inbox.open { [weak self] in self?.take($0) }
    }

    deinit { work.stop() }

    /// Ends the thread and remembers the rate.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        work.stop()
        inbox.close()
        if let rate = report.rate, report.age > Self.learningTime { memory.learn(rate, of: server.machine) }
    }

    private func take(_ report: ClockReport) {
        self.report = report
        if let rate = report.rate, report.age > Self.learningTime, let line = report.line,
            learnedAt.map({ line.local - $0 > 60_000_000_000 }) ?? true
        {
            learnedAt = line.local
            memory.learn(rate, of: server.machine)
        }
        onReport?(report)
    }
}

/// What a follower knows.
package struct ClockReport: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// Nothing that could be played by: at the beginning.
        case unsynchronised
        case synchronised
        /// No answer for some seconds. The line goes on as it was, and gets worse.
        case lost
    }

    package var state = State.unsynchronised
    /// Nil until there was one.
    package var line: ClockLine?
    /// Nil until it was measured.
    package var rate: ClockRate?
    /// How sure the offset is if the network delays both directions alike, in nanoseconds; nil until it was measured. It is too
    /// small on networks whose delays are not by chance.
    package var deviation: Int64?
    /// The shortest round trip of the last seconds, in nanoseconds; nil until there was one.
    package var roundTrip: Int64?
    /// How long the clock has been followed, in nanoseconds.
    package var age: Int64 = 0

    package init() {}
}
