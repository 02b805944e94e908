# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced inside of the tools' system: the firmware partition and the first state of boards that start by U-Boot. Debian's U-Boot is taken
# as it is; what chooses the slot is a script.

# U-Boot reads from cards slowly, and unpacks it by itself.
slot_kernel() { # KERNEL FILE
    gzip -9 -n <"$1" >"$2"
}

firmware_partition() { # BOARD FILE
    mkdir -p /made/firmware
    mkimage -A arm64 -O linux -T script -C none -d /linnet/board/common/boot.cmd /made/firmware/boot.scr >/dev/null
    ! declare -F board_card >/dev/null || board_card /made/firmware
    mkfs.vfat -F 32 -n LINNET --invariant "$2" >/dev/null
    mcopy -s -i "$2" /made/firmware/* ::/
}

# Two copies on the raw partition, 1 MiB apart, so that what a card damages around a torn write is one of them at most.
state_partition() { # FILE
    # The other slot is empty: it counts from the first update on.
    printf 'BOOT_ORDER=A\nBOOT_A_LEFT=3\nBOOT_B_LEFT=0\n' >/made/state.txt
    mkenvimage -r -s 0x4000 -o /made/state.bin /made/state.txt
    truncate -s 3M "$1"
    dd if=/made/state.bin of="$1" conv=notrunc status=none
    dd if=/made/state.bin of="$1" bs=1M seek=1 conv=notrunc status=none
}
