// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// The output in the hands of a source that is no session, such as a phone by Bluetooth.
package struct ForeignOutput: Equatable, Sendable {
    /// What is read from it, by its number at the renderer; nil while nothing is.
    package internal(set) var load: LoadID?
}

// Sessions share the output with other sources. Who has it is decided elsewhere; here a session that has lost it is paused, knows
// that it is not heard, and keeps its place until it gets it back.

extension ReceiverState {
    mutating func decideSwitching(_ event: ReceiverEvent) -> [ReceiverEffect] {
        switch event {
        case .outputYielded(let moment): return yieldOutput(at: moment)
        case .outputReturned: return returnOutput()
        case .captureRequested(let source):
            guard foreign != nil, !isShutDown else { return [] }
            let load = nextLoad()
            foreign?.load = rendererIsUp ? load : nil
            return rendererIsUp ? [.render(.loadCapture(load, source, playing: true))] : []
        case .captureEnded: return endCapture()
        case .sessionSwitched(let isPlaying):
            guard let id = player, var session = sessions[id], session.isPlaying != isPlaying else {
                return []
            }
            if session.isGrouped {
                // What the group does is not this receiver's to say; it only ceases to be heard here.
                return []
            }
            let commands = session.setPlaying(isPlaying)
            sessions[id] = session
            return commands.flatMap { render($0) }
        case .levelSwitched(let level): return setLevel(level)
        default: return []
        }
    }

    /// Another source is heard from now on.
    private mutating func yieldOutput(at moment: Int64) -> [ReceiverEffect] {
        guard foreign == nil else { return [] }
        let load = player.flatMap { sessions[$0] }.flatMap { $0.waiting == nil ? $0.load : nil }
        let effects = load.map { render(.setPlaying($0, false)) } ?? []
        foreign = ForeignOutput()
        guard let id = player, var session = sessions[id] else { return effects }
        // The last report is up to a second old.
        session.position = session.position.moved(to: moment)
        if session.phase == .active { session.position = session.timeline.clamp(session.position) }
        sessions[id] = session
        _ = prepareReload(id)
        sessions[id]?.isBuffering = false
        sessions[id]?.isHeard = false
        return effects
    }

    /// The sessions are heard again: the one that was, goes on in its place.
    private mutating func returnOutput() -> [ReceiverEffect] {
        guard let foreign else { return [] }
        self.foreign = nil
        if let id = player { sessions[id]?.isHeard = true }
        // Of a session that waits for its group's next item nothing follows.
        guard let id = player, sessions[id]?.waiting == nil else {
            return foreign.load.map { stopForeign($0) } ?? []
        }
        _ = prepareReload(id)
        guard let session = sessions[id] else { return [] }
        return launch(session) + [.armLoadTimer(session.load)]
    }

    private mutating func endCapture() -> [ReceiverEffect] {
        guard let load = foreign?.load else { return [] }
        foreign?.load = nil
        return stopForeign(load)
    }

    private mutating func stopForeign(_ load: LoadID) -> [ReceiverEffect] {
        guard rendererIsUp else { return [] }
        stopping = load
        return [.render(.stop(load)), .armStopTimer(load)]
    }

    /// Notes what the renderer says of what is captured.
    mutating func noteForeign(_ event: RendererEvent) {
        switch event {
        case .ended(let load), .failed(let load, _), .stopped(let load):
            if foreign?.load == load { foreign?.load = nil }
        case .exited, .started: foreign?.load = nil
        default: break
        }
    }
}

extension PlaybackPosition {
    /// Where it is at a later moment, standing.
    fileprivate func moved(to moment: Int64) -> PlaybackPosition {
        guard rate != 0 else { return self }
        return PlaybackPosition(position: position(atClockTime: moment), clockTime: moment, rate: 0)
    }
}

extension RendererCommand {
    /// True for what concerns what a session plays.
    var isOfSession: Bool {
        switch self {
        case .load, .setPlaying, .seek, .setSpeed, .setScan, .selectTrack, .setMediaVolume, .stop,
            .prepareNext,
            .bind, .unbind:
            true
        case .setOutputVolume, .announce, .cancelAnnouncement, .warmUp, .setGroupClock, .setOutputTrim,
            .setCardDrift, .setOutputDevice, .loadCapture, .watchCapture:
            false
        }
    }
}
