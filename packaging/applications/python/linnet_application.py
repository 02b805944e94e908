# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Companion applications of a Linnet receiver, in Python: one file, nothing but the standard library.

    from linnet_application import Application

    class Echo(Application):
        async def message(self, session, payload):
            await session.post(payload)

    Echo().run()

Override what you need of `Application`: `opened`, `message`, `closed`, `attached`, `media_ended`, `state_changed`, `ending`. A handler of
`message` that returns acknowledges the message to the sender; one that raises refuses it, with `Refused`'s reason and words. Messages of a
session are handled one at a time, in order; different sessions do not wait for each other.

The protocol is Docs/protocols/application.md of the receiver.
"""

import asyncio
import collections
import json
import os
import signal
import socket
import struct
import sys
import traceback

__all__ = ["Application", "Session", "Sender", "Refused", "RequestError", "Ended"]

VERSION = 1
#: Messages, and bytes of them, that may be unanswered on a channel in one direction.
WINDOW_MESSAGES = 16
WINDOW_BYTES = 2 << 20
#: The longest message in bytes.
MESSAGE_LIMIT = 1 << 20
_REQUESTS = 32
_MEMORY = 64
_FRAME_LIMIT = MESSAGE_LIMIT + 145
_MESSAGE, _ACKNOWLEDGED, _REFUSED = 1, 2, 3
#: Refusals after which a message goes again, and seconds until then.
_LATER = {"busy", "tooManyMessages", "outOfOrder"}
_PAUSE = 0.05


class Refused(Exception):
    """A message was not taken. Raise it in `message` to refuse one; `send` raises it when the sender refused ours.

    `reason` is a stable name, `message` is for people.
    """

    def __init__(self, reason, message=""):
        super().__init__(f"{reason}: {message}" if message else reason)
        self.reason, self.message = reason, message


class RequestError(Exception):
    """The receiver refused a request; `reason` is the name of the error, such as `notPermitted`."""

    def __init__(self, error):
        super().__init__(error.get("message", "refused"))
        self.code = error.get("code")
        self.reason = (error.get("data") or {}).get("reason")


class Ended(Exception):
    """The session, or the connection to the receiver, is over."""


class Sender(collections.namedtuple("Sender", "id name")):
    """Who a session belongs to: a UUID and a name for people."""


class _Channel:
    """The books of one channel: what we sent that is unanswered, what came, and the answers that we remember."""

    def __init__(self, application, number):
        self.application, self.number = application, number
        self.last_sent = self.last_received = self.bytes = self.pending_bytes = 0
        self.unanswered = {}  # id -> (future, size)
        self.pending = {}  # id -> size
        self.answers = collections.OrderedDict()  # id -> (kind, payload)
        self.retries = set()
        self.incoming = collections.deque()
        self.waiters = collections.deque()
        self.task = None
        self.is_closed = False

    async def post(self, payload):
        """Sends when there is room; returns the future of the answer."""
        payload = payload.encode() if isinstance(payload, str) else bytes(payload)
        if len(payload) > self.application.message_limit:
            raise ValueError(f"a message has at most {self.application.message_limit} bytes")
        first = True
        while not self.is_closed and (
            (first and self.waiters)
            or self.unanswered
            and (len(self.unanswered) >= WINDOW_MESSAGES or self.bytes + len(payload) > WINDOW_BYTES)
        ):
            room = asyncio.get_running_loop().create_future()
            # Who has waited keeps its place.
            if first:
                self.waiters.append(room)
            else:
                self.waiters.appendleft(room)
            first = False
            try:
                await room
            except asyncio.CancelledError:
                if room in self.waiters:
                    self.waiters.remove(room)
                else:
                    self.wake()
                raise
        if self.is_closed:
            raise Ended("the session is over")
        self.last_sent += 1
        answer = asyncio.get_running_loop().create_future()
        self.unanswered[self.last_sent] = (answer, payload)
        self.bytes += len(payload)
        self.application._write_data(_MESSAGE, self.number, self.last_sent, payload)
        self.wake()
        return answer

    def wake(self):
        while self.waiters:
            room = self.waiters.popleft()
            if not room.done():
                room.set_result(None)
                return

    def received(self, kind, number, payload):
        if kind == _MESSAGE:
            return self._message(number, payload)
        answer, sent = self.unanswered.get(number, (None, b""))
        if answer is None:
            return
        refusal = None
        if kind == _REFUSED:
            refusal = _refusal(payload)
            if refusal.reason in _LATER:
                # It was not taken, and none after it will be: they go again, in order.
                if not self.retries:
                    asyncio.get_running_loop().call_later(_PAUSE, self._again)
                self.retries.add(number)
                return
        del self.unanswered[number]
        self.bytes -= len(sent)
        if not answer.done():
            if refusal is None:
                answer.set_result(None)
            else:
                answer.set_exception(refusal)
                answer.exception()  # Nobody has to look.
        self.wake()

    def _again(self):
        numbers, self.retries = sorted(self.retries), set()
        for number in numbers:
            if number in self.unanswered:
                self.application._write_data(_MESSAGE, self.number, number, self.unanswered[number][1])

    def _message(self, number, payload):
        if number in self.pending:
            return
        if number in self.answers:
            self.application._write_data(self.answers[number][0], self.number, number, self.answers[number][1])
            return
        if self.last_received and number != self.last_received + 1:
            self._refuse(number, "outOfOrder", f"message {self.last_received + 1} is the next")
            return
        if self.pending and (
            len(self.pending) >= WINDOW_MESSAGES or self.pending_bytes + len(payload) > WINDOW_BYTES
        ):
            self._refuse(number, "tooManyMessages", f"{len(self.pending)} messages are unanswered")
            return
        self.last_received = number
        self.pending[number] = len(payload)
        self.pending_bytes += len(payload)
        self.incoming.append((number, payload))
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self._handle())

    def _refuse(self, number, reason, message):
        text = json.dumps({"reason": reason, "message": message})
        self.application._write_data(_REFUSED, self.number, number, text.encode())

    async def _handle(self):
        while self.incoming and not self.is_closed:
            number, payload = self.incoming.popleft()
            try:
                await self.deliver(payload)
                answer = (_ACKNOWLEDGED, b"")
            except Refused as refusal:
                answer = (_REFUSED, json.dumps({"reason": refusal.reason, "message": refusal.message}).encode())
            except Ended:
                break
            except Exception as error:  # The author's mistake is the sender's answer, and in the log.
                traceback.print_exc()
                answer = (_REFUSED, json.dumps({"reason": "failed", "message": str(error)[:256]}).encode())
            if self.is_closed:
                break
            self.pending_bytes -= self.pending.pop(number, 0)
            self.answers[number] = answer
            if len(self.answers) > _MEMORY:
                self.answers.popitem(last=False)
            self.application._write_data(answer[0], self.number, number, answer[1])
        self.task = None

    async def deliver(self, payload):
        raise NotImplementedError

    def _close(self):
        self.is_closed = True
        self.incoming.clear()
        for answer, _ in self.unanswered.values():
            if not answer.done():
                answer.set_exception(Ended("the session is over"))
                answer.exception()
        self.unanswered.clear()
        while self.waiters:
            room = self.waiters.popleft()
            if not room.done():
                room.set_result(None)

    async def send(self, payload):
        """Sends bytes or text and waits until the sender has taken it; `Refused` if it does not."""
        await (await self.post(payload))


class Session(_Channel):
    """A sender's session: `id`, `url`, `sender`, `is_attached`, and `send` and `post` for messages to it.

    `post` returns when the message is on its way, `send` when the sender has taken it. Both wait while too much is unanswered.
    """

    def __init__(self, application, params):
        super().__init__(application, params["channel"])
        self.id, self.url = params["session"], params.get("url", "")
        sender = params.get("sender") or {}
        self.sender = Sender(sender.get("id", ""), sender.get("name", ""))
        self.is_attached = params.get("attached", True)

    async def deliver(self, payload):
        await self.application.message(self, payload)

    async def end(self, code=None, message=""):
        """Ends the session: it has finished, or, with a code, failed."""
        params = {"session": self.id}
        if code is not None:
            params["error"] = {"code": code, "message": message}
        await self.application.request("application.endSession", **params)


class Peer(_Channel):
    """A sender's route, for applications with a route channel: `route`, `sender`, `send` and `post`."""

    def __init__(self, application, params):
        super().__init__(application, params["channel"])
        self.route = params.get("route", "")
        sender = params.get("sender") or {}
        self.sender = Sender(sender.get("id", ""), sender.get("name", ""))

    async def deliver(self, payload):
        await self.application.route_message(self, payload)


