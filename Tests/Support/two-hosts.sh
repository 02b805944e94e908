#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Two network namespaces joined by a cable, each with a D-Bus system bus and an Avahi daemon of its own, for tests that
# need the real thing. Needs root, iproute2, dbus-daemon and avahi-daemon; nothing of the host's is touched.
#
#   two-hosts.sh hold PREFIX          sets up PREFIX-a and PREFIX-b, prints "ready", takes all down when its standard
#                                     input ends, whatever became of the test
#   two-hosts.sh in PREFIX-a COMMAND  runs a command on one of them
#   two-hosts.sh avahi PREFIX-a stop|kill|start   stops, kills (without a goodbye) or starts one Avahi daemon
#   two-hosts.sh bus PREFIX-a stop|start     stops or starts one bus, and with it the connections of its users
#   two-hosts.sh down PREFIX          takes all down; also after a hold that was killed
set -euo pipefail

state_of() { echo "/tmp/linnet-hosts/$1"; }

start_bus() {
    local state
    state=$(state_of "$1")
    rm -f "$state/run/dbus/pid" "$state/run/dbus/system_bus_socket"
    # shellcheck disable=SC2016 # the inner shell expands these
    ip netns exec "$1" unshare -m --propagation private bash -c '
        mount --bind "$1/run" /run
        exec dbus-daemon --config-file="$1/bus.conf" --nofork --nopidfile
    ' bus "$state" </dev/null >/dev/null 2>&1 &
    echo $! >"$state/bus.pid"
    wait_for "$state/run/dbus/system_bus_socket"
}

start_avahi() {
    local state
    state=$(state_of "$1")
    rm -f "$state/run/avahi-daemon/"*
    # shellcheck disable=SC2016 # the inner shell expands these
    ip netns exec "$1" unshare -m --propagation private bash -c '
        mount --bind "$1/run" /run
        exec avahi-daemon -f "$1/avahi.conf" --no-drop-root --no-rlimits --no-chroot
    ' avahi "$state" </dev/null >"$state/avahi.log" 2>&1 &
    echo $! >"$state/avahi.pid"
    wait_for "$state/run/avahi-daemon/socket"
}

# A socket that a daemon makes when it is ready.
wait_for() {
    local turn
    for turn in $(seq 200); do
        if [[ -S $1 ]]; then return; fi
        sleep 0.02
    done
    echo "two-hosts: $1 did not come ($turn turns)" >&2
    return 1
}

stop_daemon() { # HOST DAEMON [SIGNAL]
    local state pid
    state=$(state_of "$1")
    if [[ ! -f $state/$2.pid ]]; then return; fi
    pid=$(<"$state/$2.pid")
    rm -f "$state/$2.pid"
    kill -s "${3:-TERM}" "$pid" 2>/dev/null || return 0
    while is_running "$pid"; do sleep 0.02; done
}

# A daemon that has ended stays a zombie until its parent, another run of this script, looks.
is_running() { [[ -d /proc/$1 ]] && ! grep -qs '^State:.Z' "/proc/$1/status"; }

up_host() {
    local name=$1 address=$2 state
    state=$(state_of "$name")
    mkdir -p "$state/run/dbus" "$state/run/avahi-daemon"
    cat >"$state/bus.conf" <<CONFIG
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=$state/run/dbus/system_bus_socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true"/>
    <allow receive_type="method_call"/>
    <allow receive_type="signal"/>
    <allow receive_requested_reply="true"/>
  </policy>
</busconfig>
CONFIG
    cat >"$state/avahi.conf" <<CONFIG
[server]
host-name=$name
use-ipv4=yes
use-ipv6=yes
allow-interfaces=cable
enable-dbus=yes
[publish]
publish-workstation=no
publish-hinfo=no
[rlimits]
CONFIG
    ip -n "$name" link set lo up
    ip -n "$name" address add "$address/24" dev cable
    ip -n "$name" link set cable up
    start_bus "$name"
    start_avahi "$name"
}

down() {
    local name state
    for name in "$1-a" "$1-b"; do
        state=$(state_of "$name")
        stop_daemon "$name" avahi
        stop_daemon "$name" bus
        # What a test left running there would keep the namespace.
        ip netns pids "$name" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
        ip netns delete "$name" 2>/dev/null || true
        rm -rf "$state"
    done
}

hold() {
    down "$1"
    # The trap runs outside this function, whose arguments are gone then.
    prefix=$1
    trap 'down "$prefix"' EXIT
    ip netns add "$1-a"
    ip netns add "$1-b"
    ip -n "$1-a" link add cable type veth peer name cable netns "$1-b"
    up_host "$1-a" 10.77.0.1
    up_host "$1-b" 10.77.0.2
    echo ready
    # Ends when the test closes its end, or dies.
    cat >/dev/null
}

case ${1:-} in
hold) hold "$2" ;;
in)
    export DBUS_SYSTEM_BUS_ADDRESS
    DBUS_SYSTEM_BUS_ADDRESS=unix:path=$(state_of "$2")/run/dbus/system_bus_socket
    exec ip netns exec "$2" "${@:3}"
    ;;
avahi | bus)
    case $3 in
    stop) stop_daemon "$2" "$1" ;;
    kill) stop_daemon "$2" "$1" KILL ;;
    start) "start_$1" "$2" ;;
    esac
    ;;
down) down "$2" ;;
*)
    sed -n '5,16p' "$0" >&2
    exit 2
    ;;
esac
