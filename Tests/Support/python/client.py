# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""A client of the route protocol that knows only the protocol page and its OpenRPC document."""

import asyncio
import json

import websockets

import openrpc

LIMIT = 10  # seconds that any one answer may take


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')} {error.get('message')}")
        self.error = error
        self.code = error.get("code")
        self.reason = (error.get("data") or {}).get("reason")


class Client:
    """One connection. Everything that arrives is held against the document; what is wrong ends up in `faults`."""

    def __init__(self, document, socket):
        self.document = document
        self.socket = socket
        self.faults = []
        self.state = None
        self.version = None
        self.changes = []  # (params of state.changed, the state after it)
        self.notes = []  # other notifications: (method, params)
        self.frames = []  # binary frames
        self.strays = []  # responses with an id that nobody waits for
        self.answers = {}
        self.number = 0
        self.news = asyncio.Condition()
        self.reader = asyncio.create_task(self.read())

    @classmethod
    async def connect(cls, document, address):
        socket = await websockets.connect(
            f"ws://{address}/v1/route", open_timeout=LIMIT, max_size=2 << 20, ping_interval=None)
        return cls(document, socket)

    async def read(self):
        try:
            async for message in self.socket:
                if isinstance(message, bytes):
                    self.frames.append(message)
                else:
                    text = json.loads(message)
                    for item in text if isinstance(text, list) else [text]:
                        self.take(item)
                await self.tell()
        except websockets.ConnectionClosed:
            pass
        finally:
            for answer in self.answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the connection was closed"))
            await self.tell()

    async def tell(self):
        async with self.news:
            self.news.notify_all()

    def take(self, message):
        if message.get("jsonrpc") != "2.0":
            self.faults.append(f"not JSON-RPC 2.0: {message}")
        if "method" in message:
            self.take_notification(message["method"], message.get("params", {}))
        elif message.get("id") in self.answers:
            # At once, not when its caller goes on: the next message may be a step from this state.
            self.take_state(message.get("result"))
            self.answers.pop(message["id"]).set_result(message)
        else:
            self.strays.append(message)

    def take_notification(self, method, params):
        self.faults += self.document.notification_faults(method, params)
        if method != "state.changed":
            self.notes.append((method, params))
            return
        if self.version is not None and params["base"] != self.version:
            self.faults.append(f"a step from {params['base']} while the state is at {self.version}")
        self.adopt(params["version"], openrpc.merge(self.state, params["patch"]))
        self.changes.append((params, self.state))

    def take_state(self, result):
        if isinstance(result, dict) and "state" in result and "version" in result:
            # A push may have overtaken the answer; the newer one counts.
            if self.version is None or result["version"] >= self.version:
                self.adopt(result["version"], result["state"])

    def adopt(self, version, state):
        if self.version is not None and version < self.version:
            self.faults.append(f"the version went back from {self.version} to {version}")
        self.version, self.state = version, state
        self.faults += self.document.faults(state, self.document.schema("State"), f"state {version}")

    # Asking

    async def call(self, method, **params):
        self.number += 1
        number = self.number
        self.answers[number] = asyncio.get_running_loop().create_future()
        answer = self.answers[number]
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        message = await asyncio.wait_for(answer, LIMIT)
        if "error" in message:
            self.faults += self.document.error_faults(message["error"])
            raise Refused(message["error"])
        result = message.get("result")
        if method in self.document.methods:
            self.faults += self.document.result_faults(method, result)
        return result

    async def send_raw(self, data):
        await self.socket.send(data)

    async def until(self, holds, what, limit=LIMIT):
        """Waits until `holds()` and returns what it returned."""
        async def wait():
            async with self.news:
                while True:
                    value = holds()
                    if value:
                        return value
                    if self.reader.done():
                        raise ConnectionError(f"closed with {self.socket.close_code} while waiting for {what}")
                    await self.news.wait()
        try:
            return await asyncio.wait_for(wait(), limit)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{what} did not come within {limit} s") from None

    async def closed(self, limit=LIMIT):
        """Waits for the other side to close and returns its code."""
        await asyncio.wait_for(asyncio.shield(self.reader), limit)
        return self.socket.close_code

    def session(self, identifier):
        return (self.state or {}).get("sessions", {}).get(identifier)

    async def close(self):
        await self.socket.close()
        await self.reader

    async def vanish(self):
        """Goes as a phone goes that lost its network: without a word."""
        self.socket.transport.abort()
        await asyncio.wait_for(asyncio.shield(self.reader), LIMIT)
