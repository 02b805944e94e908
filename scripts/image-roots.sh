# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced after debian-roots.sh: the system that images are made and started in.

# What takes images apart and puts them together, and the machine that starts them.
recipe_tools() {
    bootstrap trixie "$1" --variant=apt --include=rauc,squashfs-tools,mtools,dosfstools,e2fsprogs,fdisk,zstd,openssl \
        --include=grub-efi-amd64-bin,grub-common,qemu-system-x86,qemu-utils,ovmf
}

# What the start of a device is held against.
recipe_bare() { bootstrap trixie "$1" --variant=important; }
