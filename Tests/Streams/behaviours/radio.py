# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Stations of web radio: /radio/FORM,OPTION,OPTION=VALUE…/NAME

FORM is `aac` or `mp3` (the tones of a minute, over and over), or `vorbis`, `opus`, `flac`: a chain of Ogg streams of four
seconds each, whose titles are One, Two, Three …. The station's time begins with the first request; who connects gets
`burst` seconds (3) at once, and the rest as time goes by.

  titles=NAME      what the station tells and when: one of TITLES. Without it there are no texts between the sound
  interval=N       bytes of sound between two texts (4000); `says=TEXT` puts another number into the head
  icy              the answer begins with ICY 200 OK
  name=HEX         the station's name, as bytes; `old` names it and its genre as old Icecasts do
  type=TYPE        another type than that of the sound, with a dash for the slash
  skip=N           the first N bytes are left out, so that the first frame is not whole
  cut=S, end=S     the first connection is cut, or ends, after S seconds of sound; the next one goes on at that very byte
  away=S           for S seconds after that the station answers 404
  short=S          every connection ends after S seconds
"""

import itertools
import math
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from server import behaviour

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Support"))

import media  # noqa: E402 (it stands in another folder)


def title(text, more=b""):
    return b"StreamTitle='" + (text.encode() if isinstance(text, str) else text) + b"';" + more


# (second from which on it holds, text between the sound)
TITLES = {
    "one": [(0, title("First"))],
    "two": [(0, title("First")), (6, title("Second"))],
    "utf8": [(0, title("Café – 東京"))],
    "latin1": [(0, title("Caf\xe9 d\xfc".encode("latin-1")))],
    "windows": [(0, title(b"\x93Quote\x94"))],
    "quotes": [(0, title("It's 'so'", b"StreamUrl='http://a/?b=';"))],
    "semicolons": [(0, title("A'; B;';C"))],
    "empty": [(0, title("First")), (2, title(""))],
    "unfinished": [(0, b"StreamTitle='No end")],
    "bare": [(0, b"StreamTitle=Bare;StreamUrl=;")],
    "case": [(0, b"streamtitle='Lower';")],
    "second": [(0, b"StreamUrl='http://a/';StreamTitle='Behind';")],
    "other": [(0, title("First")), (2, b"StreamUrl='http://a/';"), (3, b"\xff" * 100)],
    "longest": [(0, title("First")), (1, title("x" * 4064)), (3, title("Last"))],
    "longest-cut": [(0, b"StreamTitle='" + "é".encode() * 2033 + b"\xc3")],
    "control": [(0, title("A\x1b[31mB\r\n\tC\x07\u202eD\x9b"))],
    "broken": [(0, title(b"\xc3\x28\xa0\xa1 A \xf8\x88\xf0"))],
    "flood": [(n / 50, title(f"Title {n}")) for n in range(3000)],
}

LINK = 4  # seconds of one stream of a chain
NUMBERS = ["One", "Two", "Three", "Four", "Five", "Six", "Seven"]
TYPES = {
    "aac": "audio/aac", "mp3": "audio/mpeg", "vorbis": "application/ogg", "opus": "audio/ogg", "flac": "audio/ogg"}
CODERS = {"vorbis": "audioconvert ! vorbisenc", "opus": "audioresample ! opusenc", "flac": "flacenc"}
MADE = {}
LOCK = threading.Lock()


def convert(first, count, elements):
    """Seconds of the tones, coded."""
    with tempfile.TemporaryDirectory() as folder:
        right = media.second_of(1000)
        media.write(f"{folder}/in.wav", ((media.second_of(400 + 20 * n), right) for n in range(first, first + count)))
        subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", f"location={folder}/in.wav", "!", "wavparse", "!", "audioconvert", "!",
             *elements.split(), "!", "filesink", f"location={folder}/out"], check=True, timeout=60)
        with open(f"{folder}/out", "rb") as file:
            return file.read()


def made(key, make):
    with LOCK:
        if key not in MADE:
            MADE[key] = make()
        return MADE[key]


def sound(request, form):
    """Pieces of sound without end, each with its length in seconds. The second at which one begins is the sum."""
    if form == "aac":
        frames = request.server.media["main"].frames[:60 * 44100 // 1024]
        yield from itertools.cycle((frame, 1024 / 44100) for frame in frames)
    elif form == "mp3":
        coded = made(form, lambda: convert(0, 60, "lamemp3enc target=bitrate bitrate=128 cbr=true"))
        yield from itertools.cycle((coded[at:at + 400], 400 / 16000) for at in range(0, len(coded) - 399, 400))
    else:
        for number in itertools.count():
            name = NUMBERS[number % len(NUMBERS)]
            yield from pages(made((form, name), lambda n=number, t=name: convert(
                LINK * n, LINK, f'taginject tags="title={t},artist=Band" ! {CODERS[form]} ! oggmux')))


def pages(link):
    """The pages of an Ogg stream, as far apart in time as they are in bytes."""
    at = 0
    while at < len(link):
        count = link[at + 26]
        size = 27 + count + sum(link[at + 27:at + 27 + count])
        yield link[at:at + size], LINK * size / len(link)
        at += size


def block(text):
    text = text[:4080]
    units = (len(text) + 15) // 16
    return bytes([units]) + text.ljust(units * 16, b"\0")


class Connection:
    """One listener's connection: counts the bytes of sound from its own beginning."""

    def __init__(self, request, interval, texts):
        self.request, self.interval, self.texts = request, interval, texts
        self.left, self.told = interval, None

    def text(self, second):
        """What stands between the sound at a second of the station: what holds, once."""
        holds = [text for begin, text in self.texts if begin <= second]
        if not holds or len(holds) == self.told:
            return b"\0"
        self.told = len(holds)
        return block(holds[-1])

    def send(self, piece, second):
        if not self.interval:
            return self.request.wfile.write(piece)
        out = b""
        while len(piece) >= self.left:
            out += piece[:self.left] + self.text(second)
            piece, self.left = piece[self.left:], self.interval
        self.left -= len(piece)
        return self.request.wfile.write(out + piece)


