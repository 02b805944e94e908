#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Boots two guests with the real daemons, a receiver and a phone, whose controllers an emulator on this machine joins, and has them
# meet. This machine needs no Bluetooth. Needs root, to make the guests' root once.
# usage: run.sh PROBE [FOLDER]      the built bluetooth-probe; where the guests are kept (BLUETOOTH_GUESTS)
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
probe=$1
folder=${2:-${BLUETOOTH_GUESTS:-/var/tmp/linnet-bluetooth-guests}}
# Of all: a guest waits in proportion to the time that it took to boot.
limit=${LIMIT:-1200}
pids=()

# shellcheck disable=SC2317 # called by the trap
cleanup() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}

# What the probe is linked with and a guest has not: the toolchain's libraries.
libraries() { ldd "$probe" | awk '/swift|libdispatch|libBlocksRuntime/ && $3 ~ /^\// { print $3 }'; }

boot() { # ROLE
    timeout --kill-after=5 "$limit" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 768 \
        -display none -monitor none -serial stdio -no-reboot -nic none \
        -kernel "$folder/vmlinuz" -initrd "$folder/initrd" -append "console=ttyS0 panic=-1 quiet role=$1" \
        -drive "if=none,file=$folder/root.ext4,format=raw,snapshot=on,id=disk" -device virtio-blk-pci,drive=disk \
        -virtfs "local,path=$work/share,mount_tag=share,security_model=none" \
        -chardev "socket,id=bt,path=$work/bredr" -device virtio-serial-pci \
        -device virtserialport,chardev=bt,name=bt </dev/null >"$work/$1" 2>&1
}

if [[ $EUID -ne 0 ]]; then
    echo "Bluetooth guests: NOT RUN, making their root needs root" >&2
    exit 0
fi
"$here/guests/root.sh" "$folder"
work=$(mktemp -d)
trap cleanup EXIT
mkdir -p "$work/share/lib"
cp "$here"/guests/* "$work/share/"
cp "$probe" "$work/share/bluetooth-probe"
mapfile -t needed < <(libraries)
[[ ${#needed[@]} -eq 0 ]] || cp "${needed[@]}" "$work/share/lib/"

# A program of its own, which needs no Bluetooth in this kernel; its sockets have fixed names, so it gets a /tmp of its own.
mkdir "$work/emulator"
# shellcheck disable=SC2016 # for the inner shell
unshare --mount bash -c 'mount --bind "$1" "$2/root/tmp" && exec chroot "$2/root" btvirt -s' \
    btvirt "$work/emulator" "$folder" >"$work/btvirt" 2>&1 &
pids+=("$!")
for _ in {1..100}; do
    [[ -S $work/emulator/bt-server-bredr ]] && break
    sleep 0.1
done
ln -s emulator/bt-server-bredr "$work/bredr"

begun=$SECONDS
result=0
boot receiver &
receiver=$!
boot phone &
phone=$!
pids+=("$receiver" "$phone")
wait "$receiver" || result=1
wait "$phone" || result=1
for role in receiver phone; do
    grep -aE "^$role |^guest " "$work/$role" | tr -d '\r'
    grep -aq "^guest $role: result 0" "$work/$role" || result=1
done
if [[ $result != 0 ]]; then
    echo "what the receiver's Bluetooth said:" >&2
    cat "$work/share/logs-receiver/probe" >&2
    [[ -z ${KEEP:-} ]] || cp -r "$work/share" "$KEEP"
fi
echo "Bluetooth guests: $([[ $result == 0 ]] && echo passed || echo FAILED) in $((SECONDS - begun)) s"
exit "$result"
