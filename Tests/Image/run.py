#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts the image of a board in QEMU and holds it against what an appliance promises.

usage: run.py BOARD [CASE...]     without cases all of them, in their order

Each case begins with a fresh copy of the image. What is needed is in .build/image and .build/deb.
"""
import array
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import wave

from machine import PROJECT, Lab, Machine, wait

# Emulated, beside other work: what takes longer than this does not come.
PATIENCE = 420


class Image:
    """The image under test, with what the cases have in common."""

    def __init__(self, board, folder):
        self.folder, self.board = folder, board
        found = sorted((PROJECT / ".build/image").glob(f"linnet-{board}-*.img"))
        if not found:
            sys.exit(f"run: there is no image of {board}: make image BOARD={board}")
        self.path = found[-1]
        self.tools, self.libraries = self.root("tools"), self.root("target_amd64")
        deb = next((PROJECT / ".build/deb").glob("linnet_*_amd64.deb"))
        subprocess.run(["dpkg-deb", "--extract", deb, folder / "sender"], check=True)

    @staticmethod
    def root(name):
        script = f'set -euo pipefail; cd {PROJECT}; . scripts/debian-roots.sh; . scripts/image-roots.sh; root_of {name}'
        return subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.strip()

    def disk(self, name="disk.img", size_mib=1536):
        """A fresh copy, on a disk that is larger than the image."""
        path = self.folder / name
        subprocess.run(["cp", "--sparse=always", self.path, path], check=True)
        with open(path, "r+b") as file:
            file.truncate(max(size_mib << 20, path.stat().st_size))
        arguments = 'set arguments="console=ttyS0 systemd.debug_shell=ttyS1 systemd.default_debug_tty=ttyS1"\n'
        (self.folder / "arguments.cfg").write_text(arguments)
        # The shell is asked for where somebody with the disk in hand could ask for it.
        self.tool("mcopy", "-o", "-i", f"{path}@@4M", self.folder / "arguments.cfg", "::/arguments.cfg")
        return path

    def tool(self, *command):
        inside = (f'. {PROJECT}/scripts/debian-roots.sh; in_root {self.tools} {self.folder}:{self.folder} {keys()}:/keys '
                  '-- "$@"')
        done = subprocess.run(
            ["bash", "-euc", inside, "tool", *map(str, command)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def part(self, number, path):
        """What the image has on one of its partitions."""
        # The tools see this folder alone.
        copy = self.folder / "whole.img"
        if not copy.exists():
            subprocess.run(["cp", "--sparse=always", self.path, copy], check=True)
        table = json.loads(self.tool("sfdisk", "--json", copy))["partitiontable"]["partitions"]
        place = next(entry for entry in table if entry["node"].endswith(f".img{number}"))
        subprocess.run(
            ["dd", f"if={self.path}", f"of={path}", "bs=512", f"skip={place['start']}", f"count={place['size']}",
             "conv=sparse", "status=none"], check=True)

    def bundle(self, name, root, version, compatible=None, key="/keys/release"):
        """An update that is signed and has what is given as its root."""
        folder = self.folder / f"{name}.bundle"
        folder.mkdir()
        (folder / "manifest.raucm").write_text(
            f"[update]\ncompatible={compatible or 'linnet-' + self.board}\nversion={version}\n[bundle]\nformat=verity\n"
            "[image.rootfs]\nfilename=rootfs.img\n[image.boot]\nfilename=boot.img\n")
        self.part(5, folder / "boot.img")
        shutil.copy(root, folder / "rootfs.img")
        (self.folder / "updates").mkdir(exist_ok=True)
        self.tool("rauc", "bundle", f"--cert={key}.pem", f"--key={key}.key", folder, self.folder / "updates" / f"{name}.raucb")
        shutil.rmtree(folder)

    def sender(self, lab, *command, timeout=PATIENCE):
        """Runs `linnet` on the senders' host."""
        inside = (f'. {PROJECT}/scripts/debian-roots.sh; in_root {self.libraries} {self.folder}:{self.folder} -- env '
                  f'DBUS_SYSTEM_BUS_ADDRESS=unix:path={lab.bus} {self.folder}/sender/usr/bin/linnet "$@"')
        return lab.run("bash", "-euc", inside, "sender", *command, timeout=timeout)

    def start(self, lab, disk, *options):
        return Machine(lab, self.tools, self.folder, disk, options)


def keys():
    """The folder of the keys that updates are signed with; see scripts/image.sh."""
    home = pathlib.Path(os.environ.get("XDG_CONFIG_HOME", pathlib.Path.home() / ".config"))
    return os.environ.get("LINNET_KEYS", home / "linnet/keys")


def make_tone(path, frequency, seconds):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes(array.array("h", (
            int(16000 * math.sin(2 * math.pi * frequency * index / 48000)) for index in range(48000 * seconds))).tobytes())