def head(request, form, options, interval):
    name = bytes.fromhex(options.get("name", "5468652053746174696f6e"))
    word = b"ice" if "old" in options else b"icy"
    lines = [b"ICY 200 OK" if "icy" in options else b"HTTP/1.0 200 OK"]
    kind = options.get("type", TYPES[form]).replace("-", "/")
    lines += [b"Content-Type: " + kind.encode(), word + b"-name: " + name, word + b"-genre: Odd; Pop", b"icy-br: 128"]
    if interval or "says" in options:
        lines.append(b"icy-metaint: " + options.get("says", str(interval)).encode())
    request.wfile.write(b"\r\n".join(lines) + b"\r\n\r\n")
    request.close_connection = True


@behaviour("radio")
def radio(request, rest):
    words = rest.split("/")[0].split(",")
    options = dict((word + "=").split("=")[:2] for word in words[1:])
    run, memory = request.run, request.run.memory
    with run.lock:
        number = memory["connections"] = memory.get("connections", 0) + 1
    burst = float(options.get("burst", 3))
    memory["edge"] = lambda: int(run.elapsed() + burst) % 60
    if number > 1 and run.elapsed() < memory.get("back", 0):
        return request.send(b"", "text/plain", 404)
    wants = request.headers.get("Icy-MetaData") == "1"
    interval = int(options.get("interval", 4000)) if wants and "titles" in options else 0
    head(request, words[0], options, interval)
    connection = Connection(request, interval, TITLES.get(options.get("titles"), []))
    limit = float(options.get("short") or (number == 1 and (options.get("cut") or options.get("end"))) or 1e9)
    # Where another connection broke off the next one goes on; else everybody hears what is sent now.
    begin = memory.pop("broken", None)
    if begin is None:
        begin = 0 if words[0] in CODERS else max(0, run.elapsed())
    if words[0] in CODERS:
        # An Ogg stream begins with its headers.
        begin = math.ceil(begin / LINK) * LINK
    skip = int(options.get("skip", 0))
    second, length = 0, 0
    for piece, length in sound(request, words[0]):
        if second > begin - 0.001:
            if second - begin >= limit:
                memory["broken"] = second
                memory["back"] = run.elapsed() + float(options.get("away", 0))
                # In the middle of a piece.
                connection.send(piece[:len(piece) // 2] if "cut" in options else b"", second)
                if "cut" in options:
                    # Unread bytes are lost, as when a machine goes away.
                    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return request.cut()
            time.sleep(max(0, second - burst - run.elapsed()))
            if request.wait_or_cut():
                return None
            piece, skip = piece[skip:], max(0, skip - len(piece))
            connection.send(piece, second)
        second += length
    return None
