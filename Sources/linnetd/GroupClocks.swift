// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GroupClock
import MediaModel
import ReceiverRuntime

/// The clock of a group, shown or followed by threads that are there only meanwhile. Made and used on a loop.
final class GroupClocks: GroupClockPort {
    private let loop: GLibLoop
    private let log: any Log
    /// How fast the machines run that were followed before.
    private let memory: ClockRateMemory
    private var provider: ClockProvider?
    private var follower: ClockFollower?
    private var isPlaying = true

    init(loop: GLibLoop, memory: ClockRateMemory, log: any Log) {
        (self.loop, self.memory, self.log) = (loop, memory, log)
    }

    func provide(port: UInt16) throws -> UInt16 {
        stopProviding()
        let provider: ClockProvider
        do {
            provider = try ClockProvider(port: port)
        } catch {
            guard port != 0 else { throw error }
            log.write(
                .notice, "receiver.group", "the clock's port is taken, another one is used",
                ["port": String(port), "reason": "\(error)"])
            provider = try ClockProvider(port: 0)
        }
        self.provider = provider
        return provider.port
    }

    func stopProviding() {
        provider?.stop()
        provider = nil
    }

    func setPlaying(_ isPlaying: Bool) {
        self.isPlaying = isPlaying
        if let follower, follower.isPlaying != isPlaying { follower.isPlaying = isPlaying }
    }

    func follow(address: String, port: UInt16, machine: String, report: @escaping (ClockLine?) -> Void) {
        stopFollowing()
        do {
            let follower = try ClockFollower(
                ClockServer(host: address, port: port, machine: machine), memory: memory, on: loop)
            // A clock that is lost is read on as it was.
            follower.onReport = { known in if known.state != .unsynchronised { report(known.line) } }
            follower.isPlaying = isPlaying
            self.follower = follower
        } catch {
            log.write(
                .error, "receiver.group", "the host's clock cannot be followed", ["reason": "\(error)"])
        }
    }

    func stopFollowing() {
        follower?.stop()
        follower = nil
    }
}
