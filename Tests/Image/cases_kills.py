# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What a device does that loses its power again and again. SEED chooses when; ROUNDS is how often."""
import json
import os
import random
import time

from cases_update import MOUNT
from judge import chosen
from machine import PATIENCE, wait
from steps import addressed, expect, up, version
from stories import RECORDED, STATE_FILE, Settings, copy, live, make_two
from writes import Disk, Recording, lose

SEED = int(os.environ.get("SEED", "1"))


class Device:
    """A device that lives through one cut after the other, its disk a recording that is begun anew at each start."""

    def __init__(self, image, lab, options):
        self.image, self.lab, self.options = image, lab, options
        self.choose = random.Random(SEED)
        self.disk, self.base, self.recording = image.disk(), image.folder / "base.img", image.folder / "life.log"

    def start(self):
        copy(self.disk, self.base)
        return self.image.start(self.lab, self.disk, *self.options, recording=self.recording)

    def size(self):
        return self.recording.stat().st_size

    def cut(self, machine):
        """Kills the machine; what it had not flushed is lost in part."""
        machine.kill()
        recording = Recording(self.recording)
        cut = lose(recording, self.choose)
        with Disk(recording, self.base, self.image.folder / "cut.img") as disk:
            disk.become(cut)
        lost = sum(write.changes for write in recording.writes[cut.kept:]) - len(cut.extra)
        (self.image.folder / "cut.img").rename(self.disk)
        return len(recording.writes), lost


def running(machine):
    """Waits for a complete start of whichever slot it is."""
    machine.shell(PATIENCE)
    slot = machine.run("sed 's/.*rauc.slot=\\(.\\).*/\\1/' /proc/cmdline")
    state = machine.run("systemctl is-system-running --wait", PATIENCE, check=False)
    expect(state == "running", f"slot {slot} is running: {state}")
    machine.run("systemctl is-active linnet-good.service")
    return slot


def told(machine):
    """What the device says of its slots, held against the state itself."""
    said = json.loads(machine.run("linnet update status --json").splitlines()[-1])
    own = said["running"]
    other = "A" if own == "B" else "B"
    is_good = machine.run(f"/usr/libexec/linnet/slots get-state {other}") == "good"
    expect(said["hasFallback"] == is_good, f"it says whether there is a fallback: {said['hasFallback']}")
    if not said["hasFallback"]:
        expect(any("no fallback" in remark for remark in said["remarks"]), "and says so in words")
    return said


def kills(image, lab):
    """Killed ten times at any moment of an update and its first start, one device comes back each time with its settings."""
    rounds = int(os.environ.get("ROUNDS", "10"))
    slots, options = make_two(image)
    device = Device(image, lab, options)
    written = sum(part[0] for part in slots["9.1"])
    state, seconds = None, 60
    for number in range(rounds + 1):
        begun = time.monotonic()
        with device.start() as machine:
            slot = running(machine)
            seconds = max(seconds, time.monotonic() - begun)
            now = version(machine)
            said = told(machine)
            if state:
                text = machine.run(f"cat {STATE_FILE}")
                expect(text in state, f"cut {number}: slot {slot}, version {now}, its settings are there")
            name = addressed(machine)
            if number == rounds:
                expect(now in ("9.1", "9.2"), "an update came through in the end")
                expect(name and said["running"] == slot, "it is a good receiver after the last cut")
                machine.off()
                break
            settings = Settings(image, lab, machine, device.size)
            settings.change("rename", f"Round {number}")
            settings.change("volume", f"{20 + number}%")
            # The first of the two is certainly kept, the second may be.
            state = settings.texts[1:]
            machine.run(MOUNT)
            target = "9.2" if now == "9.1" else "9.1"
            before, what = device.size(), f"linnet update --allow-older /run/updates/{target}.raucb"
            if number % 2 == 0:
                share = device.choose.random() * 1.02
                machine.send(what)
                wait(lambda: device.size() - before >= share * written or b"is installed" in machine.text[machine.position:],
                     "the moment", PATIENCE)
                where = f"the update, {(device.size() - before) * 100 // written} % of it written"
            else:
                machine.run(what, PATIENCE)
                at = machine.console.stat().st_size
                machine.send("systemctl reboot")
                wait(lambda: b"linnet: starting slot" in machine.console.read_bytes()[at:], "the boot loader", PATIENCE)
                after = device.choose.random() * seconds
                time.sleep(after)
                where = f"its first start, {after:.0f} s after the boot loader"
            entries, lost = device.cut(machine)
            print(f"  cut {number + 1} in {where}: {entries} writes and flushes, {lost} lost; {time.monotonic() - begun:.0f} s",
                  flush=True)


def interrupted(image, lab):
    """An update that is cut off and never repeated leaves what ran, for good, and the device says that there is no other."""
    _, options = make_two(image)
    device = Device(image, lab, options)
    # As the recordings begin with it, where there are any: updated once, what ran before is the fallback.
    updated = (RECORDED or image.folder) / "card.img"
    if updated.exists():
        copy(updated, device.disk)
    else:
        live(image, lab, options)
    with device.start() as machine:
        up(machine, "B")
        expect(told(machine)["hasFallback"], "what ran before is a fallback")
        machine.run(MOUNT)
        before = device.size()
        machine.send("linnet update /run/updates/9.2.raucb")
        wait(lambda: device.size() - before > 60 << 20, "the middle of the update", PATIENCE)
        device.cut(machine)
    for number in range(5):
        with device.start() as machine:
            if number < 4:
                # Before anything of it is up, four times: a slot alone gets its starts back.
                wait(lambda: machine.console.exists() and b"linnet: starting slot B" in machine.console.read_bytes(),
                     "the boot loader", PATIENCE)
                device.cut(machine)
                continue
            up(machine, "B")
            said = told(machine)
            expect(not said["hasFallback"] and said["next"] == "B", "there is no fallback, and what ran starts next")
            machine.off()
    with open(device.disk, "rb") as file:
        file.seek(image.place(4)[0])
        expect(chosen(file.read(image.place(4)[1]))[:2] == ("B", ["B"]), "what is half written is not in the order")
