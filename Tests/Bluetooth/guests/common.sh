# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Read by the script of each guest: modules, the bus, BlueZ on a controller that the emulator on the host lends, and words for
# checks. Guests tell each other things by files in the shared folder.
set -u
cd /share || exit 1
failed=0
root=/org/bluez/hci0
logs=/share/logs-$ROLE
mkdir -p "$logs"

say() { echo "$ROLE $(cut -d' ' -f1 /proc/uptime): $*"; }

# How often something is looked for, with a tenth of a second between: longer on a machine that took long until here.
booted=$(cut -d. -f1 /proc/uptime)
rounds=$((booted > 15 ? booted * 40 : 600))

# wait_for WHAT COMMAND...      up to a minute, or four times what booting took
wait_for() {
    local what=$1 i
    shift
    for ((i = 0; i < rounds; i++)); do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.1
    done
    say "FAILED: $what"
    failed=1
    return 1
}

# said FILE LINE-BEGINNING      waits for a line
said() { wait_for "$2" grep -q -- "^$2" "$1" && say "ok: $2"; }
tell() { : >"/share/flag-$1"; }
told() { wait_for "the other guest: $1" test -e "/share/flag-$1"; }

bluez() { timeout 30 gdbus call --system -d org.bluez -o "$@"; }
property() { bluez "$1" -m org.freedesktop.DBus.Properties.Get "$2" "$3" 2>/dev/null; }
set_property() { bluez "$1" -m org.freedesktop.DBus.Properties.Set "$2" "$3" "$4" >/dev/null; }
objects() { bluez / -m org.freedesktop.DBus.ObjectManager.GetManagedObjects; }
transport() { objects | grep -o "$root/dev[^' ]*/fd[0-9]*" | sort -u | head -n 1; }
has() { "$@" | grep -q .; }

start_bluetoothd() {
    /usr/libexec/bluetooth/bluetoothd -n >>"$logs/bluetoothd" 2>&1 &
    # shellcheck disable=SC2034 # for the script that reads this one
    bluetoothd=$!
    wait_for bluetoothd property "$root" org.bluez.Adapter1 Address
}

begin() {
    local module port
    for module in hci_vhci rfcomm uinput algif_hash algif_skcipher; do modprobe "$module" 2>/dev/null; done
    sed -i 's/^#*ControllerMode.*/ControllerMode = bredr/' /etc/bluetooth/main.conf
    mkdir -p /run/dbus /var/lib/bluealsa
    dbus-uuidgen --ensure
    dbus-daemon --system --fork
    port=$(echo /dev/vport*p1)
    python3 vhcibridge.py "$port" >"$logs/bridge" 2>&1 &
    wait_for controller test -e /sys/class/bluetooth/hci0
    start_bluetoothd
}

finish() {
    [[ $failed == 0 ]] && say "all passed"
    exit "$failed"
}
