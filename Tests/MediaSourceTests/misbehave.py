#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A server of HTTP that does what servers do at their worst, for the tests of MediaSource.

usage: misbehave.py [CERTIFICATE KEY]     prints "port N" once it listens; ends when its input ends

The path is a word and numbers: /WORD/SIZE[/NUMBER]. The body of SIZE bytes is a pattern that tells each byte's place:
byte n is (31 * n + (n >> 8)) & 255. Each request is printed as a line "request PATH RANGE" ("-" for none). With a
certificate it speaks TLS.
"""

import gzip
import socket
import ssl
import struct
import sys
import threading
import time

seen = {}
lock = threading.Lock()


# It repeats itself after that many bytes.
PERIOD = 65536
TABLE = bytes((n * 31 + (n >> 8)) & 255 for n in range(PERIOD)) * 2


def pattern(start, count):
    place = start % PERIOD
    return (TABLE[place:place + PERIOD] * (count // PERIOD + 1))[:count]


def say(*words):
    with lock:
        print(*words, flush=True)


class Peer:
    def __init__(self, client):
        self.client = client
        self.is_secure = isinstance(client, ssl.SSLSocket)
        self.file = client.makefile("rb")

    def head(self, status, **headers):
        lines = [f"HTTP/1.1 {status} Some Words"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def body(self, start, end, step=1 << 20):
        while start < end:
            count = min(step, end - start)
            self.client.sendall(pattern(start, count))
            start += count

    def reset(self):
        """Ends the connection so that the other side cannot take it for the end of the body."""
        time.sleep(0.1)
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.close()

    def serve(self):
        while self.request():
            pass

    def request(self):
        line = self.file.readline().decode("latin-1").split()
        if len(line) < 2:
            return False
        headers = {}
        while (text := self.file.readline().decode("latin-1").strip()):
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        path = line[1]
        say("request", path, headers.get("range", "-"))
        with lock:
            count = seen[path] = seen.get(path, 0) + 1
        words = path.strip("/").split("/")
        numbers = [int(word) for word in words[1:] if word.isdigit()]
        size = numbers[0] if numbers else 0
        number = numbers[1] if len(numbers) > 1 else 0
        start = 0
        wanted = headers.get("range", "")
        if wanted.startswith("bytes="):
            start = int(wanted[6:].split("-")[0])
        return self.answer(words[0], size, number, start, count, headers) is not False

    def plain(self, size, start, end=None, **extra):
        """The usual answer; the body ends before `end`."""
        if start > 0:
            if start >= size:
                self.head(416, Content_Range=f"bytes */{size}", Content_Length=0)
                return
            self.head(206, Content_Range=f"bytes {start}-{size - 1}/{size}", Content_Length=size - start, **extra)
        else:
            self.head(200, Content_Length=size, Accept_Ranges="bytes", **extra)
        self.body(start, size if end is None else end)

    def answer(self, word, size, number, start, count, headers):
        if word == "plain":
            self.plain(size, start)
        elif word == "cut":
            # Each connection ends after `number` bytes.
            self.plain(size, start, min(size, start + number), ETag='"one"')
            return start + number >= size
        elif word == "dead":
            # The first connection ends after `number` bytes; no other brings anything but an answer.
            self.plain(size, start, number if count == 1 else start)
            return False
        elif word == "gone":
            # The first connection ends after `number` bytes; the next three end without an answer.
            if 1 < count < 5:
                return False
            self.plain(size, start, number if count == 1 else None)
            return count > 1
        elif word == "busy":
            # The first `number` answers put off.
            if count <= number:
                self.head(503, Content_Length=0, Retry_After="0")
            else:
                self.plain(size, start)
        elif word == "station":
            # Chunks of sound and texts; each connection ends after `number` bytes, and brings other sound.
            if start:
                self.head(416, Content_Length=0)
                return False
            self.head(200, icy_name="Testing", icy_metaint=size, Connection="close")
            text = b"StreamTitle='%d';" % count
            text += bytes(-len(text) % 16)
            cycle = bytes([count]) * size + bytes([len(text) // 16]) + text
            self.client.sendall((cycle * (number // len(cycle) + 1))[:number])
            return False
        elif word == "again":
            # In chunks and without ranges; the first connection is cut after `number` bytes.
            self.head(200, Transfer_Encoding="chunked")
            end = number if count == 1 else size
            self.client.sendall(f"{size:x}\r\n".encode())
            self.body(0, end)
            if end < size:
                self.reset()
                return False
            self.client.sendall(b"\r\n0\r\n\r\n")
        elif word == "changed":
            if count > 1:
                self.head(200, Content_Length=size, ETag='"two"')
                self.body(0, size)
            else:
                self.plain(size, start, number, ETag='"one"')
                return False
        elif word == "norange":
            end = number if number and count == 1 else size
            self.head(200, Content_Length=size)
            self.body(0, end)
            return end == size
        elif word == "toolong":
            # More is announced than there is.
            if start > 0:
                self.plain(size, start)
            else:
                self.head(200, Content_Length=size + number)
                self.body(0, size)
            return False
        elif word == "chunked":
            self.head(200, Transfer_Encoding="chunked")
            for place in range(0, size, 1000):
                piece = pattern(place, min(1000, size - place))
                self.client.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.client.sendall(b"0\r\n\r\n")
        elif word == "packed":
            packed = gzip.compress(pattern(0, size))
            self.head(200, Content_Length=len(packed), Content_Encoding="gzip")
            self.client.sendall(packed)
        elif word == "nolength":
            self.head(200)
            self.body(0, size)
            return False
        elif word == "circle":
            self.head(302, Location=f"/circle/{1 - size}", Content_Length=0)
        elif word == "chain":
            self.head(302, Location=f"/chain/{size + 1}", Content_Length=0)
        elif word == "away":
            # A redirection that sets a cookie, to where it is asked for.
            self.head(302, Location=f"../inside/{size}", Content_Length=0, Set_Cookie="key=open; Path=/")
        elif word == "inside":
            if headers.get("cookie") != "key=open":
                self.head(403, Content_Length=0)
            else:
                self.plain(size, start)
        elif word == "elsewhere":
            # A redirection to another server: that of port `size` at 127.0.0.`number`.
            scheme = "https" if self.is_secure else "http"
            self.head(302, Location=f"{scheme}://127.0.0.{number}:{size}/headers/0", Content_Length=0)
        elif word == "status":
            self.head(size, Content_Length=0)
        elif word == "stall":
            # The first connection stops after `number` bytes, without ending.
            self.plain(size, start, number if count == 1 else None)
            if count == 1:
                self.file.read()
        elif word == "silent":
            self.file.read()
        elif word == "trickle":
            self.head(200, Content_Length=size)
            self.body(0, size, step=1)
        elif word == "endless":
            self.head(200)
            while True:
                self.client.sendall(pattern(0, PERIOD))
        elif word == "headers":
            lines = "\n".join(f"{name}: {value}" for name, value in sorted(headers.items())).encode()
            self.head(200, Content_Length=len(lines))
            self.client.sendall(lines)
        else:
            self.head(404, Content_Length=0)


def handle(client, context):
    try:
        if context:
            client = context.wrap_socket(client, server_side=True)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Peer(client).serve()
    except (OSError, ValueError):
        pass
    finally:
        client.close()


def main():
    context = None
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    listener = socket.create_server(("", 0))
    say("port", listener.getsockname()[1])

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=handle, args=(client, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
