# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What the cases have in common."""
from machine import PATIENCE, wait


def up(machine, slot="A"):
    """Waits until the start is complete and the slot marked good."""
    machine.shell(machine.patience)
    state = machine.run("systemctl is-system-running --wait", machine.patience, check=False)
    expect(state == "running", f"the system is {state}: " + machine.run(
        "systemctl list-units --failed --no-legend; systemctl list-jobs --no-legend; cat /run/linnet/health-reason", check=False))
    machine.run("systemctl is-active linnet-good.service")
    kept = machine.run("findmnt -n -o FSTYPE --target /var/lib/linnet; findmnt -n -o FSTYPE /data", check=False).split()
    expect(kept == ["ext4", "ext4"], "what the receiver keeps is on the data partition" if kept == ["ext4", "ext4"] else machine.run(
        "findmnt; journalctl -b -o short-monotonic -u data.mount -u linnet-data -u linnet-state -u linnetd -g . | tail -n 40; "
        "journalctl -b -o short-monotonic | grep -i -e 'timed out' -e 'dependency failed'", check=False))
    expect(f"rauc.slot={slot}" in machine.run("cat /proc/cmdline").split(), f"slot {slot} was started")


def addressed(machine):
    """The name of the machine, once it has an address of its own making as well: nobody gives out any."""
    machine.run("until ip -4 -o address show scope link | grep -q 169.254; do sleep 1; done", machine.patience)
    return machine.run("uname -n")


def found(image, lab, name):
    """Waits until senders find a receiver of this name."""
    wait(lambda: name in image.sender(lab, "browse", timeout=60), f"'{name}' among the receivers", PATIENCE)


def exposure(machine):
    """How much the receiver's unit leaves it, from 0 to 10."""
    line = machine.run("systemd-analyze security --no-pager linnetd | tail -n 1").strip()
    print(f"  {line}")
    return float(line.split(": ")[1].split()[0])


def memory_used(machine):
    """In megabytes, what is neither free nor could be read again from the disk."""
    table = {key: int(value) for key, value in (
        line.replace(":", "").split()[:2] for line in machine.run("cat /proc/meminfo").splitlines())}
    return (table["MemTotal"] - table["MemFree"] - table["Buffers"] - table["Cached"] + table["Shmem"]
            - table["SReclaimable"]) / 1000


def expect(condition, what):
    if not condition:
        raise AssertionError(f"NOT: {what}")
    print(f"  ok: {what}", flush=True)


def version(machine):
    return machine.run("sed -n 's/^IMAGE_VERSION=//p' /etc/os-release")
