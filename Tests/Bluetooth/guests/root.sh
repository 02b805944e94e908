#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes what the guests boot, unless it is there: FOLDER/root (Debian 13), kernel, initrd, root.ext4. Needs root and Debian's archive.
# usage: root.sh FOLDER
set -euo pipefail

folder=$1
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# What the programs under test are linked with, and what measures them.
packages=dbus,kmod,procps,iproute2,busybox-static,bluez,bluez-test-tools,bluez-alsa-utils,libasound2-plugin-bluez
packages+=,alsa-utils,python3,python3-dbus,python3-gi,libglib2.0-0t64,libglib2.0-bin,linux-image-amd64
modules=(virtio_pci virtio_blk ext4 9pnet_virtio 9p)

# The archive that this machine itself uses; the usual one otherwise.
archive() {
    local uri
    uri=$(sed -nE 's|^URIs: *([^ ]*/debian)/? *$|\1|p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
    echo "${uri:-http://deb.debian.org/debian}"
}

bootstrap() {
    rm -rf "$folder/root"
    mmdebstrap --mode=root --variant=minbase --architectures=amd64 --quiet \
        --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --include="$packages" trixie "$folder/root" "$(archive)"
    install -m 755 "$here/guest-init" "$folder/root/guest-init"
}

# A small one, which knows the disk and nothing else.
make_initrd() {
    local work kernel module file name names=""
    work=$(mktemp -d)
    kernel=$(ls "$folder/root/usr/lib/modules")
    mkdir -p "$work"/{bin,dev,proc,sys,mnt,m}
    cp "$folder/root/usr/bin/busybox" "$work/bin/"
    for module in "${modules[@]}"; do
        while read -r _ file _; do
            name=$(basename "$file" .xz)
            [[ -f $work/m/$name ]] && continue
            xz -dc "$file" >"$work/m/$name"
            names+=" $name"
        done < <(modprobe -d "$folder/root" -S "$kernel" --show-depends "$module" 2>/dev/null | grep '^insmod')
    done
    sed "s|@MODULES@|$names|" "$here/initrd-init" >"$work/init"
    chmod +x "$work/init"
    (cd "$work" && find . | cpio -o -H newc --quiet | gzip -1) >"$folder/initrd"
    rm -rf "$work"
}

main() {
    local stamp
    stamp=$(cat "${BASH_SOURCE[0]}" "$here/guest-init" "$here/initrd-init" | sha256sum)
    if [[ -f $folder/stamp && $(cat "$folder/stamp") == "$stamp" ]]; then
        return
    fi
    echo "Making the root of the Bluetooth guests in $folder"
    mkdir -p "$folder"
    bootstrap
    make_initrd
    cp "$folder"/root/boot/vmlinuz-* "$folder/vmlinuz"
    rm -f "$folder/root.ext4"
    mke2fs -q -t ext4 -d "$folder/root" -E root_owner=0:0 "$folder/root.ext4" 900M
    echo "$stamp" >"$folder/stamp"
}

main
