# shellcheck shell=bash disable=SC2034
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced: where things lie on the disk, in sectors of 512 bytes, for every board. The partition table is MBR: every boot ROM
# reads it, and the last partition grows by one write of one sector. BOOT_MIB and ROOT_MIB are the board's.
#   4  state      which slot starts; two copies, 1 MiB apart
#   1  firmware   FAT: boot loader and linnet.conf; no update writes it
#   2  extended: 5 boot A, 6 root A, 7 boot B, 8 root B
#   3  data       last, grows to the end of the disk

DISK_ID=4c494e4e
DATA_MIB=64

lay_out() {
    local boot=$((BOOT_MIB * 2048)) root=$((ROOT_MIB * 2048))
    STATE_AT=2048
    FIRMWARE_AT=8192
    FIRMWARE_SIZE=131072
    EXTENDED_AT=$((FIRMWARE_AT + FIRMWARE_SIZE))
    # In front of each logical partition is a sector that says where the next one is.
    BOOT_A_AT=$((EXTENDED_AT + 2048))
    ROOT_A_AT=$((BOOT_A_AT + boot + 2048))
    BOOT_B_AT=$((ROOT_A_AT + root + 2048))
    ROOT_B_AT=$((BOOT_B_AT + boot + 2048))
    DATA_AT=$((ROOT_B_AT + root))
    DISK_SIZE=$((DATA_AT + DATA_MIB * 2048))
}

partition_table() {
    local boot=$((BOOT_MIB * 2048)) root=$((ROOT_MIB * 2048))
    cat <<TABLE
label: dos
label-id: 0x$DISK_ID
unit: sectors
1 : start=$FIRMWARE_AT, size=$FIRMWARE_SIZE, type=$FIRMWARE_PARTITION_TYPE, bootable
2 : start=$EXTENDED_AT, size=$((DATA_AT - EXTENDED_AT)), type=5
3 : start=$DATA_AT, size=$((DATA_MIB * 2048)), type=83
4 : start=$STATE_AT, size=6144, type=da
5 : start=$BOOT_A_AT, size=$boot, type=83
6 : start=$ROOT_A_AT, size=$root, type=83
7 : start=$BOOT_B_AT, size=$boot, type=83
8 : start=$ROOT_B_AT, size=$root, type=83
TABLE
}
