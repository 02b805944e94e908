# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts AAC frames into what adaptive streams are made of: transport streams, fragmented MP4, packed audio.

Everything is made when it is asked for, so a case can break exactly what it is about.
"""

import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))

import media  # noqa: E402 (it stands in another folder)

RATE = 44100
FRAME = 1024  # samples of one AAC frame


def adts_frames(data):
    """The frames of an ADTS stream, each with its header."""
    at = 0
    while at + 7 <= len(data) and data[at] == 0xFF and data[at + 1] & 0xF0 == 0xF0:
        size = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        if size < 7 or at + size > len(data):
            break
        yield data[at:at + size]
        at += size


# MPEG transport stream

def crc32(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc


class TransportStream:
    """A program of one AAC stream. The counters go on from segment to segment, as an encoder's do."""

    PMT, AUDIO = 0x1000, 0x0100

    def __init__(self):
        self.counters = {}

    def packet(self, pid, payload, start, clock=None):
        """One packet with as much of the payload as fits; returns it and the rest."""
        counter = self.counters.get(pid, 0)
        self.counters[pid] = (counter + 1) & 15
        field = b""
        if clock is not None:
            base = clock & (1 << 33) - 1
            field = bytes([0x10]) + struct.pack(">IH", base >> 1, (base & 1) << 15 | 0x7E00)
        room = 184 - (len(field) + 1 if field else 0)
        taken, rest = payload[:room], payload[room:]
        if len(taken) < room or field:
            missing = room - len(taken)
            if field:
                adaptation = bytes([len(field) + missing]) + field + b"\xff" * missing
            elif missing == 1:
                adaptation = b"\x00"
            else:
                adaptation = bytes([missing - 1, 0]) + b"\xff" * (missing - 2)
            body, control = adaptation + taken, 3
        else:
            body, control = taken, 1
        head = bytes([0x47, (0x40 if start else 0) | pid >> 8, pid & 0xFF, control << 4 | counter])
        return head + body, rest

    def section(self, pid, table, identifier, body):
        data = struct.pack(">BHHBBB", table, 0xB000 | len(body) + 9, identifier, 0xC1, 0, 0) + body
        data += struct.pack(">I", crc32(data))
        return self.packet(pid, b"\x00" + data, True)[0]

    def tables(self):
        pat = self.section(0, 0, 1, struct.pack(">HH", 1, 0xE000 | self.PMT))
        pmt = self.section(
            self.PMT, 2, 1,
            struct.pack(">HHBHH", 0xE000 | self.AUDIO, 0xF000, 0x0F, 0xE000 | self.AUDIO, 0xF000))
        return pat + pmt

    def segment(self, frames, first):
        """Frames, the first of which is number `first` of the timeline."""
        out = [self.tables()]
        for place in range(0, len(frames), 4):
            # One PES packet for four frames. Ten seconds ahead, as real encoders begin.
            time = (900_000 + (first + place) * FRAME * 90_000 // RATE) & (1 << 33) - 1
            stamp = bytes([
                0x21 | time >> 29 & 0x0E, time >> 22 & 0xFF, 0x01 | time >> 14 & 0xFE, time >> 7 & 0xFF,
                0x01 | time << 1 & 0xFE])
            data = b"".join(frames[place:place + 4])
            rest = b"\x00\x00\x01\xc0" + struct.pack(">H", len(data) + 8) + b"\x80\x80\x05" + stamp + data
            start = True
            while rest:
                clock = time - 9_000 if start else None
                packet, rest = self.packet(self.AUDIO, rest, start, clock)
                out.append(packet)
                start = False
        return b"".join(out)


# Fragmented MP4

def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", len(body) + 8, kind) + body


def full(kind, version, flags, *parts):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


def mp4_init():
    """The initialisation segment of a fragmented MP4 with one AAC track."""
    matrix = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    config = bytes([0x12, 0x10])  # AAC LC, 44.1 kHz, stereo
    decoder = b"\x04" + bytes([13 + 2 + len(config)]) + struct.pack(">BBBHII", 0x40, 0x15, 0, 0, 128_000, 128_000)
    decoder += b"\x05" + bytes([len(config)]) + config
    stream = b"\x00\x01\x00" + decoder + b"\x06\x01\x02"
    descriptor = b"\x03" + bytes([len(stream)]) + stream
    entry = box(
        b"mp4a", bytes(6), struct.pack(">HIIHHHHI", 1, 0, 0, 2, 16, 0, 0, RATE << 16),
        full(b"esds", 0, 0, descriptor))
    table = box(
        b"stbl", full(b"stsd", 0, 0, struct.pack(">I", 1), entry), full(b"stts", 0, 0, bytes(4)),
        full(b"stsc", 0, 0, bytes(4)), full(b"stsz", 0, 0, bytes(8)), full(b"stco", 0, 0, bytes(4)))
    data = box(b"dinf", full(b"dref", 0, 0, struct.pack(">I", 1), full(b"url ", 0, 1)))
    media = box(
        b"mdia", full(b"mdhd", 0, 0, struct.pack(">IIIIHH", 0, 0, RATE, 0, 0x55C4, 0)),
        full(b"hdlr", 0, 0, bytes(4), b"soun", bytes(12), b"sound\x00"),
        box(b"minf", full(b"smhd", 0, 0, bytes(4)), data, table))
    track = box(
        b"trak",
        full(b"tkhd", 0, 7, struct.pack(">IIIII", 0, 0, 1, 0, 0), bytes(8),
             struct.pack(">hhhH", 0, 0, 0x0100, 0), matrix, bytes(8)), media)
    movie = full(
        b"mvhd", 0, 0, struct.pack(">IIIIIH", 0, 0, RATE, 0, 0x10000, 0x0100), bytes(10), matrix, bytes(24),
        struct.pack(">I", 2))
    extends = box(b"mvex", full(b"trex", 0, 0, struct.pack(">IIIII", 1, 1, FRAME, 0, 0)))
    return box(b"ftyp", b"iso6", bytes(4), b"iso6cmfcmp41") + box(b"moov", movie, track, extends)


def mp4_segment(frames, first):
    """A media segment of frames, the first of which is number `first` of the timeline."""
    # The header of each ADTS frame is not part of an MP4 sample.
    samples = [frame[7 if frame[1] & 1 else 9:] for frame in frames]
    sizes = b"".join(struct.pack(">I", len(sample)) for sample in samples)

    def moof(offset):
        run = full(b"trun", 0, 0x201, struct.pack(">Ii", len(samples), offset), sizes)
        return box(
            b"moof", full(b"mfhd", 0, 0, struct.pack(">I", first + 1)),
            box(b"traf", full(b"tfhd", 0, 0x20000, struct.pack(">I", 1)),
                full(b"tfdt", 1, 0, struct.pack(">Q", first * FRAME)), run))
    offset = len(moof(0)) + 8
    return box(b"styp", b"msdh", bytes(4), b"msdhcmfs") + moof(offset) + box(b"mdat", *samples)


# Packed audio

def packed_segment(frames, first):
    """ADTS with the time stamp in an ID3 tag, as HLS has it for audio without a container."""
    time = 900_000 + first * FRAME * 90_000 // RATE
    owner = b"com.apple.streaming.transportStreamTimestamp\x00" + struct.pack(">Q", time)

    def synchsafe(size):
        return bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127])
    frame = b"PRIV" + synchsafe(len(owner)) + b"\x00\x00" + owner
    return b"ID3\x04\x00\x00" + synchsafe(len(frame)) + frame + b"".join(frames)


