// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SwitchingCore
import Testing

/// What the table does not show.
struct SwitchingStateTests {
    @Test func `one source is the primary, and the one before it the secondary`() {
        var world = World()
        #expect(world.state.primary == nil)
        world.take(.connects(phone))
        #expect((world.state.primary, world.state.secondary) == (phone, nil))
        world.take(.connects(laptop))
        #expect((world.state.primary, world.state.secondary) == (phone, laptop))
        world.take(.starts(laptop))
        #expect((world.state.primary, world.state.secondary) == (laptop, phone))
        // Who is heard no more is still the one that was heard last.
        world.take([.pauses(laptop), .wait(milliseconds: 60_000), .connects(network)])
        #expect((world.state.primary, world.state.secondary) == (laptop, phone))
        world.take(.leaves(laptop))
        #expect((world.state.primary, world.state.secondary) == (phone, network))
        world.take([.leaves(phone), .leaves(network)])
        #expect((world.state.primary, world.state.secondary) == (nil, nil))
    }

    @Test func `what came back and does not play makes way after the hold`() {
        var world = World()
        world.take([
            .connects(phone), .connects(laptop), .connects(network), .starts(phone),
            .wait(milliseconds: 2_000),
            .starts(laptop), .wait(milliseconds: 2_000), .pauses(phone), .isStarted(network), .pauses(laptop),
        ])
        #expect(world.take(.leaves(network)) == [.hear(laptop), .play(laptop)])
        #expect(world.take(.wait(milliseconds: 7_999)) == [])
        #expect(world.take(.wait(milliseconds: 1)) == [.hear(phone), .play(phone)])
        world.take(.starts(phone))
        #expect(world.take(.wait(milliseconds: 60_000)) == [])
    }

    @Test func `nothing of a source that is not there counts`() {
        var world = World()
        for event: SwitchingEvent in [
            .started(phone, by: .person), .paused(phone), .callBegan(phone), .callEnded(phone),
            .takeRequested(phone), .yieldRequested(phone), .hearingFailed(phone), .disconnected(phone),
        ] {
            #expect(world.take(.event(event)) == [])
        }
        #expect(world.state.sources.isEmpty)
        #expect(world.state.decisions.isEmpty)
    }

    @Test func `a timer that was replaced does nothing`() {
        var state = SwitchingState()
        _ = state.apply(.connected(phone, name: ""), at: 0)
        _ = state.apply(.started(phone, by: .itself), at: 0)
        let first = state.apply(.paused(phone), at: 0)
        guard case .armTimer(_, let generation) = first.last else {
            Issue.record("no timer")
            return
        }
        #expect(state.apply(.started(phone, by: .itself), at: 1) == [.cancelTimer])
        #expect(state.apply(.timerFired(generation: generation), at: 9_000_000_000) == [])
        #expect(state.owner == phone)
    }

    @Test func `no more preferences are kept than there is room for`() {
        var state = SwitchingState()
        for number in 0..<200 as Range<UInt64> {
            _ = state.apply(.preferenceChanged(SourceAddress(number), .preferred), at: 0)
        }
        #expect(state.preferences.count == SwitchingState.preferenceLimit)
        _ = state.apply(.preferenceChanged(SourceAddress(3), .normal), at: 0)
        #expect(state.preferences.count == SwitchingState.preferenceLimit - 1)
        #expect(state.preference(SourceAddress(3)) == .normal)
    }

    @Test func `the output that a person gave away in a call stays given away`() {
        var world = World()
        world.take([
            .connects(phone), .connects(network), .isStarted(network), .calls(phone), .pauses(network),
        ])
        world.take(.event(.takeRequested(network)))
        world.take([.isStarted(network), .wait(milliseconds: 30_000)])
        #expect(world.heard == network)
    }
}
