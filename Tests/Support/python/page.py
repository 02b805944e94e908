#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the page that a browser shows, by the DevTools protocol.

usage: page.py DEVTOOLS-URL STEP… [--in PART] [--shot FILE.png]

Takes the steps in their order: `do:SCRIPT` runs a script in the page, anything else is a text that the page is waited for to hold. Then
prints `shown` and all the page's text. What the page did wrong is printed as `fault …`. The page is the one whose address holds PART.
With --shot a picture of it is written. Needs Debian's python3-websockets.
"""

import argparse
import asyncio
import base64
import itertools
import json

import websockets

LIMIT = 30
# Fulfilled as soon as the page has changed so that it holds the text.
WAITING = """
new Promise((take) => {
    const look = () => {
        const text = document.body.innerText;
        if (text.includes(%s)) take(text);
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


def is_page(note, part):
    target = note.get("params", {}).get("targetInfo", {})
    return target.get("type") == "page" and part in target.get("url", "")


async def look(address, steps, part, shot):
    async with websockets.connect(address, max_size=16 << 20, ping_interval=None) as socket:
        browser = Browser(socket)
        await browser.call("Target.setDiscoverTargets", discover=True)

        page = None
        while page is None:
            # Told when it is there, and again when it has its URL.
            page = next((note["params"]["targetInfo"]["targetId"] for note in browser.notes if is_page(note, part)), None)
            if page is None:
                browser.take(json.loads(await socket.recv()))
        session = (await browser.call("Target.attachToTarget", targetId=page, flatten=True))["sessionId"]
        for domain in ("Log", "Runtime"):
            await browser.call(f"{domain}.enable", session)
        async def run(script):
            answer = await browser.call("Runtime.evaluate", session, expression=script, awaitPromise=True)
            if "exceptionDetails" in answer:
                print("fault", answer["exceptionDetails"].get("exception", {}).get("description"), flush=True)
            return answer["result"].get("value")

        for step in steps:
            print("step", step, flush=True)
            await run(step[3:] if step.startswith("do:") else WAITING % json.dumps(step))
        print("shown", await run("document.body.innerText"), flush=True)
        if shot:
            picture = await browser.call("Page.captureScreenshot", session, format="png")
            with open(shot, "wb") as file:
                file.write(base64.b64decode(picture["data"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("steps", nargs="*")
    parser.add_argument("--in", dest="part", default="/v1/applications/")
    parser.add_argument("--shot")
    arguments = parser.parse_args()
    asyncio.run(asyncio.wait_for(look(arguments.address, arguments.steps, arguments.part, arguments.shot), LIMIT))


main()
