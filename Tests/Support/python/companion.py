#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts a session of a companion application as a sender that is not ours, and has it send messages back.

usage: companion.py HOST:PORT URL COUNT

The application must answer each message with the same. Prints `active`, then `echoed COUNT`, then `ended REASON CODE` when
the session is over. Needs Debian's python3-websockets.
"""

import asyncio
import json
import struct
import sys

import websockets

LIMIT = 20


class Sender:
    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.waiting = []  # messages that came while an answer was waited for

    async def call(self, method, **params):
        self.number += 1
        await self.socket.send(
            json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        while True:
            message = await self.socket.recv()
            if isinstance(message, str) and json.loads(message).get("id") == self.number:
                answer = json.loads(message)
                if "error" in answer:
                    raise SystemExit(f"refused {answer['error']}")
                return answer["result"]
            self.waiting.append(message)

    async def next(self):
        return self.waiting.pop(0) if self.waiting else await self.socket.recv()


def merge(value, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), part)
    return result


async def ended(sender, session):
    while True:
        message = await sender.next()
        note = json.loads(message) if isinstance(message, str) else {}
        if note.get("method") == "session.ended" and note["params"]["session"] == session:
            params = note["params"]
            print("ended", params["reason"], (params.get("application") or {}).get("code", ""), flush=True)
            for line in (params.get("application") or {}).get("log", []):
                print("log", line, flush=True)
            return


async def main(address, url, count):
    async with websockets.connect(f"ws://{address}/v1/route", max_size=2 << 20, ping_interval=None) as socket:
        sender = Sender(socket)
        await sender.call("route.activate", version=1, sender={"id": "companion", "name": "Companion"})
        result = await sender.call("session.start", url=url, mode="application")
        session, state = result["session"], result["state"]
        while (state["sessions"].get(session) or {}).get("phase") != "active":
            message = await sender.next()
            note = json.loads(message) if isinstance(message, str) else {}
            if note.get("method") == "session.ended":
                sender.waiting.insert(0, message)
                return await ended(sender, session)
            if note.get("method") == "state.changed":
                state = merge(state, note["params"]["patch"])
        channel = state["sessions"][session]["channel"]
        print("active", flush=True)
        for number in range(1, count + 1):
            payload = bytes((number * 7 + n) % 256 for n in range(number * 997 % 5000))
            await socket.send(struct.pack(">BBHIQ", 1, 1, 0, channel, number) + payload)
            acknowledged = echoed = False
            while not (acknowledged and echoed):
                message = await asyncio.wait_for(sender.next(), LIMIT)
                if isinstance(message, str):
                    continue
                _, kind, name, where, identifier = struct.unpack(">BBHIQ", message[:16])
                assert where == channel, f"channel {where}"
                if kind == 2:
                    assert identifier == number, f"acknowledged {identifier}"
                    acknowledged = True
                elif kind == 1:
                    assert message[16 + name:] == payload, "another payload"
                    echoed = True
                    await socket.send(struct.pack(">BBHIQ", 1, 2, 0, channel, identifier))
                else:
                    raise SystemExit(f"refused {message[16:]}")
        print("echoed", count, flush=True)
        await ended(sender, session)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
