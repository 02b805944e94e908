#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Talks to a running receiver as somebody would who has only the protocol page.

usage: converse.py HOST:PORT URL [--document FILE]

URL is media of at least 30 seconds that the receiver can fetch and seek in. Needs Debian's python3-websockets.
Prints one line for each step; exits with 1 when one failed.
"""

import argparse
import asyncio
import json
import pathlib
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import websockets

from client import Client, Refused
from openrpc import Document

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def seconds(moment):
    return moment["value"] / moment["timescale"]


def moment(value):
    return {"value": round(value * 1000), "timescale": 1000}


class Talk:
    def __init__(self, address, url, document):
        self.address, self.url, self.document = address, url, document
        self.sender = {"id": str(uuid.uuid4()), "name": "Conversation"}
        self.clients = []
        self.owner = self.observer = self.session = self.route = self.token = None

    async def connect(self):
        client = await Client.connect(self.document, self.address)
        self.clients.append(client)
        return client

    async def refused(self, client, reason, method, **params):
        """The call must be refused for that reason; returns the error."""
        try:
            result = await client.call(method, **params)
        except Refused as refusal:
            check(refusal.reason == reason, f"{method} was refused with {refusal.error}, not {reason}")
            return refusal.error
        raise AssertionError(f"{method} {params} was answered with {result}, not refused with {reason}")

    async def fetch(self, path, headers=None):
        """GET; returns status and body."""
        def get():
            request = urllib.request.Request(f"http://{self.address}{path}", headers=headers or {})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.read()
        return await asyncio.get_running_loop().run_in_executor(None, get)

    def mine(self):
        return self.owner.session(self.session)


# Before a route

@step
async def the_receiver_says_who_it_is(talk):
    status, body = await talk.fetch("/v1/receiver")
    facts = json.loads(body)
    check(status == 200, f"status {status}")
    check(facts["protocol"] == "media-device-protocol.org.linnet.route", facts)
    check(1 in facts["versions"] and "url" in facts["capabilities"] and facts["access"] == "open", facts)
    uuid.UUID(facts["id"])
    check(facts["ports"]["http"] == int(talk.address.rpartition(":")[2]), "another port than the one in use")
    check((await talk.fetch("/healthz"))[0] == 200, "/healthz is not well")
    status, body = await talk.fetch("/metrics")
    check(status == 200 and body.rstrip().endswith(b"# EOF"), "/metrics is not OpenMetrics")
    check((await talk.fetch("/nothing"))[0] == 404, "an unknown path is found")


@step
async def web_pages_of_strangers_are_turned_away(talk):
    status, _ = await talk.fetch("/v1/receiver", {"Origin": "https://evil.example"})
    check(status == 403, f"foreign origin: {status}")
    status, _ = await talk.fetch("/v1/receiver", {"Host": "evil.example"})
    check(status == 421, f"unknown host: {status}")
    try:
        await websockets.connect(f"ws://{talk.address}/v1/route", origin="https://evil.example", open_timeout=10)
    except websockets.InvalidStatusCode as error:
        check(error.status_code == 403, f"WebSocket of a foreign origin: {error.status_code}")
    else:
        raise AssertionError("a foreign origin opened a WebSocket")


@step
async def an_observer_needs_no_route(talk):
    talk.observer = await talk.connect()
    snapshot = await talk.observer.call("state.subscribe")
    again = await talk.observer.call("state.get")
    check(again["version"] >= snapshot["version"], "the version went back")
    before = time.monotonic_ns()
    pong = await talk.observer.call("clock.ping")
    check(pong["received"] <= pong["sent"], "the answer left before the request came")
    check(pong["sent"] - pong["received"] < time.monotonic_ns() - before, "it took longer inside than outside")
    check(pong["id"] == talk.observer.state["clock"]["id"], "the clock has two names")
    await talk.refused(talk.observer, "routeRequired", "session.start", url=talk.url, mode="player")


@step
async def a_version_that_nobody_speaks_is_refused(talk):
    client = await talk.connect()
    error = await talk.refused(client, "versionUnsupported", "route.activate", version=99, sender=talk.sender)
    check(error["data"].get("supported") == [1], error)
    await client.close()


# A route and a session

@step
async def a_route_is_activated_at_once(talk):
    talk.owner = await talk.connect()
    begun = time.monotonic()
    answer = await talk.owner.call("route.activate", version=1, sender=talk.sender, capabilities=["url"])
    check(time.monotonic() - begun < 0.5, "activation took half a second")
    talk.route, talk.token = answer["route"], answer["resumeToken"]
    check(not answer["resumed"] and answer.get("authorization") is None, answer)
    await talk.observer.until(lambda: talk.route in talk.observer.state["routes"], "the route at the observer")
    check(talk.observer.state["routes"][talk.route]["sender"]["name"] == "Conversation", "the sender's name")


@step
async def the_url_plays(talk):
    begun = time.monotonic()
    answer = await talk.owner.call("session.start", url=talk.url, mode="player", metadata={"title": "Converse"})
    check(time.monotonic() - begun < 0.5, "the start waited for the media")
    talk.session = answer["session"]
    await talk.owner.until(
        lambda: talk.mine() and talk.mine()["isReady"] and talk.mine()["position"]["rate"] == 1, "playing")
    check(talk.owner.state["player"]["session"] == talk.session, "the player is somebody else's")
    check(talk.mine()["phase"] == "active" and talk.mine()["isPlaying"], talk.mine())
    check(talk.mine()["metadata"].get("title") == "Converse", "the sender's title")
    check(seconds(talk.mine()["timeRange"]["duration"]) >= 30, "the media is too short for this test")
    await talk.observer.until(lambda: talk.observer.session(talk.session), "the session at the observer")


@step
async def the_position_beats_once_a_second(talk):
    def beats():
        return [
            state["sessions"][talk.session]["position"] for params, state in talk.owner.changes
            if "position" in params["patch"].get("sessions", {}).get(talk.session, {})]
    before = len(beats())
    begun = time.monotonic()
    await talk.owner.until(lambda: len(beats()) >= before + 3, "three positions", 5)
    check(time.monotonic() - begun > 1.5, "the position is pushed more often than it should")
    first, last = beats()[-3], beats()[-1]
    moved = seconds(last["position"]) - seconds(first["position"])
    passed = (last["clockTime"] - first["clockTime"]) * 1e-9
    check(abs(moved - passed) < 0.05, f"in {passed:.3f} s the position moved by {moved:.3f} s")


# Control

@step
async def pause_and_resume(talk):
    result = await talk.owner.call("playback.setPlaying", session=talk.session, playing=False)
    check(result["outcome"] == "accepted", result)
    await talk.owner.until(lambda: not talk.mine()["isPlaying"] and talk.mine()["position"]["rate"] == 0, "the pause")
    # The session may be left out: then the one that plays is meant. Another sender with a route may control it, too.
    await talk.refused(talk.observer, "routeRequired", "playback.setPlaying", playing=True)
    remote = await talk.connect()
    await remote.call("route.activate", version=1, sender={"id": str(uuid.uuid4()), "name": "Remote"})
    await remote.call("playback.setPlaying", playing=True)
    await talk.owner.until(lambda: talk.mine()["isPlaying"] and talk.mine()["position"]["rate"] == 1, "going on")
    await remote.call("route.deactivate")
    await remote.close()


@step
async def seek(talk):
    await talk.owner.call("playback.seek", session=talk.session, position=moment(20))
    await talk.owner.until(
        lambda: 20 <= seconds(talk.mine()["position"]["position"]) < 24 and not talk.mine()["isBuffering"],
        "the new position")
    result = await talk.owner.call("playback.seek", session=talk.session, position=moment(-5))
    check(result["outcome"] == "clamped" and seconds(result["value"]) == 0, result)
    await talk.owner.until(lambda: seconds(talk.mine()["position"]["position"]) < 3, "the start")


@step
async def speed_is_clamped(talk):
    result = await talk.owner.call("playback.setSpeed", session=talk.session, speed=9)
    check(result == {"outcome": "clamped", "value": 4}, result)
    await talk.owner.until(lambda: talk.mine()["speed"] == 4, "the speed")
    result = await talk.owner.call("playback.setSpeed", session=talk.session, speed=1)
    check(result["outcome"] == "accepted", result)
    await talk.owner.until(lambda: talk.mine()["speed"] == 1 and talk.mine()["position"]["rate"] == 1, "speed 1")


@step
async def a_change_names_who_made_it(talk):
    await talk.owner.call("playback.setVolume", session=talk.session, volume=0.5)
    await talk.observer.until(lambda: talk.observer.session(talk.session)["volume"] == 0.5, "the volume")
    change = next(
        params for params, _ in talk.observer.changes
        if params["patch"].get("sessions", {}).get(talk.session, {}).get("volume") == 0.5)
    origin = change["origin"]
    check(origin["kind"] == "several" or origin == {"kind": "sender", "route": talk.route, "name": "Conversation"},
          origin)
    await talk.owner.call("playback.setVolume", session=talk.session, volume=1)


@step
async def the_volume_of_the_device(talk):
    device = talk.owner.state["device"]
    volume, muted = device["volume"], device["muted"]
    await talk.owner.call("device.setVolume", volume=0.25)
    await talk.observer.until(lambda: abs(talk.observer.state["device"]["volume"] - 0.25) < 0.02, "the volume")
    result = await talk.owner.call("device.changeVolume", steps=1)
    check(abs(result["value"] - 0.3125) < 0.02, result)
    result = await talk.owner.call("device.setMuted", muted="toggle")
    check(result["value"] is (not muted), result)
    await talk.owner.call("device.setMuted", muted=muted)
    await talk.owner.call("device.setVolume", volume=volume)


@step
async def a_queue_is_edited_by_names(talk):
    def queue():
        return talk.observer.session(talk.session)["queue"]
    current = queue()["current"]
    item = {"url": talk.url, "metadata": {"title": "One"}, "identifier": "mine"}
    one, two = (await talk.owner.call("queue.insert", items=[item, {"url": talk.url}]))["value"]
    await talk.observer.until(lambda: queue()["order"] == [current, one, two], "the items")
    check(queue()["items"][one]["title"] == "One" and queue()["items"][one]["identifier"] == "mine", queue())
    await talk.owner.call("queue.move", item=two, place={"after": current})
    await talk.observer.until(lambda: queue()["order"] == [current, two, one], "the new order")
    await talk.refused(talk.owner, "itemUnknown", "queue.jump", item="nobody")
    await talk.owner.call("queue.setRepeat", repeat="all")
    await talk.owner.call("queue.next", **{"from": one})
    await talk.owner.call("queue.remove", items=[two, two, "nobody"])
    await talk.observer.until(lambda: queue()["order"] == [current, one], "the removal")
    await talk.owner.call("queue.clear")
    await talk.owner.call("queue.setRepeat", repeat="off")
    await talk.observer.until(lambda: queue()["order"] == [current] and queue()["repeat"] == "off", "the end")
    check(queue()["current"] == current, "another item is current")


@step
async def what_cannot_be_is_refused(talk):
    owner, session = talk.owner, talk.session
    await talk.refused(owner, "trackUnknown", "playback.selectTrack", session=session, kind="audio", option="no")
    await talk.refused(owner, "sessionUnknown", "playback.seek", session="no-such-session", position=moment(1))
    await talk.refused(owner, "invalidURL", "session.start", url="http://", mode="player")
    await talk.refused(owner, "unsupportedScheme", "session.start", url="gopher://example.org/", mode="player")
    await talk.refused(
        owner, "applicationUnknown", "session.start", url=talk.url, mode="application", application="org.example.no")
    check(talk.mine() and talk.mine()["isPlaying"], "a refused start disturbed the session")


# Nonsense

@step
async def nonsense_is_answered_and_disturbs_nothing(talk):
    codes = talk.document.codes
    deep = '{"jsonrpc":"2.0","id":1,"method":"state.get","params":' + '{"a":' * 60 + "1" + "}" * 60 + "}"
    request = {"jsonrpc": "2.0", "id": "x"}
    cases = [
        ("", "parseError"), ("{", "parseError"), ("nonsense", "parseError"), ('{"id":NaN}', "parseError"),
        (deep, "parseError"), ("[]", "invalidRequest"), ("7", "invalidRequest"), ("null", "invalidRequest"),
        ('{"jsonrpc":"1.0","id":"x","method":"state.get"}', "invalidRequest"),
        (json.dumps({**request, "method": 5}), "invalidRequest"),
        (json.dumps({**request, "method": "no.such"}), "methodNotFound"),
        (json.dumps({**request, "method": "session.start", "params": {"url": 5, "mode": "player"}}), "invalidParams"),
        (json.dumps({**request, "method": "playback.setPlaying", "params": {"playing": "yes"}}), "invalidParams"),
        (json.dumps({**request, "method": "playback.seek", "params": {"position": {"value": 1, "timescale": 0}}}),
         "invalidParams"),
        ('{"jsonrpc":"2.0","id":"x","method":"playback.setSpeed","params":{"speed":1e999}}', ("parseError", "invalidParams")),
    ]
    client = await talk.connect()
    await client.call("route.activate", version=1, sender={"id": str(uuid.uuid4()), "name": "Nonsense"})
    for text, reasons in cases:
        count = len(client.strays)
        await client.send_raw(text)
        await client.until(lambda: len(client.strays) > count, f"an answer to {text[:60]!r}")
        error = client.strays[-1].get("error") or {}
        reasons = (reasons,) if isinstance(reasons, str) else reasons
        expected = [codes[reason] for reason in reasons]
        check(error.get("code") in expected, f"{text[:60]!r} was answered with {client.strays[-1]}, not {reasons}")
        if "invalidParams" in reasons and error["code"] == codes["invalidParams"]:
            check(error["data"].get("path"), f"no path in {error}")
        # Who sends nothing but nonsense is cut off.
        await client.call("clock.ping")
    # A batch is answered one by one; the order of its answers is free.
    count = len(client.strays)
    await client.send_raw(json.dumps([
        {**request, "id": 1001, "method": "clock.ping"}, 5, {**request, "id": 1002, "method": "no.such"}]))
    await client.until(lambda: len(client.strays) >= count + 3, "three answers to a batch")
    await client.call("clock.ping")
    await client.call("route.deactivate")
    await client.close()


@step
async def frames_that_are_too_large_or_no_text_close_only_their_connection(talk):
    client = await talk.connect()
    await client.send_raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 70_000}))
    code = await client.closed()
    check(code in (1009, 1006), f"closed with {code}")
    client = await talk.connect()
    # A text frame (FIN, opcode 1) of two bytes that are not UTF-8, masked with zeros.
    client.socket.transport.write(bytes([0x81, 0x82, 0, 0, 0, 0, 0xC3, 0x28]))
    code = await client.closed()
    check(code in (1007, 1002, 1006), f"closed with {code}")
    await talk.owner.call("clock.ping")


# Data

def frame(kind, channel, number, endpoint=b"", payload=b""):
    return struct.pack(">BBHIQ", 1, kind, len(endpoint), channel, number) + endpoint + payload


@step
async def messages_are_echoed_and_acknowledged(talk):
    client = talk.owner
    await client.send_raw(frame(1, 0, 1, b"org.linnet.echo", b"\x00hello\xff"))
    await client.until(lambda: len(client.frames) >= 2, "an echo and an acknowledgement")
    kinds = {data[1]: data for data in client.frames[:2]}
    check(set(kinds) == {1, 2}, f"frames of kinds {sorted(kinds)}")
    check(struct.unpack(">Q", kinds[2][8:16])[0] == 1, "the acknowledgement names another message")
    length = struct.unpack(">H", kinds[1][2:4])[0]
    check(kinds[1][16 + length:] == b"\x00hello\xff", "the echo is not what was said")
    await client.send_raw(frame(2, 0, struct.unpack(">Q", kinds[1][8:16])[0]))
    await client.send_raw(frame(1, 0, 2, b"org.example.nobody", b""))
    await client.until(lambda: len(client.frames) >= 3, "a refusal")
    refusal = client.frames[2]
    check(refusal[1] == 3 and json.loads(refusal[16:])["reason"] == "endpointUnknown", refusal)
    await talk.observer.send_raw(frame(1, 0, 1, b"org.linnet.echo", b""))
    await talk.observer.until(lambda: talk.observer.frames, "a refusal without a route")
    check(json.loads(talk.observer.frames[0][16:])["reason"] == "routeRequired", talk.observer.frames[0])


# Leaving

@step
async def a_lost_connection_is_resumed(talk):
    await talk.owner.vanish()
    await talk.observer.until(
        lambda: talk.observer.state["routes"].get(talk.route, {}).get("attached") is False, "the loss", 20)
    check(talk.observer.session(talk.session)["isPlaying"], "the session stopped with the connection")
    talk.owner = await talk.connect()
    answer = await talk.owner.call("route.activate", version=1, sender=talk.sender, resume=talk.token)
    check(answer["resumed"] and answer["route"] == talk.route, answer)
    talk.token = answer["resumeToken"]
    check(talk.mine(), "the session is not the same")
    stranger = await talk.connect()
    await talk.refused(
        stranger, "routeUnknown", "route.activate", version=1, sender=talk.sender, resume="no-such-token")
    await stranger.close()


@step
async def a_second_connection_takes_the_route_over(talk):
    old, talk.owner = talk.owner, await talk.connect()
    answer = await talk.owner.call("route.activate", version=1, sender=talk.sender, resume=talk.token)
    check(answer["resumed"] and answer["route"] == talk.route, answer)
    talk.token = answer["resumeToken"]
    code = await old.closed()
    check(code == 4000, f"the old connection was closed with {code}")


@step
async def a_stop_is_always_answered(talk):
    result = await talk.owner.call("session.stop", session=talk.session)
    check(result["outcome"] == "accepted", result)
    ended = await talk.owner.until(
        lambda: [params for method, params in talk.owner.notes if method == "session.ended"], "the end")
    check(ended[0]["session"] == talk.session and ended[0]["reason"] == "stopped", ended)
    await talk.owner.until(lambda: talk.mine() is None, "the state without the session")
    result = await talk.owner.call("session.stop", session=talk.session)
    check(result["outcome"] == "accepted", f"a second stop: {result}")
    await talk.refused(talk.owner, "noSession", "playback.setPlaying", playing=True)


@step
async def media_that_is_not_there_fails_with_a_reason(talk):
    missing = urllib.parse.urljoin(talk.url, "/no-such-file-here.flac")
    answer = await talk.owner.call("session.start", url=missing, mode="player")
    check(answer["session"] != talk.session, "a session's id was used again")

    def ends():
        return [params for method, params in talk.owner.notes
                if method == "session.ended" and params["session"] == answer["session"]]
    ended = await talk.owner.until(ends, "the failure", 20)
    check(ended[0]["reason"] == "failed" and ended[0].get("error"), ended)


@step
async def a_route_is_deactivated(talk):
    result = await talk.owner.call("route.deactivate")
    check(result["outcome"] == "accepted", result)
    await talk.observer.until(lambda: talk.route not in talk.observer.state["routes"], "the state without the route")
    await talk.refused(talk.owner, "routeRequired", "session.start", url=talk.url, mode="player")
    await talk.observer.call("state.unsubscribe")


async def converse(talk):
    failures = 0
    for function in STEPS:
        name = function.__name__.replace("_", " ")
        begun = time.monotonic()
        try:
            await function(talk)
            faults = [fault for client in talk.clients for fault in client.faults]
            for client in talk.clients:
                client.faults.clear()
            check(not faults, "not as the document says: " + "; ".join(faults[:5]))
            print(f"ok    {name} ({(time.monotonic() - begun) * 1e3:.0f} ms)", flush=True)
        except Exception as error:  # whatever went wrong, the report goes on
            failures += 1
            print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)
    for client in talk.clients:
        try:
            await asyncio.wait_for(client.close(), 5)
        except (asyncio.TimeoutError, websockets.WebSocketException, OSError):
            pass
    print(f"{len(STEPS) - failures} of {len(STEPS)} steps went well")
    return 1 if failures else 0


def main():
    root = pathlib.Path(__file__).resolve().parents[3]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("url")
    parser.add_argument("--document", default=root / "Docs/protocols/route.openrpc.json")
    options = parser.parse_args()
    document = Document(options.document)
    return asyncio.run(converse(Talk(options.address, options.url, document)))


if __name__ == "__main__":
    sys.exit(main())
