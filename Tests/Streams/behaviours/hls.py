# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""HLS: /hls/OPTIONS/FILE, with options separated by commas.

ts, mp4, aac           the container; ts by default
count=N                segments of the stream, two seconds each; 15 by default
aes                    encrypted with AES-128
gap=N+M                segments that are marked as gaps, and are not there
missing=N+M            segments that are not there though the playlist has them (404)
broken=N               segments that are answered with status 500
discontinuity=N        time stamps begin anew at this segment
ranges                 one file with byte ranges
moved                  the playlist is redirected to another folder
foreign                segments and keys are on another host (127.0.0.2)
live=N                 a window of N segments that advances in real time
over=SECONDS           a live stream ends after so long
empty                  the playlist never names a segment
slow=KBPS              segments of the better rendition are sent at this pace
"""

import time

import packaging
from server import behaviour

PLAYLIST = "application/vnd.apple.mpegurl"
KEY = bytes(range(16))
KINDS = {"ts": ("ts", "video/mp2t"), "mp4": ("m4s", "audio/mp4"), "aac": ("aac", "audio/aac")}


class Options:
    """The options of a path."""

    def __init__(self, text):
        self.text = text
        self.values = dict((word.partition("=")[::2]) for word in text.split(",") if word)

    def has(self, name):
        return name in self.values

    def number(self, name, default=0):
        return float(self.values.get(name) or default)

    def numbers(self, name):
        return {int(word) for word in self.values.get(name, "").split("+") if word}

    @property
    def kind(self):
        return next((kind for kind in KINDS if kind in self.values), "ts")


def vector(number):
    """The initialisation vector of a segment: its sequence number."""
    return number.to_bytes(16, "big")


def segment(server, options, number, rendition="main"):
    media = server.media[rendition]
    index = number % media.count
    frames, first = media.cut(index)
    reset = options.numbers("discontinuity")
    if reset and number >= min(reset):
        # Another encoder took over: it begins at zero.
        first -= min(reset) * media.SEGMENT
    elif options.has("live"):
        first = number * media.SEGMENT
    match options.kind:
        case "mp4": data = packaging.mp4_segment(frames, first)
        case "aac": data = packaging.packed_segment(frames, first)
        case _: data = packaging.TransportStream().segment(frames, first)
    return packaging.encrypt(data, KEY, vector(number)) if options.has("aes") else data


def media_playlist(request, options, rendition="main"):
    duration = request.server.media["main"].duration
    count = int(options.number("count", 15))
    first, ended = 0, True
    if options.has("live"):
        window = int(options.number("live"))
        passed = request.run.elapsed()
        ended = options.has("over") and passed > options.number("over")
        # At the first look the window is full.
        request.run.memory["edge"] = lambda: (request.run.elapsed() + window * duration) % 60
        first = int(min(passed, options.number("over", 1e9)) / duration)
        count = first + window
    foreign = f"http://127.0.0.2:{request.server.port}{request.prefix}/hls/{options.text}/"
    place = foreign if options.has("foreign") else ""
    suffix = KINDS[options.kind][0]
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", f"#EXT-X-MEDIA-SEQUENCE:{first}"]
    if not options.has("live"):
        lines.append("#EXT-X-PLAYLIST-TYPE:VOD")
    if options.kind == "mp4":
        lines.append(f'#EXT-X-MAP:URI="{place}init-{rendition}.mp4"')
    if options.has("aes"):
        lines.append(f'#EXT-X-KEY:METHOD=AES-128,URI="{place}key"')
    offset = 0
    if options.has("empty"):
        count, ended = first, False
    for number in range(first, count):
        if number in options.numbers("discontinuity"):
            lines.append("#EXT-X-DISCONTINUITY")
        if number in options.numbers("gap"):
            lines.append("#EXT-X-GAP")
        lines.append(f"#EXTINF:{duration:.5f},")
        if options.has("ranges"):
            size = len(segment(request.server, options, number, rendition))
            lines += [f"#EXT-X-BYTERANGE:{size}@{offset}", f"{place}all-{rendition}.{suffix}"]
            offset += size
        else:
            lines.append(f"{place}{rendition}-{number}.{suffix}")
    if ended:
        lines.append("#EXT-X-ENDLIST")
    return "\n".join(lines) + "\n"


def master_playlist(options, name):
    lines = ["#EXTM3U", "#EXT-X-VERSION:7"]
    codecs = 'CODECS="mp4a.40.2"'
    match name:
        case "variants.m3u8":
            # The better one is first, and too much for a slow server.
            lines += [
                f"#EXT-X-STREAM-INF:BANDWIDTH=150000,{codecs}", "main.m3u8",
                f"#EXT-X-STREAM-INF:BANDWIDTH=40000,{codecs}", "low.m3u8"]
        case "languages.m3u8":
            lines += [
                '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,'
                'URI="main.m3u8"',
                '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="other.m3u8"',
                f'#EXT-X-STREAM-INF:BANDWIDTH=150000,{codecs},AUDIO="a"', "main.m3u8"]
        case "subtitles.m3u8":
            lines += [
                '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="text.m3u8"',
                f'#EXT-X-STREAM-INF:BANDWIDTH=150000,{codecs},SUBTITLES="s"', "main.m3u8"]
        case _:
            lines += [f"#EXT-X-STREAM-INF:BANDWIDTH=150000,{codecs}", "main.m3u8"]
    return "\n".join(lines) + "\n"


def send_slowly(request, data, kind, rate):
    """Sends at `rate` bytes a second."""
    request.send_response(200)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(data)))
    request.end_headers()
    for place in range(0, len(data), 2048):
        if request.wait_or_cut():
            return
        request.wfile.write(data[place:place + 2048])
        time.sleep(2048 / rate)


def send_text(request, options, name):
    if name == "text.m3u8":
        count = int(options.number("count", 15))
        duration = request.server.media["main"].duration
        lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
        for number in range(count):
            lines += [f"#EXTINF:{duration:.5f},", f"text-{number}.vtt"]
        return request.send("\n".join(lines + ["#EXT-X-ENDLIST", ""]).encode(), PLAYLIST)
    start = int(name[5:-4]) * 2
    text = (
        "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n"
        f"00:00:{start:02}.000 --> 00:00:{start + 1:02}.000\nLine {start}\n")
    return request.send(text.encode(), "text/vtt")


@behaviour("hls")
def hls(request, rest):
    folder, _, name = rest.partition("/")
    options = Options(folder)
    if options.has("moved") and name == "stream.m3u8":
        return request.redirect(f"{request.prefix}/hls/{folder}/elsewhere/main.m3u8")
    name = name.rpartition("/")[2]
    stem = name.rpartition(".")[0]
    kind = KINDS[options.kind][1]
    if name == "stream.m3u8":
        return request.send(media_playlist(request, options).encode(), PLAYLIST)
    if name in ("main.m3u8", "other.m3u8", "low.m3u8"):
        return request.send(media_playlist(request, options, stem).encode(), PLAYLIST)
    if name.startswith("text"):
        return send_text(request, options, name)
    if name.endswith(".m3u8"):
        return request.send(master_playlist(options, name).encode(), PLAYLIST)
    if name == "key":
        return request.send(KEY, "application/octet-stream")
    if name.startswith("init-"):
        return request.send(packaging.mp4_init(), "audio/mp4")
    if stem.startswith("all-"):
        count = int(options.number("count", 15))
        parts = [segment(request.server, options, number, stem[4:]) for number in range(count)]
        return request.send(b"".join(parts), kind)
    rendition, _, place = stem.partition("-")
    if rendition not in request.server.media or not place.isdigit():
        return request.send(b"not here\n", "text/plain", 404)
    number = int(place)
    if number in options.numbers("missing") | options.numbers("gap"):
        return request.send(b"not here\n", "text/plain", 404)
    if number in options.numbers("broken"):
        return request.send(b"broken\n", "text/plain", 500)
    data = segment(request.server, options, number, rendition)
    if options.has("slow") and rendition == "main":
        return send_slowly(request, data, kind, options.number("slow") * 125)
    return request.send(data, kind)
