#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon that misbehaves towards a real renderer. usage: daemon.py LINNET-RENDERER [long]

Each case starts a renderer, breaks the frames of Docs/protocols/renderer.md or goes away, and says how the renderer
took it: a line beginning with ok or FAIL. The exit status is the number of FAILs.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import time

VERSION = 5
program = sys.argv[1]
faults = 0
# Keeps the number 3 for what is handed down.
nothing = os.open("/dev/null", os.O_RDWR)
os.dup2(nothing, 3)


def frame(kind, body, version=1):
    return struct.pack(">IBB", len(body) + 2, version, kind) + body


def text(words):
    return struct.pack(">I", len(words.encode())) + words.encode()


HELLO = frame(1, struct.pack(">H", VERSION))
SETTINGS = frame(2, struct.pack(">I", 2) + text("output.device") + text("null") + text("log.level") + text("error"))


def start():
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 3)
    child = subprocess.Popen([program, "--confine"], pass_fds=[3], stderr=subprocess.DEVNULL)
    os.dup2(nothing, 3)
    theirs.close()
    ours.settimeout(10)
    return child, ours


def wait_for_start(link):
    """Reads frames until the output was reported."""
    buffer = b""
    while True:
        buffer += link.recv(65536)
        while len(buffer) >= 4 and len(buffer) >= 4 + struct.unpack(">I", buffer[:4])[0]:
            size = struct.unpack(">I", buffer[:4])[0]
            body, buffer = buffer[4:4 + size], buffer[4 + size:]
            if body[1] == 4 and body[2] == 1:
                return


def ended(child, seconds):
    began = time.monotonic()
    try:
        return child.wait(seconds), time.monotonic() - began
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return None, seconds


def tell(holds, words):
    global faults
    faults += not holds
    print("ok  " if holds else "FAIL", words, flush=True)


def case(name, sent, status, seconds=10, reads=True):
    child, link = start()
    try:
        link.sendall(HELLO + SETTINGS)
        if reads:
            wait_for_start(link)
        for piece in sent:
            link.sendall(piece)
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        pass
    code, took = ended(child, seconds)
    tell(code == status, f"{name}: exit status {code} after {took:.2f} s")
    link.close()


def raw(name, sent, status):
    child, link = start()
    link.sendall(sent)
    code, took = ended(child, 10)
    tell(code == status, f"{name}: exit status {code} after {took:.2f} s")
    link.close()


def hand_over(link, token, descriptor):
    socket.send_fds(link, [frame(7, struct.pack(">Q", token))], [descriptor])


def load_capture(load, token):
    source = b"\x01" + struct.pack(">Qii", token, 48000, 2) + text("s16le") + struct.pack(">q", 0)
    return frame(3, b"\x12" + struct.pack(">Q", load) + source + b"\x01")


def wait_for(link, kinds):
    """Reads frames until an event of one of these kinds has come, and returns its kind."""
    buffer = b""
    while True:
        buffer += link.recv(65536)
        while len(buffer) >= 4 and len(buffer) >= 4 + struct.unpack(">I", buffer[:4])[0]:
            size = struct.unpack(">I", buffer[:4])[0]
            body, buffer = buffer[4:4 + size], buffer[4 + size:]
            if body[1] == 4 and body[2] in kinds:
                return body[2]


def descriptors(child):
    return len(os.listdir(f"/proc/{child.pid}/fd"))


def settled(child, most, seconds):
    """Waits until the process has no more descriptors open than that."""
    end = time.monotonic() + seconds
    while descriptors(child) > most and time.monotonic() < end:
        time.sleep(0.05)
    return descriptors(child) <= most


