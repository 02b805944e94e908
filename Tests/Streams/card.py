# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads what a simulated card heard (see Tests/Support/simdac/README.md), and says which seconds of the media it was."""

import array
import dataclasses
import os
import sys
import time

WINDOW = 0.04  # seconds that one look takes in
HOP = 0.02
SILENCE = None
UNSURE = -1


@dataclasses.dataclass
class Stretch:
    """Sound of one second of the media, or silence, from `start` to `end` in seconds of the monotonic clock."""
    second: object
    start: float
    end: float

    @property
    def length(self):
        return self.end - self.start


def frequency(samples, rate):
    """The frequency of a tone by its upward crossings; None when there is none."""
    peak = max(abs(max(samples)), abs(min(samples)))
    if peak <= 100:
        return None
    margin = max(peak // 10, 50)
    armed, first, last, count = False, None, 0.0, -1
    before = samples[0]
    for place, now in enumerate(samples):
        if before < -margin:
            armed = True
        if armed and before < 0 <= now:
            armed = False
            last = place - 1 - before / (now - before)
            first = last if first is None else first
            count += 1
        before = now
    return count * rate / (last - first) if count > 0 and last > first else 0.0


def second_of(found):
    """The second of the media that sounds at a frequency."""
    if found is None:
        return SILENCE
    nearest = round((found - 400) / 20)
    return nearest if found > 390 and abs(400 + 20 * nearest - found) < 6 else UNSURE


class Card:
    """The recording of a card; reads what is new at each look."""

    def __init__(self, path):
        self.path = path
        self.segments = []  # [first frame, time of it, rate, end frame or None]
        self.left = array.array("h")
        self.read_frames = self.read_lines = 0
        self.looked = []  # for each segment: how many windows were looked at
        self.stretches = []
        self.underruns = 0

    def update(self):
        """Takes what has come. Returns all stretches so far."""
        try:
            with open(f"{self.path}.seg", encoding="ascii") as file:
                file.seek(self.read_lines)
                text = file.read()
        except FileNotFoundError:
            return self.stretches
        whole = text[:text.rfind("\n") + 1]
        self.read_lines += len(whole)
        for line in whole.splitlines():
            words = line.split()
            if words[0] == "S":
                self.segments.append([int(words[1]), int(words[2]) * 1e-9, float(words[3]), None])
                self.looked.append(0)
            elif words[0] == "E" and self.segments:
                self.segments[-1][3] = int(words[1])
            elif words[0] == "X":
                self.underruns += 1
        try:
            size = os.path.getsize(f"{self.path}.raw") // 4 * 4
        except FileNotFoundError:
            return self.stretches
        if size > self.read_frames:
            with open(f"{self.path}.raw", "rb") as file:
                file.seek(self.read_frames)
                both = array.array("h", file.read(size - self.read_frames))
            if sys.byteorder == "big":
                both.byteswap()
            self.left.extend(both[0::2])
            self.read_frames = size
        for number, segment in enumerate(self.segments):
            self.listen(number, *segment)
        return self.stretches

    def listen(self, number, first, start, rate, end):
        stop = min(end if end is not None else len(self.left), len(self.left))
        if end is None:
            # What was handed over and not heard yet may be dropped.
            stop = min(stop, first + int((time.monotonic() - start) * rate))
        size, hop = int(WINDOW * rate), int(HOP * rate)
        while True:
            place = first + self.looked[number] * hop
            if place + size > stop:
                return
            self.looked[number] += 1
            second = second_of(frequency(self.left[place:place + size], rate))
            middle = start + (place - first + size / 2) / rate
            self.add(second, middle - HOP / 2, middle + HOP / 2)

    def add(self, second, start, end):
        last = self.stretches[-1] if self.stretches else None
        if last and last.second == second and start - last.end < HOP:
            last.end = end
        else:
            self.stretches.append(Stretch(second, start, end))

    # What was heard

    def sounds(self):
        """Stretches of sound that lasted long enough to be one."""
        return [s for s in self.stretches if s.second not in (SILENCE, UNSURE) and s.length > 1.5 * HOP]

    def runs(self):
        """Seconds in a row: [first, last, begin, end]."""
        runs = []
        for sound in self.sounds():
            if runs and sound.second - runs[-1][1] in (0, 1):
                runs[-1][1], runs[-1][3] = sound.second, sound.end
            else:
                runs.append([sound.second, sound.second, sound.start, sound.end])
        return runs

    def silences(self):
        """Stretches without any sound between the first sound and the last: (start, end)."""
        audible = [s for s in self.stretches if s.second is not SILENCE]
        gaps = []
        for before, after in zip(audible, audible[1:]):
            if after.start - before.end > HOP / 2:
                gaps.append((before.end, after.start))
        return gaps
