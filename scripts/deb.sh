#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian packages, for Debian 13, and holds them against lintian. They are left in .build/deb.
# usage: deb.sh [ARCH...]     default: amd64 arm64
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/debian-roots.sh

check_version() {
    local product package
    product=$(sed -n 's/.*static let version = "\(.*\)".*/\1/p' Sources/Settings/Product.swift)
    package=$(sed -n '1s/^linnet (\(.*\)) .*/\1/p' packaging/debian/changelog)
    [[ $product == "$package" ]] || die "the product is version $product, packaging/debian/changelog says $package"
}

package() { # ARCH
    local arch=$1 target stage=.build/deb/stage
    target=$(root_of "target_$arch")
    rm -rf "$stage"
    mkdir -p "$stage/linnet/Docs"
    cp -a scripts packaging "$stage/linnet/"
    cp -a packaging/debian "$stage/linnet/debian"
    cp -a Docs/man Docs/examples "$stage/linnet/Docs/"
    cp -a ".build/cross/$arch/programs" "$stage/linnet/programs"
    note "packaging for $arch"
    in_root "$target" "$PWD/$stage:/stage" -- env --chdir=/stage/linnet PROGRAMS=/stage/linnet/programs \
        dpkg-buildpackage --build=binary --host-arch="$arch" --no-check-builddeps --no-sign >"$stage/log" 2>&1 ||
        { cat "$stage/log" >&2 && die "no package for $arch"; }
    in_root "$target" "$PWD/$stage:/stage" -- bash -c 'lintian --allow-root --fail-on error,warning --info /stage/*.deb'
    mv "$stage"/*.deb .build/deb/
    rm -rf "$stage"
}

main() {
    local arch
    local -a wanted=("$@")
    [[ $# -gt 0 ]] || wanted=(amd64 arm64)
    need_roots
    check_version
    for arch in "${wanted[@]}"; do
        scripts/cross-build.sh "$arch"
        package "$arch"
    done
    (cd .build/deb && stat --format='%s %n' ./*.deb | awk '{ printf "  %5.1f MB  %s\n", $1 / 1e6, $2 }')
}

main "$@"
