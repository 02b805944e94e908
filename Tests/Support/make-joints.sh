#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes sound that was cut in two, to hear whether the parts join: left a tone, right noise, 48 kHz, 16 bits.
# usage: make-joints.sh DIR
#
# whole.wav                     2 s
# first.{wav,flac,mp3,m4a}      its first 57 737 frames
# second.{wav,flac,mp3,m4a}     the rest
# first-lavc.mp3 …              the same as the MP3 files, with the name of another encoder in the tag
# blip.wav                      the first 0.2 s of the whole
# other.wav                     1 s of 44.1 kHz
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
raw=(rawaudioparse sample-rate=48000 num-channels=2 pcm-format=s16le)
launch() { timeout --kill-after=2 60 gst-launch-1.0 -q "$@"; }

launch interleave name=both ! 'audio/x-raw,format=S16LE,channels=2' ! filesink location=whole.raw \
    audiotestsrc num-buffers=96 samplesperbuffer=1000 freq=441 volume=0.5 ! \
    'audio/x-raw,format=S16LE,rate=48000,channels=1' ! both. \
    audiotestsrc num-buffers=96 samplesperbuffer=1000 wave=pink-noise volume=0.5 ! \
    'audio/x-raw,format=S16LE,rate=48000,channels=1' ! both.
cut=$(((48000 + 9737) * 4))
head -c $cut whole.raw >first.raw
tail -c +$((cut + 1)) whole.raw >second.raw
head -c 38400 whole.raw >blip.raw
for name in whole first second blip; do
    launch filesrc location=$name.raw ! "${raw[@]}" ! audioconvert ! wavenc ! filesink location=$name.wav
done
for name in first second; do
    launch filesrc location=$name.raw ! "${raw[@]}" ! audioconvert ! flacenc ! filesink location=$name.flac
    launch filesrc location=$name.raw ! "${raw[@]}" ! audioconvert ! lamemp3enc target=bitrate bitrate=192 cbr=true ! \
        filesink location=plain.mp3
    frames=$(($(stat -c %s $name.raw) / 4))
    python3 "$here/lametag.py" plain.mp3 $name.mp3 $frames LAME3.100
    python3 "$here/lametag.py" plain.mp3 $name-lavc.mp3 $frames Lavc59.37
    launch filesrc location=$name.raw ! "${raw[@]}" ! audioconvert ! voaacenc bitrate=192000 ! aacparse ! \
        mp4mux faststart=true ! filesink location=$name.m4a
done
launch audiotestsrc num-buffers=44 samplesperbuffer=1000 freq=441 volume=0.5 ! \
    'audio/x-raw,format=S16LE,rate=44100,channels=2' ! wavenc ! filesink location=other.wav
rm -f ./*.raw plain.mp3