def heard(path, frequency):
    """For how many seconds a tone is the loudest in a recording, by its share of each tenth of a second."""
    with wave.open(str(path), "rb") as file:
        rate, channels = file.getframerate(), file.getnchannels()
        frames = array.array("h", file.readframes(file.getnframes()))[::channels]
    size, count = rate // 10, 0
    for start in range(0, len(frames) - size, size):
        piece = frames[start:start + size]
        power = sum(value * value for value in piece) / size
        step = 2 * math.pi * frequency / rate
        real = sum(value * math.cos(step * index) for index, value in enumerate(piece))
        imaginary = sum(value * math.sin(step * index) for index, value in enumerate(piece))
        tone = 2 * (real * real + imaginary * imaginary) / (size * size)
        count += power > 10000 and tone > 0.8 * power
    return count / 10


def up(machine, slot="A"):
    """Waits until the start is complete and the slot marked good."""
    machine.shell(PATIENCE)
    state = machine.run("systemctl is-system-running --wait", PATIENCE, check=False)
    expect(state == "running", f"the system is {state}: " + machine.run(
        "systemctl list-units --failed --no-legend; systemctl list-jobs --no-legend; cat /run/linnet/health-reason", check=False))
    machine.run("systemctl is-active linnet-good.service")
    expect(f"rauc.slot={slot}" in machine.run("cat /proc/cmdline").split(), f"slot {slot} was started")


def addressed(machine):
    """The name of the machine, once it has an address of its own making as well: nobody gives out any."""
    machine.run("until ip -4 -o address show scope link | grep -q 169.254; do sleep 1; done", PATIENCE)
    return machine.run("uname -n")


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


def start(image, lab):
    """The first start: complete, read-only, closed, found, heard; the second remembers."""
    disk = image.disk()
    begun = time.monotonic()
    with image.start(lab, disk) as machine:
        up(machine)
        print(f"  complete after {time.monotonic() - begun:.0f} s", flush=True)
        expect("squashfs" in machine.run("findmnt -n -o FSTYPE,OPTIONS /"), "the root is a squashfs")
        expect("Read-only" in machine.run("touch /usr/x 2>&1; touch /etc/x 2>&1", check=False), "the root cannot be written")
        expect("ordering cycle" not in machine.run("journalctl -b --no-pager | grep -i 'ordering cycle'", check=False),
               "no ordering cycle")
        expect(int(machine.run("df --output=size -m /data | tail -1")) > 300, "the data partition has grown")
        ports = machine.run("ss -H -l -n -t -u | awk '{ print $1, $5 }' | sed 's/.*://' | sort -u").split()
        print(f"  listening: {' '.join(ports)}")
        expect(set(machine.run("ss -H -l -n -t | awk '{ print $4 }' | grep -v -e 127.0.0 -e '\\[::1\\]' | sed 's/.*://' | sort -u")
                   .split()) == {"7380"}, "7380 is the only open TCP port")
        expect(machine.run("grep -c -v '^[^:]*:[*!]' /etc/shadow", check=False).strip() == "0", "nobody has a password")
        used = memory_used(machine)
        print(f"  memory in use, without what is cached of files: {used:.0f} MB")
        expect(used <= 90, "it is at most 90 MB")
        name = addressed(machine)
        wait(lambda: name in image.sender(lab, "browse", timeout=60), f"'{name}' among the receivers", PATIENCE)
        print(f"  ok: the network finds {name}", flush=True)
        make_tone(image.folder / "tone.wav", 440, 4)
        image.sender(lab, "volume", "100%", "--on", name)
        image.sender(lab, "play", image.folder / "tone.wav", "--on", name)
        image.sender(lab, "volume", "37%", "--on", name)
        machine.off()
    expect(heard(machine.sound, 440) > 2, "its card played what the sender sent")
    with image.start(lab, disk) as machine:
        up(machine)
        expect(addressed(machine) == name, "the name is the same after a restart")
        wait(lambda: name in image.sender(lab, "browse", timeout=60), f"'{name}' among the receivers", PATIENCE)
        expect("37" in image.sender(lab, "status", "--on", name), "the volume is the same after a restart")


