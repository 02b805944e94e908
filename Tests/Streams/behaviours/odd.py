# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Media as it is found: whole, and then cut, damaged, wrapped in junk, or under a wrong name.

odd/FORMAT[:KEY=VALUE…]/EDIT,EDIT…/NAME    the last part is for people, and for players that look at names

`odd-whole` gives no parts of it and says nothing of that; `odd-none` says that it gives none.

FORMAT is one of `ENCODERS`, `PACKERS` or `NAMED`; `rate`, `channels` and `sample` (GStreamer's name of a sample's format) say what it is made
from, `seconds` how long it is, `first` with which second it begins. The media has five seconds of the tones of `position.wav`. `EDITS` says
what can be done with its bytes, in order.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile
import threading

from server import behaviour

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Support"))

import media  # noqa: E402 (it stands in another folder)

SECONDS = 5
ENCODERS = {
    "wav": "wavenc",
    "alaw": "alawenc ! wavenc",
    "mulaw": "mulawenc ! wavenc",
    "aiff": "audioconvert ! aiffmux",
    "flac": "flacenc",
    "flac-ogg": "flacenc ! oggmux",
    "mp3": "lamemp3enc target=bitrate bitrate=128 cbr=true ! xingmux ! id3v2mux",
    "mp3-vbr": "lamemp3enc target=quality quality=4",
    "mp2": "twolamemp2enc",
    "aac": "voaacenc ! aacparse ! audio/mpeg,stream-format=adts",
    "m4a": "voaacenc ! mp4mux",
    "m4a-fast": "voaacenc ! mp4mux faststart=true",
    "m4a-fragments": "voaacenc ! mp4mux fragment-duration=500",
    "alac": "avenc_alac ! mp4mux",
    "ts": "voaacenc ! aacparse ! mpegtsmux",
    "vorbis": "audioconvert ! vorbisenc ! oggmux",
    "opus": "audioresample ! opusenc ! oggmux",
    "speex": "audioresample ! speexenc ! oggmux",
    "mka": "flacenc ! matroskamux",
    "webm": "audioresample ! opusenc ! webmmux",
    "eac3": "audioresample ! audioconvert ! avenc_eac3",
    "w64": "audioconvert ! avmux_w64",
    "caf-open": "audioconvert ! avmux_caf",
    "au": "audioconvert ! avmux_au",
    "dts": "audioresample ! audioconvert ! avenc_dca strict=experimental",
    "ac3": "audioresample ! audioconvert ! avenc_ac3",
    "wma": "audioconvert ! avenc_wmav2 ! asfmux",
    "wavpack": "audioconvert ! wavpackenc",
}


