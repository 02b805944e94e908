# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Updates: taken, refused, left again."""
import shutil
import time

from machine import PATIENCE
from steps import addressed, expect, up, version


def unpacked(image):
    """The root of the image as a folder, and a function that makes a root of another version of it."""
    image.part(6, image.folder / "root.img")
    tree = image.folder / "tree"
    image.tool("unsquashfs", "-q", "-n", "-d", tree, image.folder / "root.img")
    release = tree / "usr/lib/os-release"
    text = release.read_text()

    def root(name, version, *options):
        lines = [line for line in text.splitlines() if not line.startswith("IMAGE_VERSION=")]
        release.write_text("\n".join([*lines, f"IMAGE_VERSION={version}", ""]))
        image.tool("mksquashfs", tree, image.folder / name, "-comp", "zstd", "-Xcompression-level", "1", "-quiet", "-no-progress",
                   *options)
        return image.folder / name

    return tree, root


def on_disk(image):
    """A disk with the updates that were made, as options of a machine."""
    image.tool("mke2fs", "-q", "-t", "ext4", "-L", "updates", "-d", image.folder / "updates", image.folder / "updates.img", "2G")
    return as_disk(image)


def as_disk(image):
    return ("-drive", f"if=none,id=updates,format=raw,readonly=on,file={image.folder}/updates.img",
            "-device", "virtio-blk-pci,drive=updates")


MOUNT = "mkdir -p /run/updates && mount -o ro /dev/disk/by-label/updates /run/updates"


def make_updates(image):
    """A good update, one whose receiver does not start, and some that must be refused."""
    tree, root = unpacked(image)
    key = image.folder / "stranger"
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
    return on_disk(image)


def update(image, lab):
    """A signed update starts the other slot and is kept if it is healthy; others are refused, or left again."""
    options = make_updates(image)
    disk = image.disk()
    with image.start(lab, disk, *options) as machine:
        up(machine)
        first = version(machine)
        machine.run(MOUNT)
        for name, reason in (
            ("other-board", "Compatible mismatch"), ("stranger", "signature"), ("cut", ""), ("damaged", ""),
        ):
            said = machine.run(f"! rauc install /run/updates/{name}.raucb 2>&1", PATIENCE)
            expect(reason.lower() in said.lower(), f"'{name}' is refused: {said.splitlines()[-1][:150]}")
        expect(machine.run("/usr/libexec/linnet/slots get-primary") == "A", "the slot that runs is still the first")
        image.sender(lab, "volume", "23%", "--on", addressed(machine))
        begun = time.monotonic()
        machine.run("linnet update /run/updates/good.raucb", PATIENCE)
        print(f"  installed in {time.monotonic() - begun:.0f} s")
        machine.send("systemctl reboot")
        up(machine, "B")
        expect(version(machine) == "9.1", "the update runs")
        expect(machine.run("/usr/libexec/linnet/slots get-state B") == "good", "it is marked good")
        said = image.sender(lab, "status", "--on", addressed(machine))
        expect("23" in said, f"the volume is the same: {said.strip()}")
        machine.run("rauc status mark-active other")
        machine.send("systemctl reboot")
        up(machine)
        expect(version(machine) == first, "the way back leads to what was there")
        machine.run(MOUNT)
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
        left = machine.run("cat /data/health/left")
        expect("slot=B" in left and "version=9.2" in left and "the receiver is not up" in left, "it is known which was left, and why")
