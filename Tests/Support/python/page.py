#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the page that a browser shows, by the DevTools protocol.

usage: page.py DEVTOOLS-URL TEXT… [--shot FILE.png]

Waits until the page's text holds each TEXT, then prints `shown` and all of it. What the page did wrong is printed as `fault …`. With
--shot a picture of the page is written. Needs Debian's python3-websockets.
"""

import argparse
import asyncio
import base64
import itertools
import json

import websockets

LIMIT = 30
# Fulfilled as soon as the page has changed so that it holds all.
WAITING = """
new Promise((take) => {
    const look = () => {
        const text = document.body.innerText;
        if (%s.every((part) => text.includes(part))) take(text);
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
    look();
})
"""


class Browser:
    def __init__(self, socket):
        self.socket, self.numbers, self.notes = socket, itertools.count(1), []

    async def call(self, method, session=None, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(await self.socket.recv())
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.take(answer)

    def take(self, note):
        """Keeps it, and prints what the page did wrong."""
        self.notes.append(note)
        params = note.get("params", {})
        if note.get("method") == "Runtime.exceptionThrown":
            print("fault", params["exceptionDetails"].get("exception", {}).get("description"), flush=True)
        elif note.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            print("fault", params["entry"]["text"], params["entry"].get("url", ""), flush=True)


def is_page(note):
    target = note.get("params", {}).get("targetInfo", {})
    return target.get("type") == "page" and "/v1/applications/" in target.get("url", "")


async def look(address, texts, shot):
    async with websockets.connect(address, max_size=16 << 20, ping_interval=None) as socket:
        browser = Browser(socket)
        await browser.call("Target.setDiscoverTargets", discover=True)

        page = None
        while page is None:
            # Told when it is there, and again when it has its URL.
            page = next((note["params"]["targetInfo"]["targetId"] for note in browser.notes if is_page(note)), None)
            if page is None:
                browser.take(json.loads(await socket.recv()))
        session = (await browser.call("Target.attachToTarget", targetId=page, flatten=True))["sessionId"]
        for domain in ("Log", "Runtime"):
            await browser.call(f"{domain}.enable", session)
        answer = await browser.call(
            "Runtime.evaluate", session, expression=WAITING % json.dumps(texts), awaitPromise=True)
        print("shown", answer["result"].get("value"), flush=True)
        if shot:
            picture = await browser.call("Page.captureScreenshot", session, format="png")
            with open(shot, "wb") as file:
                file.write(base64.b64decode(picture["data"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("texts", nargs="*")
    parser.add_argument("--shot")
    arguments = parser.parse_args()
    asyncio.run(asyncio.wait_for(look(arguments.address, arguments.texts, arguments.shot), LIMIT))


main()
