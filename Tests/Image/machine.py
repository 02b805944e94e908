# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A machine of QEMU that starts an image, with a shell of root on its second serial line, and the network it is on."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]

# Emulated, beside other work: what takes longer than this does not come.
PATIENCE = 420

# The cables of the lab, each for a machine, and the addresses of the cards at their ends.
CABLES = {"cable": "52:54:00:4c:4e:01", "second": "52:54:00:4c:4e:02"}


class Lab:
    """A bridge in a namespace of its own, with the machine's cable on it and a host that senders run on."""

    def __init__(self, name, folder):
        self.wires, self.host, self.folder = f"{name}-wires", f"{name}-host", folder
        self.services = []

    def __enter__(self):
        self.remove()
        for command in (
            f"ip netns add {self.wires}", f"ip netns add {self.host}",
            f"ip -n {self.wires} link add bridge type bridge",
            f"ip -n {self.wires} link set bridge up",
            *(f"ip -n {self.wires} {what}" for cable in CABLES for what in (
                f"tuntap add mode tap name {cable}", f"link set {cable} master bridge up")),
            f"ip -n {self.wires} link add port type veth peer name cable netns {self.host}",
            f"ip -n {self.wires} link set port master bridge up",
            # As a machine has that found nobody who gives out addresses.
            f"ip -n {self.host} address add 169.254.1.1/16 dev cable broadcast +",
            f"ip -n {self.host} link set lo up", f"ip -n {self.host} link set cable up",
        ):
            subprocess.run(command.split(), check=True)
        self.start_discovery()
        return self

    def __exit__(self, *_):
        for service in self.services:
            service.kill()
            service.wait()
        self.remove()

    def remove(self):
        for name in (self.wires, self.host):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def start_discovery(self):
        """D-Bus and Avahi of the senders' host, as Tests/Support/two-hosts.sh has them."""
        self.bus = self.folder / "bus"
        (self.folder / "bus.conf").write_text(f"""<busconfig><type>system</type>
            <listen>unix:path={self.bus}</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/>
            <allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
            <allow send_requested_reply="true"/><allow receive_type="method_call"/><allow receive_type="signal"/>
            <allow receive_requested_reply="true"/></policy></busconfig>""")
        (self.folder / "avahi.conf").write_text(
            "[server]\nhost-name=sender\nallow-interfaces=cable\nenable-dbus=yes\n[publish]\n[rlimits]\n")
        run = self.folder / "run"
        (run / "avahi-daemon").mkdir(parents=True)
        self.service("dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile")
        wait(self.bus.exists, "the bus", 20)
        self.service(
            "unshare", "-m", "--propagation", "private", "sh", "-c",
            f"mount --bind {run} /run && exec avahi-daemon -f {self.folder}/avahi.conf --no-drop-root --no-rlimits "
            "--no-chroot")
        wait((run / "avahi-daemon" / "socket").exists, "Avahi", 20)

    def service(self, *command):
        with open(self.folder / f"{pathlib.Path(command[0]).name}.log", "wb") as log:
            self.services.append(subprocess.Popen(
                self.within(self.host, *command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment))

    @property
    def environment(self):
        return {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.bus}"}

    @staticmethod
    def within(namespace, *command):
        return ["ip", "netns", "exec", namespace, *map(str, command)]

    def run(self, *command, timeout=120):
        """Runs a command on the senders' host and returns what it said."""
        done = subprocess.run(
            self.within(self.host, *command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
            env=self.environment, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout


class Machine:
    """One start of a disk, until it is switched off or killed."""

    def __init__(self, lab, tools, folder, disk, options=(), cable="cable", board="generic-x86_64", recording=None):
        self.folder, self.text, self.position, self.ended = folder, b"", 0, False
        # What U-Boot says before on the same line may look like a shell.
        self.has_uboot = board != "generic-x86_64"
        # Four processors in one thread take their time.
        self.patience = PATIENCE * (3 if board == "rpi-arm64" else 1)
        self.monitor = folder / "monitor"
        self.console = folder / "console.log"
        self.sound = folder / "sound.wav"
        for path in (self.console, self.sound, self.monitor):
            path.unlink(missing_ok=True)
        kind = {"generic-x86_64": self.pc, "rpi-arm64": self.pi}.get(board, self.arm)
        command = [
            *kind(tools, folder, self.drive(disk, recording)), "-nodefaults", "-display", "none",
            "-netdev", f"tap,id=net,ifname={cable},script=no,downscript=no",
            "-device", f"{'usb-net' if kind == self.pi else 'virtio-net-pci,romfile='},netdev=net,mac={CABLES[cable]}",
            "-chardev", f"socket,id=monitor,path={self.monitor},server=on,wait=off", "-mon", "chardev=monitor", *options]
        inside = f'. {PROJECT}/scripts/debian-roots.sh; in_root {tools} {folder.parent}:{folder.parent} -- "$@"'
        self.process = subprocess.Popen(
            lab.within(lab.wires, "bash", "-euc", inside, "machine", *command), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=open(folder / "qemu.log", "wb"), start_new_session=True)
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def pc(self, tools, folder, drive):
        """UEFI with variables of its own; the console is in a file."""
        if not (folder / "vars.fd").exists():
            shutil.copy(f"{tools}/usr/share/OVMF/OVMF_VARS_4M.fd", folder / "vars.fd")
        return [
            "qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-serial", f"file:{self.console}", "-serial", "stdio",
            "-drive", "if=pflash,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd",
            "-drive", f"if=pflash,format=raw,file={folder}/vars.fd", *self.devices(drive)]

    def arm(self, _tools, _folder, drive):
        """U-Boot as Debian has it. There is one serial line, for U-Boot and the shell."""
        return [
            "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-serial", "stdio",
            "-bios", "/usr/lib/u-boot/qemu_arm64/u-boot.bin", *self.devices(drive)]

    def devices(self, drive):
        """What machines with a bus have, a card whose sound is recorded among them."""
        return [
            "-accel", "tcg,thread=multi", "-smp", "2", "-m", "1024",
            *drive, "-device", "virtio-blk-pci,drive=disk,bootindex=0",
            "-audiodev", f"wav,id=sound,path={self.sound}", "-device", "intel-hda", "-device", "hda-output,audiodev=sound",
            "-device", "i6300esb", "-action", "watchdog=reset", "-device", "virtio-rng-pci"]

    @staticmethod
    def pi(_tools, folder, drive):
        """A Raspberry Pi 3 from U-Boot on, which lies on the card: the firmware before it is for a processor that QEMU has not."""
        return [
            # Its four processors in one thread: three that wait for the first would keep a machine of two busy.
            "qemu-system-aarch64", "-M", "raspi3b", "-accel", "tcg,thread=single", "-serial", "null", "-serial", "stdio",
            "-kernel", f"{folder.parent}/u-boot.bin", "-dtb", f"{folder.parent}/bcm2837-rpi-3-b.dtb",
            *(part.replace("if=none,id=disk", "if=sd") for part in drive)]

    @staticmethod
    def drive(disk, recording):
        """The disk; with a recording, each write and flush goes to that as well."""
        if not recording:
            return ["-drive", f"if=none,id=disk,format=raw,cache=writeback,file={disk}"]
        recording.write_bytes(b"")
        return [
            "-blockdev", f"driver=file,node-name=file,filename={disk}",
            "-blockdev", f"driver=file,node-name=recording,filename={recording}",
            "-blockdev", "driver=blklogwrites,node-name=disk,file=file,log=recording,log-sector-size=512"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def read(self):
        with open(self.folder / "shell.log", "ab", buffering=0) as log:
            while True:
                data = os.read(self.process.stdout.fileno(), 65536)
                log.write(data)
                with self.changed:
                    self.text += data
                    self.ended = not data
                    self.changed.notify_all()
                if not data:
                    return

    def wait(self, pattern, timeout):
        """Waits until the shell has said what matches. A pattern must end in what ends a word, since it comes in pieces."""
        limit = time.monotonic() + timeout
        with self.changed:
            while True:
                found = re.compile(pattern.encode()).search(self.text, self.position)
                if found:
                    self.position = found.end()
                    return found
                if self.ended or time.monotonic() > limit:
                    why = "the machine ended" if self.ended else f"{timeout} s passed"
                    raise AssertionError(f"{why} before {pattern!r}; the shell said last:\n{self.tail()}")
                self.changed.wait(1)

    def tail(self):
        console = self.console.read_bytes()[-3000:] if self.console.exists() else b""
        return (self.text[-1500:] + b"\n--- console ---\n" + console).decode(errors="replace")

    def shell(self, timeout=240):
        """Waits for the shell of this start."""
        if self.has_uboot:
            self.wait(r"Starting kernel", timeout)
        self.wait(r"# $|# \x1b", timeout)
        self.send("stty -echo; export PS1= TERM=dumb SYSTEMD_PAGER= SYSTEMD_COLORS=0; bind 'set enable-bracketed-paste off'")
        self.run("true", timeout)

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def run(self, command, timeout=PATIENCE, check=True):
        """What a command in the machine said; its last line tells how it ended."""
        self.send(f'echo "BE""GIN"; {command}; echo "EN""D $?;"')
        self.wait(r"BEGIN\r?\n", timeout)
        found = self.wait(r"(?s)(.*?)END (\d+);", timeout)
        text = found.group(1).decode(errors="replace").replace("\r", "").strip()
        if check and found.group(2) != b"0":
            raise AssertionError(f"{command}: {found.group(2).decode()}\n{text}")
        return text

    def plug(self, plugged):
        """Puts the cable of the network in, or takes it out."""
        self.tell(f"set_link net {'on' if plugged else 'off'}")

    def screenshot(self):
        """The bytes of the screen's picture, three for each dot; it is kept as screen.png, too."""
        self.tell(f"screendump {self.folder}/screen.png -f png")
        self.tell(f"screendump {self.folder}/screen.ppm")
        # P6, width and height, the largest value, one blank.
        return (self.folder / "screen.ppm").read_bytes().split(b"\n", 3)[3]

    def tell(self, command):
        """Has the machine's monitor do something."""
        wait(self.monitor.exists, "the machine's monitor", 60)
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.monitor))
            monitor.settimeout(60)
            monitor.sendall(f"{command}\n".encode())
            said = b""
            # It says its prompt before the command and after it.
            while said.count(b"(qemu)") < 2:
                said += monitor.recv(4096)

    def off(self):
        """Switches off in good order, so that the recording of the sound is whole."""
        self.send("systemctl poweroff")
        self.process.wait(PATIENCE)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def wait(condition, what, timeout):
    limit = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError(f"{what} did not come within {timeout} s")
        time.sleep(0.1)
