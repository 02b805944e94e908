// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import Testing

struct SessionTests {
    @Test func `a start is answered before the media is ready`() {
        var scene = Scene()
        scene.joins(1, .anna)
        let effects = scene.starts(1)
        let item = MediaItem(uri: "http://example.org/a.flac")
        #expect(effects.commands == [.load(LoadID(1), item, playing: true)])
        #expect(effects.contains(.armLoadTimer(LoadID(1))))
        #expect(effects.answer == scene.player.map { .started($0) })
        #expect(scene.session?.phase == .loading)
        scene.loads()
        #expect(scene.session?.isReady == true)
        #expect(scene.state.lastOrigin == .content)
    }

    @Test(arguments: [
        ("", Refusal.Code.invalidURL), ("a.flac", .invalidURL), ("http:", .invalidURL), ("://x", .invalidURL),
        ("http:///x", .invalidURL), ("http://a b/", .invalidURL), ("http://a/\r\nX: y", .invalidURL),
        ("http://a/\u{85}", .invalidURL), ("1http://a", .invalidURL), ("ht_tp://a", .invalidURL),
        ("file:///etc/passwd", .unsupportedScheme), ("rtsp://a/b", .unsupportedScheme),
        ("http://" + String(repeating: "a", count: 9000), .invalidURL),
    ])
    func `a URL that no renderer should see is refused`(_ url: String, _ code: Refusal.Code) {
        var scene = Scene()
        scene.joins(1, .anna)
        #expect(scene.starts(1, url).refusal == code)
        #expect(scene.state.sessions.isEmpty)
    }

    @Test func `schemes are compared without case and set by the policy`() {
        var scene = Scene(.init(allowedSchemes: ["file", "https"]))
        scene.joins(1, .anna)
        #expect(scene.starts(1, "HTTPS://example.org/ä?b=c#d").answer != nil)
        #expect(scene.starts(1, "file:///music/a.flac").answer != nil)
        #expect(scene.starts(1, "http://example.org/").refusal == .unsupportedScheme)
    }

    @Test(arguments: [
        HeaderField(name: "X\r\nY", value: "1"), HeaderField(name: "", value: "1"),
        HeaderField(name: "X", value: "1\r\nY: 2"), HeaderField(name: "X Y", value: "1"),
        HeaderField(name: "X", value: String(repeating: "a", count: 4096)),
    ])
    func `a header that would break a request is refused`(_ header: HeaderField) {
        var scene = Scene()
        scene.joins(1, .anna)
        let item = MediaItem(uri: "http://example.org/", headers: [header])
        let event = ReceiverEvent.startRequested(
            scene.request(1), SessionRequest(item: item), fresh: SessionID("s"))
        #expect(scene.happens(event).refusal == .invalidParams)
    }

    @Test func `a start position is a time from 0 on`() {
        var scene = Scene()
        scene.joins(1, .anna)
        #expect(scene.starts(1, at: seconds(-1)).refusal == .invalidParams)
        #expect(scene.starts(1, at: .positiveInfinity).refusal == .invalidParams)
        #expect(scene.starts(1, at: seconds(30)).answer != nil)
        #expect(scene.session?.position.position == seconds(30))
    }

    @Test func `a new session takes the player over and the loser is told who has it`() {
        var scene = Scene.playing()
        let old = scene.player
        scene.joins(2, .ben)
        let effects = scene.starts(2)
        #expect(effects.ends == [.preempted(by: "Ben's laptop")])
        #expect(effects.commands.count == 1)
        #expect(scene.load == LoadID(2))
        #expect(scene.player != old)
        #expect(scene.state.sessions.count == 1)
    }

    @Test func `where the policy refuses, another sender's start is refused`() {
        var scene = Scene.playing(.init(takeover: .refuse))
        scene.joins(2, .ben)
        #expect(scene.starts(2).refusal == .sessionBusy)
        #expect(scene.starts(1).ends == [.preempted(by: "Anna's phone")])
        scene.stops(1)
        #expect(scene.starts(2).answer != nil)
    }