# Encryption

def encrypt(data, key, vector):
    """AES-128-CBC with padding, by the openssl program."""
    return subprocess.run(
        ["openssl", "enc", "-aes-128-cbc", "-K", key.hex(), "-iv", vector.hex()], input=data,
        stdout=subprocess.PIPE, check=True).stdout


class Media:
    """A coded tone of the test media (`position.*`), cut into segments of about two seconds."""

    SEGMENT = 86  # frames: 1.997 s

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.frames = list(adts_frames(file.read()))
        self.count = len(self.frames) // self.SEGMENT

    def cut(self, number):
        """The frames of a segment and the number of the first."""
        first = number * self.SEGMENT
        return self.frames[first:first + self.SEGMENT], first

    duration = SEGMENT * FRAME / RATE

    def ts(self, number):
        return TransportStream().segment(*self.cut(number))

    def mp4(self, number):
        return mp4_segment(*self.cut(number))

    def packed(self, number):
        return packed_segment(*self.cut(number))


def make_media(folder):
    """Makes the coded tones in `folder`, once: `main` is second n at 400 + 20 n Hz; in `other` and `low` the same
    sound is 100 and 200 seconds further, so that a frequency tells the rendition as well as the place."""
    os.makedirs(folder, exist_ok=True)
    right = media.second_of(1000)
    for name, shift in (("main", 0), ("other", 100), ("low", 200)):
        path = f"{folder}/{name}.aac"
        if os.path.exists(path):
            continue
        wave = f"{folder}/{name}.wav"
        media.write(wave, ((media.second_of(400 + 20 * second), right) for second in range(shift, shift + 60)))
        subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", f"location={wave}", "!", "wavparse", "!", "audioconvert", "!",
             "voaacenc", "bitrate=128000", "!", "aacparse", "!", "audio/mpeg,stream-format=adts", "!", "filesink",
             f"location={path}.new"], check=True)
        os.remove(wave)
        os.rename(f"{path}.new", path)
    return {name: Media(f"{folder}/{name}.aac") for name in ("main", "other", "low")}
