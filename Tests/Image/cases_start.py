# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What a device does when it is switched on."""
import json
import subprocess
import time

from machine import PATIENCE, wait
from sound import heard, make_tone
from steps import addressed, expect, exposure, found, memory_used, up


def closed(machine):
    """What holds for every device that was just started for the first time."""
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


def start(image, lab):
    """The first start: complete, read-only, closed, found, heard; the second remembers."""
    disk = image.disk()
    begun = time.monotonic()
    with image.start(lab, disk) as machine:
        up(machine)
        print(f"  complete after {time.monotonic() - begun:.0f} s", flush=True)
        closed(machine)
        name = addressed(machine)
        found(image, lab, name)
        print(f"  ok: the network finds {name}", flush=True)
        exposure(machine)
        make_tone(image.folder / "tone.wav", 440, 4)
        image.sender(lab, "volume", "100%", "--on", name)
        image.sender(lab, "play", image.folder / "tone.wav", "--on", name)
        image.sender(lab, "volume", "37%", "--on", name)
        machine.off()
    expect(heard(machine.sound, 440) > 2, "its card played what the sender sent")
    with image.start(lab, disk) as machine:
        up(machine)
        expect(addressed(machine) == name, "the name is the same after a restart")
        found(image, lab, name)
        expect("37" in image.sender(lab, "status", "--on", name), "the volume is the same after a restart")


def control(image, lab):
    """What plays from an address is moved, made softer and stopped over the network."""
    with image.start(lab, image.disk()) as machine:
        up(machine)
        name = addressed(machine)
        found(image, lab, name)
        make_tone(image.folder / "long.wav", 550, 120)
        lab.service("python3", "-m", "http.server", "8000", "--bind", "169.254.1.1", "--directory", image.folder)
        image.sender(lab, "volume", "100%", "--on", name)
        image.sender(lab, "play", "--no-wait", "http://169.254.1.1:8000/long.wav", "--on", name)

        def playing():
            return json.loads(image.sender(lab, "status", "--json", "--on", name))["playing"]

        wait(lambda: (playing() or {}).get("position", 0) > 2, "the third second", PATIENCE)
        expect(abs(playing()["duration"] - 120) < 1, "its length is known")
        image.sender(lab, "seek", "60", "--on", name)
        wait(lambda: 60 <= playing()["position"] < 115, "the sixtieth second", PATIENCE)
        print("  ok: it was moved to the sixtieth second")
        image.sender(lab, "pause", "--on", name)
        expect(not playing()["isPlaying"], "it is paused")
        image.sender(lab, "stop", "--on", name)
        expect(playing() is None, "it is stopped")
        machine.off()
    expect(heard(machine.sound, 550) > 1, "its card played what is at the address")


def screen(image, lab):
    """Somebody who looks at the screen is told the name and the address."""
    with image.start(lab, image.disk(), "-device", "VGA") as machine:
        up(machine)
        name = addressed(machine)
        machine.run("systemctl is-active linnet-screen.service")
        wait(lambda: name in machine.run("cat /dev/vcs1"), "the name on the screen", PATIENCE)
        shown = machine.run("cat /dev/vcs1")
        expect(f"http://{name}.local:7380/" in shown, "the address of the page is on the screen")
        expect("login" not in shown, "nobody is asked to log in")
        picture = machine.screenshot()
        expect(sum(value > 160 for value in picture) > 2000, "there is something to see")


def network_later(image, lab):
    """Without a network the start is complete; when the cable comes, the device is found and plays."""
    with image.start(lab, image.disk()) as machine:
        machine.plug(False)
        up(machine)
        expect("169.254" not in machine.run("ip -4 -o address"), "it started without a network")
        machine.plug(True)
        begun = time.monotonic()
        name = addressed(machine)
        found(image, lab, name)
        print(f"  ok: the network finds {name} {time.monotonic() - begun:.0f} s after the cable came")
        make_tone(image.folder / "tone.wav", 440, 2)
        image.sender(lab, "play", image.folder / "tone.wav", "--on", name)
        machine.off()
    expect(heard(machine.sound, 440) > 1, "its card played what the sender sent")


def start_pi(image, lab):
    """A Raspberry Pi as far as QEMU has one: U-Boot of the card, the slot, all services, found by a network card at USB; no sound."""
    disk = image.disk()
    begun = time.monotonic()
    with image.start(lab, disk) as machine:
        up(machine)
        print(f"  complete after {time.monotonic() - begun:.0f} s", flush=True)
        expect("Raspberry Pi 3" in machine.run("tr -d '\\0' </proc/device-tree/model"), "the kernel knows the board")
        closed(machine)
        expect(machine.run("/usr/libexec/linnet/slots get-primary") == "A", "the state is read as U-Boot wrote it")
        expect(machine.run("fw_printenv -n BOOT_A_LEFT") == "3", "the start that was taken from the slot was given back")
        name = addressed(machine)
        found(image, lab, name)
        image.sender(lab, "volume", "37%", "--on", name)
        machine.send("systemctl reboot")
        up(machine)
        expect(addressed(machine) == name, "the name is the same after a restart")
        found(image, lab, name)
        expect("37" in image.sender(lab, "status", "--on", name), "the volume is the same after a restart")


def boot_time(image, lab):
    """From the kernel's start until it is advertised, beside a bare Debian that the same kernel starts from the same disk."""
    disk = image.disk()
    with image.start(lab, disk) as machine:
        up(machine)
        addressed(machine)
        advertised = "journalctl -b -o short-monotonic --no-pager -u linnetd | grep -m 1 'advertised (' || true"
        wait(lambda: "advertised" in machine.run(advertised), "the advertisement", PATIENCE)
        ours = float(machine.run(advertised).split("[", 1)[1].split("]", 1)[0])
        machine.off()
    image.overwrite(disk, 6, bare_debian(image).read_bytes())
    with image.start(lab, disk) as machine:
        machine.shell()
        reached = "systemctl show --property=ActiveEnterTimestampMonotonic --value multi-user.target"
        wait(lambda: int(machine.run(reached)) > 0, "multi-user.target", PATIENCE)
        bare = int(machine.run(reached)) / 1e6
        expect("linnet" not in machine.run("systemctl list-unit-files --no-pager 'linnet*' --quiet", check=False),
               "what was started beside it is a bare Debian")
    print(f"  advertised after {ours:.1f} s, a bare Debian is up after {bare:.1f} s: {ours / bare:.2f}")
    expect(ours <= 1.3 * bare, "it takes at most 1.3 times as long")


def bare_debian(image):
    """A root of Debian's important packages, with the modules of the image's kernel."""
    root, modules, packed = (image.folder / name for name in ("bare", "modules", "bare.squashfs"))
    subprocess.run(["cp", "-a", image.root("bare"), root], check=True)
    image.part(6, image.folder / "root.squashfs")
    image.tool("unsquashfs", "-quiet", "-no-progress", "-d", modules, image.folder / "root.squashfs", "usr/lib/modules")
    subprocess.run(["cp", "-a", modules / "usr/lib/modules", root / "usr/lib/"], check=True)
    (root / "etc/machine-id").write_text("")
    image.tool("mksquashfs", root, packed, "-comp", "zstd", "-noappend", "-quiet", "-no-progress")
    return packed
