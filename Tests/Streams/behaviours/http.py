# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""HTTP at its worst: /http/OPTIONS/NAME, with options separated by commas. NAME is for people.

What it is:
wav, aac               60 seconds of the coded tone; wav by default
seconds=N              shorter
radio                  AAC in real time, for ever; text=N: with titles after so many bytes, as web radio has them
echo                   a list of the one entry `http/wav,seconds=3/x.wav`: what follows are requests for an entry

What is said of it:
type=A:B, untyped      the content type (`:` for `/`), or none
length=N, unsized      the announced length, less or more by so much; or none, and the end of the connection is the end
junk-length, twice     a length that is no number; two lengths that differ
norange, refuses       ranges are not looked at; and the answer says so (`Accept-Ranges: none`)
wrong-range            an answer to a range names, and has, another part
gzip, chunked, old     packed; in chunks; HTTP/1.0
bare                   no more headers than must be

How it comes:
trickle=N              N bytes at a time, fifty times a second
cut=N                  each connection ends after N bytes; of chunks: between two; torn: within one
stall=N                the first connection says nothing more after N bytes
abort=N                as `cut`, with a reset
silent                 nothing is ever answered
drops                  the connection ends after each answer, without a word
surplus                bytes follow the body that nobody announced
status=N               every answer has this status
once=N                 the first answer has it
later=N                every answer but the first has it

