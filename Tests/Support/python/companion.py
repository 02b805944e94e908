#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts a session of a companion application as a sender that is not ours, and has it send messages back.

usage: companion.py HOST:PORT URL COUNT

The application must answer each message with the same. Prints `active`, then `echoed COUNT`, then `ended REASON CODE` when the session is
over, and `log LINE` for each line that the application said last. Half of the messages go over a second connection, on which the route is
resumed. All that arrives is held against the protocol's OpenRPC document: `fault …`. Needs Debian's python3-websockets.
"""

import asyncio
import pathlib
import struct
import sys

from client import Client
from openrpc import Document

DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "Docs/protocols/route.openrpc.json"
MESSAGE, ACKNOWLEDGED = 1, 2
LIMIT = 20


def payload(number):
    return bytes((number * 7 + n) % 256 for n in range(number * 997 % 5000))


class Companion:
    def __init__(self, address):
        self.address, self.document = address, Document(DOCUMENT)
        self.client = None
        self.token = None
        self.session = self.channel = None
        self.faults = []

    async def connect(self):
        self.client = await Client.connect(self.document, self.address)
        resume = {"resume": self.token} if self.token else {}
        result = await self.client.call(
            "route.activate", version=1, sender={"id": "companion", "name": "Companion"}, **resume)
        assert result["resumed"] == bool(self.token), result
        self.token = result["resumeToken"]

    async def reconnect(self):
        self.faults += self.client.faults
        await self.client.close()
        await self.connect()

    def end(self):
        """What the session ended with; None while it lasts."""
        return next((params for method, params in self.client.notes
                     if method == "session.ended" and params["session"] == self.session), None)

    def phase(self):
        return (self.client.session(self.session) or {}).get("phase")

    async def open(self, url):
        """True when the application has the session; False when that came to nothing."""
        self.session = (await self.client.call("session.start", url=url, mode="application"))["session"]
        await self.client.until(lambda: self.end() or self.phase() == "active", "the application", LIMIT)
        if self.end():
            return False
        self.channel = self.client.session(self.session)["channel"]
        return True

    async def send(self, kind, number, contents=b""):
        await self.client.send_raw(struct.pack(">BBHIQ", 1, kind, 0, self.channel, number) + contents)

    async def echo(self, number):
        """Sends a message, and takes its acknowledgement and the same from the application, in any order."""
        await self.send(MESSAGE, number, payload(number))
        for _ in range(2):
            frame = await self.client.until(
                lambda: self.client.frames and self.client.frames.pop(0), f"an answer to {number}", LIMIT)
            version, kind, name, channel, identifier = struct.unpack(">BBHIQ", frame[:16])
            assert (version, name, channel, identifier) == (1, 0, self.channel, number), frame[:16]
            if kind == MESSAGE:
                assert frame[16:] == payload(number), f"{number} came back as another"
                await self.send(ACKNOWLEDGED, number)
            else:
                assert kind == ACKNOWLEDGED and len(frame) == 16, f"refused: {frame[16:]}"

    async def finish(self):
        end = await self.client.until(self.end, "the end", 60)
        failure = end.get("application") or {}
        print("ended", end["reason"], failure.get("code", ""), flush=True)
        for line in failure.get("log", []):
            print("log", line, flush=True)


async def main(address, url, count):
    companion = Companion(address)
    await companion.connect()
    if await companion.open(url):
        print("active", flush=True)
        for number in range(1, count + 1):
            if number == count // 2 + 1 and count > 1:
                await companion.reconnect()
            await companion.echo(number)
        print("echoed", count, flush=True)
    await companion.finish()
    await companion.client.close()
    for fault in companion.faults + companion.client.faults:
        print("fault", fault, flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
