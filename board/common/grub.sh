# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced inside of the tools' system: the firmware partition and the first state of boards that start by GRUB.

slot_kernel() { # KERNEL FILE
    cp "$1" "$2"
}

firmware_partition() { # BOARD FILE
    mkdir -p /made/firmware/EFI/BOOT
    grub-mkimage --format=x86_64-efi --output=/made/firmware/EFI/BOOT/BOOTX64.EFI --prefix=/EFI/BOOT \
        part_msdos fat ext2 linux normal configfile loadenv test echo regexp sleep true reboot halt all_video efi_gop gfxterm
    cp "/linnet/board/$1/grub.cfg" /made/firmware/EFI/BOOT/grub.cfg
    mkfs.vfat -F 32 -n LINNET --invariant "$2" >/dev/null
    mcopy -s -i "$2" /made/firmware/* ::/
}

# Two files of a file system that nobody changes afterwards: GRUB finds them by name and replaces a sector of the file, the root's
# `slots` knows where on the partition they lie. GRUB 2.12 cannot write to sectors that are not a file's.
state_partition() { # FILE
    truncate -s 3M "$1"
    mkfs.vfat -F 12 -s 4 -r 16 -f 1 -n STATE --invariant "$1" >/dev/null
    {
        printf '# GRUB Environment Block\nseq=0\norder=A\na_left=3\nb_left=0\nend=.\n'
        printf '%1024s' '' | tr ' ' '#'
    } | head -c 1024 >/made/state
    head -c 1046528 /dev/zero >/made/between
    mcopy -i "$1" /made/state ::/state0
    mcopy -i "$1" /made/between ::/between
    mcopy -i "$1" /made/state ::/state1
    [[ $(LC_ALL=C grep --text --byte-offset --only-matching '# GRUB Environment Block' "$1" | cut -d: -f1 | tr '\n' ' ') == "3584 1052160 " ]]
}