def captures():
    """A confined renderer reads what is handed over, and keeps nothing of it."""
    child, link = start()
    link.sendall(HELLO + SETTINGS)
    wait_for_start(link)
    # The first load makes what stays.
    for load in range(1, 12):
        if load == 2:
            before = descriptors(child)
        reader, writer = os.pipe()
        hand_over(link, load, reader)
        os.close(reader)
        link.sendall(load_capture(load, load))
        loaded = wait_for(link, [2, 11])
        os.write(writer, bytes(192 * 500))
        os.close(writer)
        over = wait_for(link, [10, 11])
        if (loaded, over) != (2, 10):
            tell(False, f"a capture: events {loaded} and {over}")
    tell(settled(child, before, 20), "ten captures: no descriptor is left")
    for token in range(100, 140):
        reader, writer = os.pipe()
        hand_over(link, token, reader)
        os.close(reader)
        os.close(writer)
    link.sendall(load_capture(50, 7))
    tell(wait_for(link, [2, 11]) == 11, "a capture without its descriptor fails")
    tell(settled(child, before + 8, 20), "forty descriptors that nobody asked for: at most eight are kept")
    tell(settled(child, before, 30), "and after a while none")
    # More than eight with one message: the kernel closes those that there is no room for.
    reader, writer = os.pipe()
    socket.send_fds(link, [frame(7, struct.pack(">Q", 200))], [reader] * 20)
    link.sendall(load_capture(51, 200))
    tell(wait_for(link, [2, 11]) == 2, "of several descriptors with one message the first counts")
    os.close(writer)
    wait_for(link, [10, 11])
    os.close(reader)
    link.close()
    code, took = ended(child, 10)
    tell(code == 0, f"captures: exit status {code}")


captures()
case("a token without a descriptor", [frame(7, struct.pack(">Q", 1))], 65)

raw("another version", frame(1, struct.pack(">H", VERSION + 1)), 65)
raw("another version of the frames", frame(1, struct.pack(">H", VERSION), version=7), 65)
raw("settings before hello", SETTINGS, 65)
raw("a command before the settings", HELLO + frame(3, b"\x0a"), 65)
raw("junk", b"GET / HTTP/1.1\r\n\r\n" * 9, 65)
case("settings twice", [SETTINGS], 65)
case("an unknown command", [frame(3, b"\xc8")], 65)
case("a command that ends early", [frame(3, b"\x01\x00")], 65)
case("a frame without an end", [struct.pack(">I", 1 << 31) + b"\x01\x03"], 65)
case("an event, which only a renderer sends", [frame(4, b"\x0a" + bytes(8))], 65)
# A million pings take a debug build a while.
if "long" in sys.argv:
    case("pings without reading", (frame(5, struct.pack(">Q", 1)) * 4096 for _ in range(1 << 14)), 1, seconds=30)

child, link = start()
link.sendall(HELLO + SETTINGS)
wait_for_start(link)
link.close()
code, took = ended(child, 5)
tell(code == 0 and took < 1, f"a daemon that closes: exit status {code} after {took:.2f} s")

child, link = start()
link.sendall(HELLO + SETTINGS)
wait_for_start(link)
link.sendall(frame(3, b"\x0a")[:7])
link.close()
code, took = ended(child, 5)
tell(code == 0 and took < 1, f"half a frame, then gone: exit status {code} after {took:.2f} s")

for name, stopped in [("a daemon that is killed", False), ("the same with a renderer that hangs", True)]:
    reader, writer = os.pipe()
    between = os.fork()
    if between == 0:
        child, link = start()
        link.sendall(HELLO + SETTINGS)
        wait_for_start(link)
        if stopped:
            child.send_signal(signal.SIGSTOP)
        os.write(writer, str(child.pid).encode())
        signal.pause()
    pid = int(os.read(reader, 16))
    began = time.monotonic()
    os.kill(between, signal.SIGKILL)
    os.waitpid(between, 0)
    gone = False
    while not gone and time.monotonic() - began < 5:
        try:
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
            gone = state == "Z"
        except OSError:
            gone = True
        time.sleep(0.005)
    took = time.monotonic() - began
    tell(gone and took < 1, f"{name}: the renderer is gone after {took:.2f} s")

sys.exit(faults)
