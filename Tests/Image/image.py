# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""The image under test, and what is made of it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from machine import PATIENCE, PROJECT, Machine



def shell(terminal):
    """What the kernel is told for a shell of root there, and for devices that take as long as they do where all is emulated."""
    return (f"systemd.debug_shell={terminal} systemd.default_debug_tty={terminal} "
            "systemd.default_device_timeout_sec=900 systemd.default_timeout_start_sec=900")


class Image:
    """The image under test, with what the cases have in common."""

    def __init__(self, board, folder):
        self.folder, self.board, self.table = folder, board, None
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
            # Cards of QEMU's are as large as a power of two.
            file.truncate(2048 << 20 if self.board == "rpi-arm64" else max(size_mib << 20, path.stat().st_size))
        # The shell is asked for where somebody with the disk in hand could ask for it.
        page, line = {
            "generic-x86_64": ("arguments.cfg", 'set arguments="console=ttyS0 %s"' % shell("ttyS1")),
            # Its watchdog of QEMU's starts the machine again as soon as it is switched on.
            "rpi-arm64": ("arguments.txt", f"arguments=console=tty0 quiet modprobe.blacklist=bcm2835_wdt {shell('ttyS1')}"),
        }.get(self.board, ("arguments.txt", f"arguments=console=tty0 quiet {shell('ttyAMA0')}"))
        (self.folder / page).write_text(line + "\n")
        self.tool("mcopy", "-o", "-i", f"{path}@@4M", self.folder / page, f"::/{page}")
        if self.board == "rpi-arm64":
            self.tool("mcopy", "-o", "-i", f"{path}@@4M", "::/u-boot.bin", "::/bcm2837-rpi-3-b.dtb", self.folder)
        return path

    def inside(self, *command):
        """A command in the tools' system, which sees this folder, the keys and what was made alone."""
        script = (f'. {PROJECT}/scripts/debian-roots.sh; in_root {self.tools} {self.folder}:{self.folder} {keys()}:/keys '
                  f'{PROJECT}/.build/image:/images -- "$@"')
        return ["bash", "-euc", script, "tool", *map(str, command)]

    def tool(self, *command):
        done = subprocess.run(self.inside(*command), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def place(self, number):
        """Where a partition begins and how long it is, in bytes."""
        if not self.table:
            # The tools see this folder alone.
            copy = self.folder / "whole.img"
            subprocess.run(["cp", "--sparse=always", self.path, copy], check=True)
            self.table = json.loads(self.tool("sfdisk", "--json", copy))["partitiontable"]["partitions"]
            copy.unlink()
        found = next(entry for entry in self.table if entry["node"].endswith(f".img{number}"))
        return found["start"] * 512, found["size"] * 512

    def part(self, number, path):
        """What the image has on one of its partitions."""
        start, size = self.place(number)
        subprocess.run(
            ["dd", f"if={self.path}", f"of={path}", "bs=512", f"skip={start // 512}", f"count={size // 512}",
             "conv=sparse", "status=none"], check=True)

    def overwrite(self, disk, number, data):
        """Damages the beginning of a partition of a disk."""
        with open(disk, "r+b") as file:
            file.seek(self.place(number)[0])
            file.write(data)

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

    def sending(self, lab, *command):
        """The command line that runs `linnet` on the senders' host."""
        inside = (f'. {PROJECT}/scripts/debian-roots.sh; in_root {self.libraries} {self.folder}:{self.folder} -- env '
                  f'DBUS_SYSTEM_BUS_ADDRESS=unix:path={lab.bus} {self.folder}/sender/usr/bin/linnet "$@"')
        return ("bash", "-euc", inside, "sender", *command)

    def sender(self, lab, *command, timeout=PATIENCE):
        """Runs `linnet` on the senders' host."""
        return lab.run(*self.sending(lab, *command), timeout=timeout)

    def start(self, lab, disk, *options, name="cable", recording=None):
        """A machine on that cable of the lab."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return Machine(lab, self.tools, folder, disk, options, cable=name, board=self.board, recording=recording)


def keys():
    """The folder of the keys that updates are signed with; see scripts/image.sh."""
    home = pathlib.Path(os.environ.get("XDG_CONFIG_HOME", pathlib.Path.home() / ".config"))
    return os.environ.get("LINNET_KEYS", home / "linnet/keys")
