# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Playlists: /playlists/NAME, one answer for each case; the entries are /playlists/tone/N, seconds 2N and 2N+1 as AAC.

A list in LISTS is (declared type, bytes). {root} in it is the address of /playlists/ in this run. What needs more than
bytes is a function below: redirects, streams without end, requests that are counted.
"""

import itertools
import time

from server import behaviour

M3U, PLS, XSPF, ASX, TEXT = "audio/x-mpegurl", "audio/x-scpls", "application/xspf+xml", "video/x-ms-asf", "text/plain"

LISTS = {
    "plain.m3u": (M3U, "tone/0\ntone/3\n"),
    "extended.m3u8": (M3U, "#EXTM3U\n#EXTINF:2,First\ntone/0\n\n# a comment\n#EXTINF:2,Second\ntone/3\n"),
    "absolute": (M3U, "{root}tone/0\n{path}tone/3\n"),
    "crlf.m3u": (M3U, "#EXTM3U\r\n#EXTINF:2,First\r\ntone/0\r\ntone/3\r\n"),
    "cr.m3u": (M3U, "#EXTM3U\rtone/0\rtone/3\r"),
    "bom.m3u": (M3U, b"\xef\xbb\xbftone/0\ntone/3\n"),
    "utf16.m3u": (M3U, "\ufefftone/0\r\ntone/3\r\n".encode("utf-16-le")),
    "nul.m3u": (M3U, b"#EXTM3U\ntone/0\n\0\0\0tone/3\n"),
    "latin1.m3u": (M3U, "#EXTM3U\n#EXTINF:2,Caf\xe9\ntone/0/\xfc\ntone/3\n".encode("latin-1")),
    "spaces.m3u": (M3U, "tone/0/a b ü#1.aac\ntone\\3\\x.aac\n"),
    "list.pls": (PLS, "[playlist]\nFile2=tone/3\nTitle2=Second\nFile1=tone/0\nNumberOfEntries=2\n"),
    "list.xspf": (
        XSPF,
        '<?xml version="1.0"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList><track><location>tone/0'
        "</location><title>A &amp; B</title></track><track><location>gone</location><location>tone/3</location></track>"
        "</trackList></playlist>"),
    "list.asx": (
        ASX,
        '<ASX VERSION=3.0><Entry><REF HREF="{root}gone?a=1&b=2"/><ref href=tone/0 /></entry>'
        "<EntryRef href='plain-last.m3u'></asx>"),
    "plain-last.m3u": (M3U, "tone/3\n"),
    "wrong-type": ("audio/mpeg", "#EXTM3U\n#EXTINF:2,First\ntone/0\ntone/3\n"),
    "text-type": (TEXT, "{root}tone/0\n{root}tone/3\n"),
    "wrong-name.mp3": ("application/octet-stream", "[playlist]\nFile1=tone/0\nFile2=tone/3\n"),
    "nested.m3u": (M3U, "list.pls\n"),
    "nested-middle.m3u": (M3U, "tone/0\nplain-last.m3u\ntone/6\n"),
    "loop.m3u": (M3U, "loop.m3u\n"),
    "loop-two.m3u": (M3U, "loop-other.m3u\ntone/0\n"),
    "loop-other.m3u": (M3U, "loop-two.m3u\n"),
    "dead-first.m3u": (M3U, "gone\ntone/3\n"),
    "dead-all.m3u": (M3U, "gone\ngone/2\ngone/3\n"),
    "dead-many.m3u": (M3U, "".join(f"gone/{number}\n" for number in range(1000))),
    "empty.m3u": (M3U, "#EXTM3U\n"),
    "empty.pls": (PLS, "[playlist]\nNumberOfEntries=0\n"),
    "file.m3u": (M3U, "file:///etc/passwd\n"),
    "file-first.m3u": (M3U, "file:///etc/passwd\ntone/0\n"),
    "bomb.xspf": (
        XSPF,
        '<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise("abcdefghij"))
        + "]><playlist><title>&j;</title><trackList><track><location>tone/0</location></track></trackList></playlist>"),
    "page.m3u": (M3U, "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Welcome</body></html>"),
    "folder/": ("text/html", '<html><head><title>Index of /folder</title></head><body><a href="../">Parent</a>'
                '<a href="0.aac">0.aac</a><a href="cover.jpg">cover.jpg</a><a href="3.aac">3.aac</a></body></html>'),
}


def frames(request, first, count=1):
    """Segments of the coded tone as ADTS, from number `first` on."""
    media = request.server.media["main"]
    return b"".join(b"".join(media.cut(number % media.count)[0]) for number in range(first, first + count))


def endless(request, kind):
    """The tone in real time, for ever, without a length."""
    request.send_response(200)
    request.send_header("Content-Type", kind)
    request.send_header("Connection", "close")
    request.end_headers()
    request.close_connection = True
    for number in itertools.count():
        request.write(frames(request, number))
        time.sleep(max(0, 2 * number - request.run.elapsed()))


@behaviour("playlists")
def playlists(request, rest):
    path = f"{request.prefix}/playlists/"
    root = f"http://{request.headers.get('Host', '')}{path}"
    kind, _, name = rest.partition("/")
    if kind == "tone":
        return request.send(frames(request, int(name.partition("/")[0])), "audio/aac")
    if kind == "folder" and name.endswith(".aac"):
        return request.send(frames(request, int(name.removesuffix(".aac"))), "audio/aac")
    if kind == "moved":
        # Relative entries are relative to where the list came from in the end.
        return request.redirect(f"{path}other/dir/{name}?key=1#x")
    if kind == "other":
        return request.send(b"../../tone/0\n//%s%stone/3\n" % (
            request.headers.get("Host", "").encode(), path.encode()), M3U)
    if kind == "endless.m3u":
        return endless(request, M3U)
    if kind == "deep":
        # A list in a list in a list …
        return request.send(f"{root}deep/{int(name or 0) + 1}\n".encode(), M3U)
    key = "folder/" if rest == "folder" else rest
    if key not in LISTS:
        return request.send(b"not here\n", TEXT, 404)
    declared, text = LISTS[key]
    if isinstance(text, str):
        text = text.replace("{root}", root).replace("{path}", path).encode()
    return request.send(text, declared)
