// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import ReceiverRuntime
@testable import SessionCore

struct StateComposerTests {
    private let identity = ReceiverIdentity(device: "d", clock: "c")
    private let configuration = ReceiverConfiguration(name: "n", software: "s")
    private let id = SessionID("one")

    /// What can happen to a session, alone or with a move of the position.
    private static let changes: [@Sendable (inout Session) -> Void] = [
        {
            $0.position = PlaybackPosition(position: MediaTime(value: 9, timescale: 1), clockTime: 7, rate: 1)
        },
        { $0.seek = Session.Seek(id: SeekID(3), target: .init(time: .zero, tolerance: .zero)) },
        { $0.played = 5 }, { $0.isPlaying.toggle() }, { $0.isBuffering.toggle() }, { $0.phase = .active },
        { $0.mode = .scanning }, { $0.speed = 2 }, { $0.scanSpeed = 4 }, { $0.route = nil },
        { $0.timeline.isLive.toggle() }, { $0.hasAudio.toggle() }, { $0.hasVideo.toggle() },
        { $0.volume = Volume(level: 0.25) }, { $0.metadata.title = "Other" },
        { $0.error = MediaFailure(.network, "no") }, { $0.tracks.audio.current = "a" },
    ]

    @Test func `a state written step by step is the one that is written at once`() throws {
        var composer = composer()
        var state = ReceiverState(
            name: "n", volume: .full, output: OutputStatus(state: .closed, device: ""),
            advertisement: AdvertisementStatus(state: .off, name: "n"), policy: configuration.policy)
        let item = MediaItem(uri: "http://a/b")
        state.sessions[id] = Session(
            SessionRequest(item: item), queue: try PlayQueue([QueueItem(item: item)]),
            owner: .route(RouteID("r")),
            load: LoadID(1))
        var last = composer.compose(state, artwork: ArtworkShelf())
        for (number, change) in Self.changes.enumerated() {
            for moves in [false, true] {
                if var session = state.sessions[id] {
                    change(&session)
                    state.sessions[id] = session
                }
                if moves {
                    state.sessions[id]?.position = PlaybackPosition(
                        position: .zero, clockTime: Int64(number), rate: 0)
                }
                let step = composer.compose(state, artwork: ArtworkShelf())
                var other = self.composer()
                #expect(step == other.compose(state, artwork: ArtworkShelf()), "change \(number)")
                let patch = MergePatch.diff(from: last, to: step) ?? .object([:])
                #expect(MergePatch.apply(patch, to: last) == step, "change \(number)")
                last = step
            }
        }
    }

    private func composer() -> StateComposer {
        StateComposer(identity: identity, configuration: configuration)
    }
}
