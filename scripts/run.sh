#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Starts a receiver named after this host, plays the sample to it as any sender would, and leaves the receiver up until
# Ctrl-C. Nothing outlives it but the log.
# usage: run.sh BIN-FOLDER SAMPLE
#   LINNET_RUN_ONCE=1    end when the sample has been played
#   LINNET_NAME=NAME     another name than the host's
#   LINNET_DEVICE=NAME   another ALSA device than the default
#   LINNET_PORT=PORT     another port than 7380, or than a free one where 7380 is taken
set -euo pipefail

if [[ $# -ne 2 ]]; then
    echo "usage: run.sh BIN-FOLDER SAMPLE" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
sample=$2
log=$bin/linnetd.log
work=$(mktemp -d)
daemon=
echoer=

finish() {
    local status=$?
    trap - EXIT INT TERM
    if [[ -n $daemon ]]; then
        kill -TERM "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    [[ -z $echoer ]] || kill "$echoer" 2>/dev/null || true
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT
trap 'echo; echo "Stopping the receiver."; exit 0' INT TERM

fail() {
    echo "run: $*; the end of $log:" >&2
    tail -n 20 "$log" >&2
    exit 1
}

# 7380 unless somebody listens there already; 0 takes a free one.
choose_port() {
    if [[ -n ${LINNET_PORT:-} ]]; then
        echo "$LINNET_PORT"
    elif (exec 3<>/dev/tcp/127.0.0.1/7380) 2>/dev/null; then
        echo 0
    else
        echo 7380
    fi
}

# A folder with the few plugins that are needed and their registry: the renderer starts in a fraction of the time.
prepare_plugins() {
    if "$bin/linnet-renderer" --prepare "$work/plugins" >>"$log" 2>&1; then
        options+=(--plugin-folder "$work/plugins")
    else
        echo "run: no plugin folder could be made, all plugins of the system are used (see $log)" >&2
    fi
}

start_receiver() {
    local line ready
    mkdir -p "$work/config" "$work/state"
    coproc RECEIVER { exec "$bin/linnetd" "${options[@]}" 2>>"$log"; }
    daemon=$RECEIVER_PID
    exec {ready}<&"${RECEIVER[0]}"
    IFS= read -r -t 30 -u "$ready" line || fail "linnetd did not become ready"
    [[ $line =~ ^linnetd:\ ready\ on\ port\ ([0-9]+)\ as\ (.*)$ ]] || fail "linnetd said: $line"
    port=${BASH_REMATCH[1]}
    name=${BASH_REMATCH[2]}
    cat <&"$ready" >>"$log" &
    echoer=$!
}

# Says how to reach the receiver: by its name where DNS-SD finds it, else by address.
find_receiver() {
    if "$bin/linnet" browse --timeout 2 --json 2>>"$log" | grep -F "\"$name\"" >/dev/null; then
        echo "Found by DNS-SD as '$name'."
        target=$name
    else
        echo "DNS-SD does not find it here (is avahi-daemon running?), so it is reached by its address."
        target=127.0.0.1:$port
    fi
}

name=${LINNET_NAME:-$(hostname)}
: >"$log"
options=(--config-dir "$work/config" --state-dir "$work/state" --port "$(choose_port)" --name "$name")
[[ -z ${LINNET_DEVICE:-} ]] || options+=(--device "$LINNET_DEVICE")
prepare_plugins
start_receiver
echo "The receiver '$name' is up on port $port; it logs to $log."
find_receiver
echo "Playing $(basename "$sample"):"
"$bin/linnet" play "$sample" --on "$target" || fail "the sample was not played"
[[ -z ${LINNET_RUN_ONCE:-} ]] || exit 0

cat <<END

The receiver stays up until Ctrl-C. Send to it from here, or from another machine with its address:
  $bin/linnet play song.flac --on '$target'
  $bin/linnet play https://example.org/radio.mp3 --on '$target'
  $bin/linnet volume 40% --on '$target'
  $bin/linnet status --watch --on '$target'
or open http://localhost:$port/ in a browser.
END
wait "$daemon" || fail "linnetd ended by itself"
