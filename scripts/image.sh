#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the image of a board and the update to it, of the packages in .build/deb, in .build/image.
# usage: image.sh BOARD
#   LINNET_KEYS    folder with ca.pem, release.pem and release.key; default keys of this machine, made at the first use
#   VERIFY=1       makes it twice, and fails unless both are the same to the bit
#   VERSIONS=FILE  fails unless Debian's packages are those of this list; each image's own is beside it, .versions
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/debian-roots.sh
. rootfs/build.sh
. scripts/image-roots.sh

# A certificate of this machine's own, and one signed by it that signs updates. Devices trust the first.
make_keys() { # FOLDER
    [[ ! -e $1/release.pem ]] || return 0
    note "making keys for updates in $1"
    mkdir -p "$1"
    chmod 700 "$1"
    in_root "$tools" "$1:/keys" -- sh -euc '
        cd /keys
        umask 077
        openssl req -x509 -newkey rsa:3072 -nodes -keyout ca.key -out ca.pem -days 7300 -subj "/CN=Linnet development"
        openssl req -newkey rsa:3072 -nodes -keyout release.key -out release.csr -subj "/CN=Linnet development release"
        printf "%s\n" keyUsage=digitalSignature extendedKeyUsage=critical,codeSigning,emailProtection \
            basicConstraints=CA:FALSE >extensions
        openssl x509 -req -in release.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile extensions \
            -out release.pem
        rm release.csr extensions' 2>/dev/null
}

# Runs what says much, and shows it where it fails.
quietly() { # WHAT COMMAND...
    note "$1"
    # In the background, since errors end nothing where they are asked for.
    (set -e && "${@:2}") >"$work/log" 2>&1 &
    wait $! || { cat "$work/log" >&2 && die "$1: failed"; }
}

# The time that everything in the image has: that of the commit, or of the changelog where there is none.
epoch_of_source() {
    git log -1 --format=%ct 2>/dev/null || date --date="$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -1)" +%s
}

# What of Debian is in a root.
versions_in() { # ROOT
    dpkg-query --admindir="$1/var/lib/dpkg" --show --showformat '${binary:Package} ${Version}\n' | LC_ALL=C sort
}

check_versions() { # BASE LIST
    versions_in "$1" | diff --unified=0 "$2" - >&2 ||
        die "Debian's packages are not those of $2; LINNET_MIRROR can name a day of snapshot.debian.org, LINNET_CACHE an empty folder"
}

# One image in a folder of its own; what it was made of stays in $work/NAME.
build() { # NAME OUTPUT
    local root=$work/$1/root
    mkdir -p "$2" "$work/$1/made"
    quietly "putting the root together" cp -a --reflink=auto "$base" "$root"
    quietly "installing our packages" install_ours "$root" "$ARCH" "$board"
    quietly "finishing the root" finish "$root" "$board" "$version" "$keys/ca.pem"
    note "making image and update"
    in_root "$tools" "$PWD:/linnet" "$root:/root-tree" "$keys:/keys" "$2:/out" "$work/$1/made:/made" -- \
        env COMPRESSION="${COMPRESSION:-15}" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
        /linnet/board/common/assemble.sh "$board" "$version"
}

# The update is not held against the other one: its signature has the time in it.
verify() { # NAME-OF-IMAGE
    note "making it again"
    build again "$work/output"
    if cmp "$PWD/.build/image/$1" "$work/output/$1"; then
        note "both are the same to the bit"
    else
        { diff --recursive --brief --no-dereference "$work/first/root" "$work/again/root" 2>&1 || true; } |
            grep -v 'special file' | head -50 >&2 || true
        cmp "$work/first/made/bundle/boot.img" "$work/again/made/bundle/boot.img" || true
        die "the two are not the same"
    fi
}

main() {
    board=${1:-}
    [[ -n $board && -f board/$board/meta ]] ||
        die "usage: image.sh BOARD, one of: $(find board -name meta -printf '%h ' | sed 's,board/,,g')"
    need_roots
    # shellcheck source=board/generic-x86_64/meta
    . "board/$board/meta"
    # shellcheck source=board/rpi-arm64/firmware.sh
    [[ ! -e board/$board/firmware.sh ]] || . "board/$board/firmware.sh"
    # The recipe's text is its name in the cache, so that what it depends on is written into it.
    eval "recipe_base_$ARCH() { : '$(cat rootfs/packages.list rootfs/picked.list rootfs/pick.sh \
        "board/$board/"{picked.list,sources.list,preferences} 2>/dev/null | sha256sum)'; \
        base_of $board $ARCH \"\$1\" $KERNEL${PACKAGES:+,$PACKAGES}; }"
    version=${LINNET_IMAGE_VERSION:-$(sed -n '1s/^linnet (\(.*\)) .*/\1/p' packaging/debian/changelog)}
    keys=${LINNET_KEYS:-${XDG_CONFIG_HOME:-$HOME/.config}/linnet/keys}
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(epoch_of_source)}
    [[ -e $(echo .build/deb/linnet-receiver_*_"$ARCH".deb) ]] || scripts/deb.sh "$ARCH"
    tools=$(root_of tools)
    [[ $ARCH == amd64 ]] || run_programs_of_arm64
    base=$(root_of "base_$ARCH")
    [[ -z ${VERSIONS:-} ]] || check_versions "$base" "$VERSIONS"
    make_keys "$keys"
    work=$(mktemp -d "${TMPDIR:-/var/tmp}/linnet-image.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    build first "$PWD/.build/image"
    versions_in "$base" >".build/image/linnet-$board-$version.versions"
    [[ -z ${VERIFY:-} ]] || verify "linnet-$board-$version.img"
}

main "$@"
