#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A phone's media player, registered at BlueZ: what the receiver's remote control reaches. Also the phone's agent, which says yes to
all.

usage: player.py

Commands on standard input: play, pause. Each method that the other side calls is printed.
"""

import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PLAYER = "org.mpris.MediaPlayer2.Player"
PROPERTIES = "org.freedesktop.DBus.Properties"
AGENT = "org.bluez.Agent1"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()


def say(*words):
    print(*words, flush=True)


class Agent(dbus.service.Object):
    @dbus.service.method(AGENT, in_signature="ou")
    def RequestConfirmation(self, device, passkey):
        say("asked", int(passkey))

    @dbus.service.method(AGENT, in_signature="o")
    def RequestAuthorization(self, device):
        pass

    @dbus.service.method(AGENT, in_signature="os")
    def AuthorizeService(self, device, uuid):
        pass

    @dbus.service.method(AGENT)
    def Cancel(self):
        pass

    @dbus.service.method(AGENT)
    def Release(self):
        pass


class Player(dbus.service.Object):
    status = "Paused"

    def properties(self):
        metadata = {
            "mpris:trackid": dbus.ObjectPath("/track/1"), "mpris:length": dbus.Int64(180_000_000),
            "xesam:title": "Title 1", "xesam:artist": dbus.Array(["Artist 1"], signature="s")}
        return dbus.Dictionary({
            "PlaybackStatus": self.status, "LoopStatus": "None", "Shuffle": False, "Position": dbus.Int64(0),
            "Metadata": dbus.Dictionary(metadata, signature="sv"), "CanGoNext": True, "CanGoPrevious": True,
            "CanPlay": True, "CanPause": True, "CanControl": True, "Identity": "Phone"}, signature="sv")

    def become(self, status):
        self.status = status
        self.PropertiesChanged(
            PLAYER, dbus.Dictionary({"PlaybackStatus": status}, signature="sv"), dbus.Array([], signature="s"))

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return self.properties()

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.properties()[name]

    @dbus.service.method(PLAYER)
    def Play(self):
        say("called Play")
        self.become("Playing")

    @dbus.service.method(PLAYER)
    def Pause(self):
        say("called Pause")
        self.become("Paused")


def read(number, condition):
    line = sys.stdin.readline()
    if not line:
        return False
    player.become({"play": "Playing", "pause": "Paused"}[line.strip()])
    return True


player = Player(bus, "/player")
agent = Agent(bus, "/agent")
manager = dbus.Interface(bus.get_object("org.bluez", "/org/bluez"), "org.bluez.AgentManager1")
manager.RegisterAgent("/agent", "DisplayYesNo")
manager.RequestDefaultAgent("/agent")
dbus.Interface(bus.get_object("org.bluez", "/org/bluez/hci0"), "org.bluez.Media1").RegisterPlayer(
    "/player", player.properties())
say("registered")
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, read)
GLib.MainLoop().run()
