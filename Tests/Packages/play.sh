#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Run by run.sh inside of the system that the packages were installed in: starts the receiver as its user, plays to it.
set -euo pipefail

state=$(mktemp -d)
chown linnet: "$state"
mkfifo "$state/lines"
setpriv --reuid=linnet --regid=linnet --init-groups -- linnetd --state-dir "$state" --device null --advertise no \
    --port 0 --clock-port 0 >"$state/lines" 2>"$state/log" &
daemon=$!
trap 'kill $daemon; cat "$state/log" >&2; rm -rf "$state"' EXIT
read -r -t 60 line <"$state/lines"
[[ $line =~ ready\ on\ port\ ([0-9]+) ]]
# Of the formats that are played without any package that is only recommended.
for format in flac wav; do
    timeout 60 linnet play "/usr/lib/linnet/plugins/warm/warm.$format" --on "127.0.0.1:${BASH_REMATCH[1]}"
done
