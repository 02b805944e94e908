#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the media that the tests play, by GStreamer, and keeps them until this script or media.py changes.
# usage: make-media.sh DIR
#
# position.{wav,flac,mp3,aac,m4a,opus,ogg}   60 s; in second n the left channel is a tone of 400 + 20 n Hz, the right
#                                            one is 1 kHz, so that a frequency tells the position, the speed and the pitch
# hls/stream.m3u8, hls/audio.m3u8            the same, 30 s in segments of 3 s: with a master playlist and without
# dash/stream.mpd                            the same, 30 s in segments of 3 s
# video.mp4                                  10 s, H.264 and AAC (position); pictures of all videos are numbered, 25 a second
# video.webm                                 10 s, VP8 and Opus (position)
# vp9.webm                                   10 s, VP9 and Vorbis (position)
# beeps.mkv                                  10 s, H.264 and FLAC, a beep at each second
# silent.mp4                                 4 s, H.264 and no sound
# languages.mkv                              10 s, H.264, audio en (500 Hz) and de (700 Hz), subtitles en and de
# joint/                                     sound cut in two: see make-joints.sh
# unknown.mkv                                4 s, video of a format that nobody knows, and FLAC (position)
# short.{wav,flac}                           1 s, for tests that wait for the end
# broken.flac, text.mp3                      a file cut and damaged inside, and one that is no media
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ $# -ne 1 ]]; then
    echo "usage: make-media.sh DIR" >&2
    exit 2
fi
mkdir -p "$(dirname "$1")"
target=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
stamp=$(cat "$here/make-media.sh" "$here/media.py" "$here/make-joints.sh" "$here/lametag.py" | sha256sum)
if [[ -f $target/stamp && $(<"$target/stamp") == "$stamp" ]]; then
    exit 0
fi
echo "Making the test media in $1"
work=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# Runs a pipeline that begins with a WAV file.
from() {
    local source=$1
    shift
    # Each word of a pipeline is one argument. The registry is GStreamer's own.
    if ! timeout --kill-after=2 60 gst-launch-1.0 -q filesrc location="$source" ! wavparse ! audioconvert ! "$@" \
        >log 2>&1; then
        cat log >&2
        echo "make-media: failed: $source ! $*" >&2
        exit 1
    fi
}

# The tags of a file as a property of taginject, which stands before the element that writes them; gst-launch wants the spaces escaped, quotes or not.
tags() {
    echo "tags=title=\"${1// /\\ }\",artist=\"Linnet\ Tests\""
}

audio_files() {
    from position.wav flacenc ! filesink location=position.flac
    from position.wav lamemp3enc target=bitrate bitrate=192 cbr=true ! taginject "$(tags 'Position MP3')" ! \
        id3v2mux ! filesink location=position.mp3
    from position.wav voaacenc bitrate=128000 ! aacparse ! audio/mpeg,stream-format=adts ! \
        filesink location=position.aac
    from position.wav voaacenc bitrate=128000 ! aacparse ! taginject "$(tags 'Position M4A')" ! \
        mp4mux faststart=true ! filesink location=position.m4a
}

free_audio_files() {
    from position.wav audioresample ! taginject "$(tags 'Position Opus')" ! opusenc bitrate=128000 ! oggmux ! \
        filesink location=position.opus
    from position.wav taginject "$(tags 'Position Vorbis')" ! vorbisenc quality=0.5 ! oggmux ! \
        filesink location=position.ogg
    from short.wav flacenc ! filesink location=short.flac
}

adaptive_streams() {
    mkdir hls dash
    from half.wav voaacenc bitrate=128000 ! aacparse ! mpegtsmux ! filesink location=half.ts
    python3 "$here/media.py" hls half.ts hls 3
    printf '%s\n' '#EXTM3U' '#EXT-X-STREAM-INF:BANDWIDTH=150000,CODECS="mp4a.40.2"' audio.m3u8 >hls/stream.m3u8
    from half.wav voaacenc bitrate=128000 ! aacparse ! mp4mux fragment-duration=3000 streamable=true ! \
        filesink location=fragmented.mp4
    python3 "$here/media.py" dash fragmented.mp4 dash 30
    rm fragmented.mp4 half.ts
}