    @Test func `a session whose sender left for good may be replaced under any policy`() {
        var scene = Scene.playing(.init(takeover: .refuse))
        scene.loses(1)
        scene.joins(2, .ben)
        #expect(scene.starts(2).refusal == .sessionBusy)
        scene.happens(.graceExpired(RouteID("route 1"), generation: 1))
        #expect(scene.starts(2).answer != nil)
    }

    @Test func `answers to a superseded load are dropped`() {
        var scene = Scene.playing()
        let old = scene.load
        scene.starts(1)
        let before = scene.state.sessions
        let failure = MediaFailure(.network, "")
        for late: RendererEvent in [
            .loaded(old, LoadedMedia(timeline: .file, hasAudio: true, hasVideo: true)), .ended(old),
            .failed(old, failure), .stopped(old), .bufferingChanged(old, true), .timelineChanged(old, .radio),
            .positionChanged(old, PlaybackPosition(position: seconds(9), clockTime: 0, rate: 1)),
            .metadataChanged(old, Metadata(title: "late")), .seekFinished(old, SeekID(1), failure: failure),
            .tracksChanged(old, Tracks()), .pictureChanged(old, PictureStatus(.shown)),
            .artworkFound(old, Artwork(bytes: [], type: "image/png", size: nil)),
        ] {
            #expect(scene.reports(late).isEmpty)
        }
        #expect(scene.happens(.loadTimedOut(old)).isEmpty)
        #expect(scene.state.sessions == before)
    }

    @Test func `a stop ends the session at once and is answered by the renderer later`() {
        var scene = Scene.playing()
        let effects = scene.stops(1)
        #expect(effects.commands == [.stop(scene.load)])
        #expect(effects.contains(.armStopTimer(scene.load)))
        #expect(effects.ends == [.stopped])
        #expect(effects.answer == .accepted)
        scene.reports(.stopped(scene.load))
        #expect(scene.happens(.stopTimedOut(scene.load)).isEmpty)
    }

    @Test func `a stop is accepted whether or not something plays`() {
        var scene = Scene.playing()
        let id = scene.player
        scene.stops(1, id)
        #expect(scene.stops(1, id).answer == .accepted)
        #expect(scene.stops(1).answer == .accepted)
        #expect(scene.stops(1, SessionID("never")).answer == .accepted)
    }

    @Test func `a stop of an ended session does not touch the one that plays`() {
        var scene = Scene.playing()
        let old = scene.player
        scene.starts(1)
        #expect(scene.stops(1, old).ends.isEmpty)
        #expect(scene.session != nil)
    }

    @Test func `a stop that is not answered restarts the renderer`() {
        var scene = Scene.playing()
        scene.stops(1)
        #expect(scene.happens(.stopTimedOut(scene.load)) == [.restartRenderer])
    }

    @Test func `a session that began meanwhile is loaded again after that, and it is not its crash`() {
        var scene = Scene.playing()
        scene.stops(1)
        let stopped = scene.load
        scene.starts(1)
        #expect(scene.happens(.stopTimedOut(stopped)) == [.restartRenderer, .armLoadTimer(LoadID(3))])
        #expect(scene.asks(.setMuted(true)).commands.isEmpty)
        scene.reports(.exited(reason: "killed"))
        scene.reports(.started(.closed))
        #expect(scene.load == LoadID(3))
        scene.loads()
        scene.reports(.exited(reason: "crashed"))
        #expect(scene.session != nil)
    }

    @Test(arguments: [RendererEvent.ended(LoadID(1)), .failed(LoadID(1), MediaFailure(.decode, ""))])
    func `what ends a load by itself is the answer to its stop`(_ event: RendererEvent) {
        var scene = Scene.playing()
        scene.stops(1)
        scene.reports(event)
        #expect(scene.happens(.stopTimedOut(LoadID(1))).isEmpty)
    }

