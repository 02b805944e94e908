// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import Testing

struct PlaybackTests {
    private static let advertisement = Segment(
        range: span(20, 30), kind: .advertisement, requiresLinearPlayback: true)

    @Test func `a request without a session means the one that plays`() {
        var scene = Scene.playing()
        #expect(scene.asks(.setPlaying(false)).commands == [.setPlaying(scene.load, false)])
        #expect(scene.session?.isPlaying == false)
        scene.stops(1)
        #expect(scene.asks(.setPlaying(true)).refusal == .noSession)
    }

    @Test func `a request to an ended session is refused`() {
        var scene = Scene.playing()
        let old = scene.player
        scene.starts(1)
        let event = ReceiverEvent.playbackRequested(scene.request(1), old, .setPlaying(false))
        #expect(scene.happens(event).refusal == .sessionUnknown)
    }

    @Test func `another sender may control the session and is named`() {
        var scene = Scene.playing()
        scene.joins(2, .ben)
        #expect(scene.asks(2, .setPlaying(false)).answer == .accepted)
        #expect(scene.state.lastOrigin == .sender(RouteID("route 3"), name: "Ben's laptop"))
    }

    @Test func `commands are taken while the media loads`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1)
        let load = scene.load
        #expect(scene.asks(.setPlaying(false)).commands == [.setPlaying(load, false)])
        #expect(scene.asks(.setVolume(0.5)).commands == [.setMediaVolume(load, Volume(level: 0.5))])
        #expect(
            scene.asks(.setMuted(true)).commands
                == [.setMediaVolume(load, Volume(level: 0.5, isMuted: true))])
        #expect(scene.asks(.setSpeed(2)).answer == .accepted)
        #expect(scene.asks(.seek(to: seconds(10), tolerance: .zero)).answer == .accepted)
        #expect(scene.asks(.seek(to: seconds(150), tolerance: .zero)).answer == .accepted)
        #expect(
            scene.loads().commands
                == [.setSpeed(load, 2), .seek(load, SeekID(1), to: seconds(100), tolerance: .zero)])
        #expect(scene.stops(1).ends == [.stopped])
    }

    @Test(
        arguments: [
            (seconds(50), nil), (seconds(-5), seconds(0)), (seconds(500), seconds(100)),
            (.positiveInfinity, seconds(100)), (.negativeInfinity, seconds(0)),
        ] as [(MediaTime, MediaTime?)])
    func `a seek is clamped to what can be sought`(_ asked: MediaTime, _ clamped: MediaTime?) {
        var scene = Scene.playing()
        let effects = scene.asks(.seek(to: asked, tolerance: seconds(1)))
        #expect(effects.answer == clamped.map { .clampedTime($0) } ?? .accepted)
        #expect(
            effects.commands
                == [.seek(scene.load, SeekID(1), to: clamped ?? asked, tolerance: seconds(1))])
    }

    @Test func `between seekable ranges the nearer end counts`() {
        var timeline = Timeline.file
        timeline.seekableRanges = [span(10, 20), span(60, 80)]
        var scene = Scene.playing(.init(), timeline)
        #expect(scene.asks(.seek(to: seconds(30), tolerance: .zero)).answer == .clampedTime(seconds(20)))
        #expect(scene.asks(.seek(to: seconds(50), tolerance: .zero)).answer == .clampedTime(seconds(60)))
        #expect(scene.asks(.seek(to: seconds(70), tolerance: .zero)).answer == .accepted)
        #expect(scene.asks(.seek(to: seconds(90), tolerance: .zero)).answer == .clampedTime(seconds(80)))
    }

    @Test func `a place or tolerance that is no time is refused`() {
        var scene = Scene.playing()
        #expect(scene.asks(.seek(to: .invalid, tolerance: .zero)).refusal == .invalidParams)
        #expect(scene.asks(.seek(to: .indefinite, tolerance: .zero)).refusal == .invalidParams)
        #expect(scene.asks(.seek(to: .zero, tolerance: seconds(-1))).refusal == .invalidParams)
        #expect(scene.asks(.seek(to: .zero, tolerance: .indefinite)).refusal == .invalidParams)
        #expect(scene.asks(.seek(to: .zero, tolerance: .positiveInfinity)).answer == .accepted)
    }

    @Test func `a live stream without a window cannot be sought, one with a window at its edge`() {
        var radio = Scene.playing(.init(), .radio)
        #expect(radio.asks(.seek(to: .positiveInfinity, tolerance: .zero)).refusal == .notSeekable)
        var window = Scene.playing(.init(), .window)
        #expect(
            window.asks(.seek(to: .positiveInfinity, tolerance: .zero)).answer == .clampedTime(seconds(560)))
    }

    @Test func `of seeks that wait only the newest is made`() {
        var scene = Scene.playing()
        scene.asks(.seek(to: seconds(10), tolerance: .zero))
        #expect(scene.asks(.seek(to: seconds(20), tolerance: .zero)).commands.isEmpty)
        #expect(scene.asks(.seek(to: seconds(30), tolerance: .zero)).answer == .accepted)
        #expect(scene.reports(.seekFinished(scene.load, SeekID(7), failure: nil)).isEmpty)
        #expect(
            scene.reports(.seekFinished(scene.load, SeekID(1), failure: nil)).commands
                == [.seek(scene.load, SeekID(2), to: seconds(30), tolerance: .zero)])
        #expect(scene.reports(.seekFinished(scene.load, SeekID(2), failure: nil)).isEmpty)
    }

    @Test func `a failed seek is told and clears with the next`() {
        var scene = Scene.playing()
        let failure = MediaFailure(.network, "")
        scene.asks(.seek(to: seconds(10), tolerance: .zero))
        scene.reports(.seekFinished(scene.load, scene.seek, failure: failure))
        #expect(scene.session?.error == failure)
        scene.asks(.seek(to: seconds(10), tolerance: .zero))
        scene.reports(.seekFinished(scene.load, scene.seek, failure: nil))
        #expect(scene.session?.error == nil)
    }

    @Test(
        arguments: [
            (10, 15, true), (10, 20, true), (10, 25, false), (10, 40, false), (20, 10, false),
            (25, 26, false),
            (25, 0, false), (30, 50, true), (40, 30, true), (40, 29, false), (40, 10, false),
        ] as [(Int64, Int64, Bool)])
    func `a seek must not leave out a part of a linear segment`(_ from: Int64, _ to: Int64, _ isTaken: Bool) {
        var scene = Scene.playing(segments: [Self.advertisement])
        scene.reaches(seconds(from))
        let effects = scene.asks(.seek(to: seconds(to), tolerance: .zero))
        #expect(effects.refusal == (isTaken ? nil : .linearPlayback))
        #expect(effects.commands.isEmpty != isTaken)
    }

    @Test func `inside a linear segment there is neither scan, scrub nor speed, but back to normal`() {
        var scene = Scene.playing(segments: [Self.advertisement])
        scene.asks(.setSpeed(2))
        scene.reaches(seconds(25), rate: 2)
        #expect(scene.asks(.setMode(.scanning, scanSpeed: 4)).refusal == .linearPlayback)
        #expect(scene.asks(.setMode(.scrubbing, scanSpeed: nil)).refusal == .linearPlayback)
        #expect(scene.asks(.setSpeed(3)).refusal == .linearPlayback)
        #expect(scene.asks(.setMode(.normal, scanSpeed: nil)).answer == .accepted)
        #expect(scene.asks(.setSpeed(1)).answer == .accepted)
        #expect(scene.asks(.setPlaying(false)).answer == .accepted)
    }

    @Test(arguments: [(10, 8.0, 27, 20), (50, -8.0, 15, 30)] as [(Int64, Double, Int64, Int64)])
    func `a scan stops at a linear segment`(_ from: Int64, _ speed: Double, _ now: Int64, _ place: Int64) {
        var scene = Scene.playing(segments: [Self.advertisement])
        scene.reaches(seconds(from))
        scene.asks(.setMode(.scanning, scanSpeed: speed))
        #expect(
            scene.reaches(seconds(now), rate: speed).commands == [
                .setScan(scene.load, nil), .seek(scene.load, SeekID(1), to: seconds(place), tolerance: .zero),
            ])
        #expect(scene.session?.mode == .normal)
    }

    @Test(
        arguments: [
            (1.5, nil), (0.1, 0.25), (9, 4), (-1, 0.25), (.infinity, 4),
        ] as [(Double, Double?)])
    func `a speed is clamped`(_ asked: Double, _ clamped: Double?) {
        var scene = Scene.playing()
        let effects = scene.asks(.setSpeed(asked))
        #expect(effects.answer == clamped.map { .clampedNumber($0) } ?? .accepted)
        #expect(effects.commands == [.setSpeed(scene.load, clamped ?? asked)])
        #expect(scene.session?.speed == clamped ?? asked)
    }

    @Test func `what is no number is refused and changes nothing`() {
        var scene = Scene.playing()
        let before = scene.session
        #expect(scene.asks(.setSpeed(.nan)).refusal == .invalidParams)
        #expect(scene.asks(.setVolume(.nan)).refusal == .invalidParams)
        #expect(scene.asks(.setMode(.scanning, scanSpeed: .nan)).refusal == .invalidParams)
        #expect(scene.asks(.setMode(.scanning, scanSpeed: 0)).refusal == .invalidParams)
        #expect(scene.asks(device: .setVolume(.nan)).refusal == .invalidParams)
        #expect(scene.session == before)
    }

    @Test(arguments: [(4.0, nil), (1, 2), (-100, -32), (-0.5, -2)] as [(Double, Double?)])
    func `a scan speed is clamped by its magnitude`(_ asked: Double, _ clamped: Double?) {
        var scene = Scene.playing()
        let effects = scene.asks(.setMode(.scanning, scanSpeed: asked))
        #expect(effects.answer == clamped.map { .clampedNumber($0) } ?? .accepted)
        #expect(effects.commands == [.setScan(scene.load, clamped ?? asked)])
    }

    @Test func `the media says in which directions it can be scanned`() {
        var scene = Scene.playing(.init(), .window)
        #expect(scene.asks(.setMode(.scanning, scanSpeed: -2)).refusal == .unsupported)
        #expect(scene.asks(.setMode(.scanning, scanSpeed: 2)).answer == .accepted)
        var radio = Timeline.window
        radio.capabilities = []
        #expect(scene.reports(.timelineChanged(scene.load, radio)).commands == [.setScan(scene.load, nil)])
        #expect(scene.session?.mode == .normal)
    }

    @Test func `the speed outlives a scan, and one set during it is told after it`() {
        var scene = Scene.playing()
        scene.asks(.setSpeed(1.5))
        scene.asks(.setMode(.scanning, scanSpeed: nil))
        #expect(scene.session?.speed == 1.5)
        #expect(scene.asks(.setSpeed(2)).commands.isEmpty)
        #expect(
            scene.asks(.setMode(.normal, scanSpeed: nil)).commands
                == [.setScan(scene.load, nil), .setSpeed(scene.load, 2)])
        #expect(scene.asks(.setMode(.normal, scanSpeed: nil)).commands.isEmpty)
    }

    @Test func `play, pause and seek end a scan`() {
        var scene = Scene.playing()
        scene.asks(.setMode(.scanning, scanSpeed: 8))
        #expect(
            scene.asks(.setPlaying(true)).commands
                == [.setScan(scene.load, nil), .setPlaying(scene.load, true)])
        scene.asks(.setMode(.scanning, scanSpeed: 8))
        #expect(scene.asks(.seek(to: .zero, tolerance: .zero)).commands.first == .setScan(scene.load, nil))
        #expect(scene.session?.mode == .normal)
    }

    @Test func `a scan ends at the start of the item and at the live edge`() {
        var file = Scene.playing()
        file.asks(.setMode(.scanning, scanSpeed: -8))
        #expect(file.reaches(seconds(0), rate: 0).commands == [.setScan(file.load, nil)])
        var window = Scene.playing(.init(), .window)
        window.asks(.setMode(.scanning, scanSpeed: 8))
        #expect(window.reaches(seconds(550), rate: 8).commands.isEmpty)
        #expect(window.reaches(seconds(561), rate: 8).commands == [.setScan(window.load, nil)])
    }

    @Test func `scrubbing is not the renderer's business, and seeks go through`() {
        var scene = Scene.playing()
        #expect(scene.asks(.setMode(.scrubbing, scanSpeed: nil)).commands.isEmpty)
        #expect(scene.asks(.seek(to: seconds(9), tolerance: .positiveInfinity)).commands.count == 1)
        #expect(scene.session?.mode == .scrubbing)
        #expect(scene.asks(.setMode(.normal, scanSpeed: nil)).commands.isEmpty)
    }

    @Test func `the position is the renderer's, within the range`() {
        var scene = Scene.playing()
        scene.reaches(seconds(40), rate: 2)
        #expect(scene.session?.position == PlaybackPosition(position: seconds(40), clockTime: 1, rate: 2))
        scene.reaches(seconds(400))
        #expect(scene.session?.position.position == seconds(100))
        scene.reaches(.indefinite)
        #expect(scene.session?.position.position == seconds(100))
        scene.reaches(seconds(1), rate: .nan)
        #expect(scene.session?.position.rate == 0)
    }

    @Test func `without a known length the position is not clamped at its end`() {
        var scene = Scene.playing(
            .init(), Timeline(range: .empty, seekableRanges: [], isLive: false, capabilities: []))
        scene.reaches(seconds(40))
        #expect(scene.session?.position.position == seconds(40))
    }

    @Test func `a seek before the length is known waits for it`() {
        var scene = Scene.playing(
            .init(), Timeline(range: .empty, seekableRanges: [], isLive: false, capabilities: []))
        #expect(scene.asks(.seek(to: seconds(70), tolerance: .zero)).commands.isEmpty)
        #expect(scene.asks(.seek(to: seconds(90), tolerance: .zero)).answer == .accepted)
        let effects = scene.happens(.renderer(.timelineChanged(scene.load, Timeline.file)))
        guard case .seek(_, _, let place, _) = effects.commands.first else {
            Issue.record("no seek followed")
            return
        }
        #expect(effects.commands.count == 1 && place == seconds(90))
    }

    @Test func `a window that moves on takes the position along`() {
        var scene = Scene.playing(.init(), .window)
        scene.reaches(seconds(510), rate: 0)
        var later = Timeline.window
        later.range = span(530, 590)
        scene.reports(.timelineChanged(scene.load, later))
        #expect(scene.session?.position.position == seconds(530))
    }

    @Test func `without segments one primary covers the range`() {
        let scene = Scene.playing()
        #expect(scene.session?.segments.isEmpty == true)
        #expect(scene.session?.currentSegment == Segment(range: span(0, 100)))
    }

    @Test func `segments are put in order and their gaps filled`() {
        var scene = Scene.playing(segments: [
            Segment(range: span(60, 70), kind: .credits), Self.advertisement,
            Segment(range: span(25, 40), kind: .bonus), Segment(range: span(5, 5), kind: .intro),
            Segment(range: TimeRange(start: .indefinite, duration: .zero)),
        ])
        let segments = scene.session?.segments ?? []
        #expect(
            segments.map(\.kind) == [.primary, .advertisement, .bonus, .primary, .credits, .primary])
        for (one, next) in zip(segments, segments.dropFirst()) {
            #expect(one.range.end.isSameMoment(as: next.range.start))
        }
        #expect(segments.last?.range.end.isSameMoment(as: seconds(100)) == true)
        scene.reaches(seconds(30))
        #expect(scene.session?.currentSegment.kind == .bonus)
        scene.reaches(seconds(100))
        #expect(scene.session?.currentSegment.kind == .primary)
    }

    @Test func `a track that is not there is refused, none is always there`() {
        var scene = Scene.playing()
        let tracks = Tracks(legible: .init(options: [.init(identifier: "de", displayName: "Deutsch")]))
        scene.reports(.tracksChanged(scene.load, tracks))
        #expect(scene.asks(.selectTrack(.legible, identifier: "fr")).refusal == .trackUnknown)
        #expect(scene.asks(.selectTrack(.audio, identifier: "de")).refusal == .trackUnknown)
        #expect(
            scene.asks(.selectTrack(.legible, identifier: "de")).commands
                == [.selectTrack(scene.load, .legible, identifier: "de")])
        #expect(
            scene.asks(.selectTrack(.legible, identifier: nil)).commands
                == [.selectTrack(scene.load, .legible, identifier: nil)])
    }

    @Test func `the session's level and mute do not touch each other, nor the device's`() {
        var scene = Scene.playing()
        scene.asks(.setMuted(true))
        #expect(scene.asks(.setVolume(1.5)).answer == .clampedNumber(1))
        #expect(scene.asks(.setVolume(0.25)).answer == .accepted)
        #expect(scene.session?.volume == Volume(level: 0.25, isMuted: true))
        #expect(scene.state.device.volume == Volume(level: 0.5))
    }
}