class Application(asyncio.Protocol):
    """A companion application. Make one, then `run` it."""

    def __init__(self):
        #: Sessions that are open, by id.
        self.sessions = {}
        #: What hello told: `application`, `instance`, `permissions`, `limits`, `storage`, `clock`.
        self.info = {}
        #: The receiver's state, once `subscribe` was called.
        self.state = None
        self.message_limit = MESSAGE_LIMIT
        self._channels = {}
        self._requests = {}
        self._request_count = 0
        self._in_flight = None
        self._buffer = bytearray()
        self._transport = None
        self._over = None
        self._tasks = set()

    # What an application overrides.

    async def started(self):
        """The receiver has said hello."""

    async def opened(self, session):
        """A sender's session is there. Raise `Refused` to end it."""

    async def message(self, session, payload):
        """A message (bytes) of a session."""
        raise Refused("noHandler", "this application takes no messages")

    async def closed(self, session, reason):
        """A session is over."""

    async def attached(self, session):
        """The session's sender was lost, or is back: `session.is_attached`."""

    async def route_message(self, peer, payload):
        """A message on a sender's route channel, without a session."""
        raise Refused("noHandler", "this application takes no messages")

    async def media_ended(self, params):
        """What was played is over: `session`, `reason`, `error`."""

    async def state_changed(self, origin):
        """`state` is new."""

    async def ending(self, reason):
        """The receiver wants an end: three seconds are left."""

    # What an application calls.

    def run(self):
        """Serves until the receiver has no more use for it."""
        if hasattr(sys.stdout, "reconfigure"):
            # What is printed is the log, and is read while the program runs.
            sys.stdout.reconfigure(line_buffering=True)
        try:
            asyncio.run(self._serve())
        except KeyboardInterrupt:
            pass

    async def request(self, method, **params):
        """Asks the receiver for something of its protocol; returns the result, raises `RequestError`."""
        async with self._in_flight:
            if self._over.done():
                raise Ended("the receiver is gone")
            self._request_count += 1
            answer = asyncio.get_running_loop().create_future()
            self._requests[self._request_count] = answer
            self._write_text({"jsonrpc": "2.0", "id": self._request_count, "method": method, "params": params})
            return await answer

    async def play(self, url, **options):
        """Plays a URL in place of what this application plays; `options` as in session.start. Returns the media's session id."""
        return (await self.request("session.start", mode="player", url=url, **options))["session"]

    async def subscribe(self):
        """Keeps `state` up to date from now on."""
        self.state = (await self.request("state.subscribe"))["state"]

    async def broadcast(self, payload):
        """Sends to all sessions; returns when each has it on its way. Slow ones make it wait."""
        await asyncio.gather(*(session.post(payload) for session in list(self.sessions.values())), return_exceptions=True)

    # The rest is the receiver's side.

    async def _serve(self):
        loop = asyncio.get_running_loop()
        number = os.environ.get("LINNET_APPLICATION_SOCKET")
        if number is None:
            sys.exit("This is an application of a Linnet receiver: `linnet app run` starts it.")
        self._over, self._in_flight = loop.create_future(), asyncio.Semaphore(_REQUESTS)
        endpoint = socket.socket(fileno=int(number))
        endpoint.setblocking(False)
        await loop.create_connection(lambda: self, sock=endpoint)
        loop.add_signal_handler(signal.SIGTERM, self._finish)
        self.info = await self.request("application.hello", version=VERSION, library="python 1")
        self.message_limit = min(MESSAGE_LIMIT, (self.info.get("limits") or {}).get("message", MESSAGE_LIMIT))
        self.info.pop("state", None)
        await self.started()
        await self._over

    def _finish(self):
        if not self._over.done():
            self._over.set_result(None)

    def connection_made(self, transport):
        self._transport = transport

    def connection_lost(self, error):
        for answer in self._requests.values():
            if not answer.done():
                answer.set_exception(Ended("the receiver is gone"))
                answer.exception()
        for channel in self._channels.values():
            channel._close()
        self._finish()

    def data_received(self, data):
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= 5:
            length = int.from_bytes(buffer[start : start + 4], "big")
            if not 2 <= length <= _FRAME_LIMIT + (32 << 20):
                self._transport.abort()
                return
            if len(buffer) - start < 4 + length:
                break
            kind = buffer[start + 4]
            contents = bytes(memoryview(buffer)[start + 5 : start + 4 + length])
            start += 4 + length
            if kind == 2:
                self._data(contents)
            elif kind == 1:
                self._text(contents)
        if start:
            del buffer[:start]

    def _data(self, frame):
        version, kind, name, number, message = struct.unpack_from(">BBHIQ", frame)
        channel = self._channels.get(number)
        if version == 1 and channel is not None:
            channel.received(kind, message, frame[16 + name :])
        elif kind == _MESSAGE:
            text = json.dumps({"reason": "channelUnknown", "message": "there is no such channel"})
            self._write_data(_REFUSED, number, message, text.encode())

    def _text(self, contents):
        message = json.loads(contents)
        if "method" not in message:
            answer = self._requests.pop(message.get("id"), None)
            if answer is None or answer.done():
                return
            if "error" in message:
                answer.set_exception(RequestError(message["error"]))
            else:
                answer.set_result(message.get("result"))
            return
        handler = getattr(self, "_on_" + message["method"].replace(".", "_"), None)
        if handler is not None:
            handler(message.get("params") or {})

    def _on_session_opened(self, params):
        session = Session(self, params)
        self.sessions[session.id] = self._channels[session.number] = session
        self._spawn(self._open(session))

    async def _open(self, session):
        try:
            await self.opened(session)
        except Refused as refusal:
            await session.end(refusal.reason, refusal.message)

    def _on_session_attached(self, params):
        session = self.sessions.get(params.get("session"))
        if session is not None:
            session.is_attached = params.get("attached", True)
            self._spawn(self.attached(session))

    def _on_session_closed(self, params):
        session = self.sessions.pop(params.get("session"), None)
        if session is not None:
            self._channels.pop(session.number, None)
            session._close()
            self._spawn(self.closed(session, params.get("reason", "")))

    def _on_route_opened(self, params):
        self._channels[params["channel"]] = Peer(self, params)

    def _on_route_closed(self, params):
        peer = self._channels.pop(params.get("channel"), None)
        if peer is not None:
            peer._close()

    def _on_session_ended(self, params):
        self._spawn(self.media_ended(params))

    def _on_state_changed(self, params):
        self.state = _merged(self.state, params.get("patch"))
        self._spawn(self.state_changed(params.get("origin")))

    def _on_application_ending(self, params):
        self._spawn(self._end(params.get("reason", "")))

    async def _end(self, reason):
        try:
            await self.ending(reason)
        finally:
            self._finish()

    def _spawn(self, work):
        task = asyncio.get_running_loop().create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work):
        try:
            await work
        except (Ended, asyncio.CancelledError):
            pass
        except Exception:
            traceback.print_exc()

    def _write_text(self, value):
        contents = json.dumps(value).encode()
        if not self._transport.is_closing():
            self._transport.write(struct.pack(">IB", len(contents) + 1, 1) + contents)

    def _write_data(self, kind, channel, message, payload):
        if not self._transport.is_closing():
            header = struct.pack(">IBBBHIQ", len(payload) + 17, 2, 1, kind, 0, channel, message)
            self._transport.write(header + payload)


def _refusal(payload):
    try:
        value = json.loads(payload)
        return Refused(value.get("reason", "refused"), value.get("message", ""))
    except (ValueError, AttributeError):
        return Refused("refused")


def _merged(target, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = _merged(target.get(key), value)
    return target
