// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ALSA
import Testing

/// Who holds a card, as the kernel writes it.
@Suite struct HolderTests {
    @Test func `an open substream names its owner, a closed one nobody`() {
        let open = "state: RUNNING\nowner_pid   : 2714\ntrigger_time: 88.2\ntstamp      : 0.0\n"
        #expect(SoundCard.owner(inStatus: open) == 2714)
        #expect(SoundCard.owner(inStatus: "closed\n") == nil)
        #expect(SoundCard.owner(inStatus: "owner_pid   : \n") == nil)
        #expect(SoundCard.owner(inStatus: nil) == nil)
    }
}
