#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Says in plain words that the Swift toolchain is missing or too old, before a compiler error does.
# usage: check-toolchain.sh [SWIFT]
set -euo pipefail

swift=${1:-swift}
wanted=6.2

if ! command -v "$swift" >/dev/null; then
    echo "Linnet needs the Swift toolchain $wanted or later, and '$swift' is not on the PATH." >&2
    echo "Install it from https://www.swift.org/install/linux/ or say where it is: make SWIFT=/path/to/swift" >&2
    exit 1
fi
found=$("$swift" --version 2>/dev/null | grep -oE 'Swift version [0-9]+\.[0-9]+' | grep -oE '[0-9.]+$' | head -1)
if [[ $(printf '%s\n' "$wanted" "$found" | sort -V | head -1) != "$wanted" ]]; then
    echo "Linnet needs the Swift toolchain $wanted or later; $(command -v "$swift") is $found." >&2
    exit 1
fi
