#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Run by mmdebstrap, whose apt knows the root's packages: puts the files of lists such as picked.list into it.
# usage: pick.sh ROOT LIST...    a list that is not there is empty
set -euo pipefail

root=$1
shift
lists() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@" 2>/dev/null || true; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$root/usr/share/linnet"

fetch() { # PACKAGE    unpacks it once
    [[ ! -d $work/$1 ]] || return 0
    (cd "$work" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq download "$1" 2>/dev/null)
    local deb
    deb=$(echo "$work/$1"_*.deb)
    dpkg-deb --extract "$deb" "$work/$1"
    # shellcheck disable=SC2016 # dpkg-deb expands it
    dpkg-deb --show --showformat='${Package} ${Version} ${Architecture} ${source:Package}\n' "$deb" >>"$root/usr/share/linnet/picked"
    install -D -m 644 -t "$root/usr/share/doc/$1" "$work/$1/usr/share/doc/$1/copyright"
}

while read -r package files; do
    fetch "$package"
    for file in $files; do
        found=$(cd "$work/$package" && find usr/lib -name "$file")
        [[ -n $found ]] || { echo "pick: $package has no $file" >&2 && exit 1; }
        while read -r path; do
            mkdir -p "$root/${path%/*}"
            cp -a "$work/$package/$path" "$root/${path%/*}/"
        done <<<"$found"
    done
done < <(lists "$@")

while read -r file; do
    path=$(find "$root/usr/lib" -name "$file")
    while read -r library; do
        [[ -n $(find "$root/usr/lib" -name "$library" -print -quit) ]] || { echo "pick: $file lacks $library" >&2 && exit 1; }
    done < <(LC_ALL=C readelf --dynamic "$path" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done < <(lists "$@" | grep -o 'libgst[a-z0-9]*\.so' | sort -u)
