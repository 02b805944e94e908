// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Datagrams
import GLibLoop
import MediaModel
import Synchronization
import Timing

/// What the follower's thread does: it sends requests at random distances, takes the answers to them, and reports.
final class FollowerWork: Sendable {
    private struct Orders {
        var isStopped = false
        var isPlaying = true
    }

    private let socket: DatagramSocket
    private let rate: ClockRate
    private let report: @Sendable (ClockReport) -> Void
    private let orders = Mutex(Orders())

    init(
        _ server: ClockServer, rate: ClockRate, report: @escaping @Sendable (ClockReport) -> Void
    ) throws(DatagramSocket.Failure) {
        socket = try DatagramSocket(to: server.host, port: server.port)
        (self.rate, self.report) = (rate, report)
    }

    func start() { BackgroundThread.run(named: "clock-follower") { self.run() } }

    func stop() {
        orders.withLock { $0.isStopped = true }
        socket.end()
    }

    func setPlaying(_ isPlaying: Bool) { orders.withLock { $0.isPlaying = isPlaying } }

    private func run() {
        var following = Following(rate: rate)
        var bytes = [UInt8](repeating: 0, count: ClockPacket.size + 1)
        var request = [UInt8](repeating: 0, count: ClockPacket.size)
        MonotonicTime.hurry()
        while true {
            let orders = orders.withLock { $0 }
            if orders.isStopped { return }
            let now = MonotonicTime.now()
            if let news = following.report(at: now, isPlaying: orders.isPlaying) { report(news) }
            if following.nextRequest <= now {
                // No stranger can guess what the answer has to begin with.
                let mark = UInt64.random(in: .min ... .max)
                ClockPacket.request(mark, into: &request)
                let moment = MonotonicTime.now()
                // What is not taken is as good as lost.
                socket.send(request)
                following.sent(mark, at: moment, isPlaying: orders.isPlaying)
            }
            socket.wait(until: min(following.nextRequest, following.nextReport))
            // As many as can be answers; a flood must not keep the thread from its other work, nor the machine from its own.
            answers: for count in 1...Following.outstandingLimit {
                if count == Following.outstandingLimit { MonotonicTime.rest(1_000_000) }
                switch socket.receive(into: &bytes, waits: false) {
                case .received(let answer):
                    guard let (mark, time) = ClockPacket.read(bytes, count: answer.count) else { continue }
                    following.received(mark: mark, remote: time, at: answer.time)
                // Nobody listens there at the moment, say: that is told at the next request again.
                case .failed, .nothing: break answers
                case .ended: return
                }
            }
        }
    }
}
