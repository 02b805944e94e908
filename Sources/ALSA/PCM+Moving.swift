// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

extension PCM {
    /// Reads up to `room` frames into the beginning of `bytes`, which must be that long. None, if there are none yet; `underrun`,
    /// if some were lost, since they were not read in time: then the device must be prepared and started again.
    package func read(into bytes: inout [UInt8], room: Int, frameBytes: Int) throws(Failure) -> Outcome {
        guard room > 0, frameBytes > 0, bytes.count / frameBytes >= room else { return .frames(0) }
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe snd_pcm_readi(handle, $0.baseAddress!, snd_pcm_uframes_t(room))
        }
        return try Self.outcome(count)
    }

    /// Takes back the frames that are queued, but for the next `left` ones, so that others can be written in their place. Returns how
    /// many; 0 where the device cannot.
    package func takeBack(leaving left: Int) -> Int {
        // The library counts from what it saw last.
        guard unsafe snd_pcm_avail_update(handle) >= 0 else { return 0 }
        let count = unsafe snd_pcm_rewindable(handle) - snd_pcm_sframes_t(max(0, left))
        guard count > 0 else { return 0 }
        return max(0, unsafe snd_pcm_rewind(handle, snd_pcm_uframes_t(count)))
    }
}
