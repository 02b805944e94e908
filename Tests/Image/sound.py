# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Sounds that are played, and found again in what a card was given."""
import array
import math
import wave


def make_tone(path, frequency, seconds):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes(array.array("h", (
            int(16000 * math.sin(2 * math.pi * frequency * index / 48000)) for index in range(48000 * seconds))).tobytes())


def heard(path, frequency):
    """For how many seconds a tone is the loudest in a recording, by its share of each tenth of a second."""
    with wave.open(str(path), "rb") as file:
        rate, channels = file.getframerate(), file.getnchannels()
        frames = array.array("h", file.readframes(file.getnframes()))[::channels]
    size, count = rate // 10, 0
    for start in range(0, len(frames) - size, size):
        piece = frames[start:start + size]
        power = sum(value * value for value in piece) / size
        step = 2 * math.pi * frequency / rate
        real = sum(value * math.cos(step * index) for index, value in enumerate(piece))
        imaginary = sum(value * math.sin(step * index) for index, value in enumerate(piece))
        tone = 2 * (real * real + imaginary * imaginary) / (size * size)
        count += power > 10000 and tone > 0.8 * power
    return count / 10
