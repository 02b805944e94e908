#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what was built. A configuration that is there already is left alone.
# usage: install.sh BIN-FOLDER DESTDIR PREFIX     STRIP names the program that takes symbols away
#   DESTDIR   put before every path, for package builds; empty installs into this system
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# -ne 3 || $3 != /* ]]; then
    echo "usage: install.sh BIN-FOLDER DESTDIR PREFIX (an absolute path)" >&2
    exit 2
fi
built=$1
destdir=$2
prefix=${3%/}

put() { # MODE SOURCE TARGET
    install -D -m "$1" "$2" "$destdir$3"
    echo "  $3"
}

put_programs() {
    local program
    # Where both programs look for it.
    put 644 "$built/liblinnet.so" "$prefix/lib/linnet/liblinnet.so"
    "${STRIP:-strip}" --strip-debug "$destdir$prefix/lib/linnet/liblinnet.so"
    for program in linnet linnetd linnet-renderer; do
        put 755 "$built/$program" "$prefix/bin/$program"
        "${STRIP:-strip}" --strip-debug "$destdir$prefix/bin/$program"
    done
}

put_pages() {
    local page section name
    for page in "$root"/Docs/man/*.[1-8]; do
        name=$(basename "$page")
        section=${name##*.}
        put 644 "$page" "$prefix/share/man/man$section/$name"
    done
}

put_completions() {
    local scripts=$root/packaging/completion
    put 644 "$scripts/linnet.bash" "$prefix/share/bash-completion/completions/linnet"
    put 644 "$scripts/_linnet" "$prefix/share/zsh/site-functions/_linnet"
    put 644 "$scripts/linnet.fish" "$prefix/share/fish/vendor_completions.d/linnet.fish"
}

put_applications() {
    local folder=$root/packaging/applications
    put 644 "$folder/python/linnet_application.py" "$prefix/lib/linnet/python/linnet_application.py"
    put 644 "$folder/web/linnet.js" "$prefix/lib/linnet/web/linnet.js"
    local name
    for name in index.html page.css page.js; do
        put 644 "$root/packaging/page/$name" "$prefix/lib/linnet/page/$name"
    done
    install -d "$destdir$prefix/lib/linnet/applications"
    # To be installed with `linnet app install` by who wants them.
    local file mode
    for file in "$root"/Docs/examples/{echo,captions}/*; do
        [[ -f $file ]] || continue
        mode=644
        [[ ! -x $file ]] || mode=755
        put "$mode" "$file" "$prefix/share/linnet/examples/${file#"$root/Docs/examples/"}"
    done
}

put_service() {
    # Units under /usr/local are read as well as those under /usr.
    local unit
    for unit in linnetd.service linnet-application.socket linnet-application@.service; do
        sed "s|@BINDIR@|$prefix/bin|" "$root/packaging/systemd/$unit" >"$work/$unit"
        put 644 "$work/$unit" "$prefix/lib/systemd/system/$unit"
    done
    put 644 "$root/packaging/systemd/linnetd.sysusers" "$prefix/lib/sysusers.d/linnetd.conf"
    if [[ -z $destdir ]] && command -v systemd-sysusers >/dev/null; then
        systemd-sysusers "$prefix/lib/sysusers.d/linnetd.conf"
    fi
    put 644 "$root/packaging/receiver.conf" "$prefix/share/doc/linnet/receiver.conf"
    if [[ ! -e $destdir/etc/linnet/receiver.conf ]]; then
        put 644 "$root/packaging/receiver.conf" /etc/linnet/receiver.conf
    fi
}

# What an integrator puts in its place where phones are to play: see Docs/bluetooth.md.
put_bluetooth() {
    local folder=$root/packaging/bluetooth
    put 644 "$folder/bluealsa.conf" "$prefix/share/linnet/bluetooth/bluealsa.conf"
    put 644 "$folder/main.conf" "$prefix/share/linnet/bluetooth/main.conf"
    # The bus reads policies under /usr and /etc alone.
    put 644 "$folder/linnet-bluetooth.conf" /usr/share/dbus-1/system.d/linnet-bluetooth.conf
}

# The registry names each plugin with its full path and time, so it can only be made where it will be used.
prepare_plugins() {
    local folder=$prefix/lib/linnet/plugins
    if [[ -n $destdir ]]; then
        install -d "$destdir$folder"
        echo "  $folder is empty: run $prefix/bin/linnet-renderer --prepare $folder on the machine itself"
    else
        "$prefix/bin/linnet-renderer" --prepare "$folder"
        echo "  $folder"
    fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "Installing under ${destdir:-/}:"
put_programs
put_pages
put_completions
put_service
put_bluetooth
put_applications
prepare_plugins
[[ -n $destdir ]] || echo "Start it with: systemctl daemon-reload && systemctl enable --now linnetd"
