#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Writes a tone: 48 kHz, the given frequency on the left, twice that and half as loud on the right.

usage: tone.py FILE HERTZ SECONDS
"""

import array
import math
import sys
import wave

hertz, frames = float(sys.argv[2]), int(48_000 * float(sys.argv[3]))
samples = array.array("h")
for frame in range(frames):
    samples.append(int(16_000 * math.sin(2 * math.pi * hertz * frame / 48_000)))
    samples.append(int(8_000 * math.sin(4 * math.pi * hertz * frame / 48_000)))
with wave.open(sys.argv[1], "wb") as file:
    file.setnchannels(2)
    file.setsampwidth(2)
    file.setframerate(48_000)
    file.writeframes(samples.tobytes())
