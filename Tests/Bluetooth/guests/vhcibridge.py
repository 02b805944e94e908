#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes a Bluetooth controller out of a stream of bytes, such as a port whose other end is the emulator on the host.

usage: vhcibridge.py PORT

The kernel takes and gives one H4 packet with each call; the stream is cut by the lengths in the packets.
"""

import os
import select
import sys

# Kind of packet → bytes of its head, and the length of what follows.
HEADS = {
    1: (3, lambda head: head[2]),
    2: (4, lambda head: head[2] | head[3] << 8),
    3: (3, lambda head: head[2]),
    4: (2, lambda head: head[1]),
    5: (4, lambda head: (head[2] | head[3] << 8) & 0x3FFF),
}
VENDOR = 0xFF


def packets(buffer):
    while buffer:
        if buffer[0] not in HEADS:
            raise SystemExit(f"vhcibridge: out of step at kind {buffer[0]:#x}")
        size, length = HEADS[buffer[0]]
        if len(buffer) < 1 + size:
            return
        total = 1 + size + length(buffer[1:1 + size])
        if len(buffer) < total:
            return
        yield bytes(buffer[:total])
        del buffer[:total]


def write_all(number, data):
    while data:
        try:
            data = data[os.write(number, data):]
        except BlockingIOError:
            select.select([], [number], [])


def main():
    port = os.open(sys.argv[1], os.O_RDWR)
    vhci = os.open("/dev/vhci", os.O_RDWR)
    os.write(vhci, bytes([VENDOR, 0]))  # a primary controller
    buffer = bytearray()
    while True:
        for number in select.select([port, vhci], [], [])[0]:
            data = os.read(number, 4096)
            if number == vhci:
                if data and data[0] != VENDOR:
                    write_all(port, data)
            elif not data:
                raise SystemExit("vhcibridge: the port was closed")
            else:
                buffer += data
                for packet in packets(buffer):
                    os.write(vhci, packet)


main()
