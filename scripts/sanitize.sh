#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the tests with a sanitizer, in a folder of its own, and runs those of values and of libraries: what listens to a
# simulated card would be too slow to be right.
# usage: sanitize.sh address|thread     SWIFT names the toolchain's program
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
swift=${SWIFT:-swift}
case ${1:-} in
    address | thread) kind=$1 ;;
    *) echo "usage: sanitize.sh address|thread" >&2; exit 2 ;;
esac
build=("--sanitize=$kind" --scratch-path ".build/sanitize-$kind")

# What GLib and the Swift runtime keep until the end is no leak.
export ASAN_OPTIONS=detect_leaks=0
"$swift" build --build-tests "${build[@]}"
timeout --kill-after=10 1200 "$swift" test --skip-build "${build[@]}" \
    --skip 'AvahiTests|RendererProcessTests|ApplicationProcessTests|AudioOutputTests|GStreamerRendererTests|IntegrationTests'
