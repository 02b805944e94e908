// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import ReceiverTestKit
import RouteKit
import RouteWire
import SystemProbe
import Testing

extension Receiving {
    struct GroupTests {
        @Test @RouteActor func `two receivers in a group are heard in the same place at the same time`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                try await pair.play()
                var (one, other) = (pair.host.card, pair.member.card)
                let first = try await one.beginning(ofSecond: 2, from: 0, within: .seconds(30))
                let second = try await other.beginning(ofSecond: 2, from: 0, within: .seconds(30))
                // A tone tells the place to a few milliseconds; how exact the output is, is shown elsewhere.
                #expect(abs(first - second) < 15_000_000)
                try await pair.hostSender.wait("both are ready") { group in
                    group?.members.count == 2
                        && group?.members.values.allSatisfy { $0.suspensions.isEmpty } == true
                }
            }
        }

        @Test @RouteActor func `pictures on one receiver stand to the sound of another`() async throws {
            let display = try #require(VirtualDisplay(), "no Xvfb: make deps, or apt-get install xvfb")
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let settings = try Programs.settings(showingOn: display, in: folder)
            try await GroupPair.use(member: settings) { pair in
                try await pair.join()
                try await pair.play("beeps.mkv")
                var card = pair.host.card
                #expect(await display.shows { ($0.number ?? 0) > 20 })
                let sightings = await display.watch(for: .milliseconds(3500))
                let offsets = card.recording().offsets(of: sightings)
                #expect(offsets.count > 10)
                // Of single pictures a machine that is busy shows some late.
                let median = offsets.isEmpty ? .infinity : offsets[offsets.count / 2]
                #expect(abs(median) < 20, "\(offsets)")
            }
        }

        @Test @RouteActor func `a receiver whose ticket is another one stays outside`() async throws {
            try await GroupPair.use { pair in
                let other = try #require(GroupSecret(bytes: Array(repeating: 7, count: 32)))
                try await pair.memberSender.ask(pair.invitation(ticket: other.text))
                try await pair.memberSender.wait("the group is over for the stranger") {
                    $0?.view?.phase == .invalidated && $0?.view?.reason == "refused"
                }
                #expect(pair.hostSender.group?.members.count == 1)
                // With the right one it comes in, also when the first address is nobody's.
                try await pair.memberSender.ask(
                    pair.invitation(ticket: pair.created.ticket, by: ["192.0.2.1", "127.0.0.1"]))
                try await pair.hostSender.wait("two members") { $0?.members.count == 2 }
            }
        }

        @Test @RouteActor func `a member that leaves is silent, and the other plays on`() async throws {
            try await GroupPair.use { pair in
                try await pair.join()
                try await pair.play()
                var (one, other) = (pair.host.card, pair.member.card)
                _ = try await other.beginning(ofSecond: 1, from: 0, within: .seconds(30))
                try await pair.memberSender.ask(.group(.leave(keepsPlaying: false)))
                let left = SimulatedCard.now
                try await pair.hostSender.wait("one member is left") { $0?.members.count == 1 }
                #expect(await other.recording(within: .seconds(20)) { !$0.isRunning } != nil)
                let later = left + 1_000_000_000
                #expect(
                    await one.recording(within: .seconds(20)) { $0.firstSound(from: later) != nil } != nil)
            }
        }

        @Test @RouteActor
        func `a host that stood still comes back as a member of the one that took its place`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                try await pair.play()
                var other = pair.member.card
                _ = try await other.beginning(ofSecond: 1, from: 0, within: .seconds(30))
                pair.host.daemon.signal(SystemProbe.ChildProcess.stopping)
                try await pair.memberSender.wait("the member is the host", within: .seconds(60)) {
                    $0?.view?.isHost == true && $0?.id == pair.created.group
                }
                pair.host.daemon.signal(SystemProbe.ChildProcess.continuing)
                try await pair.memberSender.wait("both are in one group again", within: .seconds(60)) {
                    $0?.view?.isHost == true && $0?.members.count == 2
                }
                let late = try await GroupSender("third", port: pair.host.port)
                try await late.wait("the old host is a member", within: .seconds(60)) {
                    $0?.view?.isHost == false && $0?.view?.phase == .joined && $0?.members.count == 2
                }
                late.close()
            }
        }

        @Test @RouteActor
        func `a member that stood still is missed within five seconds, and comes back to the same host`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                let start = SimulatedCard.now
                pair.member.daemon.signal(SystemProbe.ChildProcess.stopping)
                try await pair.hostSender.wait("one member is left") { $0?.members.count == 1 }
                // Usually 4 s after the last answer to a ping; other connections have 15.
                #expect(SimulatedCard.now - start < 14_000_000_000)
                pair.member.daemon.signal(SystemProbe.ChildProcess.continuing)
                try await pair.hostSender.wait("two members", within: .seconds(60)) {
                    $0?.members.count == 2 && $0?.view?.isHost == true
                }
                try await pair.memberSender.wait("it is a member") { $0?.view?.phase == .joined }
            }
        }

        @Test @RouteActor func `when the host is killed the member plays on as the host of the same group`()
            async throws
        {
            try await GroupPair.use { pair in
                try await pair.join()
                try await pair.play()
                var other = pair.member.card
                let second = try await other.beginning(ofSecond: 1, from: 0, within: .seconds(30))
                pair.host.daemon.kill()
                try await pair.memberSender.wait("the member is the host") {
                    $0?.view?.isHost == true && $0?.id == pair.created.group
                }
                let later = try await other.beginning(ofSecond: 5, from: second, within: .seconds(30))
                // Four seconds of the item were heard in four seconds: nothing was left out or heard twice.
                #expect(abs(later - second - 4_000_000_000) < 60_000_000)
            }
        }
    }
}
