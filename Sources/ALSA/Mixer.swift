// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// The playback volume of one card's mixer. Moving it moves the handle; dropping it closes the mixer.
@safe package struct Mixer: ~Copyable {
    private let handle: OpaquePointer
    private let element: OpaquePointer
    /// The lowest and the highest gain, in hundredths of a decibel.
    private let range: ClosedRange<Int>
    private let hasSwitch: Bool

    /// The names of controls that set the loudness of a whole card, best first.
    private static let usualNames = [
        "Master", "Digital", "PCM", "Speaker", "Headphone", "Line Out", "Playback",
    ]

    /// Opens the control `name` of the card `card` (such as `hw:0`); without a name the usual ones are tried.
    ///
    /// Nil if there is no such control, or none with a scale in decibels.
    package init?(card: String, control name: String?) {
        alsa_shim_silence()
        var mixer: OpaquePointer?
        guard unsafe snd_mixer_open(&mixer, 0) == 0, let mixer = unsafe mixer else { return nil }
        var isTaken = false
        defer { if !isTaken { _ = unsafe snd_mixer_close(mixer) } }
        guard unsafe snd_mixer_attach(mixer, card) == 0,
            unsafe snd_mixer_selem_register(mixer, nil, nil) == 0, unsafe snd_mixer_load(mixer) == 0
        else { return nil }
        for candidate in name.map({ [$0] }) ?? Self.usualNames {
            guard let element = unsafe Self.find(candidate, in: mixer) else { continue }
            var (low, high) = (0, 0)
            guard unsafe snd_mixer_selem_get_playback_dB_range(element, &low, &high) == 0, low < high else {
                continue
            }
            unsafe handle = mixer
            unsafe self.element = element
            range = low...high
            hasSwitch = unsafe snd_mixer_selem_has_playback_switch(element) != 0
            isTaken = true
            return
        }
        return nil
    }

    deinit { _ = unsafe snd_mixer_close(handle) }

    private static func find(_ name: String, in mixer: OpaquePointer) -> OpaquePointer? {
        var id: OpaquePointer?
        guard unsafe snd_mixer_selem_id_malloc(&id) == 0 else { return nil }
        defer { unsafe snd_mixer_selem_id_free(id) }
        unsafe snd_mixer_selem_id_set_name(id, name)
        guard let element = unsafe snd_mixer_find_selem(mixer, id),
            unsafe snd_mixer_selem_has_playback_volume(element) != 0
        else { return nil }
        return unsafe element
    }

    /// What a mixer says: the gain below the highest in decibels, and the mute.
    package struct Reading: Equatable {
        package let attenuation: Double
        package let isMuted: Bool
    }

    /// The highest gain in decibels, taken as full volume.
    package var highest: Double { Double(range.upperBound) / 100 }

    /// Sets the gain below the highest, in decibels (never positive), and the mute. A mute without a switch is
    /// the lowest gain.
    package func set(attenuation: Double, isMuted: Bool) {
        let wanted = attenuation.isFinite ? max(attenuation, -200) : -200
        let value = max(range.lowerBound, min(range.upperBound, range.upperBound + Int(wanted * 100)))
        let isSilent = isMuted && !hasSwitch
        _ = unsafe snd_mixer_selem_set_playback_dB_all(element, isSilent ? range.lowerBound : value, 0)
        if hasSwitch { _ = unsafe snd_mixer_selem_set_playback_switch_all(element, isMuted ? 0 : 1) }
    }

    /// Takes over what other programs changed. Nil if the card is gone.
    package func read() -> Reading? {
        guard unsafe snd_mixer_handle_events(handle) >= 0 else { return nil }
        var (gain, isOn): (Int, Int32) = (0, 1)
        guard unsafe snd_mixer_selem_get_playback_dB(element, SND_MIXER_SCHN_FRONT_LEFT, &gain) == 0 else {
            return nil
        }
        if hasSwitch {
            _ = unsafe snd_mixer_selem_get_playback_switch(element, SND_MIXER_SCHN_FRONT_LEFT, &isOn)
        }
        return Reading(attenuation: Double(gain - range.upperBound) / 100, isMuted: isOn == 0)
    }
}
