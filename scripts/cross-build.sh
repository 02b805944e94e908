#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the programs for Debian 13 on amd64 or arm64, with Debian's own Swift compiler, into .build/cross/ARCH/programs.
# usage: cross-build.sh ARCH
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/debian-roots.sh

# The SDK that tells the package manager where the other machine's libraries are.
write_sdk() { # FOLDER TRIPLE
    local bundle=$1/linnet.artifactbundle
    rm -rf "$1"
    mkdir -p "$bundle/$2"
    cat >"$bundle/info.json" <<JSON
{"schemaVersion": "1.0", "artifacts": {"linnet": {"type": "swiftSDK", "version": "1.0.0", "variants":
 [{"path": "$2", "supportedTriples": ["x86_64-unknown-linux-gnu", "x86_64-pc-linux-gnu"]}]}}}
JSON
    cat >"$bundle/$2/swift-sdk.json" <<JSON
{"schemaVersion": "4.0", "targetTriples": {"$2": {"sdkRootPath": "/sysroot",
 "swiftResourcesPath": "/usr/libexec/swift-target/lib/swift",
 "swiftStaticResourcesPath": "/usr/libexec/swift-target/lib/swift_static", "toolsetPaths": ["toolset.json"]}}}
JSON
    echo '{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}' >"$bundle/$2/toolset.json"
}

main() {
    local arch=${1:-} triple swift
    # The triples are those under which Debian's compiler has its modules.
    case $arch in
    amd64) triple=x86_64-pc-linux-gnu swift=/usr/libexec/swift ;;
    arm64) triple=aarch64-unknown-linux-gnu swift=/usr/libexec/swift-arm64 ;;
    *) die "usage: cross-build.sh amd64|arm64" ;;
    esac
    need_roots
    local compiler target build=.build/cross/$arch system=${triple%%-*}-linux-gnu
    compiler=$(root_of compiler)
    target=$(root_of "target_$arch")
    write_sdk "$build/sdk" "$triple"
    note "compiling for $arch"
    in_root "$compiler" "$PWD:/linnet" "$target:/sysroot" "$compiler$swift:/usr/libexec/swift-target" -- env \
        PATH=/usr/libexec/swift/bin:/usr/bin:/bin \
        PKG_CONFIG_PATH="/sysroot/usr/lib/$system/pkgconfig:/sysroot/usr/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR=/sysroot \
        LINNET_TARGET="$triple" LINNET_SYSROOT=/sysroot NM="$system-nm" \
        LINNET_RUNTIME=/usr/libexec/swift-target/lib/swift_static/linux \
        make --no-print-directory -C /linnet release BUILD="$build" PRODUCTS='linnetd linnet-renderer linnet' \
        CC="clang --target=$triple --sysroot=/sysroot" \
        SWIFT_FLAGS="--swift-sdks-path /linnet/$build/sdk --swift-sdk linnet --scratch-path /linnet/$build"
}

main "$@"
