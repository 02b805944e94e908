#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the sample that GStreamer does not make.

sample.py music OUT.wav    eight seconds of plucked chords, 44.1 kHz stereo
sample.py tag FILE.flac    puts the tags and a picture, drawn here, into a FLAC file
"""

import array
import math
import struct
import sys
import wave
import zlib

RATE = 44100
SECONDS = 8

TAGS = [
    ("TITLE", "First Light"),
    ("ARTIST", "Linnet"),
    ("ALBUM", "Songs of the Build"),
    ("GENRE", "Ambient"),
    ("TRACKNUMBER", "1"),
]

# Four bars of two seconds: MIDI notes of the bass and of the arpeggio above it.
BARS = [
    (48, [60, 64, 67, 71, 74, 71, 67, 64]),
    (45, [57, 60, 64, 67, 72, 67, 64, 60]),
    (41, [57, 60, 65, 69, 72, 69, 65, 60]),
    (43, [59, 62, 67, 71, 74, 71, 67, 79]),
]


def frequency(note):
    return 440.0 * 2 ** ((note - 69) / 12)


def add_note(track, note, start, length, level, pan, fall):
    """Adds one plucked note: three harmonics, the higher the shorter, with soft edges."""
    first, count = int(start * RATE), int(length * RATE)
    count = min(count, len(track[0]) - first)
    left, right = level * math.cos(pan * math.pi / 2), level * math.sin(pan * math.pi / 2)
    for harmonic, share in ((1, 1.0), (2, 0.35), (3, 0.12)):
        # A decaying rotation: one complex multiplication for each sample.
        angle = 2 * math.pi * frequency(note) * harmonic / RATE
        step = complex(math.cos(angle), math.sin(angle)) * math.exp(-harmonic / (fall * RATE))
        value = complex(share, 0)
        attack, release = int(0.008 * RATE), int(0.06 * RATE)
        for n in range(count):
            sound = value.imag * min(1.0, n / attack, (count - n) / release)
            track[0][first + n] += left * sound
            track[1][first + n] += right * sound
            value *= step


def music(path):
    track = [[0.0] * (RATE * SECONDS) for _ in range(2)]
    for bar, (bass, notes) in enumerate(BARS):
        add_note(track, bass, bar * 2, 2.2, 0.30, 0.5, 0.9)
        for number, note in enumerate(notes):
            start = bar * 2 + number * 0.25
            pan = 0.3 + 0.4 * (number % 4) / 3
            add_note(track, note, start, 1.1, 0.22, pan, 0.4)
            # A quiet echo on the other side, a dotted eighth later.
            if start + 0.375 < SECONDS - 0.2:
                add_note(track, note, start + 0.375, 0.7, 0.07, 1 - pan, 0.25)
    # The end fades, whatever still sounds.
    fade = RATE // 2
    peak = max(max(map(abs, side)) for side in track)
    samples = array.array("h")
    for n in range(RATE * SECONDS):
        gain = 0.7 / peak * min(1.0, (RATE * SECONDS - 1 - n) / fade)
        samples.append(round(track[0][n] * gain * 32767))
        samples.append(round(track[1][n] * gain * 32767))
    if sys.byteorder == "big":
        samples.byteswap()
    with wave.open(path, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples.tobytes())


def picture(size):
    """Draws a sun over hills before dawn's colours, as the bytes of a PNG file."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)  # no filter
        height = 1 - y / size
        sky = (int(250 - 170 * height), int(150 - 70 * height), int(90 + 80 * height))
        for x in range(size):
            across = x / size
            if height < 0.22 + 0.06 * math.sin(across * 7 + 1):
                colour = (38, 30, 58)
            elif height < 0.34 + 0.07 * math.sin(across * 5 + 4):
                colour = (84, 52, 88)
            else:
                distance = math.hypot(across - 0.62, height - 0.46)
                glow = max(0.0, 1 - distance / 0.45) ** 2
                if distance < 0.13:
                    colour = (255, 226, 150)
                else:
                    colour = tuple(int(c + (255 - c) * glow * 0.7) for c in sky)
            rows.extend(colour)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(bytes(rows), 9)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def block(kind, data):
    return bytes([kind]) + len(data).to_bytes(3, "big") + data


def tag(path):
    """Puts VORBIS_COMMENT and PICTURE (RFC 9639, 8.6 and 8.8) in the place of the encoder's own comment."""
    with open(path, "rb") as file:
        flac = file.read()
    if flac[:4] != b"fLaC" or flac[4] & 0x7F != 0:
        sys.exit(f"{path}: not a FLAC file that begins with STREAMINFO")
    kept, at, last = b"", 4, False
    while not last:
        last, kind = bool(flac[at] & 0x80), flac[at] & 0x7F
        end = at + 4 + int.from_bytes(flac[at + 1:at + 4], "big")
        if kind in (0, 3):  # STREAMINFO and SEEKTABLE stay
            kept += block(kind, flac[at + 4:end])
        at = end

    def text(value):
        return struct.pack("<I", len(value.encode())) + value.encode()

    comment = text("linnet") + struct.pack("<I", len(TAGS)) + b"".join(text(f"{k}={v}") for k, v in TAGS)
    size, name, media_type = 400, b"Cover", b"image/png"
    image = picture(size)
    cover = struct.pack(">II", 3, len(media_type)) + media_type  # 3: front cover
    cover += struct.pack(">I", len(name)) + name
    cover += struct.pack(">IIIII", size, size, 24, 0, len(image)) + image
    with open(path, "wb") as file:
        file.write(flac[:4] + kept + block(4, comment) + block(6 | 0x80, cover) + flac[at:])


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("music", "tag"):
        sys.exit(__doc__)
    (music if arguments[0] == "music" else tag)(arguments[1])


if __name__ == "__main__":
    main(sys.argv[1:])
