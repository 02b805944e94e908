#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A service on a private bus, by an implementation of D-Bus that is not GLib's.

usage: bus-service.py ADDRESS-OF-THE-BUS

Commands come as lines on standard input: `add PATH`, `change PATH VALUE`, `remove PATH`.
"""

import os
import sys
import traceback

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"
THING = "org.linnet.test.Thing"
TEST = "org.linnet.test"



def stumble(kind, error, trace):
    """A fault in a callback, such as that nobody listens any more, would otherwise leave the program running for ever."""
    if kind is not BrokenPipeError:
        traceback.print_exception(kind, error, trace)
    os._exit(1)


sys.excepthook = stumble
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
things = {}


class Thing(dbus.service.Object):
    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class Service(dbus.service.Object):
    @dbus.service.method(MANAGER, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return dbus.Dictionary(
            {dbus.ObjectPath(path): {THING: {"Value": value}} for path, value in things.items()},
            signature="oa{sa{sv}}")

    @dbus.service.signal(MANAGER, signature="oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass

    @dbus.service.signal(MANAGER, signature="oas")
    def InterfacesRemoved(self, path, interfaces):
        pass

    @dbus.service.method(TEST, in_signature="v", out_signature="v")
    def Echo(self, value):
        return value

    @dbus.service.method(TEST, in_signature="v", out_signature="s")
    def Kind(self, value):
        """How the value came over the wire."""
        return f"{type(value).__name__} {getattr(value, 'signature', '')}".strip()

    @dbus.service.method(TEST, async_callbacks=("answer", "refuse"))
    def Sleep(self, answer, refuse):
        """Never answers."""
        kept.append(answer)

    @dbus.service.method(TEST)
    def Refuse(self):
        error = dbus.DBusException("not today")
        error._dbus_error_name = "org.linnet.test.Refused"
        raise error

    @dbus.service.method(TEST, in_signature="s", out_signature="hh")
    def Pipes(self, text):
        """A pipe that holds the text and then ends, and one whose other end is watched here."""
        reader, writer = os.pipe()
        os.write(writer, text.encode())
        os.close(writer)
        other, watched = os.pipe()
        GLib.io_add_watch(watched, GLib.IO_ERR, lambda *_: print("closed", flush=True))
        ends = dbus.types.UnixFd(reader), dbus.types.UnixFd(other)
        os.close(reader)
        os.close(other)
        return ends

    @dbus.service.method(TEST, in_signature="u", out_signature="as")
    def Many(self, count):
        return dbus.Array(["x"] * count, signature="s")

    @dbus.service.method(TEST, in_signature="u", out_signature="v")
    def Deep(self, depth):
        value = dbus.String("bottom", variant_level=1)
        for _ in range(depth):
            value = dbus.Array([value], signature="v", variant_level=1)
        return value

    @dbus.service.method(TEST, in_signature="osv", out_signature="v", sender_keyword="sender",
                         async_callbacks=("answer", "refuse"))
    def CallBack(self, path, method, value, sender, answer, refuse):
        """Calls an object of the caller's."""
        target = bus.get_object(sender, path, introspect=False)
        target.get_dbus_method(method, "org.linnet.test.Callee")(
            value, reply_handler=lambda *values: answer(values[0] if values else ""),
            error_handler=lambda error: answer(error.get_dbus_name()))


def read(number, condition):
    try:
        data = os.read(0, 65536)
    except ConnectionResetError:
        data = b""
    if not data:
        loop.quit()
        return False
    for line in data.decode().split("\n"):
        verb, *words = line.split(" ")
        if verb == "add":
            things[words[0]] = words[1]
            objects[words[0]] = Thing(bus, words[0])
            service.InterfacesAdded(
                dbus.ObjectPath(words[0]), {THING: dbus.Dictionary({"Value": words[1]}, signature="sv")})
        elif verb == "change":
            things[words[0]] = words[1]
            objects[words[0]].PropertiesChanged(
                THING, dbus.Dictionary({"Value": words[1]}, signature="sv"), dbus.Array(["Other"], signature="s"))
        elif verb == "remove":
            del things[words[0]]
            objects.pop(words[0]).remove_from_connection()
            service.InterfacesRemoved(dbus.ObjectPath(words[0]), dbus.Array([THING], signature="s"))
    return True


kept = []
objects = {}
bus = dbus.bus.BusConnection(sys.argv[1])
service = Service(bus, "/")
name = dbus.service.BusName("org.linnet.test", bus, do_not_queue=True)
print("ready", flush=True)
GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, read)
loop.run()
