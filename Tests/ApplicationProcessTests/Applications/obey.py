#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""An application that does what the other end of its socket says: each text is Python, its `result` is the answer."""

import os
import socket
import struct
import sys
import time

link = socket.socket(fileno=int(os.environ["LINNET_APPLICATION_SOCKET"]))


def read(count):
    data = b""
    while len(data) < count:
        piece = link.recv(count - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def send(kind, data):
    link.sendall(struct.pack(">IB", len(data) + 1, kind) + data)


while True:
    length, kind = struct.unpack(">IB", read(5))
    body = read(length - 1)
    if kind == 2:
        send(2, body)
        continue
    scope = {"os": os, "sys": sys, "time": time, "socket": socket, "link": link, "send": send, "result": "done"}
    try:
        exec(compile(body.decode(), "order", "exec"), scope)
        answer = scope["result"]
    except Exception as fault:
        answer = type(fault).__name__
    send(1, str(answer).encode())
