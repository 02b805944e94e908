# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Companion applications on a device."""
import base64
import json

from machine import PATIENCE, wait
from steps import addressed, expect, exposure, found, up

FOLDER = "/usr/local/lib/linnet/applications"
HELLO = '{"jsonrpc":"2.0","id":1,"method":"application.hello","params":{"version":1}}'


def install(machine, name, body, **members):
    """An application whose program is a script of the shell. It says hello first."""
    manifest = {"id": name, "name": name, "version": "1", "protocol": [1], "executable": "main", **members}
    length = len(HELLO) + 1
    hello = f"printf '\\{length >> 24:03o}\\{length >> 16 & 255:03o}\\{length >> 8 & 255:03o}\\{length & 255:03o}\\001%s' '{HELLO}' >&3"
    machine.run(f"mkdir {FOLDER}/.new")
    for file, text in (("application.json", json.dumps(manifest)), ("main", f"#!/bin/sh\n{hello}\n{body}\n")):
        machine.run(f"echo {base64.b64encode(text.encode()).decode()} | base64 -d >{FOLDER}/.new/{file}")
    machine.run(f"chmod 755 {FOLDER}/.new/main && mv {FOLDER}/.new {FOLDER}/{name}")


def launch(image, lab, name, receiver):
    """Launches an application that fails, and gives what the sender was told."""
    try:
        said = image.sender(lab, "launch", name, "--on", receiver)
    except AssertionError as failure:
        return str(failure)
    raise AssertionError(f"{name} did not fail, and said {said}")


def applications(image, lab):
    """Programs of others are another user's, in a control group of their own, and keep files; updates leave them in place."""
    disk = image.disk()
    with image.start(lab, disk) as machine:
        up(machine)
        name = addressed(machine)
        found(image, lab, name)
        install(machine, "org.example.facts", "echo user $(id -u); ls /var/lib/linnet 2>&1; cat /storage/kept 2>&1\n"
                "echo before >/storage/kept; exit 3", permissions=["storage"])
        install(machine, "org.example.hog", "head -c 64M /dev/zero | tail -n 1 | wc -c; sleep 100",
                limits={"memory": 16 << 20})
        install(machine, "org.example.stay", "exec sleep 1000", limits={"memory": 32 << 20, "processes": 8})
        wait(lambda: "count=3" in machine.run("journalctl -b --no-pager -u linnetd | grep 'applications found' || true"),
             "all three among the receiver's", PATIENCE)
        told = launch(image, lab, "org.example.facts", name)
        print(f"  {told.strip()}")
        user = machine.run("id -u linnet-applications").strip()
        expect(f"user {user}" in told, "it is the user of applications")
        expect("cannot access '/var/lib/linnet'" in told, "it does not see what is the receiver's")
        expect("before" in launch(image, lab, "org.example.facts", name), "its files are there at the next launch")
        expect("more than 16 MiB of memory" in launch(image, lab, "org.example.hog", name),
               "one that takes too much memory is ended, and the sender is told why")
        lab.service(*image.sending(lab, "launch", "org.example.stay", "--on", name))
        group = "/sys/fs/cgroup/system.slice/system-linnet*application.slice/linnet-application@*/application-1"
        wait(lambda: "sleep" in machine.run(f"for p in $(cat {group}/cgroup.procs); do cat /proc/$p/comm; done", check=False),
             "its control group", PATIENCE)
        expect(machine.run(f"cat {group}/memory.max").strip() == str(32 << 20), "the kernel counts its memory")
        expect(machine.run(f"cat {group}/pids.max").strip() == "10", "and its processes")
        expect(exposure(machine) <= 2.0, "the daemon has few rights")
        machine.run("systemctl kill --signal=KILL linnetd.service")
        wait(lambda: not machine.run("find /proc -maxdepth 1 -user linnet-applications", check=False).strip(),
             "the end of what it started", PATIENCE)
        print("  ok: with the daemon its applications end")
        machine.off()
    with image.start(lab, disk) as machine:
        up(machine)
        name = addressed(machine)
        found(image, lab, name)
        expect("before" in launch(image, lab, "org.example.facts", name), "applications and their files stay")
