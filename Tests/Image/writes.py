# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What a machine wrote to its disk, in its order, as QEMU's blklogwrites recorded it, and disks made of it as cuts leave them."""
import bisect
import pathlib
import struct
import subprocess
from dataclasses import dataclass, field

SECTOR = 512
FLUSH, UNIT_ACCESS, DISCARD = 1, 2, 4


@dataclass(frozen=True)
class Write:
    sector: int
    count: int
    flags: int
    place: int  # of the data in the recording

    @property
    def changes(self):
        return self.count > 0 and not self.flags & DISCARD

    def touches(self, span):
        return self.changes and self.sector < span[1] and self.sector + self.count > span[0]


class Recording:
    """The writes and flushes of a recording. A machine that was killed leaves it without an end; it is read as far as it goes."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.writes, size = [], self.path.stat().st_size
        with open(path, "rb") as file:
            magic, _, _, sector_size = struct.unpack("<QQQI", file.read(28))
            assert magic == 0x6A736677736872 and sector_size == SECTOR
            place = SECTOR
            while place + SECTOR <= size:
                file.seek(place)
                sector, count, flags, length = struct.unpack("<QQQQ", file.read(32))
                if not (sector or count or flags or length):
                    break
                data = place + SECTOR
                place = data + (0 if flags & DISCARD else count * SECTOR)
                if place <= size:
                    self.writes.append(Write(sector, count, flags, data))
        self.places = [write.place for write in self.writes]
        self.flushes = [index for index, write in enumerate(self.writes) if write.flags & FLUSH]

    def at(self, size):
        """How many writes a recording of that size had."""
        return bisect.bisect_left(self.places, size + 1)

    def kept(self, count):
        """How many of the first writes are on the disk for certain: those up to the last flush."""
        found = bisect.bisect_left(self.flushes, count)
        return self.flushes[found - 1] + 1 if found else 0

    def touching(self, span):
        return [index for index, write in enumerate(self.writes) if write.touches(span)]


@dataclass(frozen=True)
class Cut:
    """A disk as a cut leaves it: the first `kept` writes, and of those after them some, each from one of its sectors to another."""

    kept: int
    kind: str
    extra: tuple = field(default=())  # of (index, first, last)

    def state_of(self, touching):
        """What of it is among some writes: two cuts for which this is the same have the same there."""
        def is_there(index):
            place = bisect.bisect_left(touching, index)
            return place < len(touching) and touching[place] == index

        return bisect.bisect_left(touching, self.kept), tuple(piece for piece in self.extra if is_there(piece[0]))


def cuts_after(recording, begin, end, choose):
    """Every cut between two flushes: nothing of what was on its way, all of it up to each write, one write lost, one
    overtaking all others, one torn at a sector in either direction, halves of all by chance."""
    writes = recording.writes
    flying = [index for index in range(begin, end) if writes[index].changes]

    def whole(indexes):
        return tuple((index, 0, writes[index].count) for index in indexes)

    yield Cut(begin, "nothing")
    for number, index in enumerate(flying):
        before, count = flying[:number], writes[index].count
        yield Cut(begin, "prefix", whole(flying[:number + 1]))
        if len(flying) > 1:
            yield Cut(begin, "overtaking", whole([index]))
            yield Cut(begin, "lost", whole(before + flying[number + 1:]))
        if count > 1:
            for place in sorted(range(1, count) if count <= 8 else {1, count - 1, *choose.sample(range(1, count), 6)}):
                yield Cut(begin, "torn", (*whole(before), (index, 0, place)))
                yield Cut(begin, "torn", (*whole(before), (index, place, count)))
    for _ in range(min(8, len(flying)) if len(flying) > 2 else 0):
        yield Cut(begin, "halves", whole([index for index in flying if choose.random() < 0.5]))


def all_cuts(recording, begin, end, choose):
    """Those of a stretch of the recording."""
    borders = [recording.kept(begin)] + [index + 1 for index in recording.flushes if begin <= index < end]
    if borders[-1] < end:
        borders.append(end)
    for first, last in zip(borders, borders[1:]):
        yield from cuts_after(recording, first, last, choose)


class Disk:
    """A disk that cuts are made on, one after the other in the order of what they keep."""

    def __init__(self, recording, base, path):
        self.recording, self.path, self.kept = recording, pathlib.Path(path), 0
        subprocess.run(["cp", "--sparse=always", base, path], check=True)
        # Not buffered: other programs look at the file.
        self.file = open(path, "r+b", buffering=0)
        self.data = open(recording.path, "rb")
        self.undo = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.data.close()

    def put(self, index, first=0, last=None):
        write = self.recording.writes[index]
        last = write.count if last is None else last
        self.data.seek(write.place + first * SECTOR)
        self.file.seek((write.sector + first) * SECTOR)
        self.file.write(self.data.read((last - first) * SECTOR))

    def become(self, cut):
        """Takes back the last cut and makes this one."""
        for place, before in reversed(self.undo):
            self.file.seek(place)
            self.file.write(before)
        self.undo = []
        assert cut.kept >= self.kept, "cuts come in the order of what they keep"
        for index in range(self.kept, cut.kept):
            if self.recording.writes[index].changes:
                self.put(index)
        self.kept = cut.kept
        for index, first, last in cut.extra:
            place = (self.recording.writes[index].sector + first) * SECTOR
            self.file.seek(place)
            self.undo.append((place, self.file.read((last - first) * SECTOR)))
            self.put(index, first, last)


def lose(recording, choose):
    """The cut that a kill is: what no flush came after is lost by chance, one write of it torn."""
    kept = recording.kept(len(recording.writes))
    pieces = []
    for index in range(kept, len(recording.writes)):
        write = recording.writes[index]
        if write.changes and choose.random() < 0.5:
            pieces.append((index, 0, choose.randrange(1, write.count + 1) if choose.random() < 0.2 else write.count))
    return Cut(kept, "killed", tuple(pieces))
