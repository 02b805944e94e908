#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Stands for bluetoothd or bluealsa on a private bus, and for the phones that they would see.

usage: bluetooth.py bluez|bluealsa ADDRESS-OF-THE-BUS

Commands come as lines on standard input; what a receiver does is told as lines on standard output. Orders of signals are those
of BlueZ 5.82 and bluez-alsa 4.3.1 as they were seen between virtual controllers. SIGTERM ends it in good order as the daemons
do: first the objects go, then the name.
"""

import array
import math
import os
import signal
import socket
import sys
import time
import traceback

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
TRANSPORT = "org.bluez.MediaTransport1"
PLAYER = "org.bluez.MediaPlayer1"
CONTROL = "org.bluez.MediaControl1"
ENDPOINT = "org.bluez.MediaEndpoint1"
ADVERTISING = "org.bluez.LEAdvertisingManager1"
PCM = "org.bluealsa.PCM1"
AUDIO_SINK = "0000110d-0000-1000-8000-00805f9b34fb"
RATE = 48000



def stumble(kind, error, trace):
    """A fault in a callback, such as that nobody listens any more, would otherwise leave the program running for ever."""
    if kind is not BrokenPipeError:
        traceback.print_exception(kind, error, trace)
    os._exit(1)


sys.excepthook = stumble
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()


def say(*words):
    """Numbers and truth values of D-Bus are shown as numbers."""
    print(*(int(word) if isinstance(word, int) else word for word in words), flush=True)


class Refused(dbus.DBusException):
    def __init__(self, name, message=""):
        super().__init__(message)
        self._dbus_error_name = name


class Item(dbus.service.Object):
    """An object with properties; `interfaces` maps each interface to its properties."""

    def __init__(self, world, path, interfaces):
        super().__init__(world.bus, path)
        self.world, self.path, self.interfaces = world, path, interfaces
        world.items[path] = self
        world.root.InterfacesAdded(dbus.ObjectPath(path), self.shown())

    def shown(self):
        return dbus.Dictionary(
            {name: dbus.Dictionary(values, signature="sv") for name, values in self.interfaces.items()},
            signature="sa{sv}")

    def add(self, interface, values):
        self.interfaces[interface] = values
        self.world.root.InterfacesAdded(
            dbus.ObjectPath(self.path), {interface: dbus.Dictionary(values, signature="sv")})

    def drop(self):
        self.world.items.pop(self.path, None)
        self.remove_from_connection()
        self.world.root.InterfacesRemoved(
            dbus.ObjectPath(self.path), dbus.Array(list(self.interfaces), signature="s"))

    def change(self, interface, **values):
        self.interfaces[interface].update(values)
        self.PropertiesChanged(interface, dbus.Dictionary(values, signature="sv"), dbus.Array([], signature="s"))

    def accept(self, interface, name, value):
        """What follows from a property that a client sets."""
        self.change(interface, **{name: value})

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.interfaces[interface][name]

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return dbus.Dictionary(self.interfaces[interface], signature="sv")

    @dbus.service.method(PROPERTIES, in_signature="ssv")
    def Set(self, interface, name, value):
        self.accept(str(interface), str(name), value)


class Root(dbus.service.Object):
    def __init__(self, world, path):
        super().__init__(world.bus, path)
        self.world = world

    @dbus.service.method(MANAGER, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return dbus.Dictionary(
            {dbus.ObjectPath(path): item.shown() for path, item in self.world.items.items()},
            signature="oa{sa{sv}}")

    @dbus.service.signal(MANAGER, signature="oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass

    @dbus.service.signal(MANAGER, signature="oas")
    def InterfacesRemoved(self, path, interfaces):
        pass


class World:
    """What both daemons have in common."""

    def __init__(self, address, name, root):
        self.bus = dbus.bus.BusConnection(address)
        self.items = {}
        self.root = Root(self, root)
        self.name = name

    def begin(self):
        self.owned = dbus.service.BusName(self.name, self.bus, do_not_queue=True)
        say("ready")


# MARK: BlueZ


class Adapter(Item):
    def accept(self, interface, name, value):
        if name == "Discoverable" and value and not self.interfaces[ADAPTER]["Powered"]:
            raise Refused("org.bluez.Error.Failed", "Not Powered")
        if self.interfaces[ADAPTER].get(name) != value:
            self.change(interface, **{name: value})
        say("adapter", name, value)

    @dbus.service.method(ADAPTER, in_signature="o")
    def RemoveDevice(self, path):
        self.world.items[path].forget()

    @dbus.service.method(ADVERTISING, in_signature="oa{sv}", sender_keyword="sender")
    def RegisterAdvertisement(self, path, options, sender):
        def read(values):
            say("advertised", values["Type"], *values["ServiceUUIDs"])

        target = self.world.bus.get_object(sender, path, introspect=False)
        target.GetAll("org.bluez.LEAdvertisement1", dbus_interface=PROPERTIES, reply_handler=read,
                      error_handler=lambda error: say("advertisement failed", error))

    @dbus.service.method(ADVERTISING, in_signature="o")
    def UnregisterAdvertisement(self, path):
        say("unadvertised")


class Device(Item):
    def get(self, name):
        return self.interfaces[DEVICE][name]

    @property
    def address(self):
        return str(self.get("Address"))

    def parts(self):
        return [item for path, item in list(self.world.items.items()) if path.startswith(self.path + "/")]

    def accept(self, interface, name, value):
        self.change(interface, **{name: value})
        say("device", self.address, name, value)

    def come(self):
        """The link is up; sound comes once it is allowed."""
        self.change(DEVICE, Connected=dbus.Boolean(True))
        if self.get("Trusted"):
            return self.allowed()
        say("authorize", self.address)
        agent = self.world.agent_object()
        if agent is None:
            return self.turned_away("no agent")
        agent.AuthorizeService(
            dbus.ObjectPath(self.path), AUDIO_SINK, dbus_interface="org.bluez.Agent1", reply_handler=self.allowed,
            error_handler=lambda error: self.turned_away(error.get_dbus_name()))

    def turned_away(self, reason):
        say("turned-away", self.address, reason)
        self.change(DEVICE, Connected=dbus.Boolean(False))

    def allowed(self):
        if CONTROL not in self.interfaces:
            self.add(CONTROL, {"Connected": dbus.Boolean(False)})
        number = self.world.transports
        self.world.transports += 1
        Transport(self.world, f"{self.path}/fd{number}", {TRANSPORT: {
            "Device": dbus.ObjectPath(self.path), "UUID": AUDIO_SINK, "Codec": dbus.Byte(0), "State": "idle",
            "Configuration": dbus.Array([0x11, 0x15, 2, 0xfa], signature="y"), "Volume": dbus.UInt16(127)}})
        Player(self.world, f"{self.path}/player0", {PLAYER: {
            "Device": dbus.ObjectPath(self.path), "Position": dbus.UInt32(0)}})
        self.change(CONTROL, Connected=dbus.Boolean(True), Player=dbus.ObjectPath(self.path + "/player0"))
        self.world.items[self.path + "/player0"].change(PLAYER, Status="paused")
        self.world.items[self.path + "/player0"].change(
            PLAYER, Track=dbus.Dictionary({"Title": "", "Duration": dbus.UInt32(4294967295)}, signature="sv"))
        say("up", self.address)

    def leave(self):
        for item in sorted(self.parts(), key=lambda item: "fd" in item.path):
            item.drop()
        if CONTROL in self.interfaces:
            self.change(CONTROL, Connected=dbus.Boolean(False))
        # The real one takes two seconds for it.
        GLib.timeout_add(100, self.left)

    def left(self):
        if self.path in self.world.items and self.get("Connected"):
            self.change(DEVICE, Connected=dbus.Boolean(False))
            say("left", self.address)
        return False

    def forget(self):
        for item in self.parts():
            item.drop()
        self.drop()
        say("forgotten", self.address)

    @dbus.service.method(DEVICE)
    def Disconnect(self):
        say("disconnect", self.address)
        self.leave()

    @dbus.service.method(DEVICE, in_signature="s")
    def ConnectProfile(self, uuid):
        say("connect-profile", self.address, uuid)
        if self.world.refuses_joining:
            raise Refused("org.bluez.Error.Failed", "br-connection-page-timeout")
        self.come()


class Transport(Item):
    def accept(self, interface, name, value):
        say("volume", self.path.split("/")[4], int(value))
        self.change(interface, **{name: value})


class Player(Item):
    def called(self, method, status=None):
        say("player", self.path.split("/")[4], method)
        if status and not self.world.ignores_control:
            self.change(PLAYER, Status=status)

    @dbus.service.method(PLAYER)
    def Play(self):
        self.called("Play", "playing")

    @dbus.service.method(PLAYER)
    def Pause(self):
        self.called("Pause", "paused")


class Bluez(World):
    def __init__(self, address):
        super().__init__(address, "org.bluez", "/")
        self.agent = None
        self.transports = 0
        self.refuses_joining = False
        self.ignores_control = False
        self.base = BluezRoot(self)
        self.begin()

    def agent_object(self):
        return self.bus.get_object(*self.agent, introspect=False) if self.agent else None

    def device(self, address):
        for item in self.items.values():
            if isinstance(item, Device) and item.address == address:
                return item
        raise SystemExit(f"no device {address}")

    def adapter(self):
        return next(item for item in self.items.values() if isinstance(item, Adapter))

    def do_adapter(self, name, advertises="no"):
        # bluetoothd's own default after a start is what a user left it at.
        item = Adapter(self, f"/org/bluez/{name}", {ADAPTER: {
            "Address": "00:11:22:33:44:55", "Alias": "debian", "Powered": dbus.Boolean(True), "PowerState": "on",
            "Discoverable": dbus.Boolean(True), "Pairable": dbus.Boolean(True),
            "DiscoverableTimeout": dbus.UInt32(180), "PairableTimeout": dbus.UInt32(0)}})
        if advertises == "yes":
            item.add(ADVERTISING, {"ActiveInstances": dbus.Byte(0)})

    def do_adapter_gone(self):
        adapter = self.adapter()
        for item in sorted(list(self.items.values()), key=lambda item: -len(item.path)):
            if item.path.startswith(adapter.path):
                item.drop()

    def do_power(self, state):
        adapter = self.adapter()
        if state == "on":
            return adapter.change(ADAPTER, Powered=dbus.Boolean(True), PowerState="on")
        adapter.change(ADAPTER, PowerState="on-disabling", Discoverable=dbus.Boolean(False))
        for item in list(self.items.values()):
            if isinstance(item, Device) and item.get("Connected"):
                item.change(DEVICE, Connected=dbus.Boolean(False))
                for part in item.parts():
                    part.drop()
        adapter.change(ADAPTER, Powered=dbus.Boolean(False), PowerState="off")

    def do_property(self, name, value):
        self.adapter().change(ADAPTER, **{name: dbus.Boolean(value == "true")})

    def do_device(self, address, *name, paired=True, adapter=None):
        path = f"{(adapter or self.adapter()).path}/dev_{address.replace(':', '_')}"
        return Device(self, path, {DEVICE: {
            "Address": address, "Alias": " ".join(name) or address, "Paired": dbus.Boolean(paired),
            "Trusted": dbus.Boolean(paired), "Connected": dbus.Boolean(False)}})

    def do_pair(self, address, passkey, *name):
        """A phone wants to pair; passkey `-`: it asks for nothing, and so is nobody asked here."""
        if not self.adapter().interfaces[ADAPTER]["Pairable"]:
            return say("not-pairable", address)
        self.do_pair_anyway(address, passkey, *name)

    def do_pair_anyway(self, address, passkey, *name):
        """It came in the moment before the adapter was closed."""
        device = self.do_device(address, *name, paired=False)
        device.change(DEVICE, Connected=dbus.Boolean(True))

        def paired():
            device.change(DEVICE, Paired=dbus.Boolean(True))
            say("paired", address)

        def refused(error):
            say("pairing-refused", address, error.get_dbus_name())
            device.drop()

        agent = self.agent_object()
        if passkey == "-" or agent is None:
            return paired()
        agent.RequestConfirmation(
            dbus.ObjectPath(device.path), dbus.UInt32(int(passkey)), dbus_interface="org.bluez.Agent1",
            reply_handler=paired, error_handler=refused, timeout=60)

    def do_agent_owner(self):
        say("agent-owner", self.agent[0])

    def do_cancel(self):
        self.agent_object().Cancel(dbus_interface="org.bluez.Agent1", ignore_reply=True)

    def do_connect(self, address):
        self.device(address).come()

    def do_leave(self, address):
        self.device(address).leave()

    def do_state(self, address, state):
        for item in self.device(address).parts():
            if isinstance(item, Transport):
                item.change(TRANSPORT, State=state)

    def do_volume(self, address, value):
        for item in self.device(address).parts():
            if isinstance(item, Transport):
                item.change(TRANSPORT, Volume=dbus.UInt16(int(value)))

    def do_player(self, address, status, *title):
        track = {"Title": " ".join(title), "Artist": "Somebody", "Duration": dbus.UInt32(181000)}
        for item in self.device(address).parts():
            if isinstance(item, Player):
                item.change(PLAYER, Status=status, Track=dbus.Dictionary(track, signature="sv"))

    def do_refuse_joining(self, value):
        self.refuses_joining = value == "yes"

    def do_ignore_control(self, value):
        self.ignores_control = value == "yes"

    def do_flood(self, count):
        """Strangers everywhere, with names that are too long."""
        for number in range(int(count)):
            address = "02:00:00:00:%02X:%02X" % (number >> 8, number & 255)
            self.do_device(address, "n\u0001" * 2000, paired=False)

    def end(self):
        agent = self.agent_object()
        if agent is not None:
            agent.Release(dbus_interface="org.bluez.Agent1", ignore_reply=True)
        for item in sorted(list(self.items.values()), key=lambda item: -len(item.path)):
            item.drop()


class BluezRoot(dbus.service.Object):
    def __init__(self, world):
        super().__init__(world.bus, "/org/bluez")
        self.world = world

    @dbus.service.method("org.bluez.AgentManager1", in_signature="os", sender_keyword="sender")
    def RegisterAgent(self, path, capability, sender):
        if self.world.agent:
            raise Refused("org.bluez.Error.AlreadyExists")
        self.world.agent = (sender, path)
        say("agent", capability)
        for item in self.world.items.values():
            if isinstance(item, Adapter):
                item.change(ADAPTER, Pairable=dbus.Boolean(True))

    @dbus.service.method("org.bluez.AgentManager1", in_signature="o")
    def RequestDefaultAgent(self, path):
        say("default-agent")

    @dbus.service.method("org.bluez.ProfileManager1", in_signature="osa{sv}")
    def RegisterProfile(self, path, uuid, options):
        say("profile", uuid, options["Role"])


# MARK: bluez-alsa


class Samples(Item):
    writer = None
    control = None
    frequency = None

    def accept(self, interface, name, value):
        self.change(interface, **{name: value})
        say(name.lower(), self.phone, value)

    @property
    def phone(self):
        return self.path.split("/")[4]

    @dbus.service.method(PCM, out_signature="hh")
    def Open(self):
        if self.writer is not None:
            raise Refused("org.freedesktop.DBus.Error.LimitsExceeded", "Device or resource busy")
        reader, self.writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        GLib.io_add_watch(self.control.fileno(), GLib.IO_IN | GLib.IO_HUP, self.controlled, self.control)
        answer = dbus.types.UnixFd(reader), dbus.types.UnixFd(theirs.fileno())
        os.close(reader)
        theirs.close()
        say("opened", self.phone)
        return answer

    def controlled(self, number, condition, control):
        try:
            command = control.recv(32)
        except ConnectionResetError:
            command = b""
        if command:
            control.send(b"OK")
            return True
        control.close()
        if control is self.control:
            self.shut()
            say("closed", self.phone)
        return False

    def shut(self):
        if self.writer is not None:
            os.close(self.writer)
        self.writer = self.control = None

    def feed(self, frequency):
        """Samples come in real time, whether somebody reads them or not."""
        self.frequency, self.begun, self.count = frequency, time.monotonic(), 0
        self.change(PCM, Running=dbus.Boolean(True))
        GLib.timeout_add(10, self.write)

    def write(self):
        if self.frequency is None:
            return False
        due = int((time.monotonic() - self.begun) * RATE)
        samples = array.array("h")
        while self.count < due:
            value = int(16000 * math.sin(2 * math.pi * self.frequency * self.count / RATE))
            samples.extend((value, value))
            self.count += 1
        if self.writer is not None:
            try:
                os.write(self.writer, samples.tobytes())
            except BlockingIOError:
                pass
            except BrokenPipeError:
                self.shut()
                say("closed", self.phone)
        return True

    def stop(self):
        self.frequency = None
        self.change(PCM, Running=dbus.Boolean(False))

    def drop(self):
        self.frequency = None
        self.shut()
        super().drop()


class Bluealsa(World):
    def __init__(self, address):
        super().__init__(address, "org.bluealsa", "/org/bluealsa")
        self.begin()

    def pcm(self, address, kind="a2dpsnk"):
        return self.items[f"/org/bluealsa/hci0/dev_{address.replace(':', '_')}/{kind}/source"]

    def do_pcm(self, address, encoding="0x8210", kind="a2dpsnk", transport="A2DP-sink"):
        device = f"hci0/dev_{address.replace(':', '_')}"
        Samples(self, f"/org/bluealsa/{device}/{kind}/source", {PCM: {
            "Device": dbus.ObjectPath(f"/org/bluez/{device}"), "Sequence": dbus.UInt32(0), "Transport": transport,
            "Mode": "source", "Running": dbus.Boolean(False), "Format": dbus.UInt16(int(encoding, 16)),
            "Channels": dbus.Byte(2), "Sampling": dbus.UInt32(RATE), "Codec": "SBC", "Delay": dbus.UInt16(0),
            "SoftVolume": dbus.Boolean(True), "Volume": dbus.UInt16(127 << 8 | 127)}})

    def do_call_pcm(self, address):
        self.do_pcm(address, kind="hfphf", transport="HFP-HF")

    def do_call(self, address, state):
        self.pcm(address, "hfphf").change(PCM, Running=dbus.Boolean(state == "begins"))

    def do_feed(self, address, frequency):
        self.pcm(address).feed(float(frequency))

    def do_stop(self, address):
        self.pcm(address).stop()

    def do_gone(self, address):
        self.pcm(address).drop()

    def end(self):
        for item in list(self.items.values()):
            item.drop()


def main():
    world = {"bluez": Bluez, "bluealsa": Bluealsa}[sys.argv[1]](sys.argv[2])
    pending = b""

    def read(number, condition):
        nonlocal pending
        try:
            data = os.read(0, 65536)
        except ConnectionResetError:
            data = b""
        if not data:
            loop.quit()
            return False
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            verb, *words = line.decode().split(" ")
            getattr(world, "do_" + verb.replace("-", "_"))(*words)
            say("done", verb)
        return True

    def ended():
        world.end()
        world.bus.flush()
        loop.quit()
        return False

    GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, read)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, ended)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    loop.run()


main()
