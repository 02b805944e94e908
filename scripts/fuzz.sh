#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the decoders with libFuzzer and runs them on inputs that it makes up from the tests' fixtures.
# usage: fuzz.sh [SECONDS [TARGET...]]     default: 20 s of each folder of fuzz/; what it learns stays in
# .build/fuzz/TARGET/corpus
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
seconds=${1:-20}
shift $(($# > 0 ? 1 : 0))
targets=("$@")
[[ $# -gt 0 ]] || targets=(route-wire playlists)
out=$root/.build/fuzz

flags=(
    -swift-version 6 -package-name linnet -parse-as-library -wmo -O -g -I "$out" -sanitize=fuzzer
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility
)

# fuzz TARGET FIXTURES MODULE...
fuzz() {
    local target=$1 fixtures=$root/Tests/$2/Fixtures objects=() module
    mkdir -p "$out/$target/corpus" "$out/$target/findings"
    for module in "${@:3}"; do
        swiftc "${flags[@]}" -emit-module -emit-object -module-name "$module" \
            "$root/Sources/$module"/*.swift -o "$out/$module.o"
        objects+=("$out/$module.o")
    done
    swiftc "${flags[@]}" -module-name Fuzz "$root/fuzz/$target/main.swift" "${objects[@]}" -lm -o "$out/$target/run"
    "$out/$target/run" -max_total_time="$seconds" -max_len=8192 -timeout=5 -rss_limit_mb=1024 \
        -artifact_prefix="$out/$target/findings/" -print_final_stats=1 "$out/$target/corpus" "$fixtures"
}

for target in "${targets[@]}"; do
    case $target in
    route-wire) fuzz "$target" RouteWireTests MediaModel Timing RouteWire RendererWire ;;
    playlists) fuzz "$target" PlaylistsTests MediaModel Playlists ;;
    *)
        echo "fuzz: there is no target $target" >&2
        exit 2
        ;;
    esac
done
