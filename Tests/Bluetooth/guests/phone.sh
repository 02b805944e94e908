# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2154
#
# A phone: BlueZ, bluez-alsa as a source, a player.
. /share/common.sh

cp bluealsa-phone.conf /etc/dbus-1/system.d/
begin
bluealsa -B phone -p a2dp-source >"$logs/bluealsa" 2>&1 &
mkfifo /tmp/player
python3 player.py </tmp/player >"$logs/player" 2>&1 &
exec 5>/tmp/player
said "$logs/player" registered
wait_for bluez-alsa bluealsa-cli -B phone status
set_property "$root" org.bluez.Adapter1 Powered '<true>'
set_property "$root" org.bluez.Adapter1 Alias '<"Phone">'
python3 tone.py /tmp/tone.wav 440 4

told open
receiver=$(cat receiver.address)
device=$root/dev_${receiver//:/_}
(
    echo "scan bredr"
    sleep 8
) | timeout 9 bluetoothctl >"$logs/scan" 2>&1 &
wait_for "the receiver is found" property "$device" org.bluez.Device1 Address
say "name: $(property "$device" org.bluez.Device1 Alias)"
bluez "$device" -m org.bluez.Device1.Pair
set_property "$device" org.bluez.Device1 Trusted '<true>'
bluez "$device" -m org.bluez.Device1.Connect
has_pcm() { has bluealsa-cli -B phone list-pcms; }
wait_for "a way for sound" has_pcm
# Applications tell the receiver by its service.
shows_service() { property "$device" org.bluez.Device1 UUIDs | grep -q a459c679-419f-40d9-8e83-e8bfd822a08e; }
wait_for "the accessory's service" shows_service && say "ok: the accessory's service"

play() { aplay -q -D "bluealsa:SRV=org.bluealsa.phone,DEV=$receiver,PROFILE=a2dp" /tmp/tone.wav 2>/dev/null; }
volume_is() { property "$(transport)" org.bluez.MediaTransport1 Volume | grep -q "uint16 $1>"; }

told play
echo play >&5
play &
wait_for "volume 40" volume_is 40 && say "ok: volume from the receiver"
tell volume-seen
told volume-set
set_property "$(transport)" org.bluez.MediaTransport1 Volume '<uint16 90>'
said "$logs/player" "called Pause"
wait "$!"
tell played

told again
play &
told leave
bluez "$device" -m org.bluez.Device1.Disconnect
wait "$!"
wait_for "it is gone" bash -c "! bluealsa-cli -B phone list-pcms | grep -q ."
tell left

told come
bluez "$device" -m org.bluez.Device1.Connect
told end
tell phone-ended
finish
