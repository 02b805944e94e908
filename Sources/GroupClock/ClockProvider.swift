// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import Datagrams
import GLibLoop
import Synchronization

/// Tells everybody who asks what this machine's monotonic clock shows, in the form of GStreamer's network clock.
///
/// It has a thread while it lives, which waits for requests and wakes for nothing else. An answer is as long as its
/// request, and there are limits to how many there are, so nobody gains by asking in another's name.
package final class ClockProvider: Sendable {
    /// Answers in a second to one address, several times what a follower asks for. This machine itself is not limited.
    package static let addressLimit = 600
    /// Answers in a second in all: 64 followers at their beginning, twice. Beyond it the thread rests.
    package static let limit = 20_000

    package struct Counts: Equatable, Sendable {
        package var answered: UInt64 = 0
        /// Requests beyond a limit, and what was none.
        package var refused: UInt64 = 0
    }

    package let port: UInt16
    private let socket: Mutex<DatagramSocket?>
    private let state = Mutex(Counts())

    /// Begins to answer at a port; 0 takes any that is free. `clock` is read once for each answer.
    package init(
        port: UInt16, clock: @escaping @Sendable () -> Int64 = { MonotonicTime.now() }
    ) throws(DatagramSocket.Failure) {
        let socket = try DatagramSocket(at: port)
        self.socket = Mutex(socket)
        self.port = socket.port
        BackgroundThread.run(named: "clock-provider") { [weak self] in
            Self.serve(socket, clock: clock) { isAnswered in
                self?.state.withLock { counts in
                    if isAnswered { counts.answered += 1 } else { counts.refused += 1 }
                }
            }
        }
    }

    deinit { stop() }

    /// Answers no more. The port is free as soon as the thread has seen it.
    package func stop() {
        socket.withLock { socket in
            socket?.end()
            socket = nil
        }
    }

    package var counts: Counts { state.withLock { $0 } }

    private static func serve(
        _ socket: DatagramSocket, clock: () -> Int64, count: (_ isAnswered: Bool) -> Void
    ) {
        // A byte more than there may be, to see that there are more.
        var bytes = [UInt8](repeating: 0, count: ClockPacket.size + 1)
        var limiter = RateLimiter()
        MonotonicTime.hurry()
        while true {
            switch socket.receive(into: &bytes, waits: true) {
            case .received(let request):
                // What waited in the kernel counts when it is taken.
                let taken = MonotonicTime.now()
                switch limiter.admit(request.sender.host, at: taken) {
                case .admitted:
                    // The middle between the request's arrival and the answer's leaving: so what this thread needs is on both
                    // ways alike, and does not look like a difference of the clocks.
                    let half = min(max(MonotonicTime.now() - request.time, 0), 1_000_000_000) / 2
                    let isAnswered =
                        ClockPacket.answer(&bytes, count: request.count, time: clock() - half)
                        && socket.send(bytes, count: ClockPacket.size, to: request.sender)
                    count(isAnswered)
                case .refused:
                    count(false)
                case .exhausted(let until):
                    // What waits in the kernel meanwhile is bounded there, and too old afterwards.
                    count(false)
                    MonotonicTime.rest(until - taken)
                }
            case .nothing: break
            // Of an answer that did not arrive; or the system has no memory just now.
            case .failed: MonotonicTime.rest(1_000_000)
            case .ended: return
            }
        }
    }
}

/// Counts requests by their address, in a table that never grows: addresses that meet in one place of it share their
/// limit.
struct RateLimiter {
    enum Verdict: Equatable {
        case admitted
        case refused
        /// The limit of all is reached, until then.
        case exhausted(until: Int64)
    }

    private struct Slot {
        var period: Int64 = -1
        var count = 0
    }

    /// A tenth of a second: the limit of all holds up for no longer.
    private static let period: Int64 = 100_000_000
    private static let slots = 1024
    private var table = [Slot](repeating: Slot(), count: slots)
    private var all = Slot()

    mutating func admit(_ host: DatagramAddress.Host, at time: Int64) -> Verdict {
        let period = time / Self.period
        guard Self.count(&all, in: period, limit: ClockProvider.limit / 10) else {
            return .exhausted(until: (period + 1) * Self.period)
        }
        if host.isLoopback { return .admitted }
        // Which addresses meet cannot be known from outside: the hash differs from process to process.
        var hasher = Hasher()
        hasher.combine(host)
        let place = Int(UInt(bitPattern: hasher.finalize()) % UInt(Self.slots))
        return Self.count(&table[place], in: period, limit: ClockProvider.addressLimit / 10)
            ? .admitted : .refused
    }

    private static func count(_ slot: inout Slot, in period: Int64, limit: Int) -> Bool {
        if slot.period != period { slot = Slot(period: period, count: 0) }
        guard slot.count < limit else { return false }
        slot.count += 1
        return true
    }
}
