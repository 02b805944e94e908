# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What a device is after its power was cut.

CUTS=all has every cut of the recordings judged, CUTS=N so many of them; SEED chooses which, and when machines are killed. What was
recorded, and the updates, lie in the folder that KEEP=1 keeps, and RECORDED=FOLDER takes them from there.
"""
import collections
import functools
import json
import mmap
import os
import pathlib
import random
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field

from cases_update import MOUNT, as_disk, on_disk, unpacked
from judge import Flaw, Judge, chosen
from machine import PATIENCE, wait
from steps import addressed, expect, up, version
from writes import SECTOR, Cut, Disk, Recording, all_cuts, lose

SEED = int(os.environ.get("SEED", "1"))
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


def fixed(image, disk):
    """Files of the card that GRUB starts from."""
    found = {}
    for name in ("EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/grub.cfg", "arguments.cfg"):
        target = image.folder / "fixed"
        image.tool("mcopy", "-n", "-o", "-i", f"{disk}@@4M", f"::/{name}", target)
        found[name] = target.read_bytes()
    return found


def check(story, cut, found):
    """Whether what was certainly kept is there, and nothing that never was."""
    def is_past(size):
        return size is not None and story.recording.kept(story.recording.at(size)) <= cut.kept

    if story.states:
        texts = [text for _, text in story.states]
        oldest = max((number for number, (size, _) in enumerate(story.states) if is_past(size)), default=-1)
        state = found["data"]["state"]
        text = None if state is None else state.decode("utf-8", "replace").strip()
        if text is None and oldest >= 0:
            raise Flaw("the receiver's state is lost")
        if text is not None and text not in texts[max(oldest, 0):]:
            where = texts.index(text) if text in texts else "none"
            raise Flaw(f"the receiver's state is {where} of those it had, {oldest} was kept: {text!r}")
    for size, slot in story.starts_from:
        if is_past(size) and found["slot"] != slot:
            raise Flaw(f"slot {found['slot']} is taken after the update was complete")
    if story.card:
        check_card(found, any(is_past(size) for size in story.card))


def check_card(found, is_taken):
    page, kept = found["card"]["linnet.conf"], found["data"]["settings"]
    if page is None or len(page) != len(CARD):
        raise Flaw("linnet.conf is lost")
    for before, after in zip(CARD.splitlines(), page.decode("utf-8", "replace").splitlines()):
        if before != after and not (before.startswith("key") and after.startswith("#")):
            raise Flaw(f"linnet.conf has {after!r} for {before!r}")
    if SECRET.encode() not in page and (kept is None or SECRET.encode() not in kept):
        raise Flaw("the key of the network is lost")
    if is_taken and (kept is None or SECRET.encode() not in kept):
        raise Flaw("what was taken over is lost")


def choose_cuts(story, begin, end, count, data, choose):
    """Cuts of a stretch, half of them from where the choice of the slot, the partition table and the beginning of the data are
    written; all if there is no count."""
    cuts = list(all_cuts(story.recording, begin, end, random.Random(SEED)))
    writes = story.recording.writes
    if not count or len(cuts) <= count:
        return cuts, len(cuts)
    hot = [number for number, cut in enumerate(cuts)
           if any(writes[index].sector < 8192 or writes[index].touches(data) for index, *_ in cut.extra)]
    taken = set(choose.sample(hot, min(count // 2, len(hot))))
    rest = [number for number in range(len(cuts)) if number not in taken]
    taken |= set(choose.sample(rest, count - len(taken)))
    return [cuts[number] for number in sorted(taken)], len(cuts)


def replay(image, lab, story, slots, count, look_closer):
    """Judges cuts of a story. Returns how many there were and what was wrong."""
    choose, flaws, judged, begin = random.Random(SEED), [], 0, 0
    closer = []
    with (Disk(story.recording, story.base, image.folder / "cut.img") as disk,
          Judge(image, disk, slots, fixed(image, disk.path)) as judge):
        beginning = (judge.first[3][0], judge.first[3][0] + 8)
        for name, size in story.phases:
            end, begun, taken = story.recording.at(size), time.monotonic(), collections.Counter()
            cuts, possible = choose_cuts(story, begin, end, count, beginning, choose)
            near = set(choose.sample(range(len(cuts)), min(look_closer, len(cuts))))
            for number, cut in enumerate(cuts):
                disk.become(cut)
                try:
                    found = judge.look(cut)
                    check(story, cut, found)
                    taken[f"{found['slot']} {found['version']}"] += 1
                    if number in near:
                        closer.append((found["slot"], loader_takes(image, lab, disk.path)))
                except Flaw as flaw:
                    flaws.append(f"{name}, {cut.kind} after {cut.kept} of {len(story.recording.writes)} writes: {flaw}")
                    print(f"  NOT: {flaws[-1]}", flush=True)
            judged += len(cuts)
            flushes = sum(begin <= index < end for index in story.recording.flushes)
            print(f"  {name}: {end - begin - flushes} writes, {flushes} flushes; {len(cuts)} of {possible} cuts in "
                  f"{time.monotonic() - begun:.0f} s: {dict(taken)}", flush=True)
            begin = end
        print(f"  {judge.mended} times a superblock was torn, and mended")
        expect_to_see(image, disk, slots, story)
    expect(all(own == theirs for own, theirs in closer), f"the boot loader takes the same slot: {len(closer)} times")
    return judged, flaws


def expect_to_see(image, disk, slots, story):
    """A judge that lets everything pass is none: the disk at the end is good, and not with any of these damages."""
    end = Cut(len(story.recording.writes), "all")
    disk.become(end)
    known = fixed(image, disk.path)

    def see():
        with Judge(image, disk, slots, known) as judge:
            check(story, end, judge.look(end))
            return judge.first

    first = see()
    content = mmap.mmap(disk.file.fileno(), 0, access=mmap.ACCESS_READ)
    state, card = story.states[-1][1].encode(), known["EFI/BOOT/grub.cfg"][:512]
    for what, places in (
        ("a slot", [first[8][0] * SECTOR + 5_000_000]),
        ("the choice of the slot", [(first[4][0] + 7) * SECTOR, (first[4][0] + 7 + 2048) * SECTOR]),
        ("the data partition", [first[3][0] * SECTOR + 1024 + 56]),
        ("the settings", [found.start() for found in re.finditer(re.escape(state), content)]),
        ("the boot loader", [content.find(card)]),
    ):
        before = [content[place:place + 32] for place in places]
        overwrite(disk, [(place, b"#" * 32) for place in places])
        try:
            see()
        except Flaw:
            pass
        else:
            raise AssertionError(f"NOT: damage to {what} is seen")
        overwrite(disk, zip(places, before))


def overwrite(disk, pieces):
    for place, data in pieces:
        disk.file.seek(place)
        disk.file.write(data)


def loader_takes(image, lab, disk):
    with image.start(lab, disk, "-snapshot") as machine:
        pattern = re.compile(rb"linnet: starting slot ([AB])")
        wait(lambda: pattern.search(machine.console.read_bytes()) if machine.console.exists() else None, "the boot loader", PATIENCE)
        return pattern.search(machine.console.read_bytes()).group(1).decode()


def power_cut(image, lab):
    """Cut at any moment of its first start, of a change, of an update or its first start, a disk is whole and has its settings."""
    wanted = os.environ.get("CUTS", "400")
    count = 0 if wanted == "all" else max(1, int(wanted) // 5)
    if not RECORDED:
        record(image, lab)
    folder = RECORDED or image.folder
    slots = json.loads((folder / "slots.json").read_text())
    judged, flaws = 0, []
    for name in ("life", "card"):
        more, wrong = replay(image, lab, Story.kept(folder, name), slots, count, 1)
        judged += more
        flaws += wrong
    expect(not flaws, f"{judged} cuts, {len(flaws)} of them lost something")


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
    expect(said["hasFallback"] or any("no fallback" in remark for remark in said["remarks"]), "and says so in words")
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
    slots, options = make_two(image)
    device = Device(image, lab, options)
    with device.start() as machine:
        up(machine)
        machine.run(MOUNT)
        machine.run("linnet update /run/updates/9.1.raucb", PATIENCE)
        machine.send("systemctl reboot")
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
                # Before it is good, four times: a slot alone gets its starts back.
                wait(lambda: b"linnet: starting slot B" in machine.console.read_bytes() if machine.console.exists() else False,
                     "the boot loader", PATIENCE)
                machine.shell(PATIENCE)
                device.cut(machine)
                continue
            up(machine, "B")
            said = told(machine)
            expect(not said["hasFallback"] and said["next"] == "B", "there is no fallback, and what ran starts next")
            machine.off()
    with open(device.disk, "rb") as file:
        file.seek(image.place(4)[0])
        expect(chosen(file.read(image.place(4)[1]))[:2] == ("B", ["B"]), "what is half written is not in the order")
