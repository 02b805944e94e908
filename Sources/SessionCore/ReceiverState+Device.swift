// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel

extension ReceiverState {
    /// The longest device name, in bytes of UTF-8: that of a DNS label.
    package static let nameLimit = 63

    /// The highest level of the device, within 0...1.
    var cap: Double { Volume(level: policy.volumeCap.isNaN ? 1 : policy.volumeCap).level }

    mutating func change(_ request: RequestID, _ wanted: DeviceRequest) throws(Refusal) -> [ReceiverEffect] {
        switch wanted {
        case .rename, .setOutputTrim: _ = try activeRoute(request)
        default: _ = try asker(request, needing: .volume)
        }
        switch wanted {
        case .setVolume(let asked):
            guard !asked.isNaN else { throw Refusal(.invalidParams, "The volume is no number.") }
            let level = min(max(asked, 0), cap)
            let answer: Answer = level == asked ? .accepted : .clampedNumber(level)
            return setVolume(Volume(level: level, isMuted: device.volume.isMuted))
                + [.answer(request, answer)]
        case .changeVolume(let steps):
            let asked = device.volume.level + Double(steps) / 16
            let level = min(max(asked, 0), cap)
            let answer: Answer = level == asked ? .level(level) : .clampedNumber(level)
            return setVolume(Volume(level: level, isMuted: device.volume.isMuted))
                + [.answer(request, answer)]
        case .setMuted(let isMuted):
            return setVolume(Volume(level: device.volume.level, isMuted: isMuted))
                + [.answer(request, .accepted)]
        case .toggleMute:
            let isMuted = !device.volume.isMuted
            return setVolume(Volume(level: device.volume.level, isMuted: isMuted))
                + [.answer(request, .muted(isMuted))]
        case .setOutputTrim(let asked):
            let trim = min(max(asked, -Self.trimLimit), Self.trimLimit)
            let answer: Answer = trim == asked ? .accepted : .clampedNumber(Double(trim))
            guard trim != device.outputTrim else { return [.answer(request, answer)] }
            device.outputTrim = trim
            return render(.setOutputTrim(nanoseconds: trim)) + [.persist, .answer(request, answer)]
        case .rename(let asked):
            let name = asked.prefix(bytes: Self.nameLimit)
            guard name.unicodeScalars.contains(where: { !$0.properties.isWhitespace }),
                !asked.containsControlCharacters
            else { throw Refusal(.invalidParams, "A name has 1 to 63 bytes and no control characters.") }
            let answer: Answer = name == asked ? .accepted : .clampedText(name)
            guard name != device.name else { return [.answer(request, answer)] }
            device.name = name
            return [.answer(request, answer), .persist, .advertise(name: name)]
        }
    }

    private mutating func setVolume(_ volume: Volume) -> [ReceiverEffect] {
        guard volume != device.volume else { return [] }
        device.volume = volume
        return render(.setOutputVolume(volume)) + [.persist]
    }

    /// The widest trim either way, in nanoseconds.
    package static let trimLimit: Int64 = 500_000_000

    /// What the group wants: as if somebody had set it, and never a mute.
    mutating func setLevel(_ level: Double) -> [ReceiverEffect] {
        guard !level.isNaN else { return [] }
        return setVolume(Volume(level: min(max(level, 0), cap), isMuted: device.volume.isMuted))
    }

    /// Takes over what somebody did at the mixer, down to the cap.
    mutating func outputVolumeChanged(_ volume: Volume) -> [ReceiverEffect] {
        let capped = Volume(level: min(volume.level, cap), isMuted: volume.isMuted)
        let correction = capped == volume ? [] : render(.setOutputVolume(capped))
        guard capped != device.volume else { return correction }
        device.volume = capped
        return correction + [.persist]
    }
}
