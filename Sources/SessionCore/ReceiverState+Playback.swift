// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension ReceiverState {
    mutating func playback(
        _ request: RequestID, _ id: SessionID?, _ wanted: PlaybackRequest
    ) throws(Refusal) -> [ReceiverEffect] {
        let id = try media(request, id)
        guard var session = sessions[id] else {
            throw Refusal(.sessionUnknown, "There is no such session, or no longer.")
        }
        if session.isGrouped, let coordinated = try coordinated(wanted, session) {
            if case .setSpeed(let speed) = coordinated.request { sessions[id]?.speed = speed }
            let asked: [ReceiverEffect] = coordinated.request.map { [.coordinate(id, $0)] } ?? []
            return asked + [.answer(request, coordinated.answer)]
        }
        let commands: [RendererCommand]
        let answer: Answer
        switch wanted {
        case .setPlaying(let isPlaying):
            (commands, answer) = (session.setPlaying(isPlaying), .accepted)
        case .seek(let time, let tolerance):
            (commands, answer) = try session.seek(to: time, tolerance: tolerance, next: &lastSeek)
        case .setSpeed(let speed):
            (commands, answer) = try session.setSpeed(speed)
        case .setMode(let mode, let scanSpeed):
            (commands, answer) = try session.setMode(mode, scanSpeed: scanSpeed)
        case .selectTrack(let kind, let identifier):
            (commands, answer) = (try session.selectTrack(kind, identifier), .accepted)
        case .setVolume(let level):
            (commands, answer) = try session.setVolume(level)
        case .setMuted(let isMuted):
            session.volume.isMuted = isMuted
            (commands, answer) = ([.setMediaVolume(session.load, session.volume)], .accepted)
        case .setMetadata(let metadata, let segments):
            (commands, answer) = (try session.amend(metadata, segments), .accepted)
        }
        sessions[id] = session
        // What waits for its group's next item is told with that.
        let told = session.waiting == nil ? commands : []
        return told.flatMap { render($0) } + [.answer(request, answer)]
    }
}

extension Session {
    /// Changes the intent. A scan is over with it: whoever says play or pause does not mean to go on scanning.
    mutating func setPlaying(_ wanted: Bool) -> [RendererCommand] {
        let commands = endScan()
        isPlaying = wanted
        return commands + [.setPlaying(load, wanted)]
    }

    /// Moves to a place, as near as may be. One seek is at the renderer; of those that wait only the newest stays.
    mutating func seek(
        to time: MediaTime, tolerance: MediaTime, next number: inout UInt64
    ) throws(Refusal) -> ([RendererCommand], Answer) {
        guard time != .indefinite, time != .invalid else {
            throw Refusal(.invalidParams, "The position is no time.")
        }
        guard tolerance == .positiveInfinity || (tolerance.isNumeric && tolerance.value >= 0) else {
            throw Refusal(.invalidParams, "The tolerance is neither a length nor positiveInfinity.")
        }
        guard phase == .active, !timeline.isUnknown else {
            // What may be done is not known yet; it is found out when the media is loaded and its length is known.
            try refuseLinear(to: time)
            pendingSeek = Target(time: time, tolerance: tolerance)
            return ([], .accepted)
        }
        guard let place = timeline.place(for: time) else {
            throw Refusal(.notSeekable, "The media cannot be moved on.")
        }
        try refuseLinear(to: place)
        let commands = endScan()
        pendingSeek = Target(time: place, tolerance: tolerance)
        let answer: Answer = place.isSameMoment(as: time) ? .accepted : .clampedTime(place)
        return (commands + sendSeek(next: &number), answer)
    }

    /// Sends the seek that waits, if the renderer is free for it.
    mutating func sendSeek(next number: inout UInt64) -> [RendererCommand] {
        guard isLoaded, !timeline.isUnknown, seek == nil, let waiting = pendingSeek else { return [] }
        pendingSeek = nil
        guard let place = timeline.place(for: waiting.time) else { return [] }
        number &+= 1
        let target = Target(time: place, tolerance: waiting.tolerance)
        seek = Seek(id: SeekID(number), target: target)
        return [.seek(load, SeekID(number), to: place, tolerance: waiting.tolerance)]
    }

