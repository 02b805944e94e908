# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a disk would start a whole system and has its settings, told without starting it."""
import hashlib
import os
import shutil
import struct
import subprocess

from machine import PROJECT
from writes import SECTOR

STATE, CARD, DATA = 4, 1, 3
BOOT = {"A": 5, "B": 7}
ROOT = {"A": 6, "B": 8}
HEADER = b"# GRUB Environment Block\n"


class Flaw(Exception):
    """Why a disk is no good."""


def read_copy(sector):
    """The values of a copy of the state, as GRUB and boot-state read it; None if it is not whole."""
    if not sector.startswith(HEADER):
        return None
    values = dict(line.split("=", 1) for line in sector[len(HEADER):].decode("ascii", "replace").split("\n") if "=" in line)
    return values if values.get("end") == "." else None


def chosen(partition):
    """The slot that the boot loader would take, and all slots of the order; see board/generic-x86_64/grub.cfg."""
    first, second = (read_copy(partition[place:place + SECTOR]) for place in (7 * SECTOR, (7 + 2048) * SECTOR))
    if not first and not second:
        raise Flaw("no copy of the state is whole")
    newer_second = not first or (second and (first["seq"], second["seq"]) in {("0", "1"), ("1", "2"), ("2", "0")})
    state = second if newer_second else first
    order = state["order"].split()
    if not order:
        raise Flaw(f"no slot is in the order: {state}")
    left = {"A": state["a_left"], "B": state["b_left"]}
    if set(order) - set(left) or set(left.values()) - set("0123"):
        raise Flaw(f"the state has no meaning: {state}")
    # With no start left, those of the order get theirs back.
    ready = [slot for slot in order if left[slot] != "0"]
    return (ready or order)[0], order, ready


def partitions(file):
    """From the table, as the kernel reads it: where each begins and how long it is, in sectors."""
    def entries(sector):
        file.seek(sector * SECTOR)
        table = file.read(SECTOR)
        if table[510:] != b"\x55\xaa":
            raise Flaw(f"the partition table in sector {sector} is damaged")
        return table, [struct.unpack_from("<4xB3xII", table, 446 + 16 * number) for number in range(4)]

    table, primary = entries(0)
    if table[440:444] != struct.pack("<I", 0x4C494E4E):
        raise Flaw("the disk has lost its number")
    found = {number: (start, size) for number, (kind, start, size) in enumerate(primary, 1) if kind}
    if 2 not in found:
        raise Flaw("the slots are not in the partition table")
    extended, place = found[2][0], found[2][0]
    for number in range(5, 9):
        _, (own, following, *_) = entries(place)
        found[number] = (place + own[1], own[2])
        place = extended + following[1]
    return found


def content(path):
    return path.read_bytes() if path.exists() else None


