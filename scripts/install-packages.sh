#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages of packages.list that are missing.
# usage: install-packages.sh [--print] [SECTION...]     default sections: build run
#   --print   only list the missing packages, one a line
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
list=$root/packages.list

die() {
    echo "install-packages: $*" >&2
    exit 1
}

# Prints the packages of one section.
packages_of() {
    awk -v wanted="[$1]" '
        { sub(/#.*/, "") }
        /^\[/ { inside = ($1 == wanted); found = found || inside; next }
        inside && NF { print $1 }
        END { exit !found }' "$list" || die "packages.list has no section '$1'"
}

# Prints those of the given packages that are not installed.
missing_of() {
    local installed
    # dpkg-query fails when it does not know a package; what it does know is printed all the same.
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    comm -13 <(awk '$1 == "installed" { print $2 }' <<<"$installed" | sort -u) <(printf '%s\n' "$@" | sort -u)
}

install() {
    local -a as_root=()
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null || die "these packages are missing and need root to install: $*"
        as_root=(sudo)
    fi
    echo "Installing: $*"
    local -a get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    # The lists may be absent or old; an update is needed once, and only when something is missing.
    "${get[@]}" update || echo "install-packages: apt-get update failed, trying with the lists at hand" >&2
    "${get[@]}" install --yes --no-install-recommends "$@" </dev/null ||
        die "apt-get could not install: $*"
}

main() {
    local print=no section
    local -a sections=() wanted=() missing=()
    for section in "$@"; do
        case $section in
            --print) print=yes ;;
            -*) die "usage: install-packages.sh [--print] [SECTION...]" ;;
            *) sections+=("$section") ;;
        esac
    done
    [[ ${#sections[@]} -gt 0 ]] || sections=(build run)
    for section in "${sections[@]}"; do
        local text
        text=$(packages_of "$section")
        mapfile -t -O "${#wanted[@]}" wanted <<<"$text"
    done
    command -v dpkg-query >/dev/null ||
        die "this is not Debian; install what packages.list names under ${sections[*]} by your own means"
    mapfile -t missing < <(missing_of "${wanted[@]}")
    if [[ $print == yes ]]; then
        [[ ${#missing[@]} -eq 0 ]] || printf '%s\n' "${missing[@]}"
    elif [[ ${#missing[@]} -gt 0 ]]; then
        install "${missing[@]}"
    fi
}

main "$@"
