# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced: what is on the card of a Raspberry Pi beside the script that chooses the slot.
#   board_root ROOT       by scripts/image.sh: takes what belongs onto the card out of the root
#   board_card FOLDER     inside of the tools' system: what is on the card

board_root() {
    local card=$1/boot/card
    mkdir -p "$card"
    mv "$1"/usr/lib/raspi-firmware/* "$1/usr/lib/u-boot/rpi_arm64/u-boot.bin" "$card/"
    rm -r "$1/usr/lib/raspi-firmware" "$1/usr/lib/u-boot"
    cp "$1"/usr/lib/linux-image-*/broadcom/bcm{2837,2711,2712}-*.dtb "$card/"
}

board_card() {
    cp /root-tree/boot/card/* /linnet/board/rpi-arm64/config.txt "$1/"
    # Without the file U-Boot searches by itself and finds the same; with it no key and no noise on the line stops the start.
    mkenvimage -s 0x4000 -o "$1/uboot.env" /linnet/board/rpi-arm64/uboot.env.txt
}
