#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Run by scripts/image.sh inside of the tools' system: makes image and update of a root. No device or mount is needed.
# usage: assemble.sh BOARD VERSION     /root-tree is the root, /keys the keys, /out gets the results
#   SOURCE_DATE_EPOCH    the time that everything in the image has, so that the same root makes the same image
set -euo pipefail

board=$1 version=$2
cd /linnet
# shellcheck source=board/generic-x86_64/meta
. "board/$board/meta"
. board/common/layout.sh
# shellcheck source=board/common/grub.sh
. "board/common/$BOOTLOADER.sh"
# shellcheck source=board/rpi-arm64/firmware.sh
[[ ! -e board/$board/firmware.sh ]] || . "board/$board/firmware.sh"

# A file system's numbers, made of its name and what it is for: chance would make each image another.
number_of() { printf '%s' "linnet $board $version $1" | sha256sum | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-4\3-8\4-\5/'; }

make_ext4() { # NAME FILE OPTION...
    mke2fs -q -F -t ext4 -U "$(number_of "$1")" -E "hash_seed=$(number_of "$1, hashes")" "${@:3}" "$2"
}

slot_images() {
    mkdir -p /made/boot /made/bundle
    slot_kernel /root-tree/boot/vmlinuz-* /made/boot/vmlinuz
    cp /root-tree/boot/initrd.img-* /made/boot/initrd
    touch --date="@$SOURCE_DATE_EPOCH" /made/boot/* /made/boot
    truncate -s "${BOOT_MIB}M" /made/bundle/boot.img
    make_ext4 boot /made/bundle/boot.img -O '^has_journal,^metadata_csum,^64bit' -m 0 -N 64 -d /made/boot
    # It would refuse to be told the time twice.
    env --unset=SOURCE_DATE_EPOCH mksquashfs /root-tree /made/bundle/rootfs.img -comp zstd \
        -Xcompression-level "${COMPRESSION:-15}" -b 256K -quiet -mkfs-time "$SOURCE_DATE_EPOCH" -all-time "$SOURCE_DATE_EPOCH" \
        -no-progress -wildcards -e 'boot/*' 'data/*' 'dev/*' 'proc/*' 'sys/*' 'run/*' 'tmp/*' 'var/tmp/*'
    local size
    size=$(stat --format=%s /made/bundle/rootfs.img)
    [[ $size -le $((ROOT_MIB << 20)) ]] || { echo "the root has $((size >> 20)) MiB, its slot $ROOT_MIB" >&2 && exit 1; }
}

bundle() {
    sed -e "s/@COMPATIBLE@/linnet-$board/" -e "s/@VERSION@/$version/" rootfs/update/manifest.raucm >/made/bundle/manifest.raucm
    rauc bundle --cert=/keys/release.pem --key=/keys/release.key /made/bundle "/out/linnet-$board-$version.raucb" >/dev/null 2>&1
}

put() { dd if="$1" of="$image" bs=512 seek="$2" conv=notrunc,sparse status=none; }

disk_image() {
    image=/out/linnet-$board-$version.img
    truncate -s "$((DISK_SIZE * 512))" "$image"
    partition_table | sfdisk --quiet "$image"
    truncate -s "$((FIRMWARE_SIZE * 512))" /made/firmware.img
    firmware_partition "$board" /made/firmware.img
    put /made/firmware.img "$FIRMWARE_AT"
    state_partition /made/state.img
    put /made/state.img "$STATE_AT"
    put /made/bundle/boot.img "$BOOT_A_AT"
    put /made/bundle/rootfs.img "$ROOT_A_AT"
    truncate -s "${DATA_MIB}M" /made/data.img
    make_ext4 data /made/data.img -b 4096 -L data
    put /made/data.img "$DATA_AT"
    # What is twice in it is kept once; the window is what every zstd has without being asked.
    zstd -q -T0 -12 --long=27 --force "$image" -o "$image.zst"
}

# What lies beside the image. The sums are signed with the key that updates are signed with.
papers() {
    local stem=/out/linnet-$board-$version
    board/common/contents.py /root-tree "$board" "$version" >"$stem.spdx.json"
    bmaptool --quiet create -o "$stem.img.bmap" "$stem.img"
    (cd /out && sha256sum "linnet-$board-$version".{img.zst,img.bmap,raucb,spdx.json}) >"$stem.sha256"
    openssl cms -sign -binary -noattr -in "$stem.sha256" -signer /keys/release.pem -inkey /keys/release.key -outform PEM \
        -out "$stem.sha256.sig"
}

rm -f "/out/linnet-$board-$version".*
lay_out
slot_images
bundle
disk_image
papers
cd /out
stat --format='%s %n' "/made/boot/initrd" /made/bundle/rootfs.img "linnet-$board-$version".{img,img.zst,raucb,img.bmap,spdx.json} |
    awk '{ sub(".*/", "", $2); printf "  %6.1f MB  %s\n", $1 / 1e6, $2 }'
