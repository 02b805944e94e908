#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the image of a board and the update to it, of the packages in .build/deb, in .build/image.
# usage: image.sh BOARD
#   LINNET_KEYS    folder with ca.pem, release.pem and release.key; default keys of this machine, made at the first use
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
    local base version made keys=${LINNET_KEYS:-${XDG_CONFIG_HOME:-$HOME/.config}/linnet/keys}
    version=${LINNET_IMAGE_VERSION:-$(sed -n '1s/^linnet (\(.*\)) .*/\1/p' packaging/debian/changelog)}
    made=$(date --date "$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -1)" +%s)
    [[ -e $(echo .build/deb/linnet-receiver_*_"$ARCH".deb) ]] || scripts/deb.sh "$ARCH"
    tools=$(root_of tools)
    [[ $ARCH == amd64 ]] || run_programs_of_arm64
    base=$(root_of "base_$ARCH")
    make_keys "$keys"
    work=$(mktemp -d "${TMPDIR:-/var/tmp}/linnet-image.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    quietly "putting the root together" cp -a --reflink=auto "$base" "$work/root"
    quietly "installing our packages" install_ours "$work/root" "$ARCH" "$board"
    quietly "finishing the root" finish "$work/root" "$board" "$version" "$keys/ca.pem"
    note "making image and update"
    mkdir -p .build/image "$work/made"
    in_root "$tools" "$PWD:/linnet" "$work/root:/root-tree" "$keys:/keys" "$PWD/.build/image:/out" "$work/made:/made" -- \
        env COMPRESSION="${COMPRESSION:-15}" SOURCE_DATE_EPOCH="$made" /linnet/board/common/assemble.sh "$board" "$version"
}

main "$@"
