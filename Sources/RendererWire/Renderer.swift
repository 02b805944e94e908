// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

extension RendererCommand {
    func write(to writer: inout ByteWriter) {
        func begin(_ kind: UInt8, _ load: LoadID) {
            writer.put(kind)
            writer.put(load.number)
        }
        switch self {
        case .load(let load, let item, let playing):
            begin(1, load)
            writer.put(item)
            writer.put(playing)
        case .setPlaying(let load, let playing):
            begin(2, load)
            writer.put(playing)
        case .seek(let load, let seek, let position, let tolerance):
            begin(3, load)
            writer.put(seek.number)
            writer.put(position)
            writer.put(tolerance)
        case .setSpeed(let load, let speed):
            begin(4, load)
            writer.put(speed)
        case .setScan(let load, let rate):
            begin(5, load)
            writer.optional(rate) { $1.put($0) }
        case .selectTrack(let load, let kind, let identifier):
            begin(6, load)
            writer.put(kind.rawValue)
            writer.optional(identifier) { $1.put($0) }
        case .setMediaVolume(let load, let volume):
            begin(7, load)
            writer.put(volume)
        case .setOutputVolume(let volume):
            writer.put(UInt8(8))
            writer.put(volume)
        case .stop(let load): begin(9, load)
        case .warmUp: writer.put(UInt8(10))
        case .prepareNext(let load, let upcoming):
            begin(11, load)
            writer.optional(upcoming) {
                $1.put($0.load.number)
                $1.put($0.item)
            }
        case .announce(let load, let announcement):
            begin(12, load)
            writer.put(announcement.item)
            writer.put(announcement.volume)
            writer.put(announcement.ducking)
        case .cancelAnnouncement(let load): begin(13, load)
        case .setGroupClock(let line):
            writer.put(UInt8(14))
            writer.optional(line) { $1.put($0) }
        case .bind(let load, let anchor):
            begin(15, load)
            writer.optional(anchor) { $1.put($0) }
        case .unbind(let load): begin(16, load)
        case .setOutputTrim(let nanoseconds):
            writer.put(UInt8(17))
            writer.put(nanoseconds)
        case .loadCapture(let load, let source, let playing):
            begin(18, load)
            writer.put(source)
            writer.put(playing)
        case .watchCapture(let watches):
            writer.put(UInt8(19))
            writer.list(watches) { $1.put($0) }
        case .setCardDrift(let device, let partsPerMillion):
            writer.put(UInt8(20))
            writer.put(device)
            writer.put(partsPerMillion)
        case .setOutputDevice(let device):
            writer.put(UInt8(21))
            writer.optional(device) { $1.put($0) }
        }
    }

    init(_ reader: inout ByteReader) throws(FrameFailure) {
        switch try reader.byte() {
        case 1: self = .load(try reader.load(), try reader.item(), playing: try reader.bool())
        case 2: self = .setPlaying(try reader.load(), try reader.bool())
        case 3:
            self = .seek(
                try reader.load(), try reader.seek(), to: try reader.time(), tolerance: try reader.time())
        case 4: self = .setSpeed(try reader.load(), try reader.double())
        case 5:
            self = .setScan(
                try reader.load(), try reader.optional { reader throws(FrameFailure) in try reader.double() })
        case 6:
            self = .selectTrack(
                try reader.load(), try reader.choice(TrackKind.self), identifier: try reader.optionalText())
        case 7: self = .setMediaVolume(try reader.load(), try reader.volume())
        case 8: self = .setOutputVolume(try reader.volume())
        case 9: self = .stop(try reader.load())
        case 10: self = .warmUp
        case 11:
            self = .prepareNext(
                try reader.load(),
                try reader.optional { reader throws(FrameFailure) in
                    UpcomingItem(load: try reader.load(), item: try reader.item())
                })
        case 12:
            self = .announce(
                try reader.load(),
                Announcement(
                    item: try reader.item(), volume: try reader.volume(), ducking: try reader.double()))
        case 13: self = .cancelAnnouncement(try reader.load())
        case 14:
            self = .setGroupClock(
                try reader.optional { reader throws(FrameFailure) in try reader.clockLine() })
        case 15:
            self = .bind(
                try reader.load(),
                try reader.optional { reader throws(FrameFailure) in try reader.anchor() })
        case 16: self = .unbind(try reader.load())
        case 17: self = .setOutputTrim(nanoseconds: try reader.integer())
        case 18:
            self = .loadCapture(
                try reader.load(), try reader.captureSource(), playing: try reader.bool())
        case 19:
            self = .watchCapture(
                try reader.list { reader throws(FrameFailure) in try reader.captureWatch() })
        case 20:
            self = .setCardDrift(device: try reader.text(), partsPerMillion: try reader.finite())
        case 21: self = .setOutputDevice(try reader.optionalText())
        case let kind: throw FrameFailure("a command of kind \(kind) is unknown")
        }
    }
}

