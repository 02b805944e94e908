#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Writes DIR/asound.conf with simulated cards: simN is the card itself, plugsimN converts for it.
# usage: asoundrc.sh DIR [COUNT] ['SETTINGS of each card']      defaults: 2 cards, no settings
# Give it to a program with ALSA_CONFIG_PATH=DIR/asound.conf; card N records to DIR/simN.raw and DIR/simN.seg.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ $# -lt 1 ]]; then
    echo "usage: asoundrc.sh DIR [COUNT] [SETTINGS]" >&2
    exit 2
fi
count=${2:-2}
settings=${3:-}
mkdir -p "$1"
dir=$(cd "$1" && pwd)
{
    echo "</usr/share/alsa/alsa.conf>"
    echo "pcm_type.simdac { lib \"$root/.build/support/libasound_module_pcm_simdac.so\" }"
    for ((n = 0; n < count; n++)); do
        echo "pcm.sim$n { type simdac path \"$dir/sim$n\" $settings hint { show on description \"Simulated $n\" } }"
        echo "pcm.plugsim$n { type plug slave.pcm sim$n hint { show on description \"Converting $n\" } }"
    done
} >"$dir/asound.conf"