Redirections, before all that:
moved=N                one with this status; chain=N: so many; circle, pair: to itself, to one another for ever
nowhere, noplace       without an address; to what is none
scheme=S               to an address of another scheme
host=H                 to the same at another host
hls                    to an adaptive stream
cookie                 sets a cookie that is asked for afterwards; at the same address: same-cookie
tls=KIND               to the same over TLS with this certificate
plain                  to the same without TLS
spaced                 to an address with blanks and letters that are not ASCII
"""

import gzip
import os
import socket
import struct
import sys
import threading
import time

from server import behaviour

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Support"))

import media  # noqa: E402 (it stands in another folder)

SECONDS = 60
BYTES = media.RATE * 4  # of a second
WAVE = bytearray()
LOCK = threading.Lock()
TYPES = {"wav": "audio/wav", "aac": "audio/aac"}


class Options(dict):
    """The options of a path."""

    def __init__(self, text):
        super().__init__((word.partition("=")[::2]) for word in text.split(",") if word)

    def number(self, name, default=0):
        return int(self.get(name) or default)

    def without(self, *names):
        return ",".join(f"{name}={value}" if value else name for name, value in self.items() if name not in names)


def wave(seconds):
    """A WAV file of so many seconds: 44.1 kHz, two channels, 16 bits."""
    with LOCK:
        if not WAVE:
            right = media.second_of(1000)
            for second in range(SECONDS):
                samples = bytearray(BYTES)
                samples[0::4], samples[1::4] = halves(media.second_of(400 + 20 * second))
                samples[2::4], samples[3::4] = halves(right)
                WAVE.extend(samples)
    size = seconds * BYTES
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", size + 36, b"WAVE", b"fmt ", 16, 1, 2, media.RATE, BYTES, 4, 16, b"data", size)
    return head + bytes(WAVE[:size])


def halves(samples):
    """The low and the high bytes of samples of 16 bits."""
    data = struct.pack(f"<{len(samples)}h", *samples)
    return data[0::2], data[1::2]


def body_of(request, options):
    seconds = options.number("seconds", SECONDS)
    if "aac" in options:
        frames = request.server.media["main"].frames
        return b"".join(frames[:seconds * media.RATE // 1024])
    return wave(seconds)


# Redirections

def redirected(request, options, name):
    """Where a request is sent in place of an answer; None for nowhere."""
    place = f"{request.prefix}/http/"

    def rest(*names):
        return f"{place}{options.without(*names) or 'wav'}/{name}"
    host = request.headers.get("Host", "")
    port = request.server.port
    if "hls" in options:
        return f"{request.prefix}/hls/ts/{name}", 302
    if "moved" in options:
        return rest("moved"), options.number("moved")
    if "chain" in options:
        count = options.number("chain")
        return (f"{place}chain={count - 1},{options.without('chain')}/{name}" if count > 1 else rest("chain")), 302
    if "circle" in options:
        return request.path, 302
    if "pair" in options:
        other = {"one": "two", "two": "one"}[options["pair"]]
        return f"{place}pair={other}/{name}", 302
    if "noplace" in options:
        return "http://:0/", 302
    if "scheme" in options:
        return f"{options['scheme']}://{host}{rest('scheme')}", 302
    if "host" in options:
        return f"http://{options['host']}:{port}{rest('host')}", 302
    if "tls" in options:
        port = request.server.secure_port(options["tls"])
        return f"https://localhost:{port}{rest('tls')}", 302
    if "plain" in options:
        # Of the server without TLS.
        plain = getattr(request.server, "server", request.server).port
        return f"http://127.0.0.1:{plain}{rest('plain')}", 302
    if "spaced" in options:
        return f"{place}{options.without('spaced') or 'wav'}/a b ü.wav", 302
    return None


def wants_cookie(request, options, name):
    """Sets a cookie by a redirection and asks for it afterwards. True if the request is answered."""
    if "cookie" not in options and "same-cookie" not in options:
        return False
    if "key=open" in request.headers.get("Cookie", ""):
        return False
    if "asks" in options:
        request.send(b"", "text/plain", 403)
        return True
    address = request.path
    if "cookie" in options:
        address = f"{request.prefix}/http/{options.without()},asks/{name}"
    request.send(b"", "text/plain", 302, [("Location", address), ("Set-Cookie", "key=open; Path=/")])
    return True


# Answers

def send_head(request, options, size, start):
    """The status and the headers of an answer with the body from `start` on."""
    if "old" in options:
        request.protocol_version = "HTTP/1.0"
    if start:
        request.send_response(206)
        first = start + 1000 if "wrong-range" in options else start
        request.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
    else:
        request.send_response(200)
    if "untyped" not in options and "bare" not in options:
        kind = TYPES["aac" if "aac" in options or "radio" in options else "wav"]
        request.send_header("Content-Type", options.get("type", kind).replace(":", "/"))
    if "norange" not in options and "bare" not in options:
        request.send_header("Accept-Ranges", "none" if "refuses" in options else "bytes")
    left = size - start
    if "junk-length" in options:
        request.send_header("Content-Length", "a lot")
        request.close_connection = True
    elif "twice" in options:
        request.send_header("Content-Length", str(left + 10))
        request.send_header("Content-Length", str(left))
    elif "chunked" in options:
        request.send_header("Transfer-Encoding", "chunked")
    elif "unsized" in options or "bare" in options:
        request.send_header("Connection", "close")
        request.close_connection = True
    else:
        request.send_header("Content-Length", str(left + options.number("length")))
    if "length" in options:
        request.close_connection = True


def send_body(request, options, body):
    """The body, in the way that the options say."""
    limit = len(body)
    for name in ("cut", "abort"):
        if name in options:
            limit = min(limit, options.number(name))
    is_first = request.run.memory.setdefault("bodies", 0) == 0
    request.run.memory["bodies"] += 1
    if "stall" in options and is_first:
        limit = min(limit, options.number("stall"))
    step = options.number("trickle", 8192)
    for place in range(0, limit, step):
        if request.wait_or_cut():
            return
        piece = body[place:min(place + step, limit)]
        if "chunked" in options:
            is_torn = "torn" in options and place + step >= limit
            piece = b"%x\r\n%s\r\n" % (len(piece) + 100 * is_torn, piece)
        request.wfile.write(piece)
        if "trickle" in options:
            time.sleep(0.02)
    if "stall" in options and is_first:
        request.rfile.read(1)
        return request.cut()
    if limit < len(body):
        if "abort" in options:
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.close_connection = True
            return request.connection.close()
        return request.cut()
    if "chunked" in options:
        request.wfile.write(b"0\r\n\r\n")
    if "surplus" in options:
        request.wfile.write(b"HTTP/1.1 200 Fine\r\nContent-Length: 3\r\n\r\nabc")
    if "drops" in options:
        request.cut()
    return None


def play_radio(request, options):
    """Real time for ever, with a station's name, and titles if they were asked for."""
    run = request.run
    run.memory["edge"] = lambda: run.elapsed() % SECONDS
    request.send_response(200)
    request.send_header("Content-Type", options.get("type", "audio/aac").replace(":", "/"))
    request.send_header("icy-name", "Testing")
    interval = options.number("text") if request.headers.get("Icy-MetaData") == "1" else 0
    if interval:
        request.send_header("icy-metaint", str(interval))
    request.send_header("Connection", "close")
    request.end_headers()
    request.close_connection = True
    frames = request.server.media["main"].frames
    # A second is sent at once, as stations do, and the rest when it is due.
    number = int(max(0, run.elapsed() - 1) * media.RATE / 1024)
    left = interval
    while True:
        due = number * 1024 / media.RATE - 1 - run.elapsed()
        if due > 0:
            time.sleep(min(due, 0.1))
            continue
        if request.wait_or_cut():
            return
        if due < -5:
            # Whoever lags so far behind is thrown out.
            return request.cut()
        data = frames[number % len(frames)]
        number += 1
        while interval and len(data) >= left:
            title = f"StreamTitle='Second {number * 1024 // media.RATE}';".encode()
            title += bytes(-len(title) % 16)
            request.wfile.write(data[:left] + bytes([len(title) // 16]) + title)
            data, left = data[left:], interval
        left -= len(data)
        request.wfile.write(data)


@behaviour("http")
def http(request, rest):
    folder, _, name = rest.partition("/")
    options = Options(folder)
    if "silent" in options:
        request.rfile.read(1)
        return request.cut()
    if wants_cookie(request, options, name):
        return None
    if "nowhere" in options:
        return request.send(b"", "text/plain", 302)
    target = redirected(request, options, name)
    if target:
        return request.redirect(target[0], target[1])
    count = request.run.memory["answers"] = request.run.memory.get("answers", 0) + 1
    status = options.number("status") or (options.number("once") if count == 1 else options.number("later"))
    if status:
        return request.send(b"<html>No.</html>", "text/html", status)
    if "radio" in options:
        return play_radio(request, options)
    if "echo" in options:
        return request.send(b"#EXTM3U\n../wav,seconds=3,cut=300000/x.wav\n", "audio/x-mpegurl")
    body = body_of(request, options)
    size, start = len(body), 0
    wanted = request.headers.get("Range", "")
    if wanted.startswith("bytes=") and not {"norange", "refuses", "bare", "chunked", "gzip"} & set(options):
        start = int(wanted[6:].partition("-")[0])
        if start >= size:
            return request.send(b"", "text/plain", 416, [("Content-Range", f"bytes */{size}")])
    if "gzip" in options:
        body = gzip.compress(body, 1)
        send_head(request, options, len(body), 0)
        request.send_header("Content-Encoding", "gzip")
    else:
        send_head(request, options, size, start)
        body = body[start + 1000:] if start and "wrong-range" in options else body[start:]
    request.end_headers()
    if request.command != "HEAD":
        send_body(request, options, body)
    return None
