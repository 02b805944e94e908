# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced after debian-roots.sh: the system that images are made and started in.

# What takes images apart and puts them together, and the machine that starts them.
recipe_tools() {
    bootstrap trixie "$1" --variant=apt --include=rauc,squashfs-tools,mtools,dosfstools,e2fsprogs,fdisk,zstd,openssl \
        --include=grub-efi-amd64-bin,grub-common,qemu-system-x86,qemu-utils,ovmf \
        --include=u-boot-tools,u-boot-qemu,qemu-system-arm,qemu-user,bmap-tools,python3-minimal
}

# Has the kernel start programs of arm64 by QEMU, in every folder. That counts for the machine, until it is switched off.
run_programs_of_arm64() {
    local folder=/proc/sys/fs/binfmt_misc
    [[ -e $folder/register ]] || mount -t binfmt_misc binfmt_misc "$folder"
    [[ ! -e $folder/qemu-aarch64 ]] || return 0
    note "letting programs of arm64 run here"
    printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"${tools:?}/usr/bin/qemu-aarch64"':FP' \
        >"$folder/register"
}

# What the start of a device is held against.
recipe_bare() { bootstrap trixie "$1" --variant=important; }
