# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What several devices do together."""
from machine import CABLES
from sound import heard, make_tone
from steps import addressed, expect, found, up


def group(image, lab):
    """Two devices, fresh from one image, find a group together and play the same."""
    first, second = (image.start(lab, image.disk(f"{cable}.img"), name=cable) for cable in CABLES)
    with first, second:
        names = []
        for machine in (first, second):
            up(machine)
            names.append(addressed(machine))
        expect(names[0] != names[1], f"they have names of their own: {' '.join(names)}")
        for name in names:
            found(image, lab, name)
            image.sender(lab, "volume", "100%", "--on", name)
        image.sender(lab, "group", "create", "Party", *names)
        make_tone(image.folder / "tone.wav", 660, 6)
        image.sender(lab, "play", image.folder / "tone.wav", "--on", names[0])
        for machine in (first, second):
            machine.off()
    for machine in (first, second):
        expect(heard(machine.sound, 660) > 3, f"{machine.folder.name}: its card played it")
