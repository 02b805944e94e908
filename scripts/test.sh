#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs all tests: first those of values and of libraries, side by side; then those that start programs or
# listen to a simulated sound card, one after the other, since each would feel the others' load.
# usage: test.sh     SWIFT names the toolchain's program
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
swift=${SWIFT:-swift}
listening='AvahiTests|RendererProcessTests|ApplicationProcessTests|AudioOutputTests|GStreamerRendererTests|IntegrationTests'

# A test that waits for ever is a failure that names itself by being the last to start.
run() {
    timeout --kill-after=10 "$1" "$swift" test --skip-build "${@:2}"
}

"$swift" build --build-tests
run 300 --skip "$listening"
if ! run 900 --no-parallel --filter "$listening"; then
    # What is heard when is measured against the clock; a machine that was busy meanwhile deserves one more hearing.
    echo "test: a test above failed; all of this group once more" >&2
    run 900 --no-parallel --filter "$listening"
fi
