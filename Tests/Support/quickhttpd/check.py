#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks what quickhttpd promises. usage: check.py PATH-OF-QUICKHTTPD"""

import http.client
import os
import subprocess
import sys
import tempfile
import time

failures = 0


def expect(holds, promise):
    global failures
    print("ok  " if holds else "FAIL", promise)
    failures += not holds


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        content = os.urandom(300_000)
        with open(os.path.join(directory, "a b.flac"), "wb") as file:
            file.write(content)
        server = subprocess.Popen([program, "0", directory], stdout=subprocess.PIPE, text=True)
        try:
            port = int(server.stdout.readline().split()[-1])
            check(port, content, server)
        finally:
            server.kill()
            server.wait()
    return 1 if failures else 0


def check(port, content, server):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)

    def get(path, headers=None, method="GET"):
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer, answer.read()

    answer, body = get("/a%20b.flac")
    expect(answer.status == 200 and body == content, "a file is served whole")
    expect(answer.getheader("Content-Type") == "audio/flac", "with its type")
    answer, body = get("/a%20b.flac", {"Range": "bytes=100-199"})
    expect(answer.status == 206 and body == content[100:200], "a range is served on the same connection")
    expect(answer.getheader("Content-Range") == f"bytes 100-199/{len(content)}", "and named")
    answer, body = get("/a%20b.flac", {"Range": "bytes=299999-"})
    expect(answer.status == 206 and body == content[-1:], "a range may be open")
    answer, _ = get("/a%20b.flac", {"Range": "bytes=300000-"})
    expect(answer.status == 416, "a range behind the end is refused")
    answer, body = get("/a%20b.flac", method="HEAD")
    expect(answer.getheader("Content-Length") == str(len(content)) and body == b"", "HEAD has no body")
    answer, _ = get("/none.flac")
    expect(answer.status == 404, "a file that is not there is not found")
    answer, _ = get("/../etc/passwd")
    expect(answer.status == 404, "nothing outside the folder is served")
    answer, _ = get("/status/503/a%20b.flac")
    expect(answer.status == 503, "a status can be ordered")
    answer, _ = get("/redirect/norange/a%20b.flac")
    expect(answer.status == 302 and answer.getheader("Location") == "/norange/a%20b.flac", "a redirection too")
    answer, body = get("/norange/a%20b.flac", {"Range": "bytes=100-199"})
    is_whole = answer.status == 200 and body == content
    expect(is_whole and answer.getheader("Accept-Ranges") is None, "ranges can be ignored")
    get("/headers/a%20b.flac", {"X-Token": "secret"})
    lines = []
    while "X-Token" not in "".join(lines) and len(lines) < 20:
        lines.append(server.stdout.readline())
    expect("header: X-Token: secret\n" in lines, "headers are printed")
    start = time.monotonic()
    _, body = get("/slow/1000000/a%20b.flac")
    expect(body == content and 0.2 < time.monotonic() - start < 1, "a body can be slow")
    answer, body = get("/nolength/a%20b.flac")
    expect(answer.getheader("Content-Length") is None and body == content, "a length can be left out")
    try:
        get("/cut/1000/a%20b.flac")
        expect(False, "a body can be cut")
    except http.client.IncompleteRead as error:
        expect(error.partial == content[:1000], "a body can be cut")
    connection.close()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=0.3)
    connection.request("GET", "/stall/1000/a%20b.flac")
    answer = connection.getresponse()
    first = answer.read(1000)
    try:
        answer.read(1)
        expect(False, "a body can stall")
    except TimeoutError:
        expect(first == content[:1000], "a body can stall")
    connection.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
