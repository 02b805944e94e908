# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a device's disk, and what was known of it meanwhile.

What was recorded, and the updates, lie in the folder that KEEP=1 keeps, and RECORDED=FOLDER takes them from there.
"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass, field

from cases_update import MOUNT, as_disk, on_disk, unpacked
from machine import PATIENCE
from steps import addressed, expect, up
from writes import Recording

RECORDED = pathlib.Path(os.environ["RECORDED"]) if "RECORDED" in os.environ else None
STATE_FILE = "/var/lib/linnet/state.conf"
SECRET = "the key of the network"
CARD = f"""# ours
[device]
name = Card

[wifi]
country = DE
ssid = Nobody's
key = {SECRET}

[output]
volume-limit = 80
"""


@dataclass
class Story:
    """What a recorded machine was told, and how long the recording was then."""

    name: str  # of the files it lies in
    base: pathlib.Path
    recording: Recording
    phases: list = field(default_factory=list)  # (name, size at its end)
    states: list = field(default_factory=list)  # (size when it was certainly kept, or None, the state's text)
    starts_from: list = field(default_factory=list)  # (size from which on, slot)
    card: list = field(default_factory=list)  # (size from which the card's settings are certainly kept)

    def keep(self, folder):
        told = {"phases": self.phases, "states": self.states, "starts_from": self.starts_from, "card": self.card}
        (folder / f"{self.name}.json").write_text(json.dumps(told))

    @classmethod
    def kept(cls, folder, name):
        return cls(name, folder / f"{name}.img", Recording(folder / f"{name}.log"),
                   **json.loads((folder / f"{name}.json").read_text()))


@functools.cache
def make_two(image):
    """Two updates that have nothing in common but what they do. Returns what slots may hold, by version, and a disk with both."""
    if RECORDED:
        subprocess.run(["cp", "--sparse=always", RECORDED / "updates.img", image.folder], check=True)
        return json.loads((RECORDED / "slots.json").read_text()), as_disk(image)
    tree, root = unpacked(image)
    boot = image.folder / "boot.img"
    image.part(5, boot)
    image.part(6, image.folder / "root.img")
    slots = {"first": (measure(boot), measure(image.folder / "root.img"))}
    for number, options in (("9.1", ()), ("9.2", ("-b", "64K"))):
        made = root(f"{number}.img", number, *options)
        image.bundle(number, made, number)
        slots[number] = (measure(boot), measure(made))
        made.unlink()
    shutil.rmtree(tree)
    return slots, on_disk(image)


def measure(path):
    said = subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True).stdout
    return path.stat().st_size, said.split()[0]


def copy(source, target):
    subprocess.run(["cp", "--sparse=always", source, target], check=True)
    return target


class Settings:
    """Changes the receiver's settings over the network, and knows which of them are certainly kept."""

    def __init__(self, image, lab, machine, size):
        self.image, self.lab, self.machine, self.size = image, lab, machine, size
        self.texts = [machine.run(f"cat {STATE_FILE}")]
        # The writer writes one state after the other, so the one before is kept when the next is there.
        self.kept_since = []

    def change(self, *command):
        name = self.machine.run("ip -4 -o address show scope link | sed 's/.* inet \\([0-9.]*\\).*/\\1/'")
        self.machine.run(f"cp {STATE_FILE} /run/before")
        self.image.sender(self.lab, *command, "--on", name)
        self.texts.append(self.machine.run(
            f"while cmp -s {STATE_FILE} /run/before; do sleep 0.1; done; cat {STATE_FILE}", PATIENCE))
        self.kept_since.append(self.size())

    @property
    def states(self):
        return [*zip(self.kept_since, self.texts), (None, self.texts[-1])]


def live(image, lab, options):
    """A device's first start, some settings, an update and its first start, recorded in one."""
    disk, recording = image.disk(), image.folder / "life.log"
    base = copy(disk, image.folder / "life.img")
    phases, starts_from = [], []

    def size():
        return recording.stat().st_size

    with image.start(lab, disk, *options, recording=recording) as machine:
        up(machine)
        addressed(machine)
        phases.append(("first start, growth", size()))
        settings = Settings(image, lab, machine, size)
        for number in range(1, 9):
            settings.change("rename", f"Cut {number}")
            settings.change("volume", f"{10 + number}%")
        phases.append(("settings", size()))
        machine.run(MOUNT)
        machine.run("linnet update /run/updates/9.1.raucb", PATIENCE)
        starts_from.append((size(), "B"))
        phases.append(("update", size()))
        machine.send("systemctl reboot")
        up(machine, "B")
        machine.off()
    phases.append(("first start of the update", size()))
    return disk, Story("life", base, Recording(recording), phases, settings.states, starts_from)


def take_over(image, lab, disk):
    """The start at which settings on the card are taken over, and its key leaves the card."""
    page = image.folder / "linnet.conf"
    page.write_text(CARD)
    image.tool("mcopy", "-o", "-i", f"{disk}@@4M", page, "::/linnet.conf")
    base, recording = copy(disk, image.folder / "card.img"), image.folder / "card.log"
    with image.start(lab, disk, recording=recording) as machine:
        up(machine, "B")
        text = machine.run(f"cat {STATE_FILE}")
        expect(SECRET in machine.run("cat /data/device/wpa_supplicant.conf"), "the card's settings are taken over")
        taken = recording.stat().st_size
        machine.off()
    return Story("card", base, Recording(recording), [("settings on the card", recording.stat().st_size)],
                 [(0, text)], [(0, "B")], [taken])


def record(image, lab):
    slots, options = make_two(image)
    disk, story = live(image, lab, options)
    story.keep(image.folder)
    take_over(image, lab, disk).keep(image.folder)
    disk.unlink()
    (image.folder / "slots.json").write_text(json.dumps(slots))