def make_updates(image):
    """A good update, one whose receiver does not start, and some that must be refused."""
    image.part(6, image.folder / "root.img")
    tree, key = image.folder / "tree", image.folder / "stranger"
    image.tool("unsquashfs", "-q", "-n", "-d", tree, image.folder / "root.img")
    release = tree / "usr/lib/os-release"
    text = release.read_text()

    def root(name, version):
        lines = [line for line in text.splitlines() if not line.startswith("IMAGE_VERSION=")]
        release.write_text("\n".join([*lines, f"IMAGE_VERSION={version}", ""]))
        image.tool("mksquashfs", tree, image.folder / name, "-comp", "zstd", "-Xcompression-level", "1", "-quiet", "-no-progress")
        return image.folder / name

    good = root("good.img", "9.1")
    image.bundle("good", good, "9.1")
    image.bundle("other-board", good, "9.1", compatible="linnet-toaster")
    image.tool("openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-keyout", f"{key}.key", "-out", f"{key}.pem",
               "-days", "30", "-subj", "/CN=Stranger", "-addext", "extendedKeyUsage=codeSigning,emailProtection")
    image.bundle("stranger", good, "9.1", key=key)
    whole = (image.folder / "updates/good.raucb").read_bytes()
    (image.folder / "updates/cut.raucb").write_bytes(whole[:len(whole) // 2])
    middle = len(whole) // 3
    (image.folder / "updates/damaged.raucb").write_bytes(whole[:middle] + bytes(64) + whole[middle + 64:])
    (tree / "usr/bin/linnetd").write_text("#!/bin/sh\nexit 1\n")
    image.bundle("broken", root("broken.img", "9.2"), "9.2")
    shutil.rmtree(tree)
    image.tool("mke2fs", "-q", "-t", "ext4", "-L", "updates", "-d", image.folder / "updates", image.folder / "updates.img", "2G")
    return ("-drive", f"if=none,id=updates,format=raw,readonly=on,file={image.folder}/updates.img",
            "-device", "virtio-blk-pci,drive=updates")


def version(machine):
    return machine.run("sed -n 's/^IMAGE_VERSION=//p' /etc/os-release")


def update(image, lab):
    """A signed update starts the other slot and is kept if it is healthy; others are refused, or left again."""
    options = make_updates(image)
    disk = image.disk()
    with image.start(lab, disk, *options) as machine:
        up(machine)
        first = version(machine)
        mount = "mkdir -p /run/updates && mount -o ro /dev/disk/by-label/updates /run/updates"
        machine.run(mount)
        for name, reason in (
            ("other-board", "Compatible mismatch"), ("stranger", "signature"), ("cut", ""), ("damaged", ""),
        ):
            said = machine.run(f"! rauc install /run/updates/{name}.raucb 2>&1", PATIENCE)
            expect(reason.lower() in said.lower(), f"'{name}' is refused: {said.splitlines()[-1][:150]}")
        expect(machine.run("/usr/libexec/linnet/slots get-primary") == "A", "the slot that runs is still the first")
        image.sender(lab, "volume", "23%", "--on", machine.run("uname -n"))
        begun = time.monotonic()
        machine.run("rauc install /run/updates/good.raucb", PATIENCE)
        print(f"  installed in {time.monotonic() - begun:.0f} s")
        machine.send("systemctl reboot")
        up(machine, "B")
        expect(version(machine) == "9.1", "the update runs")
        expect(machine.run("/usr/libexec/linnet/slots get-state B") == "good", "it is marked good")
        expect("23" in image.sender(lab, "status", "--on", machine.run("uname -n")), "the volume is the same")
        machine.run("rauc status mark-active other")
        machine.send("systemctl reboot")
        up(machine)
        expect(version(machine) == first, "the way back leads to what was there")
        machine.run(mount)
        machine.run("rauc install /run/updates/broken.raucb", PATIENCE)
        begun = time.monotonic()
        machine.send("systemctl reboot")
        starts = 0
        while True:
            machine.shell(PATIENCE)
            if "rauc.slot=A" in machine.run("cat /proc/cmdline").split():
                break
            starts += 1
            machine.run("test $(sed -n 's/^IMAGE_VERSION=//p' /etc/os-release) = 9.2")
        machine.run("systemctl is-system-running --wait", PATIENCE)
        expect(starts == 3, "what is not healthy is tried three times")
        print(f"  ok: and left again by itself, after {time.monotonic() - begun:.0f} s")
        expect(version(machine) == first, "what was there before runs")
        expect(machine.run("/usr/libexec/linnet/slots get-state B") == "bad", "the slot that failed counts as bad")


CASES = {"start": start, "update": update}


def main(board, *wanted):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="linnet-image-", dir="/var/tmp"))
    failed = 0
    try:
        image = Image(board, folder)
        for name in wanted or CASES:
            print(f"{name}: {CASES[name].__doc__}", flush=True)
            begun = time.monotonic()
            work = folder / name
            work.mkdir()
            try:
                with Lab("linnet-image", work) as lab:
                    CASES[name](image, lab)
            except (AssertionError, subprocess.SubprocessError) as failure:
                print(f"  {failure}\n{name} FAILED after {time.monotonic() - begun:.0f} s", flush=True)
                failed += 1
            else:
                print(f"{name} passed in {time.monotonic() - begun:.0f} s", flush=True)
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(CASES):
        sys.exit(__doc__ + "\nCases: " + " ".join(CASES))
    sys.exit(main(*sys.argv[1:]))
