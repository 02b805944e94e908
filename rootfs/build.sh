# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by scripts/image.sh: the root file system that every device has. Stages, in their order:
#   recipe_base_ARCH   Debian's packages; kept in the cache
#   install_ours       our packages, then the overlay
#   finish             services, versions, keys; what a device does not need is taken away

image_packages() { sed 's/#.*//' rootfs/packages.list | tr -s ' \n' ',' | sed 's/^,//; s/,$//'; }

base_of() { # BOARD ARCH FOLDER PACKAGES    those of the board beside those that every device has
    local -a options=()
    if [[ -e board/$1/sources.list ]]; then
        # A mirror that is frozen is past the date up to which such suites count.
        options+=(--setup-hook="sed 's,@MIRROR@,$(mirror),' board/$1/sources.list >\"\$1/etc/apt/sources.list.d/board.list\""
            --setup-hook="cp board/$1/preferences \"\$1/etc/apt/preferences.d/board\""
            --aptopt='Acquire::Check-Valid-Until "false"')
    fi
    # What the kernel starts from is made later, of fewer modules.
    INITRD=No bootstrap trixie "$3" --variant=minbase --architectures="$2" --include="$(image_packages),$4" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        "${options[@]}" --customize-hook="$PWD/rootfs/pick.sh \"\$1\" $PWD/rootfs/picked.list $PWD/board/$1/picked.list"
}

install_ours() { # ROOT ARCH BOARD
    cp .build/deb/linnet_*_"$2".deb .build/deb/linnet-receiver_*_"$2".deb "$1/var/tmp/"
    # The service manager of this machine has nothing to do with it.
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
    in_root "$1" -- sh -c 'dpkg --install /var/tmp/*.deb'
    rm "$1/usr/sbin/policy-rc.d" "$1"/var/tmp/*.deb
    cp -a --no-preserve=ownership rootfs/overlay/. "$1/"
    cp -a --no-preserve=ownership "board/common/$BOOTLOADER.overlay/." "$1/"
    [[ ! -d board/$3/overlay ]] || cp -a --no-preserve=ownership "board/$3/overlay/." "$1/"
}

finish() { # ROOT BOARD VERSION KEYRING
    in_root "$1" -- systemctl preset-all --preset-mode=full
    # What the board takes out of the root for its boot loader.
    ! declare -F board_root >/dev/null || board_root "$1"
    mkdir -p "$1/data" "$1/etc/rauc" "$1/usr/local/lib/linnet/applications"
    sed -e "s/@COMPATIBLE@/linnet-$2/" rootfs/update/system.conf >"$1/etc/rauc/system.conf"
    cp "$4" "$1/etc/rauc/keyring.pem"
    chmod 644 "$1/etc/rauc/keyring.pem"
    printf 'IMAGE_ID=linnet-%s\nIMAGE_VERSION=%s\n' "$2" "$3" >>"$1/usr/lib/os-release"
    echo linnet >"$1/etc/hostname"
    : >"$1/etc/machine-id"
    ln -sf ../run/systemd/resolve/stub-resolv.conf "$1/etc/resolv.conf"
    drop_modules "$1" "board/$2/modules.drop"
    [[ -z ${MODULES_KEPT:-} ]] || keep_modules "$1" "board/$MODULES_KEPT"
    # Of one kernel: there is one.
    # shellcheck disable=SC2016 # the inner shell expands it
    in_root "$1" -- env SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" sh -euc 'depmod "$1" && update-initramfs -c -k "$1"' initrd \
        "$(basename "$1"/usr/lib/modules/*)"
    take_away "$1"
}

drop_modules() { # ROOT LIST
    local name
    [[ -e $2 ]] || return 0
    while read -r name; do
        # shellcheck disable=SC2086 # patterns
        rm -rf "$1"/usr/lib/modules/*/kernel/$name "$1"/usr/lib/modules/*/kernel/$name.ko*
    done < <(grep -v '^#' "$2")
}

keep_modules() { # ROOT LIST    those of the list, and what these need
    local kernel
    for kernel in "$1"/usr/lib/modules/*; do
        in_root "$1" -- depmod "${kernel##*/}"
        # Each line of modules.dep has all that a module needs, of whatever depth.
        { grep -E "$(sed -e '/^#/d' -e 's,\*,[^/]*,g' -e 's,.*,^kernel/&(/[^:]*)?[.]ko,' "$2" | tr '\n' '|' | sed 's/|$//')" || true; } \
            <"$kernel/modules.dep" | tr -d : | tr ' ' '\n' | sort -u >"${work:?}/kept"
        (cd "$kernel" && find kernel -name '*.ko*' | sort | comm -23 - "${work:?}/kept" | xargs rm -f)
        find "$kernel/kernel" -type d -empty -delete
    done
}

take_away() { # ROOT
    local folder
    for folder in var/lib/apt var/cache var/lib/dpkg/info usr/share/i18n usr/share/lintian usr/share/bug usr/lib/udev/hwdb.d \
        usr/share/bash-completion usr/share/zsh usr/share/fish usr/share/gtk-doc usr/share/perl5 root/.cache \
        $(sed -e 's/#.*//' rootfs/drop.list); do
        # shellcheck disable=SC2086 # patterns
        rm -rf "${1:?}"/$folder
    done
    find "$1/var/log" -type f -delete
}
