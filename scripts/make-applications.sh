#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the sample applications: one folder for each, named like its id, as `linnet app install` takes it.
# usage: make-applications.sh BIN-FOLDER TARGET
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# -ne 2 ]]; then
    echo "usage: make-applications.sh BIN-FOLDER TARGET" >&2
    exit 2
fi
built=$1
target=$2

put() { # SAMPLE: its folder is named by its manifest
    local id
    id=$(sed -n 's/^ *"id": "\([A-Za-z0-9.-]*\)",$/\1/p' "$root/Docs/examples/$1/application.json")
    folder=$target/$id
    rm -rf "$folder"
    install -d -m 755 "$folder"
    cp --recursive --no-preserve=ownership "$root/Docs/examples/$1/." "$folder/"
    chmod -R u=rwX,go=rX "$folder"
}

# A program, with those libraries of the toolchain that it was not linked with for good. It looks for them beside itself.
put_program() { # NAME
    local library
    install -m 755 "$built/$1" "$folder/$1"
    strip --strip-debug "$folder/$1"
    while read -r library; do
        install -m 644 "$library" "$folder/"
    done < <(ldd "$built/$1" | sed -n 's/^.* => \(.*\/swift\/linux\/[^ ]*\) .*$/\1/p')
}

put echo
put captions
put party-queue
put_program party-queue