video_files() {
    python3 "$here/media.py" pictures pictures.gray 250
    local -a shape=(rawvideoparse width=320 height=180 format=gray8 framerate=25/1 ! videoconvert !
        'video/x-raw,format=I420')
    local -a picture=(filesrc location=pictures.gray ! "${shape[@]}")
    local -a h264=(x264enc speed-preset=ultrafast key-int-max=50 ! h264parse)
    from ten.wav voaacenc bitrate=128000 ! aacparse ! mux. mp4mux name=mux faststart=true ! \
        filesink location=video.mp4 \
        "${picture[@]}" ! "${h264[@]}" ! mux.
    from ten.wav audioresample ! opusenc ! mux. webmmux name=mux ! filesink location=video.webm \
        "${picture[@]}" ! vp8enc deadline=1 keyframe-max-dist=50 ! mux.
    from ten.wav vorbisenc ! mux. webmmux name=mux ! filesink location=vp9.webm \
        "${picture[@]}" ! vp9enc deadline=1 cpu-used=8 keyframe-max-dist=50 ! mux.
    from beeps.wav flacenc ! mux. matroskamux name=mux ! filesink location=beeps.mkv \
        "${picture[@]}" ! "${h264[@]}" ! mux.
    head -c 5760000 pictures.gray >few.gray
    from short.wav fakesink filesrc location=few.gray ! "${shape[@]}" ! "${h264[@]}" ! mp4mux faststart=true ! \
        filesink location=silent.mp4
    from four.wav flacenc ! mux. matroskamux name=mux ! filesink location=vp8.mkv \
        filesrc location=few.gray ! "${shape[@]}" ! vp8enc deadline=1 keyframe-max-dist=50 ! mux.
    # Another name of the same length for the format.
    sed 's/V_VP8/V_XYZ/' vp8.mkv >unknown.mkv
    rm few.gray vp8.mkv
    printf '%s\n' 1 '00:00:00,500 --> 00:00:03,000' 'The first line' '' \
        2 '00:00:04,000 --> 00:00:08,000' 'The second line' '' >lines.srt
    printf '%s\n' 1 '00:00:00,500 --> 00:00:08,000' 'Zeile' '' >zeilen.srt
    from english.wav vorbisenc ! taginject tags='language-code=en' ! mux. \
        filesrc location=german.wav ! wavparse ! audioconvert ! vorbisenc ! taginject tags='language-code=de' ! mux. \
        filesrc location=lines.srt ! subparse ! taginject tags='language-code=en' ! mux. \
        filesrc location=zeilen.srt ! subparse ! taginject tags='language-code=de' ! mux. \
        "${picture[@]}" ! "${h264[@]}" ! mux. \
        matroskamux name=mux ! filesink location=languages.mkv
    rm lines.srt zeilen.srt pictures.gray
}

python3 "$here/media.py" position position.wav 60
python3 "$here/media.py" position half.wav 30
python3 "$here/media.py" position ten.wav 10
python3 "$here/media.py" position four.wav 4
python3 "$here/media.py" position short.wav 1
python3 "$here/media.py" beeps beeps.wav 10
python3 "$here/media.py" tone english.wav 10 500 500
python3 "$here/media.py" tone german.wav 10 700 700
audio_files
free_audio_files
adaptive_streams
video_files
head -c 200000 position.flac | { head -c 100000; head -c 3000 >/dev/null; head -c 3000 /dev/zero; cat; } >broken.flac
printf 'This is text under a false name.\n%.0s' {1..200} >text.mp3
"$here/make-joints.sh" joint
rm -f half.wav ten.wav four.wav beeps.wav english.wav german.wav log
echo "$stamp" >stamp
rm -rf "$target"
mv "$work" "$target"
chmod 755 "$target"
