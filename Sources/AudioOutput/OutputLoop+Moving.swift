// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import MediaModel
import Synchronization

// The output goes to another device, such as one whose jack was plugged into.
extension OutputLoop {
    /// Lets what is heard die away at this device, and come up at the other from where it did.
    func move(to device: String?) {
        if bound.isRunning {
            fadeOutLive()
            letFadeEnd()
        } else {
            // One that is gone meanwhile is left anyway.
            do throws(PCM.Failure) {
                try noteHeard()
                try takeBack()
            } catch {}
        }
        noteOverlay()
        forgetCard()
        setSounding(false)
        ring.state.withLock { if $0.epoch == epoch { $0.next = $0.kept } }
        risesSlowly = true
        keeper.move(to: device)
    }
}
