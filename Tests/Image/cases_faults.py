# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What a device does when something in it breaks."""
import random

from machine import PATIENCE
from steps import addressed, expect, found, up


def data(image, lab):
    """A data partition that is full, damaged or beyond repair keeps no device from playing, and is put in order."""
    disk = image.disk()
    with image.start(lab, disk) as machine:
        up(machine)
        name = addressed(machine)
        image.sender(lab, "volume", "31%", "--on", name)
        machine.run("cat /dev/zero >/data/filling 2>/dev/null; sync", PATIENCE, check=False)
        expect(machine.run("df --output=avail /data | tail -1") == "0", "the data partition is full")
        machine.send("systemctl reboot")
        up(machine)
        expect("31" in image.sender(lab, "status", "--on", addressed(machine)), "it starts all the same, the volume as it was")
        expect("full" in machine.run("journalctl -b -u linnet-health -o cat"), "the log says that it is full")
        machine.run("rm /data/filling")
        machine.off()
    image.overwrite(disk, 3, bytes(64 << 10))
    with image.start(lab, disk) as machine:
        up(machine)
        expect("repairing" in machine.run("journalctl -b -u linnet-data -o cat"), "the log says that it was damaged")
        expect(machine.run("findmnt -n -o OPTIONS /data").startswith("rw,"), "what was damaged can be written again")
        machine.off()
    image.overwrite(disk, 3, random.Random(1).randbytes(96 << 20))
    with image.start(lab, disk) as machine:
        up(machine)
        expect("reason=" in machine.run("cat /data/health/renewed"), "what is beyond repair is made anew, and says why")
        image.sender(lab, "volume", "32%", "--on", addressed(machine))
        expect("32" in image.sender(lab, "status", "--on", addressed(machine)), "and it is a receiver")
        machine.off()


def daemon(image, lab):
    """A receiver that is killed or stands still is back within ten seconds."""
    with image.start(lab, image.disk()) as machine:
        up(machine)
        name = addressed(machine)
        started = "systemctl show -P ActiveEnterTimestampMonotonic linnetd"
        for signal in ("KILL", "STOP"):
            before = machine.run(started)
            at = float(machine.run(f"cut -d' ' -f1 /proc/uptime; systemctl kill --kill-whom=main --signal={signal} linnetd"))
            machine.run(f"until [ $({started}) != {before} ] && systemctl is-active --quiet linnetd; do sleep 0.5; done", 120)
            took = int(machine.run(started)) / 1e6 - at
            expect(took <= 10, f"after SIG{signal} it is back in {took:.1f} s")
        # The network needs to hear of it again.
        found(image, lab, name)
        image.sender(lab, "status", "--on", name)
        expect(machine.run("systemctl is-system-running", check=False) == "running", "nothing counts as failed")
