// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension ReceiverState {
    /// The most pictures of a session; with one more all the others go.
    static let artworkLimit = 4

    mutating func rendered(_ event: RendererEvent) -> [ReceiverEffect] {
        switch event {
        case .started(let output): return started(output)
        case .exited: return exited()
        case .confined(let layers):
            device.confinement = layers
            return []
        case .outputChanged(let output): return outputChanged(output)
        case .announcementBegan(let load): return announcementBegan(load)
        case .announcementEnded(let load): return announcementEnded(load)
        case .announcementFailed(let load, let failure): return announcementFailed(load, failure)
        case .outputVolumeChanged(let volume): return outputVolumeChanged(volume)
        case .loaded(let load, let media): return loaded(load, media)
        case .timelineChanged(let load, let timeline):
            // A seek that was asked for before the length was known follows now.
            return update(load) { session, number in
                session.take(timeline) + session.sendSeek(next: &number)
            }
        case .positionChanged(let load, let position):
            return update(load) { session, number in session.take(position, nextSeek: &number) }
        case .bufferingChanged(let load, let isBuffering):
            return update(load) { session, _ in
                session.isBuffering = isBuffering
                return []
            }
        case .errorChanged(let load, let failure):
            return update(load) { session, _ in
                session.error = failure
                return []
            }
        case .metadataChanged(let load, let metadata):
            return update(load) { session, _ in
                // Only what may be shown is kept.
                session.mediaMetadata = metadata.limited
                session.metadata = session.givenMetadata.completed(by: session.mediaMetadata)
                return []
            }
        case .tracksChanged(let load, let tracks):
            return update(load) { session, _ in
                session.tracks = tracks.limited
                return []
            }
        case .pictureChanged(let load, let picture):
            return update(load) { session, _ in
                session.picture = picture
                return []
            }
        case .seekFinished(let load, let seek, let failure):
            return update(load) { session, number in
                guard session.seek?.id == seek else { return [] }
                session.seek = nil
                session.error = failure
                return session.sendSeek(next: &number)
            }
        // Only groups bind loads, and only sources outside of the network are captured.
        case .readinessChanged, .syncChanged, .captureActivity, .jackChanged: return []
        case .artworkFound(let load, let artwork): return artworkFound(load, artwork)
        case .ended(let load): return over(load) { state, id in state.itemEnded(id) }
        case .advanced(let load, let next): return advanced(load, to: next)
        case .nextFailed(let load, let next, let failure): return nextFailed(load, next, failure)
        case .failed(let load, let failure): return over(load) { state, id in state.itemFailed(id, failure) }
        case .stopped(let load):
            let failure = MediaFailure(.internalFailure, "The renderer stopped by itself.")
            return over(load) { state, id in state.itemFailed(id, failure) }
        }
    }

    /// Changes the session that plays, if the load is its newest.
    private mutating func update(
        _ load: LoadID, _ body: (inout Session, inout UInt64) -> [RendererCommand]
    ) -> [ReceiverEffect] {
        guard let id = session(playing: load), var session = sessions[id] else { return [] }
        let commands = body(&session, &lastSeek)
        sessions[id] = session
        return commands.flatMap { render($0) }
    }

    private mutating func started(_ output: OutputStatus) -> [ReceiverEffect] {
        // Without an exit in between, one was missed.
        let missed = rendererIsUp ? exited() : []
        device.output = output
        rendererIsUp = true
        let item = player.flatMap { sessions[$0] }.map { launch($0) } ?? []
        let trim = device.outputTrim == 0 ? [] : render(.setOutputTrim(nanoseconds: device.outputTrim))
        return missed + render(.setOutputVolume(device.volume)) + trim + item + announcementCommands()
    }

    private mutating func exited() -> [ReceiverEffect] {
        if device.output.state == .open { device.output.state = .closed }
        device.output.sampleRate = nil
        // A renderer that was not up had no load, or was ended by force: nobody's crash.
        guard rendererIsUp else { return [] }
        // What was announced is as likely to be at fault, and is not tried again: the item is.
        let isBlamed = !isAnnouncing
        rendererIsUp = false
        stopping = nil
        let announced = announcementLost(wasForced: false)
        // What another source brought is not the session's.
        guard foreign == nil, let id = player, var session = sessions[id], session.waiting == nil else {
            return announced
        }
        let failure = MediaFailure(
            .rendererCrashed, "The renderer failed while it played \(session.itemName).")
        if isBlamed { (session.crashes, session.played) = (session.crashes + 1, 0) }
        session.error = failure
        sessions[id] = session
        let isOver = isBlamed && session.crashes > 1
        return announced + (isOver ? itemFailed(id, failure) : prepareReload(id))
    }

    private mutating func loaded(_ load: LoadID, _ media: LoadedMedia) -> [ReceiverEffect] {
        guard let id = session(playing: load), var session = sessions[id], !session.isLoaded else {
            return []
        }
        session.isLoaded = true
        switch session.phase {
        case .loading: session.phase = .active
        // Loaded again after a crash.
        case .active: session.isBuffering = false
        }
        session.error = nil
        session.queue.succeed()
        (session.hasAudio, session.hasVideo) = (media.hasAudio, media.hasVideo)
        session.picture = PictureStatus()
        session.tracks = media.tracks.limited
        var commands = session.take(media.timeline)
        commands += session.sendSpeed()
        for kind in TrackKind.allCases {
            guard let chosen = session.chosenTracks[kind] else { continue }
            commands.append(.selectTrack(load, kind, identifier: chosen))
        }
        commands += session.sendSeek(next: &lastSeek)
        sessions[id] = session
        return commands.flatMap { render($0) } + tellNext(id)
    }

    private mutating func artworkFound(_ load: LoadID, _ artwork: Artwork) -> [ReceiverEffect] {
        guard let id = session(playing: load), var session = sessions[id], artwork.isServable else {
            return []
        }
        var effects: [ReceiverEffect] = []
        if session.artworkIsStale || session.artwork.count >= Self.artworkLimit {
            if !session.artwork.isEmpty { effects.append(.dropArtwork(id)) }
            session.artwork = []
        }
        session.artworkIsStale = false
        lastArtwork &+= 1
        session.artwork.append(lastArtwork)
        sessions[id] = session
        return effects + [.storeArtwork(id, key: lastArtwork, artwork)]
    }

    /// The load is over by itself; the renderer has freed it.
    private mutating func over(
        _ load: LoadID, _ body: (inout Self, SessionID) -> [ReceiverEffect]
    ) -> [ReceiverEffect] {
        // Whatever ends a load that is to be stopped is the answer to the stop.
        if stopping == load { stopping = nil }
        guard let id = session(playing: load) else { return [] }
        return body(&self, id)
    }
}

