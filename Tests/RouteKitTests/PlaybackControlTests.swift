// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Observation
import Synchronization
import Testing
import Timing

@testable import RouteKit

/// Keeps commands, and answers when the test says so.
@RouteActor private final class ManualPerformer: CommandPerformer {
    private(set) var commands: [PlaybackCommand] = []
    private var completions: [@RouteActor (Result<WriteOutcome, RoutingError>) -> Void] = []

    func perform(
        _ command: PlaybackCommand, session: String,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void
    ) {
        commands.append(command)
        completions.append(completion)
    }

    private(set) var edits: [QueueCommand] = []
    private var names: [@RouteActor (Result<[String], RoutingError>) -> Void] = []

    func perform(
        _ command: QueueCommand, session: String,
        completion: @escaping @RouteActor (Result<[String], RoutingError>) -> Void
    ) {
        edits.append(command)
        names.append(completion)
    }

    func answer(edit number: Int, _ result: Result<[String], RoutingError>) { names[number](result) }

    func perform(
        _ command: DeviceCommand,
        completion: @escaping @RouteActor (Result<WriteOutcome, RoutingError>) -> Void
    ) {
        completions.append(completion)
    }

    func answer(_ number: Int, _ result: Result<WriteOutcome, RoutingError>) { completions[number](result) }
}

@RouteActor struct PlaybackControlTests {
    private let performer = ManualPerformer()
    private let clock = RemoteClock()

    private func control(_ change: (inout SessionSnapshot) -> Void = { _ in }) -> PlaybackControl {
        var snapshot = SessionSnapshot()
        change(&snapshot)
        return PlaybackControl(sessionID: "s", snapshot: snapshot, performer: performer, clock: clock)
    }

    private static let refusal = RoutingError(.linearPlayback, family: .playback, "no", number: 32)

    @Test func `a written value shows at once and is sent`() {
        let control = control()
        control.isPlaying = false
        #expect(!control.isPlaying)
        #expect(performer.commands == [.setPlaying(false)])
    }

    @Test func `a state from before the answer does not undo a written value`() {
        let control = control()
        control.playbackSpeed = 2
        control.mirror(SessionSnapshot())
        #expect(control.playbackSpeed == 2)
    }

    @Test func `after the answer the written value stays until the next state`() {
        let control = control()
        control.playbackSpeed = 2
        performer.answer(0, .success(.accepted))
        #expect(control.playbackSpeed == 2)
        control.mirror(SessionSnapshot())
        #expect(control.playbackSpeed == 1)
    }

    @Test func `a clamped value is shown as the receiver took it`() {
        let control = control()
        control.playbackSpeed = 9
        performer.answer(0, .success(.clampedNumber(4)))
        #expect(control.playbackSpeed == 4)
    }

    @Test func `a refused write shows the receiver's value again and leaves the refusal`() {
        let control = control()
        control.playbackSpeed = 2
        performer.answer(0, .failure(Self.refusal))
        #expect(control.playbackSpeed == 1)
        #expect(control.lastRefusal == Refusal(command: .setSpeed(2), error: Self.refusal))
    }

    @Test func `of two writes the last one counts, whatever becomes of the first`() {
        let control = control()
        control.volume = 0.2
        control.volume = 0.8
        performer.answer(0, .failure(Self.refusal))
        #expect(control.volume == 0.8)
        performer.answer(1, .success(.accepted))
        #expect(control.volume == 0.8)
    }

    @Test func `answers in the other order leave the last write`() {
        let control = control()
        control.volume = 0.2
        control.volume = 0.8
        performer.answer(1, .success(.accepted))
        performer.answer(0, .success(.accepted))
        #expect(control.volume == 0.8)
    }

    @Test func `level and mute are written apart`() {
        let control = control()
        control.isMuted = true
        control.mirror(SessionSnapshot())
        #expect(control.isMuted)
        control.volume = 0.3
        performer.answer(0, .failure(Self.refusal))
        #expect(!control.isMuted)
        #expect(control.volume == 0.3)
    }

    @Test func `an option is chosen by its identifier, and none by nil`() {
        let english = TrackOption(identifier: "a1", displayName: "English")
        let control = control { $0.tracks.legible = TrackSelection(options: [english]) }
        control.currentLegibleOption = english
        #expect(control.currentLegibleOption == english)
        control.currentLegibleOption = nil
        #expect(
            performer.commands == [
                .selectTrack(.legible, identifier: "a1"), .selectTrack(.legible, identifier: nil),
            ])
    }

    @Test func `writing the scan speed keeps the state`() {
        let control = control { $0.state = .scanning }
        control.scanSpeed = -8
        #expect(performer.commands == [.setState(.scanning, scanSpeed: -8)])
        #expect(control.scanSpeed == -8)
    }

    @Test func `a command to an ended session is refused without being sent`() async {
        let control = control()
        control.finish(.stopped)
        await #expect(throws: RoutingError(.ended, family: .session, "")) {
            try await control.perform(.setPlaying(true))
        }
        #expect(performer.commands.isEmpty)
    }

    @Test func `the position goes on by the receiver's clock`() {
        let control = control {
            $0.position = PlaybackPosition(
                position: MediaTime(value: 10, timescale: 1), clockTime: 5_000_000_000, rate: 2)
            $0.timeline.range = TimeRange(start: .zero, duration: MediaTime(value: 100, timescale: 1))
        }
        clock.identify("c")
        let local = LocalClock.nanoseconds(at: .now)
        // The remote clock reads 6 s now: one second later at double speed.
        clock.add(
            .init(
                requestSent: local, requestReceived: 6_000_000_000, answerSent: 6_000_000_000,
                answerReceived: local))
        let position = control.position(at: .now).seconds
        #expect(position >= 12 && position < 13)
        #expect(control.position(at: .now + .seconds(1000)).seconds == 100)
    }

    @Test func `another identity of the clock forgets the offset`() {
        clock.identify("a")
        clock.add(.init(requestSent: 0, requestReceived: 5, answerSent: 5, answerReceived: 0))
        #expect(clock.offset == 5)
        clock.identify("b")
        #expect(clock.offset == nil)
    }

    @Test func `observers are told of what changed and of nothing else`() {
        let control = control()
        let isTold = Mutex(false)
        withObservationTracking {
            _ = control.metadata
        } onChange: {
            isTold.withLock { $0 = true }
        }
        var snapshot = SessionSnapshot()
        snapshot.position = PlaybackPosition(position: .zero, clockTime: 1, rate: 1)
        control.mirror(snapshot)
        let tooEarly = isTold.withLock { $0 }
        #expect(!tooEarly)
        snapshot.metadata.title = "Song"
        control.mirror(snapshot)
        let inTime = isTold.withLock { $0 }
        #expect(inTime)
    }

    @Test func `updates end with the session`() async {
        let control = control()
        let updates = control.updates()
        control.finish(.finished)
        var count = 0
        for await _ in updates { count += 1 }
        #expect(count == 1)
        #expect(control.end == .finished)
    }
}
