#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts a frame with an encoder's tag in front of an MP3 file, as the program lame does and its library without
help does not: how many frames of sound the encoder put before and behind.

lametag.py IN.mp3 OUT.mp3 FRAMES NAME      FRAMES of sound were encoded; NAME is that of the encoder
"""

import struct
import sys

SAMPLES = 1152
# What LAME's encoder puts in front.
DELAY = 576


def frame_length(header):
    bits = struct.unpack(">I", header)[0]
    rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    bit_rate = rates[bits >> 12 & 15] * 1000
    sample_rate = [44100, 48000, 32000][bits >> 10 & 3]
    return 144 * bit_rate // sample_rate + (bits >> 9 & 1)


def main(source, target, sound, name):
    data = open(source, "rb").read()
    count, at = 0, 0
    while at + 4 <= len(data) and data[at] == 0xFF:
        at += frame_length(data[at:at + 4])
        count += 1
    padding = count * SAMPLES - DELAY - int(sound)
    assert 0 <= padding < 4096, padding
    frame = bytearray(frame_length(data[:4]))
    frame[:4] = data[:4]
    place = 4 + (17 if data[3] >> 6 == 3 else 32)
    frame[place:place + 12] = b"Info" + struct.pack(">II", 1, count)
    place += 12
    frame[place:place + 9] = name.encode().ljust(9, b"\0")[:9]
    frame[place + 21:place + 24] = (DELAY << 12 | padding).to_bytes(3, "big")
    open(target, "wb").write(bytes(frame) + data)


main(*sys.argv[1:])
