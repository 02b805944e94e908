#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs all tests: first those of values and of libraries, side by side; then those that start programs or
# listen to a simulated sound card, one after the other, since each would feel the others' load. What fails is run once
# more, alone, and said loudly: a machine that was busy meanwhile deserves that, a fault that is there does not get by.
# usage: test.sh     SWIFT names the toolchain's program
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
swift=${SWIFT:-swift}
listening='AvahiTests|RendererProcessTests|ApplicationProcessTests|AudioOutputTests|GStreamerRendererTests|IntegrationTests'
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT

# Toolchains before 6.3 may not write down what happens in a run.
writes_events=
if "$swift" test --help-hidden | grep -- --event-stream-output-path >/dev/null; then
    writes_events=yes
fi

# run LIMIT REPORT ARGUMENT...    A test that waits for ever is a failure that names itself by being the last to start.
run() {
    local -a report=()
    [[ -z $writes_events ]] || report=(--event-stream-output-path "$reports/$2")
    timeout --kill-after=10 "$1" "$swift" test --skip-build "${report[@]}" "${@:3}"
}

# group LIMIT ARGUMENT...
group() {
    local first="$reports/first" pattern
    rm -f "$reports"/*
    if run "$1" first "${@:2}"; then
        return
    fi
    if ! pattern=$(scripts/failed-tests.py filter "$first"); then
        echo "test: THE RUN ABOVE FAILED; all of this group once more" >&2
        run "$1" again "${@:2}"
        return
    fi
    echo "test: THESE TESTS FAILED, and are run once more, alone:" >&2
    scripts/failed-tests.py names "$first" | sed 's/^/test:   /' >&2
    run "$1" second --no-parallel --filter "$pattern"
    scripts/failed-tests.py same "$first" "$reports/second"
    echo "test: they passed the second time" >&2
}

"$swift" build --build-tests
group 600 --skip "$listening"
group 1500 --no-parallel --filter "$listening"
