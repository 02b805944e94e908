# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2154
#
# The receiver: BlueZ, bluez-alsa as the receiver's drop-in starts it, and the probe, which is the receiver's Bluetooth alone.
. /share/common.sh

out=$logs/probe
start_bluealsa() {
    bluealsa -p a2dp-sink --keep-alive=0 >>"$logs/bluealsa" 2>&1 &
    bluealsa=$!
}
# From the line on that is reached now.
mark() { from=$(($(wc -l <"$out") + 1)); }
event() { wait_for "$1" heard_event "$1" && say "ok: $1"; }
heard_event() { tail -n "+$from" "$out" | grep -q -- "^$1"; }
adapter_is() { [[ $(property "$root" org.bluez.Adapter1 "$1") == "(<$2>,)" ]]; }
check() { if "$@"; then say "ok: $*"; else say "FAILED: $*" && failed=1; fi; }

begin
start_bluealsa
mkfifo /tmp/commands
LD_LIBRARY_PATH=/share/lib /share/bluetooth-probe Kitchen confirm <>/tmp/commands >"$out" 2>&1 &
exec 5>/tmp/commands
from=1
event ready
address=$(property "$root" org.bluez.Adapter1 Address | grep -o '[0-9A-F:]\{17\}')
wait_for "the name" adapter_is Alias "'Kitchen'"
check adapter_is Discoverable false
wait_for "the adapter is closed" adapter_is Pairable false
echo "$address" >/share/receiver.address

mark
echo "pair 120" >&5
event "pairing open"
wait_for discoverable adapter_is Discoverable true
tell open
event "pairing asked"
phone=$(grep -m 1 '^pairing asked' "$out" | cut -d' ' -f3)
passkey=$(grep -m 1 '^pairing asked' "$out" | cut -d' ' -f4)
wait_for "the phone's number" grep -q '^asked' /share/logs-phone/player
check [ "$(grep -m 1 '^asked' /share/logs-phone/player)" = "asked $passkey" ]
echo "confirm $phone" >&5
event "pairing paired"
event "pairing closed"
wait_for "closed again" adapter_is Pairable false
wait_for "hidden again" adapter_is Discoverable false
event "connected"

mark
tell play
event "player $phone playing Title 1"
event "streaming $phone 48000 2"
echo "open $phone" >&5
event "opened $phone"
echo "volume $phone 40" >&5
told volume-seen
mark
tell volume-set
event "volume $phone 90"
echo "pause $phone" >&5
event "player $phone paused Title 1"
told played
event "silent $phone"
echo "close $phone" >&5
event "heard $phone"
say "$(grep '^heard' "$out")"
# Opened while the tone was playing already, so its beginning is missing; both channels are what was sent.
check grep -qE "^heard $phone frames [0-9]+ peak 1[56][0-9]{3} hertz 4(39|40|41) peak [78][0-9]{3} hertz 8(79|80|81)" "$out"

say "the phone leaves in the middle of a stream"
mark
tell again
event "streaming $phone"
echo "open $phone" >&5
event "opened $phone"
tell leave
event "heard $phone"
event "disconnected $phone"
told left

say "the phone comes back, BlueZ ends in good order, then is killed"
mark
tell come
event "connected $phone"
for signal in TERM KILL; do
    mark
    kill -"$signal" "$bluetoothd"
    wait "$bluetoothd" 2>/dev/null
    event "disconnected $phone"
    event "absent: BlueZ"
    start_bluetoothd
    event ready
    wait_for "the adapter is closed" adapter_is Pairable false
    event "connected $phone"
done

say "bluez-alsa is killed"
mark
kill -KILL "$bluealsa"
wait "$bluealsa" 2>/dev/null
event "disconnected $phone"
event "absent: bluez-alsa"
start_bluealsa
event ready
event "connected $phone"

say "the adapter is switched off and on"
mark
set_property "$root" org.bluez.Adapter1 Powered '<false>'
event "disconnected $phone"
event "off:"
set_property "$root" org.bluez.Adapter1 Powered '<true>'
event ready
event "connected $phone"

mark
echo "forget $phone" >&5
event "disconnected $phone"
event "known \[\]"
tell end
told phone-ended
finish