def riff(tag, rate, channels, block, bits, extra, samples, fact=None):
    """A WAV file of `samples`, whose format is `tag`."""
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * block, block, bits) + extra
    form = b"fmt " + struct.pack("<I", len(form)) + form
    if fact is not None:
        form += b"fact" + struct.pack("<II", 4, fact)
    body = b"WAVE" + form + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def ima(samples, rate, channels):
    """IMA ADPCM in blocks of 1024 bytes; the mean rate is that of the blocks."""
    frames = (1024 - 4 * channels) * 2 // channels + 1
    form = struct.pack("<HHIIHH", 0x11, channels, rate, rate * 1024 // frames, 1024, 4) + struct.pack("<HH", 2, frames)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def caf(samples, rate, channels):
    form = struct.pack(">d4sIIIII", rate, b"lpcm", 0, channels * 2, 1, channels, 16)
    return (b"caff\0\1\0\0desc" + struct.pack(">q", len(form)) + form + b"data" +
            struct.pack(">qI", 4 + len(samples), 0) + samples)


def extensible(valid):
    """A WAV file of samples of 32 bits of which `valid` are used."""
    def pack(samples, rate, channels):
        kind = bytes.fromhex("0100000000001000800000aa00389b71")
        return riff(0xFFFE, rate, channels, 4 * channels, 32, struct.pack("<HHI", 22, valid, 3) + kind, samples)
    return pack


# What GStreamer has no muxer for: the pipeline that makes the samples, and what is put around them.
PACKERS = {
    "caf": ("audioconvert ! audio/x-raw,format=S16BE", caf),
    "wav-ima": ("audioconvert ! adpcmenc layout=dvi blockalign=1024", ima),
    "wav-24-in-32": ("audioconvert ! audio/x-raw,format=S24LE ! audioconvert ! audio/x-raw,format=S32LE", extensible(24)),
}
# Sound that nothing here can make: what stands at the beginning of such files.
NAMED = {
    "ape": b"MAC \x96\x0f\0\0\x34\0\0\0\x18\0\0\0\x08\0\0\0\x2c\0\0\0",
    "musepack": b"MP+\x07\x64\0\0\0",
    "musepack-8": b"MPCKSH\x0f",
    "tta": b"TTA1\1\0\2\0\x10\0\x44\xac\0\0",
}
TYPES = {"mp3": "audio/mpeg", "flac": "audio/flac", "wav": "audio/wav", "ogg": "audio/ogg", "m4a": "audio/mp4"}
MADE = {}
LOCK = threading.Lock()


def tones(path, first, count):
    right = media.second_of(1000)
    media.write(path, ((media.second_of(400 + 20 * n), right) for n in range(first, first + count)))


def make(spec):
    """The bytes of `FORMAT:KEY=VALUE…`, made once."""
    with LOCK:
        if spec not in MADE:
            form, *options = spec.split(":")
            if form in NAMED:
                return NAMED[form] + noise(100_000)
            encoder, pack = PACKERS.get(form) or (ENCODERS[form], None)
            wanted = dict(option.split("=") for option in options)
            caps = "audio/x-raw"
            if "sample" in wanted:
                caps += f",format={wanted['sample']}"
            if "rate" in wanted:
                caps += f",rate={wanted['rate']}"
            if "channels" in wanted:
                caps += f",channels={wanted['channels']}"
                if int(wanted["channels"]) > 2:
                    mask = {3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3F, 7: 0x13F, 8: 0xC3F}[int(wanted["channels"])]
                    caps += f",channel-mask=(bitmask){mask:#x}"
            with tempfile.TemporaryDirectory() as folder:
                tones(f"{folder}/in.wav", int(wanted.get("first", 0)), int(wanted.get("seconds", SECONDS)))
                subprocess.run(
                    ["gst-launch-1.0", "-q", "filesrc", f"location={folder}/in.wav", "!", "wavparse", "!",
                     "audioconvert", "!", "audioresample", "!", caps, "!", *encoder.split(), "!",
                     "filesink", f"location={folder}/out"], check=True, timeout=60)
                with open(f"{folder}/out", "rb") as file:
                    made = file.read()
            MADE[spec] = pack(made, int(wanted.get("rate", 44100)), int(wanted.get("channels", 2))) if pack else made
        return MADE[spec]


def noise(count, seed=1):
    return random.Random(seed).randbytes(count)


def id3(payload, size=None):
    size = len(payload) if size is None else size
    return b"ID3\3\0\0" + bytes(size >> shift & 127 for shift in (21, 14, 7, 0)) + payload


def id3_frame(name, body):
    return name + struct.pack(">I", len(body)) + b"\0\0" + body


def cover(size):
    return id3_frame(b"APIC", b"\0image/jpeg\0\3\0\xff\xd8\xff\xe0" + noise(size))


def corrupt(data, place, size):
    at = int(len(data) * float(place))
    return data[:at] + noise(int(size))[:len(data) - at] + data[at + int(size):]


def flip(data, count, seed=1):
    """Changes single bits in the last three quarters."""
    out, chance = bytearray(data), random.Random(int(seed))
    for _ in range(int(count)):
        out[chance.randrange(len(out) // 4, len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def short_headers(data, count):
    """Puts headers of ADTS into the beginnings of frames, in place of their own, that claim a frame shorter than they are."""
    out, places, at = bytearray(data), [], 0
    while at + 7 <= len(data):
        places.append(at)
        at += (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
    for at in places[5::max(1, len(places) // int(count))]:
        out[at:at + 6] = b"\xff\xf1" + data[at + 2:at + 3] + b"\0\0\0"
    return bytes(out)


def ogg_pages(data, change):
    """Lets `change` have each page of an Ogg stream as a list of bytes, and makes its checksum anew."""
    out, at = b"", 0
    while data[at:at + 4] == b"OggS":
        count = data[at + 26]
        end = at + 27 + count + sum(data[at + 27:at + 27 + count])
        page = bytearray(data[at:end])
        change(page)
        page[22:26] = bytes(4)
        sum_ = 0
        for byte in page:
            sum_ = (sum_ << 8 ^ OGG_CRC[sum_ >> 24 ^ byte]) & 0xFFFFFFFF
        page[22:26] = struct.pack("<I", sum_)
        out += page
        at = end
    return out


def ogg_crc(byte):
    value = byte << 24
    for _ in range(8):
        value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    return value


OGG_CRC = [ogg_crc(byte) for byte in range(256)]


def later(data, seconds, rate):
    """As it is recorded from a broadcast that had gone on for a while: places do not begin at 0."""
    def change(page):
        place, = struct.unpack_from("<q", page, 6)
        if place > 0:
            struct.pack_into("<q", page, 6, place + int(float(seconds) * float(rate)))
    return ogg_pages(data, change)


def link(data, count):
    """The stream several times, each time under another number."""
    def numbered(number):
        def change(page):
            page[14:18] = struct.pack("<I", number)
        return change
    return b"".join(ogg_pages(data, numbered(1000 + number)) for number in range(int(count)))


def scramble(data, count, end, seed):
    """Changes bytes of the beginning."""
    out, chance = bytearray(data), random.Random(int(seed))
    for _ in range(int(count)):
        out[chance.randrange(min(len(out), int(end)))] = chance.randrange(256)
    return bytes(out)


def field(data, kind, size, value, chunk="fmt "):
    """Sets a number of a WAV file, at an offset in one of its chunks."""
    at = data.index(chunk.encode()) + 8 + int(kind)
    return data[:at] + int(value).to_bytes(int(size), "little") + data[at + int(size):]


EDITS = {
    "keep": lambda data, part: data[:int(len(data) * float(part))],
    "head": lambda data, size: data[:int(size)],
    "skip": lambda data, size: data[int(size):],
    "noise-before": lambda data, size: noise(int(size)) + data,
    "zeros-before": lambda data, size: bytes(int(size)) + data,
    "noise-after": lambda data, size: data + noise(int(size)),
    "noise": lambda data, size: noise(int(size)),
    "zeros": lambda data, size: bytes(int(size)),
    "corrupt": corrupt,
    "flip": flip,
    "short-headers": short_headers,
    "scramble": scramble,
    "later": later,
    "link": link,
    "times": lambda data, count: data * int(count),
    "wav": field,
    "data-size": lambda data, size: field(data, -4, 4, size, "data"),
    "id3": lambda data: id3(id3_frame(b"TIT2", b"\0A title")) + data,
    "id3-cover": lambda data, size: id3(cover(int(size))) + data,
    "id3-noise": lambda data, size: id3(noise(int(size))) + data,
    "id3-long": lambda data, size: id3(id3_frame(b"TIT2", b"\0A title"), int(size)) + data,
    "id3v1": lambda data: data + b"TAG" + b"A title".ljust(30, b"\0") + bytes(95),
    "ape": lambda data: data + b"APETAGEX" + struct.pack("<IIII", 2000, 32, 0, 0) + bytes(8),
    "page": lambda data: b"<!DOCTYPE html><html><body>Please log in</body></html>",
    "text": lambda data: b"This is no sound at all.\n" * 200,
}


def prepared(rest):
    """What a path is about: the bytes, and their declared type."""
    spec, edits, name = rest.split("/", 2)
    data = make(spec)
    for edit in filter(None, edits.split(",")):
        verb, *values = edit.split(":")
        data = EDITS[verb](data, *values)
    return data, TYPES.get(name.rpartition(".")[2], "application/octet-stream")


@behaviour("odd")
def odd(request, rest):
    request.send(*prepared(rest))


@behaviour("odd-whole")
def odd_whole(request, rest):
    send_whole(request, *prepared(rest))


@behaviour("odd-none")
def odd_none(request, rest):
    send_whole(request, *prepared(rest), ("Accept-Ranges", "none"))


def send_whole(request, data, kind, *headers):
    request.send_response(200)
    for name, value in (("Content-Type", kind), ("Content-Length", str(len(data))), *headers):
        request.send_header(name, value)
    request.end_headers()
    request.write(data)
