#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Checks the tools that the tests lean on, before the tests do.
# usage: check-support.sh DIR-OF-BUILT-SUPPORT
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
support=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/Tests/Support/asoundrc.sh" "$work" 1 'formats "S16_LE S32_LE" rates "44100 48000"'
ALSA_CONFIG_PATH=$work/asound.conf "$support/simdac-check" "$work" >"$work/simdac.txt" || {
    cat "$work/simdac.txt" >&2
    echo "check-support: the simulated card does not do what it promises" >&2
    exit 1
}
python3 "$root/Tests/Support/quickhttpd/check.py" "$support/quickhttpd" >"$work/quickhttpd.txt" || {
    cat "$work/quickhttpd.txt" >&2
    echo "check-support: the file server does not do what it promises" >&2
    exit 1
}
echo "check-support: $(grep -c '^ok' "$work/simdac.txt") facts of the simulated card," \
    "$(grep -c '^ok' "$work/quickhttpd.txt") of the file server hold"