extension Session {
    /// Takes over a timeline and brings into it what depends on it.
    mutating func take(_ new: Timeline) -> [RendererCommand] {
        timeline = new.sound
        segments = Segment.contiguous(givenSegments, over: timeline.range)
        position = timeline.clamp(position)
        let needed: SeekCapabilities = scanSpeed < 0 ? .scanBackward : .scanForward
        return timeline.capabilities.contains(needed) ? [] : endScan()
    }

    /// Takes over where playback is, and ends a scan that came to an end or to a segment that it must not enter.
    mutating func take(_ new: PlaybackPosition, nextSeek number: inout UInt64) -> [RendererCommand] {
        guard new.position.isNumeric else { return [] }
        let before = position.position
        forgetCrashes(until: new.clockTime)
        position = PlaybackPosition(
            position: new.position, clockTime: new.clockTime, rate: new.rate.isFinite ? new.rate : 0)
        // Before the media is loaded its range is not known.
        if phase == .active { position = timeline.clamp(position) }
        guard mode == .scanning else { return [] }
        let now = position.position
        let isForward = scanSpeed > 0
        let crossed = segments.filter {
            let (first, last) = isForward ? (before, now) : (now, before)
            return $0.requiresLinearPlayback && $0.range.start < last && first < $0.range.end
        }
        if let first = isForward ? crossed.first : crossed.last {
            let commands = endScan()
            let place = isForward ? first.range.start : first.range.end
            pendingSeek = Target(time: place, tolerance: .zero)
            return commands + sendSeek(next: &number)
        }
        let atStart = !isForward && !(timeline.range.start < now)
        let atEdge = isForward && timeline.isLive && !(now < timeline.range.end)
        return atStart || atEdge ? endScan() : []
    }

    /// Counts the time that was played up to the clock time of a new report.
    private mutating func forgetCrashes(until clockTime: Int64) {
        guard crashes > 0, position.rate != 0 else { return }
        let (elapsed, isTooLong) = clockTime.subtractingReportingOverflow(position.clockTime)
        // Reports come each second; nobody knows what a longer silence of the renderer was.
        if !isTooLong, elapsed > 0 { played += min(elapsed, 2_000_000_000) }
        if played >= Self.calmTime { crashes = 0 }
    }
}
