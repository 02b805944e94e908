#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A renderer that misbehaves, at the other end of descriptor 3. usage: renderer.py MODE

It says hello and that it has started, takes the settings, answers pings, and then does what MODE says. It speaks the
frames of Docs/protocols/renderer.md by hand, so that it can break them.
"""

import os
import socket
import struct
import sys

VERSION = 5
daemon = socket.socket(fileno=3)
mode = sys.argv[1]


def frame(kind, body, version=1):
    return struct.pack(">IBB", len(body) + 2, version, kind) + body


def text(words):
    return struct.pack(">I", len(words.encode())) + words.encode()


def started():
    return frame(4, b"\x01" + text("closed") + text("test") + b"\x00\x00\x00")


def position(load):
    time = b"\x00" + struct.pack(">qi", 1, 1)
    return frame(4, b"\x04" + struct.pack(">Q", load) + time + struct.pack(">qd", 1, 1.0))


def picture(load, size):
    return frame(4, b"\x07" + struct.pack(">Q", load) + struct.pack(">I", size) + bytes(size) + text("image/png") + b"\x00")


def loaded(load):
    span = (b"\x00" + struct.pack(">qi", 0, 1)) + (b"\x00" + struct.pack(">qi", 60, 1))
    tracks = (struct.pack(">I", 0) + b"\x00") * 3
    return frame(4, b"\x02" + struct.pack(">Q", load) + span + b"\x00\x00\x01" + tracks + b"\x01\x00")


def stand_still():
    """Says again and again that it plays, and always at the same place."""
    load = None
    daemon.settimeout(0.05)
    while True:
        try:
            kind, body = take()
        except TimeoutError:
            if load is not None:
                daemon.sendall(position(load))
            continue
        if kind == 5:
            daemon.sendall(frame(6, body))
        if kind == 3 and body[0] == 1:
            load = struct.unpack(">Q", body[1:9])[0]
            daemon.sendall(loaded(load) + position(load))
        if kind == 3 and body[0] == 3:
            daemon.sendall(frame(4, b"\x09" + body[1:17] + b"\x00"))
        if kind == 3 and body[0] == 9:
            load = None
            daemon.sendall(frame(4, b"\x0c" + body[1:9]))


def take():
    head = daemon.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        sys.exit(0)
    body = daemon.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
    return body[1], body[2:]


def serve(answers=True, stops=True):
    """Obeys until the daemon goes."""
    while True:
        kind, body = take()
        if kind == 5 and answers:
            daemon.sendall(frame(6, body))
        if kind == 3 and body[0] == 9 and stops:
            daemon.sendall(frame(4, b"\x0c" + body[1:9]))


if mode == "wrong-version":
    daemon.sendall(frame(1, struct.pack(">H", VERSION + 1)))
    serve()
if mode == "wrong-frame-version":
    daemon.sendall(frame(1, struct.pack(">H", VERSION), version=9))
    serve()
if mode == "no-hello":
    daemon.sendall(started())
    serve()
daemon.sendall(frame(1, struct.pack(">H", VERSION)))
if mode == "half-frame":
    daemon.sendall(started()[:9])
    sys.exit(0)
daemon.sendall(started())
if mode == "flood":
    while True:
        daemon.sendall(position(1) * 64)
if mode == "flood-of-pictures":
    while True:
        daemon.sendall(picture(1, 4 << 20))
if mode == "endless-frame":
    daemon.sendall(struct.pack(">I", 1 << 31) + b"\x01\x04")
if mode == "junk":
    daemon.sendall(os.urandom(1 << 16))
if mode == "command":
    daemon.sendall(frame(3, b"\x0a"))
if mode == "frozen":
    stand_still()
if mode == "handed":
    # Writes to what is handed over, and ends.
    descriptors = []
    while not descriptors:
        _, descriptors, _, _ = socket.recv_fds(daemon, 65536, 8)
    os.write(descriptors[0], b"handed")
    sys.exit(0)
if mode == "deaf":
    signal = __import__("signal")
    signal.pause()
serve(answers=mode != "mute", stops=mode != "never-stops")
