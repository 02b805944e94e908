#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program as systemd would: with a socket for its readiness and its watchdog, and a journal to log to.

usage: unshare -rm manager.py reads|stands|missing COMMAND...     in a mount namespace, whose /run it replaces
   reads    the journal reads what is sent
   stands   the journal reads nothing until SIGUSR1
   missing  the journal's socket is not there, only the stream that is the program's standard error

Prints a line for each thing that it hears: `notify MILLISECONDS STATE`, `journal JSON`, `stream LINE`, `output LINE`,
`exit STATUS`. SIGTERM is passed on.
"""
import ctypes
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time

WATCHDOG_MICROSECONDS = 600_000


def parse(datagram: bytes) -> dict[str, str]:
    """The fields of an entry in the journal's native protocol."""
    fields: dict[str, str] = {}
    rest = datagram
    while rest:
        line, _, rest = rest.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            (size,) = struct.unpack("<Q", rest[:8])
            value, rest = rest[8:8 + size], rest[8 + size:]
            assert rest[:1] == b"\n", "a field without an end"
            rest = rest[1:]
        fields[name.decode()] = value.decode()
    return fields


def datagrams(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind(path)
    return made


def main() -> int:
    mode, command = sys.argv[1], sys.argv[2:]
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    os.makedirs("/run/systemd/journal")
    begin = time.monotonic()
    selector = selectors.DefaultSelector()

    def say(text: str) -> None:
        print(text, flush=True)

    def hear_notify(source: socket.socket) -> None:
        for state in source.recv(65536).decode().split("\n"):
            say(f"notify {int((time.monotonic() - begin) * 1000)} {state}")

    def hear_journal(source: socket.socket) -> None:
        say("journal " + json.dumps(parse(source.recv(1 << 20))))

    def lines(kind: str):
        def hear(source) -> None:
            text = os.read(source.fileno(), 65536).decode()
            if not text:
                selector.unregister(source)
            for line in text.splitlines():
                say(f"{kind} {line}")
        return hear

    notify = datagrams("/run/notify")
    selector.register(notify, selectors.EVENT_READ, hear_notify)
    journal = datagrams("/run/systemd/journal/socket") if mode != "missing" else None
    if mode == "reads":
        selector.register(journal, selectors.EVENT_READ, hear_journal)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("/run/systemd/journal/stdout")
    listener.listen()
    errors = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    errors.connect("/run/systemd/journal/stdout")
    stream, _ = listener.accept()
    if mode != "stands":
        selector.register(stream, selectors.EVENT_READ, lines("stream"))
    status = os.fstat(errors.fileno())
    environment = dict(
        os.environ, NOTIFY_SOCKET="/run/notify", WATCHDOG_USEC=str(WATCHDOG_MICROSECONDS),
        JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino}")
    # The service does not outlive its manager, however that ends (PR_SET_PDEATHSIG).
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=errors,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))
    errors.close()
    selector.register(child.stdout, selectors.EVENT_READ, lines("output"))
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    wanted = []
    signal.signal(signal.SIGUSR1, lambda *_: wanted.append(True))
    try:
        while child.poll() is None:
            if wanted and mode == "stands":
                wanted.clear()
                selector.register(journal, selectors.EVENT_READ, hear_journal)
            for key, _ in selector.select(0.05):
                key.data(key.fileobj)
        # What was said last.
        while ready := selector.select(0):
            for key, _ in ready:
                key.data(key.fileobj)
    finally:
        child.kill()
    say(f"exit {child.wait()}")
    return 0


sys.exit(main())
