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
media.py hls IN.ts DIR SECONDS             cuts a transport stream with one track of sound into segments of so many
                                           seconds and writes DIR/audio.m3u8
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


PACKET = 188


def payload(packet):
    """What a packet carries: its stream, whether a unit begins in it, and the bytes."""
    start = 4 + (1 + packet[4] if packet[3] & 0x20 else 0)
    return (packet[1] & 0x1f) << 8 | packet[2], bool(packet[1] & 0x40), packet[start:]


def table(packets, stream):
    """The first packet with the table of a stream, and the table from its first byte on."""
    for packet in packets:
        number, begins, data = payload(packet)
        if number == stream and begins:
            return packet, data[1 + data[0]:]
    raise ValueError(f"no table {stream}")


def program(packets):
    """The packets with the tables of the program, and the number of its only stream."""
    first, programs = table(packets, 0)
    second, streams = table(packets, (programs[10] & 0x1f) << 8 | programs[11])
    # Twelve bytes of head, with the length of what describes the program; then the kind and the number of a stream.
    at = 12 + ((streams[10] & 0x0f) << 8 | streams[11])
    return first + second, (streams[at + 1] & 0x1f) << 8 | streams[at + 2]


def presentation_time(packet, stream):
    """The time in seconds at which a packet's sound begins, if it begins with one that has a time."""
    number, begins, data = payload(packet)
    if number != stream or not begins or data[:3] != b"\0\0\1" or not data[7] & 0x80:
        return None
    a, b, c, d, e = data[9:14]
    return ((a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1) / 90000


def hls(source, directory, length):
    with open(source, "rb") as file:
        data = file.read()
    packets = [data[at:at + PACKET] for at in range(0, len(data) - PACKET + 1, PACKET)]
    tables, stream = program(packets)
    segments, starts = [], []
    for packet in packets:
        time = presentation_time(packet, stream)
        if time is not None and (not starts or time - starts[0] >= length * len(starts)):
            starts.append(time)
            segments.append(bytearray(tables))
        if segments:
            segments[-1] += packet
    times = [presentation_time(packet, stream) for packet in packets]
    ends = starts[1:] + [max(time for time in times if time is not None) + 1024 / RATE]
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/audio.m3u8", "w", encoding="ascii") as out:
        out.write(f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:{length + 1}\n#EXT-X-PLAYLIST-TYPE:VOD\n")
        for number, (segment, start, end) in enumerate(zip(segments, starts, ends)):
            with open(f"{directory}/segment-{number}.ts", "wb") as file:
                file.write(segment)
            out.write(f"#EXTINF:{end - start:.6f},\nsegment-{number}.ts\n")
        out.write("#EXT-X-ENDLIST\n")


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
        case ["hls", source, directory, length]:
            hls(source, directory, int(length))
        case ["dash", source, directory, seconds]:
            dash(source, directory, int(seconds))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
