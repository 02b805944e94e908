#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the sample that `make run` plays: eight seconds of synthesised music with tags and a cover.
# usage: make-sample.sh OUT.flac
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ $# -ne 1 ]]; then
    echo "usage: make-sample.sh OUT.flac" >&2
    exit 2
fi
mkdir -p "$(dirname "$1")"
# Beside the result, so that the last step is a rename: an interrupted run leaves no half file.
work=$(mktemp -d "$(dirname "$1")/sample.XXXXXX")
trap 'rm -rf "$work"' EXIT

python3 "$here/sample.py" music "$work/sample.wav"
timeout --kill-after=2 60 gst-launch-1.0 -q filesrc location="$work/sample.wav" ! wavparse ! audioconvert ! flacenc ! \
    filesink location="$work/sample.flac"
python3 "$here/sample.py" tag "$work/sample.flac"
mv "$work/sample.flac" "$1"
