#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A whole sender: finds a receiver, plays a URL, shows how far it is until it ends, and comes back when the connection is lost.

usage: sender.py URL [--at HOST:PORT] [--from SECONDS]

Needs Debian's python3-websockets, and avahi-utils to find receivers without --at. Docs/senders.md explains each step.
"""

import argparse
import asyncio
import itertools
import json
import subprocess
import time
import uuid

import websockets


def find():
    """The address of the first receiver in the network. `=` lines of avahi-browse have name, host, address, port and TXT."""
    command = ["avahi-browse", "--parsable", "--resolve", "--terminate", "_linnet._tcp"]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split(";")
        if fields[0] == "=" and fields[2] == "IPv4":
            return f"{fields[7]}:{fields[8]}"
    raise SystemExit("no receiver was found; name one with --at HOST:PORT")


def merge(target, patch):
    """RFC 7396: a null removes a member, objects are merged, anything else takes the place of what was there."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def seconds(value):
    return value["value"] / value["timescale"] if value and "timescale" in value else 0.0


class Refused(Exception):
    """An answer that is an error: a sentence for people."""


class Sender:
    def __init__(self, address):
        self.address = address
        # The same as long as this sender is the same one; a program that is installed keeps it in a file.
        self.identity = {"id": str(uuid.uuid4()), "name": "sender.py"}
        self.token = None  # with it a lost route is taken up again
        self.state, self.version, self.origin = {}, 0, 0
        self.session, self.end = None, None
        self.numbers, self.answers = itertools.count(1), {}
        self.socket = None

    async def ask(self, method, **params):
        number = next(self.numbers)
        answer = self.answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return await asyncio.wait_for(answer, 10)

    async def read(self):
        """Hands each answer to who waits for it, and keeps the state."""
        async for text in self.socket:
            if isinstance(text, bytes):
                continue  # data frames: not for this sender
            message = json.loads(text)
            if "id" in message:
                answer = self.answers.pop(message["id"])
                if "error" in message:
                    answer.set_exception(Refused(message["error"]["message"]))
                else:
                    self.learn(message["result"])
                    answer.set_result(message["result"])
            elif message["method"] == "state.changed":
                step = message["params"]
                if step["base"] == self.version:
                    self.state, self.version = merge(self.state, step["patch"]), step["version"]
                else:
                    asyncio.ensure_future(self.ask("state.get"))
            elif message["method"] == "session.ended" and message["params"]["session"] == self.session:
                self.end = message["params"]

    def learn(self, result):
        """A whole state comes with some answers, a session with one: it may end in the very next message."""
        if "state" in result:
            self.state, self.version = result["state"], result["version"]
        self.session = result.get("session", self.session)

    def position(self):
        """Where the session is heard now: told once a second, the rest is arithmetic with the receiver's clock."""
        position = self.state["sessions"][self.session]["position"]
        passed = time.monotonic() + self.origin - position["clockTime"] / 1e9
        return seconds(position["position"]) + position["rate"] * passed

    async def activate(self):
        resume = {"resume": self.token} if self.token else {}
        route = await self.ask("route.activate", version=1, sender=self.identity, **resume)
        self.token = route["resumeToken"]
        asked = time.monotonic()
        clock = await self.ask("clock.ping")
        self.origin = clock["received"] / 1e9 - (asked + time.monotonic()) / 2

    async def follow(self):
        while self.end is None:
            session = self.state.get("sessions", {}).get(self.session)
            if session:
                metadata, length = session.get("metadata", {}), seconds(session.get("timeRange", {}).get("duration"))
                title = metadata.get("title") or "untitled"
                print(f"{title}  {self.position():.1f} of {length:.1f} s", flush=True)
            await asyncio.sleep(0.5)

    async def play(self, url, start):
        while self.end is None:
            try:
                async with websockets.connect(f"ws://{self.address}/v1/route", max_size=1 << 20) as self.socket:
                    reader = asyncio.ensure_future(self.read())
                    await self.activate()
                    if self.session is None:
                        place = {"value": int(start * 1000), "timescale": 1000}
                        await self.ask("session.start", url=url, mode="player", startPosition=place)
                    elif self.session not in self.state["sessions"]:
                        raise Refused("it ended while the connection was lost")
                    shown = asyncio.ensure_future(self.follow())
                    # The reader ends with the connection, the other one with the session.
                    await asyncio.wait([reader, shown], return_when=asyncio.FIRST_COMPLETED)
                    shown.cancel()
                    if reader.done():
                        await reader  # it has the reason
                        raise ConnectionError
                    await self.ask("route.deactivate")
            except (OSError, asyncio.TimeoutError, websockets.WebSocketException):
                print("the connection is lost, and tried again", flush=True)
                await asyncio.sleep(1)
        failure = self.end.get("error") or {}
        print(f"ended: {self.end['reason']} {failure.get('message', '')}".strip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--at")
    parser.add_argument("--from", dest="start", type=float, default=0)
    arguments = parser.parse_args()
    try:
        asyncio.run(Sender(arguments.at or find()).play(arguments.url, arguments.start))
    except Refused as refusal:
        raise SystemExit(f"sender.py: {refusal}")
    except KeyboardInterrupt:
        # What plays goes on: only the connection is closed.
        raise SystemExit(130)


main()
