# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced: Debian systems in folders, in which programs are compiled, packages made and images assembled, so that nothing is
# installed on this machine but mmdebstrap. They are kept in the cache, each under a name that changes with its recipe.
#   LINNET_CACHE    where they are kept; default ~/.cache/linnet
#   LINNET_MIRROR   where Debian's packages come from; default what this machine's apt uses

cache=${LINNET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/linnet}

note() { echo "== $*" >&2; }

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

need_roots() { # says what is missing before anything is begun
    [[ $EUID -eq 0 ]] || die "root is needed to make Debian systems in folders"
    [[ $(dpkg --print-architecture) == amd64 ]] || die "the compiler for both machines runs on amd64"
    local program
    for program in mmdebstrap unshare chroot; do
        command -v "$program" >/dev/null || die "$program is missing: scripts/install-packages.sh deb"
    done
}

mirror() {
    local found=${LINNET_MIRROR:-}
    # shellcheck disable=SC2016 # apt expands it
    [[ -n $found ]] || found=$(apt-get indextargets --format '$(REPO_URI)' \
        'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -1)
    [[ -n $found ]] || die "no Debian mirror is known: say LINNET_MIRROR=http://…/debian"
    echo "$found"
}

# bootstrap SUITE FOLDER OPTION...
bootstrap() {
    mmdebstrap --mode=root --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
        "${@:3}" "$1" "$2" "deb $(mirror) $1 main"
}

# in_root ROOT [FOLDER:PLACE...] -- COMMAND...    What is mounted for it is gone when the command ends.
in_root() {
    local root=$1
    local -a places=()
    shift
    while [[ $1 != -- ]]; do
        places+=("$1")
        shift
    done
    # shellcheck disable=SC2016 # the inner shell expands these
    unshare --mount --pid --fork --kill-child --propagation private bash -c '
        set -euo pipefail
        root=$1 count=$2
        shift 2
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        if [[ -e /etc/resolv.conf ]]; then
            [[ -e $root/etc/resolv.conf ]] || { rm -f "$root/etc/resolv.conf" && : >"$root/etc/resolv.conf"; }
            mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
        fi
        for ((; count > 0; count--)); do
            mkdir -p "$root${1#*:}"
            mount --bind "${1%%:*}" "$root${1#*:}"
            shift
        done
        exec chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} "$@"
    ' in_root "$root" "${#places[@]}" "${places[@]}" "${@:2}"
}

# Prints the folder of the root that recipe_NAME makes; made where it is not there yet.
root_of() {
    local name=$1 key folder
    # The helpers of recipes that are defined here belong to it.
    key=$({
        declare -f "recipe_$name" bootstrap target_for || true
        [[ $name != base_* ]] || declare -f base_of
    } | sha256sum | cut -c1-12)
    folder=$cache/roots/$name-$key
    if [[ ! -d $folder ]]; then
        note "making the Debian system '$name' in $folder"
        mkdir -p "$cache/roots"
        rm -rf "$folder.part"
        # In the background, since errors end nothing where they are asked for.
        (set -e && "recipe_$name" "$folder.part" >&2) &
        wait $! || die "the Debian system '$name' could not be made"
        mv "$folder.part" "$folder"
    fi
    echo "$folder"
}

# Debian's own Swift compiler, for both machines. It is in sid only; what it makes runs on Debian 13.
recipe_compiler() {
    # A mirror that is frozen for builds that can be repeated is past its date, and sid's is checked for that.
    bootstrap sid "$1" --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
        --include=swiftlang,swiftlang-dev,libc6-dev,g++,pkgconf,make,python3,binutils-aarch64-linux-gnu
    # What programs for arm64 are linked with is in that machine's package of the same version.
    # shellcheck disable=SC2016 # the inner shell expands these
    in_root "$1" -- bash -c '
        set -euo pipefail
        version=$(dpkg-query --show --showformat "\${Version}" swiftlang)
        dpkg --add-architecture arm64
        cd /var/tmp
        apt-get -qq update
        apt-get -qq download "swiftlang:arm64=$version"
        mkdir -p /usr/libexec/swift-arm64
        dpkg --fsys-tarfile swiftlang_*_arm64.deb |
            tar -x -C /usr/libexec/swift-arm64 --strip-components=4 --exclude="*/lib/swift/host/*" \
                --wildcards "./usr/libexec/swift/lib/swift/*" "./usr/libexec/swift/lib/swift_static/*"
        rm swiftlang_*_arm64.deb
        cp -a /usr/libexec/swift/lib/clang /usr/libexec/swift-arm64/lib/
        apt-get -qq clean'
}

# Debian 13 on amd64 with the libraries that programs for ARCH are linked with, and what makes packages of them. One for each
# ARCH: the files for development of GStreamer are not installed for two.
target_for() { # ARCH FOLDER
    local package include=debhelper,lintian,chrpath,dpkg-dev,binutils-aarch64-linux-gnu,qemu-user
    for package in libc6-dev libstdc++-14-dev libgcc-14-dev libasound2-dev libavahi-client-dev libavahi-glib-dev \
        libglib2.0-dev libsoup-3.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev; do
        include+=,$package:$1
    done
    bootstrap trixie "$2" --variant=apt --architectures=amd64,arm64 --include="$include"
    # Where the compiler looks inside of a system for Swift's own files; scripts/cross-build.sh puts them there.
    ln -s /usr/libexec/swift-target/lib/swift "$2/usr/lib/swift"
    ln -s /usr/libexec/swift-target/lib/swift_static "$2/usr/lib/swift_static"
}

recipe_target_amd64() { target_for amd64 "$1"; }

recipe_target_arm64() { target_for arm64 "$1"; }
