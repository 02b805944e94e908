#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the decoders with libFuzzer and runs them on inputs that it makes up from the tests' fixtures.
# usage: fuzz.sh [SECONDS] [LIBFUZZER-OPTION...]     default: 20 s; what it learns stays in .build/fuzz/corpus
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
seconds=${1:-20}
shift $(($# > 0 ? 1 : 0))
out=$root/.build/fuzz
fixtures=$root/Tests/RouteWireTests/Fixtures
mkdir -p "$out/corpus" "$out/findings"
cd "$out"

flags=(
    -swift-version 6 -package-name linnet -parse-as-library -wmo -O -g -I "$out" -sanitize=fuzzer
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility
)
objects=()
for module in MediaModel Timing RouteWire RendererWire; do
    swiftc "${flags[@]}" -emit-module -emit-object -module-name "$module" \
        "$root/Sources/$module"/*.swift -o "$module.o"
    objects+=("$module.o")
done
swiftc "${flags[@]}" -module-name RouteWireFuzz "$root/fuzz/route-wire/main.swift" "${objects[@]}" -lm -o route-wire

exec ./route-wire -max_total_time="$seconds" -max_len=8192 -timeout=5 -rss_limit_mb=1024 \
    -artifact_prefix="$out/findings/" -print_final_stats=1 "$@" "$out/corpus" "$fixtures"
