# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""DASH: /dash/OPTIONS/stream.mpd, with options separated by commas.

timeline               a SegmentTimeline; else a template with a duration
count=N                segments, two seconds each; 15 by default
periods=N              so many periods, one after the other
languages              two adaptation sets: en, and de, which is second n + 100
missing=N+M            segments that are not there though the manifest has them (404)
live=N                 a window of N segments that advances in real time
since=N                a live stream that began N segments before
times                  segments are named by their times, not by their numbers
apart                  the times in each period begin at zero
encrypted              says so
webm                   says that it is WebM
"""

import datetime

import packaging
from behaviours.hls import Options
from server import behaviour

MANIFEST = "application/dash+xml"
SCALE = packaging.RATE


def adaptation(options, numbers, offset, language, rendition):
    size = packaging.Media.SEGMENT * packaging.FRAME
    first = numbers.start
    name = "at-$Time$" if options.has("times") else "$Number%06d$"
    # What period it is, where times alone do not tell.
    folder = f"from-{first}/" if options.has("apart") else ""
    names = f'initialization="init.mp4" media="{folder}{rendition}-{name}.m4s" startNumber="{first}"'
    begin = 0 if options.has("apart") else first * size
    shift = f'presentationTimeOffset="{offset}"' if offset and begin else ""
    if options.has("timeline"):
        count = len(numbers) - 1
        template = (
            f'<SegmentTemplate timescale="{SCALE}" {names} {shift}><SegmentTimeline>'
            f'<S t="{begin}" d="{size}" r="{count}"/></SegmentTimeline></SegmentTemplate>')
    else:
        template = f'<SegmentTemplate timescale="{SCALE}" duration="{size}" {names} {shift}/>'
    kind = "audio/webm" if options.has("webm") else "audio/mp4"
    protection = '<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011"/>' * options.has("encrypted")
    return (
        f'<AdaptationSet contentType="audio" mimeType="{kind}" lang="{language}" segmentAlignment="true" '
        f'startWithSAP="1">{protection}{template}<Representation id="{rendition}" codecs="mp4a.40.2" bandwidth="128000" '
        f'audioSamplingRate="{packaging.RATE}"/></AdaptationSet>')


def manifest(request, options):
    size = packaging.Media.SEGMENT * packaging.FRAME
    duration = size / SCALE
    count = int(options.number("count", 15))
    head = 'xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT2S"'

    def sets(numbers, offset):
        text = adaptation(options, numbers, offset, "en", "main")
        return text + (adaptation(options, numbers, offset, "de", "other") if options.has("languages") else "")
    if options.has("live"):
        window = int(options.number("live"))
        passed = request.run.elapsed() + options.number("since") * duration
        begin = options.number("since") % request.server.media["main"].count + window
        request.run.memory["edge"] = lambda: (request.run.elapsed() + begin * duration) % 60
        # At the first look the window is full.
        begun = request.run.memory.setdefault(
            "begun", datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(
                seconds=passed + window * duration))
        first = int(passed / duration)
        numbers = range(first, first + window) if options.has("timeline") else range(0, 1)
        return (
            f'<?xml version="1.0"?><MPD {head} type="dynamic" minimumUpdatePeriod="PT2S" '
            f'availabilityStartTime="{begun:%Y-%m-%dT%H:%M:%S.%f}Z" '
            f'publishTime="{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}" '
            f'timeShiftBufferDepth="PT{window * duration:.3f}S" suggestedPresentationDelay="PT4S">'
            f'<Period id="1" start="PT0S">{sets(numbers, 0)}</Period></MPD>')
    parts, each = [], count // int(options.number("periods", 1))
    for period in range(int(options.number("periods", 1))):
        numbers = range(period * each, (period + 1) * each)
        parts.append(
            f'<Period id="{period}" start="PT{period * each * duration:.5f}S" duration="PT{each * duration:.5f}S">'
            f'{sets(numbers, numbers.start * size)}</Period>')
    return (
        f'<?xml version="1.0"?><MPD {head} type="static" '
        f'mediaPresentationDuration="PT{each * len(parts) * duration:.5f}S">{"".join(parts)}</MPD>')


@behaviour("dash")
def dash(request, rest):
    folder, _, name = rest.partition("/")
    options = Options(folder)
    if name == "stream.mpd":
        return request.send(manifest(request, options).encode(), MANIFEST)
    if name == "init.mp4":
        return request.send(packaging.mp4_init(), "audio/mp4")
    shift = 0
    if name.startswith("from-"):
        period, _, name = name[5:].partition("/")
        shift = int(period)
        if name == "init.mp4":
            return request.send(packaging.mp4_init(), "audio/mp4")
    rendition, _, place = name.removesuffix(".m4s").partition("-")
    if place.startswith("at-") and int(place[3:]) % (packaging.Media.SEGMENT * packaging.FRAME) == 0:
        place = str(int(place[3:]) // (packaging.Media.SEGMENT * packaging.FRAME) + shift)
    if rendition not in request.server.media or not place.isdigit() or int(place) in options.numbers("missing"):
        return request.send(b"not here\n", "text/plain", 404)
    number, media = int(place), request.server.media[rendition]
    if options.has("live"):
        edge = request.run.elapsed() / media.duration + options.number("live") + options.number("since")
        if number > edge:
            return request.send(b"not yet\n", "text/plain", 404)
    frames, _ = media.cut(number % media.count)
    return request.send(packaging.mp4_segment(frames, (number - shift) * media.SEGMENT), "audio/mp4")
