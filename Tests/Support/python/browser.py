#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Stands for the browser of an application that is a page: loads the page, says hello, sends every message back.

usage: browser.py URL
"""

import asyncio
import json
import struct
import sys
import urllib.parse
import urllib.request

import websockets


async def main(url):
    page = urllib.request.urlopen(url, timeout=10).read()
    print("loaded", page.decode().strip(), flush=True)
    place = urllib.parse.urlsplit(url)
    async with websockets.connect(
            f"ws://{place.netloc}/v1/application?{place.query}", origin=f"http://{place.netloc}",
            max_size=2 << 20, ping_interval=None) as socket:
        await socket.send(json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "application.hello", "params": {"version": 1}}))
        number = 0
        async for message in socket:
            if isinstance(message, str):
                continue
            _, kind, name, channel, identifier = struct.unpack(">BBHIQ", message[:16])
            if kind == 1:
                number += 1
                await socket.send(struct.pack(">BBHIQ", 1, 2, 0, channel, identifier))
                await socket.send(struct.pack(">BBHIQ", 1, 1, 0, channel, number) + message[16 + name:])


asyncio.run(main(sys.argv[1]))