    @Test func `a load that takes too long fails`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1)
        let effects = scene.happens(.loadTimedOut(scene.load))
        #expect(effects.ends == [.failed(MediaFailure(.timeout, ""))])
        #expect(effects.commands == [.stop(scene.load)])
        #expect(scene.session == nil)
    }

    @Test func `the load timer of a loaded item does nothing`() {
        var scene = Scene.playing()
        #expect(scene.happens(.loadTimedOut(scene.load)).isEmpty)
    }

    @Test func `the end of the media finishes the session and frees the player`() {
        var scene = Scene.playing()
        let effects = scene.reports(.ended(scene.load))
        #expect(effects.ends == [.finished])
        #expect(effects.commands.isEmpty)
        #expect(scene.player == nil)
    }

    @Test func `a failure ends the session with its reason`() {
        var scene = Scene.playing()
        let failure = MediaFailure(.httpStatus, "gone", httpStatus: 410)
        #expect(scene.reports(.failed(scene.load, failure)).ends == [.failed(failure)])
    }

    @Test func `a start before the renderer is up is loaded when it is`() {
        var scene = Scene(rendererIsUp: false)
        scene.joins(1, .anna)
        #expect(scene.starts(1, playing: true).commands.isEmpty)
        scene.asks(.setPlaying(false))
        scene.asks(.setVolume(0.25))
        let effects = scene.reports(.started(.closed))
        #expect(
            effects.commands == [
                .setOutputVolume(Volume(level: 0.5)),
                .load(LoadID(1), MediaItem(uri: "http://example.org/a.flac"), playing: false),
                .setMediaVolume(LoadID(1), Volume(level: 0.25)),
            ])
    }

    @Test func `a renderer that does not come up fails the session`() {
        var scene = Scene(rendererIsUp: false)
        scene.joins(1, .anna)
        scene.starts(1)
        let effects = scene.happens(.loadTimedOut(LoadID(1)))
        #expect(effects.ends == [.failed(MediaFailure(.rendererUnavailable, ""))])
        #expect(effects.commands.isEmpty)
    }

    @Test func `after a crash the item goes on where it was`() {
        var scene = Scene.playing()
        scene.asks(.setSpeed(1.5))
        scene.reaches(seconds(42), rate: 1.5)
        #expect(scene.reports(.exited(reason: "signal 11")) == [.armLoadTimer(LoadID(2))])
        #expect(scene.session?.isReady == true)
        #expect(scene.session?.isBuffering == true)
        #expect(scene.session?.error?.code == .rendererCrashed)
        let item = MediaItem(uri: "http://example.org/a.flac", startPosition: seconds(42))
        #expect(scene.reports(.started(.closed)).commands.last == .load(LoadID(2), item, playing: true))
        #expect(scene.loads().commands == [.setSpeed(LoadID(2), 1.5)])
        #expect(scene.session?.isBuffering == false)
        #expect(scene.session?.error == nil)
    }

    @Test func `a second crash ends the session`() {
        var scene = Scene.playing()
        scene.reports(.exited(reason: "signal 11"))
        scene.reports(.started(.closed))
        let effects = scene.reports(.exited(reason: "signal 11"))
        #expect(effects.ends == [.failed(MediaFailure(.rendererCrashed, ""))])
        #expect(scene.reports(.started(.closed)).commands == [.setOutputVolume(Volume(level: 0.5))])
    }

    /// Reports a position a second, as the renderer does; `clock` is the clock's second.
    private func plays(_ scene: inout Scene, _ clock: Range<Int64>, rate: Double = 1) {
        for second in clock {
            let position = PlaybackPosition(
                position: seconds(second), clockTime: second * 1_000_000_000, rate: rate)
            scene.reports(.positionChanged(scene.load, position))
        }
    }

    @Test func `a crash is forgotten when thirty seconds were played after it`() {
        var scene = Scene.playing()
        scene.reports(.exited(reason: "signal 11"))
        scene.reports(.started(.closed))
        scene.loads()
        plays(&scene, 1_000..<1_031)
        #expect(scene.reports(.exited(reason: "signal 11")).ends.isEmpty)
        scene.reports(.started(.closed))
        scene.loads()
        plays(&scene, 2_000..<2_030)
        #expect(scene.reports(.exited(reason: "signal 11")).ends.count == 1)
    }

    @Test func `neither a pause nor a leap of the clock makes good for a crash`() {
        var scene = Scene.playing()
        scene.reports(.exited(reason: "signal 11"))
        scene.reports(.started(.closed))
        scene.loads()
        plays(&scene, 1_000..<1_060, rate: 0)
        plays(&scene, 2_000..<2_010)
        plays(&scene, 9_000..<9_010)
        #expect(scene.reports(.exited(reason: "signal 11")).ends.count == 1)
    }

    @Test func `after a crash the intent, the seek and the tracks are those that senders wanted last`() {
        var scene = Scene.playing()
        let tracks = Tracks(legible: .init(options: [.init(identifier: "de", displayName: "Deutsch")]))
        scene.reports(.tracksChanged(scene.load, tracks))
        scene.asks(.selectTrack(.legible, identifier: "de"))
        scene.asks(.seek(to: seconds(70), tolerance: .zero))
        scene.reports(.exited(reason: "signal 11"))
        scene.asks(.setPlaying(false))
        let item = MediaItem(uri: "http://example.org/a.flac", startPosition: seconds(70))
        #expect(scene.reports(.started(.closed)).commands.last == .load(LoadID(2), item, playing: false))
        #expect(scene.loads(tracks: tracks).commands == [.selectTrack(LoadID(2), .legible, identifier: "de")])
    }

    @Test func `a live stream goes on at its edge after a crash`() {
        var scene = Scene.playing(.init(), .window)
        scene.reaches(seconds(540))
        scene.reports(.exited(reason: "signal 11"))
        let item = MediaItem(uri: "http://example.org/a.flac")
        #expect(scene.reports(.started(.closed)).commands.last == .load(LoadID(2), item, playing: true))
    }

    @Test func `a lost output leaves the session as it is`() {
        var scene = Scene.playing()
        scene.reaches(seconds(42))
        let before = scene.session
        #expect(scene.reports(.outputChanged(.lost)).isEmpty)
        #expect(scene.session == before)
        #expect(scene.state.device.output.state == .lost)
        #expect(scene.state.lastOrigin == .device)
    }

    @Test func `the sender's words come before those of the media`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1, metadata: Metadata(title: "Hers"))
        scene.reports(.metadataChanged(scene.load, Metadata(title: "Its", subtitle: "Band", album: "LP")))
        #expect(scene.session?.metadata == Metadata(title: "Hers", subtitle: "Band", album: "LP"))
        scene.reports(.metadataChanged(scene.load, Metadata(album: String(repeating: "ä", count: 5000))))
        #expect(scene.session?.metadata.subtitle == nil)
        #expect(scene.session?.metadata.album?.utf8.count == 1024)
    }

    @Test func `what a station tells comes before the sender's name for it`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1, metadata: Metadata(title: "Hers"))
        scene.reports(.metadataChanged(scene.load, Metadata(station: "Its", genre: "Jazz")))
        #expect(scene.session?.metadata == Metadata(title: "Hers", station: "Hers", genre: "Jazz"))
        scene.reports(.metadataChanged(scene.load, Metadata(title: "Song", station: "Its")))
        #expect(scene.session?.metadata == Metadata(title: "Song", station: "Hers"))
    }

    @Test func `a station without a title is called by its name`() {
        var scene = Scene()
        scene.joins(1, .anna)
        scene.starts(1)
        scene.reports(.metadataChanged(scene.load, Metadata(station: "Its")))
        #expect(scene.session?.metadata == Metadata(title: "Its", station: "Its"))
    }

    @Test func `pictures are kept until the session ends, and only so many`() {
        var scene = Scene.playing()
        let picture = Artwork(bytes: [1], type: "image/png", size: nil)
        for key: UInt64 in 1...4 {
            #expect(
                scene.reports(.artworkFound(scene.load, picture))
                    == scene.player.map { [.storeArtwork($0, key: key, picture)] })
        }
        #expect(scene.session?.artwork == [1, 2, 3, 4])
        #expect(scene.reports(.artworkFound(scene.load, picture)).count == 2)
        #expect(scene.session?.artwork == [5])
        let drop = scene.player.map { ReceiverEffect.dropArtwork($0) }
        #expect(scene.stops(1).contains { $0 == drop })
    }

    @Test func `what is no picture is not served`() {
        var scene = Scene.playing()
        for type in ["text/html", "image/png\r\nX: y", "image/ png"] {
            #expect(
                scene.reports(.artworkFound(scene.load, Artwork(bytes: [1], type: type, size: nil))).isEmpty)
        }
    }
}