    mutating func setSpeed(_ asked: Double) throws(Refusal) -> ([RendererCommand], Answer) {
        guard !asked.isNaN else { throw Refusal(.invalidParams, "The speed is no number.") }
        let wanted = min(max(asked, 0.25), 4)
        // Back to the speed of the media is always allowed.
        if wanted != 1 { try refuseLinear(to: position.position) }
        speed = wanted
        return (sendSpeed(), wanted == asked ? .accepted : .clampedNumber(wanted))
    }

    /// Tells the speed, unless a scan goes on or the media is not loaded; then it is told after that.
    mutating func sendSpeed() -> [RendererCommand] {
        guard isLoaded, mode != .scanning, toldSpeed != speed else { return [] }
        toldSpeed = speed
        return [.setSpeed(load, speed)]
    }

    mutating func setMode(
        _ wanted: PlaybackMode, scanSpeed asked: Double?
    ) throws(Refusal) -> ([RendererCommand], Answer) {
        switch wanted {
        case .normal:
            let commands = endScan()
            mode = .normal
            return (commands, .accepted)
        case .scrubbing:
            try refuseLinear(to: position.position)
            let commands = endScan()
            mode = .scrubbing
            return (commands, .accepted)
        case .scanning:
            let asked = asked ?? scanSpeed
            guard !asked.isNaN, asked != 0 else {
                throw Refusal(.invalidParams, "The scan speed is no number, or 0.")
            }
            let needed: SeekCapabilities = asked < 0 ? .scanBackward : .scanForward
            guard isLoaded, timeline.capabilities.contains(needed) else {
                throw Refusal(.unsupported, "The media cannot be scanned in this direction.")
            }
            try refuseLinear(to: position.position)
            let magnitude = min(max(asked.magnitude, 2), 32)
            scanSpeed = asked < 0 ? -magnitude : magnitude
            mode = .scanning
            return (
                [.setScan(load, scanSpeed)], scanSpeed == asked ? .accepted : .clampedNumber(scanSpeed)
            )
        }
    }

    /// Ends a scan, if there is one, and goes on at the listener's speed.
    mutating func endScan() -> [RendererCommand] {
        guard mode == .scanning else { return [] }
        mode = .normal
        return [.setScan(load, nil)] + sendSpeed()
    }

    mutating func selectTrack(_ kind: TrackKind, _ identifier: String?) throws(Refusal) -> [RendererCommand] {
        if let identifier, !tracks[kind].options.contains(where: { $0.identifier == identifier }) {
            throw Refusal(.trackUnknown, "There is no such alternative.")
        }
        chosenTracks.updateValue(identifier, forKey: kind)
        return isLoaded ? [.selectTrack(load, kind, identifier: identifier)] : []
    }

    mutating func setVolume(_ asked: Double) throws(Refusal) -> ([RendererCommand], Answer) {
        guard !asked.isNaN else { throw Refusal(.invalidParams, "The volume is no number.") }
        volume.level = asked
        let answer: Answer = volume.level == asked ? .accepted : .clampedNumber(volume.level)
        return ([.setMediaVolume(load, volume)], answer)
    }

    /// Replaces what was given with the current item, there and in the queue.
    mutating func amend(_ metadata: Metadata?, _ segments: [Segment]?) throws(Refusal) -> [RendererCommand] {
        if let segments, segments.count > QueueItem.segmentLimit {
            throw Refusal(.invalidParams, "There are more than \(QueueItem.segmentLimit) segments.")
        }
        try queue.amend(queue.current, metadata, segments)
        if let metadata {
            givenMetadata = metadata
            self.metadata = metadata.completed(by: mediaMetadata)
        }
        if let segments {
            givenSegments = Segment.ordered(segments)
            self.segments = Segment.contiguous(givenSegments, over: timeline.range)
        }
        return []
    }

    /// Refuses what would leave out a part of a segment that must be played through, or move within it.
    private func refuseLinear(to target: MediaTime) throws(Refusal) {
        let place = position.position
        for segment in segments where segment.requiresLinearPlayback {
            let (first, last) = place < target ? (place, target) : (target, place)
            let isCrossed = segment.range.start < last && first < segment.range.end
            if isCrossed || segment.range.contains(place) {
                throw Refusal(.linearPlayback, "A segment has to be played as it is.")
            }
        }
    }
}