extension RendererEvent {
    func write(to writer: inout ByteWriter) {
        func begin(_ kind: UInt8, _ load: LoadID) {
            writer.put(kind)
            writer.put(load.number)
        }
        switch self {
        case .started(let status):
            writer.put(UInt8(1))
            writer.put(status)
        case .loaded(let load, let media):
            begin(2, load)
            writer.put(media.timeline)
            writer.put(media.tracks)
            writer.put(media.hasAudio)
            writer.put(media.hasVideo)
        case .timelineChanged(let load, let timeline):
            begin(3, load)
            writer.put(timeline)
        case .positionChanged(let load, let position):
            begin(4, load)
            writer.put(position)
        case .bufferingChanged(let load, let isBuffering):
            begin(5, load)
            writer.put(isBuffering)
        case .metadataChanged(let load, let metadata):
            begin(6, load)
            writer.put(metadata)
        case .artworkFound(let load, let artwork):
            begin(7, load)
            writer.put(artwork)
        case .tracksChanged(let load, let tracks):
            begin(8, load)
            writer.put(tracks)
        case .seekFinished(let load, let seek, let failure):
            begin(9, load)
            writer.put(seek.number)
            writer.optional(failure) { $1.put($0) }
        case .ended(let load): begin(10, load)
        case .failed(let load, let failure):
            begin(11, load)
            writer.put(failure)
        case .stopped(let load): begin(12, load)
        case .outputChanged(let status):
            writer.put(UInt8(13))
            writer.put(status)
        case .outputVolumeChanged(let volume):
            writer.put(UInt8(14))
            writer.put(volume)
        case .errorChanged(let load, let failure):
            begin(20, load)
            writer.optional(failure) { $1.put($0) }
        case .exited(let reason):
            writer.put(UInt8(15))
            writer.put(reason)
        case .pictureChanged(let load, let status):
            begin(21, load)
            writer.put(status)
        case .confined(let layers):
            writer.put(UInt8(16))
            writer.list(layers) { $1.put($0) }
        case .advanced(let load, let next):
            begin(17, load)
            writer.put(next.number)
        case .announcementBegan(let load): begin(22, load)
        case .announcementEnded(let load): begin(23, load)
        case .announcementFailed(let load, let failure):
            begin(24, load)
            writer.put(failure)
        case .readinessChanged(let load, let isReady):
            begin(25, load)
            writer.put(isReady)
        case .syncChanged(let load, let report):
            begin(26, load)
            writer.put(report)
        case .captureActivity(let name, let isActive, let reason):
            writer.put(UInt8(27))
            writer.put(name)
            writer.put(isActive)
            writer.optional(reason) { $1.put($0) }
        case .jackChanged(let name, let isPlugged):
            writer.put(UInt8(28))
            writer.put(name)
            writer.put(isPlugged)
        case .nextFailed(let load, let next, let failure):
            begin(18, load)
            writer.put(next.number)
            writer.put(failure)
        }
    }

    init(_ reader: inout ByteReader) throws(FrameFailure) {
        switch try reader.byte() {
        case 1: self = .started(try reader.status())
        case 2:
            self = .loaded(
                try reader.load(),
                LoadedMedia(
                    timeline: try reader.timeline(), tracks: try reader.tracks(), hasAudio: try reader.bool(),
                    hasVideo: try reader.bool()))
        case 3: self = .timelineChanged(try reader.load(), try reader.timeline())
        case 4: self = .positionChanged(try reader.load(), try reader.position())
        case 5: self = .bufferingChanged(try reader.load(), try reader.bool())
        case 6: self = .metadataChanged(try reader.load(), try reader.metadata())
        case 7: self = .artworkFound(try reader.load(), try reader.artwork())
        case 8: self = .tracksChanged(try reader.load(), try reader.tracks())
        case 9:
            self = .seekFinished(
                try reader.load(), try reader.seek(),
                failure: try reader.optional { reader throws(FrameFailure) in try reader.failure() })
        case 10: self = .ended(try reader.load())
        case 11: self = .failed(try reader.load(), try reader.failure())
        case 12: self = .stopped(try reader.load())
        case 13: self = .outputChanged(try reader.status())
        case 14: self = .outputVolumeChanged(try reader.volume())
        case 15: self = .exited(reason: try reader.text())
        case 20:
            self = .errorChanged(
                try reader.load(),
                try reader.optional { reader throws(FrameFailure) in try reader.failure() })
        case 21: self = .pictureChanged(try reader.load(), try reader.picture())
        case 16:
            self = .confined(
                try reader.list { reader throws(FrameFailure) in try reader.confinementLayer() })
        case 17: self = .advanced(try reader.load(), to: try reader.load())
        case 18:
            self = .nextFailed(try reader.load(), next: try reader.load(), try reader.failure())
        case 22: self = .announcementBegan(try reader.load())
        case 23: self = .announcementEnded(try reader.load())
        case 24: self = .announcementFailed(try reader.load(), try reader.failure())
        case 25: self = .readinessChanged(try reader.load(), try reader.bool())
        case 26: self = .syncChanged(try reader.load(), try reader.syncReport())
        case 27:
            self = .captureActivity(
                name: try reader.text(), isActive: try reader.bool(), reason: try reader.optionalText())
        case 28: self = .jackChanged(name: try reader.text(), isPlugged: try reader.bool())
        case let kind: throw FrameFailure("an event of kind \(kind) is unknown")
        }
    }
}
