#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Installs, runs, upgrades, removes and purges the packages of .build/deb in a Debian 13 system in a folder. Those for arm64
# are unpacked beside that machine's libraries, and their programs run in an emulator.
# usage: run.sh [ARCH...]     default: amd64 arm64
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/debian-roots.sh

# What the packages depend on, so that installing them needs no network and shows that this is enough.
recipe_user() {
    bootstrap trixie "$1" --variant=minbase --include=systemd,avahi-daemon,dbus,glib-networking,ca-certificates,curl \
        --include=gstreamer1.0-plugins-base,gstreamer1.0-plugins-good,libsoup-3.0-0,libavahi-glib1,libavahi-client3 \
        --include=libasound2t64,libstdc++6
}

check() { # WHAT COMMAND...
    if "${@:2}" >"$work/log" 2>&1; then
        echo "  ok: $1"
    else
        cat "$work/log" >&2
        die "NOT: $1"
    fi
}

inside() { in_root "$root" "$PWD/Tests/Packages:/checks" -- "$@"; }

absent() { local path && for path in "$@"; do [[ ! -e $root$path && ! -L $root$path ]] || { echo "$path" && return 1; }; done; }

present() { local path && for path in "$@"; do [[ -e $root$path || -L $root$path ]] || { echo "$path" && return 1; }; done; }

# What the system consists of, without what the package manager notes of itself.
list() {
    (cd "$root" && find etc usr var -not -path 'var/lib/dpkg/*' -not -path 'var/log/*' -not -path 'var/cache/*' \
        -not -path 'var/tmp/*' -not -name 'passwd*' -not -name 'group*' -not -name '*shadow*' -not -name .pwd.lock |
        sort)
}

# The same packages with a later version.
make_later() {
    local deb tree=$root/tmp/tree
    for deb in "$root"/tmp/*.deb; do
        dpkg-deb --raw-extract "$deb" "$tree"
        sed -i 's/^Version: .*/&+later/' "$tree/DEBIAN/control"
        dpkg-deb --root-owner-group --build "$tree" "${deb%.deb}.later" >/dev/null
        rm -rf "$tree"
    done
}

test_amd64() {
    local user
    user=$(root_of user)
    root=$work/root
    cp -a --reflink=auto "$user" "$root"
    cp .build/deb/linnet*_amd64.deb "$root/tmp/"
    make_later
    list >"$work/before"

    check "they install, with nothing but what they depend on" inside sh -c 'dpkg --install /tmp/*.deb'
    check "the user is there" inside id linnet
    check "the service is enabled" inside systemctl is-enabled linnetd.service
    check "the user of applications is there" inside id linnet-applications
    check "the units are understood" inside systemd-analyze verify --man=no /usr/lib/systemd/system/linnetd.service \
        /usr/lib/systemd/system/linnet-application.socket /usr/lib/systemd/system/linnet-application@one.service
    check "the plugins were prepared" present /usr/lib/linnet/plugins/registry.bin
    check "the configuration is understood" inside linnetd --check-config
    check "a receiver plays what a sender sends" inside bash /checks/play.sh

    printf '\n[receiver]\nname=Kept\n' >>"$root/etc/linnet/receiver.conf"
    mkdir -p "$root/var/lib/private/linnet"
    echo kept >"$root/var/lib/private/linnet/state.conf"
    ln -s private/linnet "$root/var/lib/linnet"
    check "they are upgraded" inside sh -c 'dpkg --install /tmp/*.later'
    check "the later version is there" inside sh -c 'dpkg-query --show linnet-receiver | grep later'
    check "settings and state are kept" grep -h -e kept -e Kept "$root/etc/linnet/receiver.conf" \
        "$root/var/lib/private/linnet/state.conf"
    check "the kept settings count" inside sh -c 'linnetd --print-config | grep name=Kept'

    check "they are removed" inside dpkg --remove linnet linnet-receiver
    check "the programs are gone" absent /usr/bin/linnetd /usr/bin/linnet /usr/lib/linnet
    check "settings and state stay" present /etc/linnet/receiver.conf /var/lib/private/linnet/state.conf
    check "they come back" inside sh -c 'dpkg --install /tmp/*.deb && linnetd --print-config | grep name=Kept'
    check "they are purged" inside dpkg --purge linnet linnet-receiver
    list >"$work/after"
    check "nothing is left behind" diff "$work/before" "$work/after"
}

test_arm64() {
    root=$(root_of target_arm64)
    local program tree=$work/arm64 deb
    mkdir -p "$tree"
    for deb in .build/deb/linnet*_arm64.deb; do dpkg-deb --extract "$deb" "$tree"; done
    for program in linnet linnetd linnet-renderer; do
        check "$program starts" in_root "$root" "$tree:/tree" -- \
            qemu-aarch64 -E LD_LIBRARY_PATH=/tree/usr/lib/linnet "/tree/usr/bin/$program" --version
    done
    check "linnetd understands its configuration" in_root "$root" "$tree:/tree" -- \
        qemu-aarch64 -E LD_LIBRARY_PATH=/tree/usr/lib/linnet /tree/usr/bin/linnetd --config-dir /tree/etc/linnet --check-config
}

main() {
    local arch
    local -a wanted=("$@")
    [[ $# -gt 0 ]] || wanted=(amd64 arm64)
    need_roots
    work=$(mktemp -d "${TMPDIR:-/var/tmp}/linnet-packages.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    for arch in "${wanted[@]}"; do
        echo "The packages for $arch:"
        "test_$arch"
    done
}

main "$@"
