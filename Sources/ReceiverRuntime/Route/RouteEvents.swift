// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import RouteWire
import SessionCore

// From the wire's words to the core's and back, without judgement.

extension RouteFrontEnd {
    /// The event that a request is for the core. Those that are answered without it do not come here.
    func event(for request: RouteRequest, _ id: RequestID) -> ReceiverEvent? {
        switch request {
        case .activate(let activation):
            return .activationRequested(
                id, Sender(identifier: activation.sender.identifier, name: activation.sender.name),
                resume: activation.resume.map { ResumeToken($0) },
                fresh: RouteID(shell.ports.identifiers.uuid()),
                token: ResumeToken(shell.ports.identifiers.token()))
        case .deactivate: return .deactivationRequested(id)
        case .start(let start) where start.mode == .application:
            return .applicationStartRequested(
                id, ApplicationStart(application: start.application, url: start.url),
                fresh: SessionID(shell.ports.identifiers.uuid()),
                instance: InstanceID(shell.ports.identifiers.uuid()))
        case .start(let start):
            return .startRequested(
                id, SessionRequest(start), fresh: SessionID(shell.ports.identifiers.uuid()))
        case .stop(let session): return .stopRequested(id, session.map { SessionID($0) })
        case .setPlaying(let session, let isPlaying): return playback(id, session, .setPlaying(isPlaying))
        case .seek(let session, let position, let tolerance):
            return playback(id, session, .seek(to: position, tolerance: tolerance))
        case .setSpeed(let session, let speed): return playback(id, session, .setSpeed(speed))
        case .setState(let session, let state, let scanSpeed):
            return playback(id, session, .setMode(PlaybackMode(state), scanSpeed: scanSpeed))
        case .selectTrack(let session, let kind, let option):
            return playback(id, session, .selectTrack(kind, identifier: option))
        case .setVolume(let session, let volume): return playback(id, session, .setVolume(volume))
        case .setMuted(let session, let isMuted): return playback(id, session, .setMuted(isMuted))
        case .setMetadata(let session, let change):
            let metadata = change.words.map { Metadata(title: $0.title, subtitle: $0.subtitle) }
            return playback(id, session, .setMetadata(metadata, segments: change.segments))
        case .application(.hello): return .helloRequested(id)
        case .application(.endSession(let session, let failure)):
            return .sessionEndRequested(id, SessionID(session), failure: failure)
        case .queue(let session, let command):
            return .queueRequested(id, session.map { SessionID($0) }, QueueRequest(command))
        case .announce(let announcement):
            return .announcementRequested(
                id, Announcement(announcement), fresh: AnnouncementID(shell.ports.identifiers.uuid()))
        case .cancelAnnouncement(let announcement):
            return .announcementCancelRequested(id, announcement.map { AnnouncementID($0) })
        case .setDeviceVolume(let volume): return .deviceRequested(id, .setVolume(volume))
        case .changeDeviceVolume(let steps): return .deviceRequested(id, .changeVolume(steps: steps))
        case .setDeviceMuted(let isMuted):
            return .deviceRequested(id, isMuted.map { .setMuted($0) } ?? .toggleMute)
        case .rename(let name): return .deviceRequested(id, .rename(name))
        case .subscribe, .unsubscribe, .getState, .ping, .group, .accessory, .link: return nil
        case .setOutputTrim(let trim): return .deviceRequested(id, .setOutputTrim(trim))
        }
    }

    private func playback(_ id: RequestID, _ session: String?, _ request: PlaybackRequest) -> ReceiverEvent {
        .playbackRequested(id, session.map { SessionID($0) }, request)
    }
}

extension SessionRequest {
    fileprivate init(_ start: SessionStart) {
        self.init(
            item: MediaItem(
                uri: start.url, headers: start.headers, userAgent: start.userAgent,
                allowsInvalidCertificate: start.allowsInvalidCertificate,
                startPosition: start.startPosition),
            isPlaying: start.isPlaying, metadata: Metadata(title: start.title, subtitle: start.subtitle),
            segments: start.segments)
        identifier = start.identifier
        following = start.items.map { QueueItem($0) }
        repeats = RepeatMode(start.repeats)
    }
}

extension PlaybackMode {
    fileprivate init(_ state: WirePlaybackState) {
        switch state {
        case .normal: self = .normal
        case .scanning: self = .scanning
        case .scrubbing: self = .scrubbing
        }
    }
}

extension EndReason {
    /// The name on the wire.
    var name: String {
        switch self {
        case .stopped: "stopped"
        case .finished: "finished"
        case .preempted: "preempted"
        case .failed, .applicationFailed: "failed"
        case .routeEnded: "routeEnded"
        case .shutdown: "shutdown"
        }
    }

    func notification(_ session: SessionID) -> JSONValue {
        var taker: String?
        var error: MediaFailure?
        if case .preempted(let by) = self { taker = by }
        if case .failed(let failure) = self { error = failure }
        var application: ApplicationFailure?
        if case .applicationFailed(let failure) = self { application = failure }
        return Notification.sessionEnded(
            session: session.text, reason: name, by: taker, error: error, application: application)
    }
}

extension WireOrigin {
    init(_ origin: Origin) {
        switch origin {
        case .sender(let route, let name): self = .sender(route: route.text, name: name)
        case .application(let instance, let name):
            self = .application(instance: instance.text, name: name)
        case .device: self = .device
        case .content: self = .content
        case .local: self = .local
        case .group: self = .group
        case .switching: self = .switching
        }
    }
}