class Shell:
    """A shell in the tools' system that stays, for what is done hundreds of times."""

    def __init__(self, image):
        self.process = subprocess.Popen(image.inside("sh"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, script):
        self.process.stdin.write(f"( {script} ) </dev/null 2>&1\necho; echo END-OF-ANSWER\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == "END-OF-ANSWER\n":
                return "".join(lines).strip()
            lines.append(line)
        raise AssertionError(f"the shell ended in {script}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Judge:
    """Holds disks against what may be on them. What two disks have in common is looked at once."""

    def __init__(self, image, disk, slots, fixed):
        """`slots` has the sums of what may be in a slot, by version; `fixed` the files of the card that never change."""
        self.image, self.disk, self.slots, self.fixed = image, disk, slots, fixed
        self.known, self.touching, self.shell, self.mended = {}, {}, Shell(image), 0
        # The check of the start itself.
        self.check = shutil.copy(PROJECT / "rootfs/overlay/usr/libexec/linnet/data-ready", image.folder)
        with open(disk.path, "rb") as file:
            self.first = partitions(file)
        for number, (start, size) in self.first.items():
            self.touching[number] = disk.recording.touching((start, start + size))
        self.touching[DATA] = disk.recording.touching((self.first[DATA][0], os.path.getsize(disk.path) // SECTOR))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shell.close()

    def once(self, cut, numbers, what, *more):
        """What a look at some partitions says, by what of the cut lies there."""
        key = (what.__name__, *more, *(cut.state_of(self.touching[number]) for number in numbers))
        if key not in self.known:
            self.known[key] = what(*more)
        return self.known[key]

    def read(self, start, size):
        self.disk.file.seek(start * SECTOR)
        return self.disk.file.read(size * SECTOR)

    def look(self, cut):
        """What is there after this cut: the slot and version that start, and the files of the data partition and the card."""
        table = partitions(self.disk.file)
        for number, place in self.first.items():
            if number != DATA and table[number] != place:
                raise Flaw(f"partition {number} has moved")
        start, size = table[DATA]
        if start != self.first[DATA][0] or (start + size) * SECTOR > os.path.getsize(self.disk.path):
            raise Flaw(f"the data partition is at {start}, {size} sectors long")
        slot, order, ready = chosen(self.read(*table[STATE]))
        # Any slot of the order may come to be started.
        versions = {name: self.once(cut, (BOOT[name], ROOT[name]), self.version, name) for name in order}
        for name, version in versions.items():
            if not version:
                raise Flaw(f"slot {name} is in the order and not whole; {slot} is taken")
        card = self.once(cut, (CARD,), self.card)
        data = self.once(cut, (DATA,), self.data, size)
        for found in (card, data):
            if isinstance(found, Flaw):
                raise found
        return {"slot": slot, "ready": ready, "version": versions[slot], "card": card, "data": data}

    def version(self, slot):
        for version, images in self.slots.items():
            if all(self.sum(number[slot], len_) == sum_ for number, (len_, sum_) in zip((BOOT, ROOT), images)):
                return version
        return None

    def sum(self, number, length):
        """Of the beginning of a partition."""
        digest, left = hashlib.sha256(), length
        self.disk.file.seek(self.first[number][0] * SECTOR)
        while left:
            piece = self.disk.file.read(min(left, 4 << 20))
            digest.update(piece)
            left -= len(piece)
        return digest.hexdigest()

    def card(self):
        """What GRUB starts from must be as it was; what the owner wrote, and the answer to it, are returned."""
        copy = self.image.folder / "card"
        copy.mkdir(exist_ok=True)
        for path in copy.iterdir():
            path.unlink()
        self.shell.run(f"cd {copy}; for name in {' '.join([*self.fixed, 'linnet.conf', 'linnet-boot.log'])}; do "
                        f'MTOOLS_SKIP_CHECK=1 mcopy -n -i "{self.disk.path}@@{self.first[CARD][0] * SECTOR}" "::/$name" '
                        '"$(echo "$name" | tr / _)" 2>/dev/null; done; true')
        for name, expected in self.fixed.items():
            if content(copy / name.replace("/", "_")) != expected:
                return Flaw(f"{name} on the card is damaged")
        return {name: content(copy / name) for name in ("linnet.conf", "linnet-boot.log")}

    def data(self, size):
        """What the start does. A partition that needs more than that has lost something."""
        copy = self.image.folder / "data.img"
        self.extract(self.first[DATA][0] * SECTOR, size * SECTOR, copy)
        paths = {"state": "/state/var/lib/linnet/state.conf", "settings": "/device/settings", "rauc": "/rauc/central.raucs"}
        said = self.shell.run(
            f"LINNET_DATA_LOG={copy}.log sh {self.check} check {copy}; r=$?; e2fsck -f -n {copy} >>{copy}.log; s=$?; "
            + "".join(f"rm -f {copy}.{name}; debugfs -R 'dump {path} {copy}.{name}' {copy} >>{copy}.log; "
                      for name, path in paths.items()) + "echo $r $s")
        repair, intact = map(int, said.splitlines()[-1].split())
        if repair >= 4 or intact or "repairing" in said:
            log = copy.with_name("data.img.log").read_text(errors="replace")
            return Flaw(f"the data partition is damaged: {said}: {log[-600:]}")
        self.mended += "superblock" in said
        return {name: content(copy.with_name(f"data.img.{name}")) for name in paths}

    def extract(self, start, size, path):
        """A partition in a file of its own, holes as holes."""
        source = self.disk.file.fileno()
        with open(path, "wb") as copy:
            copy.truncate(size)
            place = start
            while place < start + size:
                try:
                    place = os.lseek(source, place, os.SEEK_DATA)
                except OSError:
                    break
                end = min(os.lseek(source, place, os.SEEK_HOLE), start + size)
                copy.seek(place - start)
                while place < end:
                    place += os.sendfile(copy.fileno(), source, place, min(end - place, 8 << 20))
