#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the test media that GStreamer does not make.

media.py position OUT.wav SECONDS          left: 400 Hz + 20 Hz for each second; right: 1 kHz
media.py tone OUT.wav SECONDS LEFT RIGHT   two steady tones
media.py beeps OUT.wav SECONDS             silence, and at each second 100 ms of 1 kHz
media.py pictures OUT.gray COUNT           320 x 180 in grey, one byte a pixel; at the top the picture's number in ten
                                           squares of 32 pixels, white for 1, the lowest bit first; below them the same
                                           with black and white exchanged; the lower half is grey
media.py dash IN.mp4 DIR SECONDS           cuts a fragmented MP4 into segments and writes DIR/stream.mpd
"""

import array
import math
import os
import struct
import sys
import wave

RATE = 44100


def second_of(frequency):
    """One second of a tone. Whole numbers of Hz fit a second, so that seconds join without a click."""
    step = 2 * math.pi * frequency / RATE
    return [round(16000 * math.sin(step * n)) for n in range(RATE)]


def write(path, seconds):
    with wave.open(path, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(RATE)
        for left, right in seconds:
            samples = array.array("h", bytes(RATE * 4))
            samples[0::2] = array.array("h", left)
            samples[1::2] = array.array("h", right)
            if sys.byteorder == "big":
                samples.byteswap()
            out.writeframes(samples.tobytes())


def position(path, seconds):
    right = second_of(1000)
    write(path, ((second_of(400 + 20 * second), right) for second in range(seconds)))


def tone(path, seconds, left, right):
    one = (second_of(left), second_of(right))
    write(path, (one for _ in range(seconds)))


def beeps(path, seconds):
    beep = [round(16000 * math.sin(2 * math.pi * 1000 * n / RATE)) if n < RATE // 10 else 0 for n in range(RATE)]
    write(path, ((beep, beep) for _ in range(seconds)))


def pictures(path, count):
    grey = bytes([128]) * 320
    with open(path, "wb") as out:
        for number in range(count):
            bits = [255 if number >> bit & 1 else 0 for bit in range(10)]
            marks = b"".join(bytes([value]) * 32 for value in bits)
            opposite = b"".join(bytes([255 - value]) * 32 for value in bits)
            out.write(marks * 32 + opposite * 32 + grey * 116)


def boxes(data, at=0, end=None):
    """The boxes of an MP4 file, one level: (kind, start, end)."""
    end = len(data) if end is None else end
    while at + 8 <= end:
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if size == 1:
            size = struct.unpack(">Q", data[at + 8:at + 16])[0]
        size = size or end - at
        yield kind, at, at + size
        at += size


def find(data, path, at=0, end=None):
    for kind, start, stop in boxes(data, at, end):
        if kind == path[0]:
            return (start, stop) if len(path) == 1 else find(data, path[1:], start + 8, stop)
    raise ValueError(f"no box {path[0].decode()}")


def decode_time(data, start, end):
    """The time at which a fragment begins, in the track's timescale."""
    at, _ = find(data, [b"traf", b"tfdt"], start + 8, end)
    is_long = data[at + 8] == 1
    return int.from_bytes(data[at + 12:at + (20 if is_long else 16)], "big")


def dash(source, directory, seconds):
    with open(source, "rb") as file:
        data = file.read()
    os.makedirs(directory, exist_ok=True)
    top = list(boxes(data))
    init = b"".join(data[start:end] for kind, start, end in top if kind in (b"ftyp", b"moov"))
    at, _ = find(data, [b"moov", b"trak", b"mdia", b"mdhd"])
    timescale = struct.unpack(">I", data[at + 28:at + 32] if data[at + 8] else data[at + 20:at + 24])[0]
    fragments = [(n, start, end) for n, (kind, start, end) in enumerate(top) if kind == b"moof"]
    times = [decode_time(data, start, end) for _, start, end in fragments] + [seconds * timescale]
    with open(f"{directory}/init.mp4", "wb") as file:
        file.write(init)
    for number, (place, start, _) in enumerate(fragments, 1):
        if top[place + 1][0] != b"mdat":
            sys.exit(f"{source}: a fragment without its data")
        with open(f"{directory}/segment-{number}.m4s", "wb") as file:
            file.write(data[start:top[place + 1][2]])
    if len(fragments) < 4:
        sys.exit(f"{source}: only {len(fragments)} fragments")
    timeline = "".join(f'<S t="{t}" d="{times[n + 1] - t}"/>' for n, t in enumerate(times[:-1]))
    with open(f"{directory}/stream.mpd", "w", encoding="utf-8") as file:
        file.write(f"""<?xml version="1.0" encoding="UTF-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-live:2011"
     mediaPresentationDuration="PT{seconds}S" minBufferTime="PT2S">
  <Period start="PT0S" duration="PT{seconds}S">
    <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en" segmentAlignment="true" startWithSAP="1">
      <SegmentTemplate timescale="{timescale}" initialization="init.mp4" media="segment-$Number$.m4s" startNumber="1">
        <SegmentTimeline>{timeline}</SegmentTimeline>
      </SegmentTemplate>
      <Representation id="audio" codecs="mp4a.40.2" bandwidth="128000" audioSamplingRate="{RATE}"/>
    </AdaptationSet>
  </Period>
</MPD>
""")


def main(arguments):
    match arguments:
        case ["position", path, seconds]:
            position(path, int(seconds))
        case ["tone", path, seconds, left, right]:
            tone(path, int(seconds), int(left), int(right))
        case ["beeps", path, seconds]:
            beeps(path, int(seconds))
        case ["pictures", path, count]:
            pictures(path, int(count))
        case ["dash", source, directory, seconds]:
            dash(source, directory, int(seconds))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
