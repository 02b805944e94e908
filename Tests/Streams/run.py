#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Plays streams of every kind to a receiver on a simulated card, and compares what was told and heard with cases*.tsv.

usage: run.py [--quick] [--build DIR] [--jobs N] [--keep] [--peers] [NAME…]

NAME is a case, or the beginning of some. README.md has the form of a case. Prints a table, what failed and the totals;
exits with 1 when a case failed. Needs Debian's python3-websockets, what `make support` builds, and the programs in DIR.
"""

import argparse
import asyncio
import ipaddress
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time
import urllib.parse
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support" / "python")]

import card  # noqa: E402
import peers  # noqa: E402
import packaging  # noqa: E402
import server as web  # noqa: E402
from client import Client, Refused  # noqa: E402
from openrpc import Document  # noqa: E402

# `server` is imported by behaviours under this name, too.
STEPS = {}
# Where programs find the authorities that they trust.
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
# What a case may take, about, to be among the quick ones, in seconds.
QUICK = 8
# A case mostly waits for sound to be heard.
JOBS_PER_CORE = 4


class Failed(Exception):
    """A case that did not go as it should."""


def step(name):
    """Registers what a step does: a coroutine of the play and the step's argument."""
    def register(function):
        STEPS[name] = function
        return function
    return register


def seconds(moment):
    return moment["value"] / moment["timescale"] if "value" in moment else 0.0


def link_local_address():
    """An address of this machine that counts on one link only, without its zone."""
    with open("/proc/net/if_inet6", encoding="ascii") as file:
        for line in file:
            digits, _, _, scope, _, _ = line.split()
            if scope == "20":
                return str(ipaddress.IPv6Address(int(digits, 16)))
    raise Failed("this machine has no address of a link")


class Case:
    def __init__(self, line, source):
        parts = line.rstrip("\n").split("\t")
        parts = [part for part in parts if part]
        if len(parts) != 5:
            raise ValueError(f"{source}: {len(parts)} columns, not 5: {line.strip()}")
        self.name, self.input, self.steps, self.state, self.sound = (part.strip() for part in parts)
        # What is known not to work, for a reason that the comment above the line gives.
        self.is_known = self.name.startswith("~")
        # What takes minutes.
        self.is_long = self.name.startswith("+")
        self.name = self.name.lstrip("+")

    @property
    def length(self):
        """About how many seconds it takes, by what is to be heard and waited for."""
        starts = [word[6:] for word in self.input.split() if word.startswith("start=")]
        took, place = 0.0, float(starts[0]) if starts else 0.0
        for word in self.steps.split():
            name, _, argument = word.partition(":")
            value = argument.partition("/")[0]
            if name == "wait":
                took += float(value)
            elif name == "hear" and value.isdigit():
                # Another rendition is the same second and some hundreds.
                took += max(int(value) % 100 - place, 0) + 1
                place = int(value) % 100 + 1
            elif name == "seek" and value.replace(".", "").isdigit():
                place = float(value)
            elif name in ("end", "state", "hear"):
                took += 4
        return took


def load_cases(names, takes_long, quick=False):
    cases = []
    for path in sorted(HERE.glob("cases*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                cases.append(Case(line, path.name))
    chosen = [
        case for case in cases
        if (not names or any(case.name.startswith(name) for name in names))
        and (takes_long or not case.is_long or case.name in names)
        and (not quick or case.length <= QUICK)]
    if len({case.name for case in cases}) != len(cases):
        raise ValueError("two cases have the same name")
    return chosen


def configure_card(folder):
    plugin = ROOT / ".build/support/libasound_module_pcm_simdac.so"
    with open(f"{folder}/asound.conf", "w", encoding="utf-8") as file:
        file.write(f'</usr/share/alsa/alsa.conf>\npcm_type.simdac {{ lib "{plugin}" }}\n'
                   f'pcm.sim0 {{ type simdac path "{folder}/sim0" }}\n'
                   "pcm.plugsim0 { type plug slave.pcm sim0 }\n")


class Play:
    """One case as it is played: the receiver, the session and what became of it."""

    def __init__(self, case, server, folder, build):
        self.case, self.server, self.folder, self.build = case, server, folder, build
        self.run_name = f"r{uuid.uuid4().hex[:8]}"
        self.run = server.run(self.run_name)
        self.card = card.Card(f"{folder}/card/sim0")
        self.client = self.session = self.daemon = self.refusal = None
        self.claims = []  # (time, rate, buffering) as the state told them
        self.errors = set()  # codes of the errors that the state told of
        self.titles = []  # (time, title) as the state told them
        self.extra = []  # settings of linnetd
        self.environment = {}
        self.trusts = False  # the authority of the good certificates
        self.headers = []
        self.agent = None

    async def begin(self):
        words = shlex.split(self.case.input)
        path, options = words[0], {}
        scheme, host, port = "http", "127.0.0.1", self.server.port
        for word in words[1:]:
            name, _, value = word.partition("=")
            value = self.filled(value)
            if name == "header":
                self.headers.append(tuple(value.split(":", 1)))
            elif name == "agent":
                options["userAgent"] = self.agent = value
            elif name == "tls":
                scheme, port = "https", self.server.secure_port(value)
            elif name == "host":
                host = value
            elif name == "port":
                port = value
            elif name == "trust":
                self.trusts = True
            elif name == "any-certificate":
                options["allowInvalidCertificate"] = True
            elif name == "environment":
                variable, _, value = value.partition("=")
                self.environment[variable] = value
            elif name == "start":
                options["startPosition"] = {"value": round(float(value) * 1000), "timescale": 1000}
            elif name == "setting":
                self.extra.append(f"--{value}" if "=" not in value else "--" + value)
            else:
                raise Failed(f"an input has no option {name}")
        if self.trusts:
            self.server.secure_port("good")
        await self.start_receiver()
        self.client = await Client.connect(Document(ROOT / "Docs/protocols/route.openrpc.json"), self.address)
        await self.client.call(
            "route.activate", version=1, sender={"id": str(uuid.uuid4()), "name": "Streams"}, capabilities=["url"])
        if self.headers:
            options["headers"] = [{"name": name, "value": value.strip()} for name, value in self.headers]
        path = self.filled(path)
        url = path if "://" in path else f"{scheme}://{host}:{port}/{self.run_name}/{path}"
        self.watcher = asyncio.create_task(self.watch())
        try:
            answer = await self.client.call("session.start", url=url, mode="player", **options)
            self.session = answer["session"]
        except Refused as refusal:
            self.refusal = refusal

    def filled(self, text):
        """An input with what only this run knows: see README.md."""
        for name, value in (
                ("{port}", lambda: self.server.port), ("{hole}", self.server.hole_port),
                ("{run}", lambda: self.run_name), ("{link}", link_local_address), ("{tone}", self.server.tone_file)):
            if name in text:
                text = text.replace(name, str(value()))
        return text

    async def start_receiver(self):
        # Of all that, a confined renderer reaches the card alone.
        os.mkdir(f"{self.folder}/card")
        configure_card(f"{self.folder}/card")
        trust = f"mount --bind {self.server.folder}/authority.pem {TRUSTED} && " if self.trusts else ""
        inside = ["unshare", "-rm", "sh", "-c", trust + 'exec "$@"', "sh"] if trust else []
        with open(f"{self.folder}/linnetd.log", "wb") as log:
            self.daemon = await asyncio.create_subprocess_exec(
                *inside, f"{self.build}/linnetd", "--config-dir", self.folder, "--state-dir", f"{self.folder}/state",
                "--port", "0", "--name", "Streams", "--device", "sim0", "--advertise", "false", "--volume", "1",
                "--log-level", "debug", "--renderer-writable", f"{self.folder}/card",
                "--renderer-readable", str(ROOT / ".build/support"), *self.extra,
                env={**os.environ, **self.environment, "ALSA_CONFIG_PATH": f"{self.folder}/card/asound.conf"},
                stdout=asyncio.subprocess.PIPE, stderr=log)
        line = (await asyncio.wait_for(self.daemon.stdout.readline(), 20)).decode().split()
        if "port" not in line:
            raise Failed("linnetd does not start")
        self.address = f"127.0.0.1:{int(line[line.index('port') + 1].strip('.,;'))}"

    async def watch(self):
        """Notes what the state claims, and when."""
        def claim():
            me = self.client.session(self.session) if self.session else None
            return (me["position"]["rate"], me["isBuffering"], me["isReady"]) if me else None
        last = None
        while True:
            async with self.client.news:
                await self.client.news.wait()
            now = claim()
            if self.session and self.mine and self.mine.get("error"):
                self.errors.add(self.mine["error"]["code"])
            if self.session and self.mine:
                title = self.mine["metadata"].get("title")
                if title != (self.titles[-1][1] if self.titles else None):
                    self.titles.append((time.monotonic(), title))
            if now is not None and now != last:
                self.claims.append((time.monotonic(), *now))
            elif now is None and last is not None:
                self.claims.append((time.monotonic(), 0, False, False))
            last = now

    @property
    def mine(self):
        return self.client.session(self.session)

    @property
    def ended(self):
        """How the session ended; None while it has not."""
        for method, params in self.client.notes:
            if method == "session.ended" and params["session"] == self.session:
                return params
        return None

    async def call(self, method, **params):
        try:
            return await self.client.call(method, session=self.session, **params)
        except Refused as refusal:
            raise Failed(f"{method} was refused: {refusal}") from None

    async def until(self, holds, what, limit):
        """Waits until `holds()`; looks again at every news and every 50 ms."""
        end = time.monotonic() + limit
        while True:
            value = holds()
            if value:
                return value
            if time.monotonic() > end:
                self.card.update()
                raise Failed(f"{what} did not come within {limit:g} s; heard {describe(self.card)}")
            try:
                await asyncio.wait_for(self.next_news(), 0.05)
            except asyncio.TimeoutError:
                pass

    async def next_news(self):
        async with self.client.news:
            await self.client.news.wait()

    async def finish(self):
        if self.client:
            self.watcher.cancel()
            await self.client.close()
        if self.daemon and self.daemon.returncode is None:
            self.daemon.terminate()
            try:
                await asyncio.wait_for(self.daemon.wait(), 3)
            except asyncio.TimeoutError:
                self.daemon.kill()
                await self.daemon.wait()
        self.run.link.set()


# Steps

def with_limit(argument, usual):
    """`3/20` is 3 within 20 seconds."""
    value, _, limit = argument.partition("/")
    return value, float(limit or usual)


@step("hear")
async def hear(play, argument):
    """Waits until a second of the media is heard, after the steps so far; `hear:any` takes each."""
    value, limit = with_limit(argument, 10)
    since = time.monotonic() if value == "any" else getattr(play, "since", 0)

    def heard():
        play.card.update()
        return any(
            (value == "any" or sound.second == int(value)) and sound.end > since + 0.1 and sound.start < time.monotonic()
            for sound in play.card.sounds())
    await play.until(heard, f"second {value}", limit)


@step("wait")
async def wait(play, argument):
    await asyncio.sleep(float(argument))


@step("seek")
async def seek(play, argument):
    play.since = time.monotonic()
    position = {"name": argument} if argument.endswith("Infinity") else {
        "value": round(float(argument) * 1000), "timescale": 1000}
    await play.call("playback.seek", position=position)


@step("pause")
async def pause(play, _):
    await play.call("playback.setPlaying", playing=False)


@step("resume")
async def resume(play, _):
    play.since = time.monotonic()
    await play.call("playback.setPlaying", playing=True)


@step("stop")
async def stop(play, _):
    await play.call("session.stop")


@step("audio")
async def audio(play, argument):
    """Chooses a sound by its language."""
    def option():
        found = [o for o in play.mine["tracks"]["audio"]["options"] if o.get("language") == argument]
        return found[0] if found else None
    found = await play.until(option, f"sound in {argument}", 5)
    play.since = time.monotonic()
    await play.call("playback.selectTrack", kind="audio", option=found["id"])


@step("announce")
async def announce(play, argument):
    """Has another path heard in place of what plays, which goes on underneath, until it is over."""
    play.since = time.monotonic()
    answer = await play.client.call(
        "announcement.play", url=f"http://127.0.0.1:{play.server.port}/{play.run_name}/{argument}", ducking=60)

    def ended():
        return [params for method, params in play.client.notes
                if method == "announcement.ended" and params["announcement"] == answer["value"]]
    how = (await play.until(ended, "the announcement's end", 15))[0]
    if how["reason"] != "finished":
        raise Failed(f"the announcement {how['reason']}: {how.get('error')}")
    play.card.update()
    if not any(sound.second == 101 and sound.end > play.since for sound in play.card.sounds()):
        raise Failed(f"the announcement was not heard, but {describe(play.card)}")
    play.since = time.monotonic()


@step("end")
async def end(play, argument):
    if play.refusal:
        return
    await play.until(lambda: play.ended, "the end", float(argument or 30))


@step("ready")
async def ready(play, argument):
    await play.until(lambda: play.mine and play.mine["isReady"], "ready", float(argument or 10))


@step("state")
async def state(play, argument):
    """Waits for a state: playing, buffering, paused."""
    value, limit = with_limit(argument, 10)
    await play.until(lambda: now(play) == value, f"the state {value}", limit)


@step("down")
async def down(play, _):
    """The link is gone: nothing answers any more."""
    play.run.link.clear()


@step("cut")
async def cut(play, _):
    """The server cuts every connection."""
    play.run.refuses = True


@step("up")
async def up(play, _):
    """All is well again."""
    play.since = time.monotonic()
    play.run.refuses = False
    play.run.link.set()


def now(play):
    """The state in one word."""
    if play.refusal:
        return "refused"
    if play.ended:
        return play.ended["reason"]
    me = play.mine
    if me is None:
        return "gone"
    if me["isBuffering"] or not me["isReady"]:
        return "buffering"
    return "playing" if me["isPlaying"] else "paused"


# What came of it

def describe(heard):
    runs = " ".join(f"{run[0]}-{run[1]}" for run in heard.runs()) or "nothing"
    quiet = max((end - start for start, end in heard.silences()), default=0)
    late = f", {heard.underruns} underruns" if heard.underruns else ""
    return (f"{runs}, silent for {quiet:.2f} s" if quiet > 0.02 else runs) + late


def check_sound(play):
    """The sound that was expected; yields what is wrong."""
    wanted, limits = [], []
    for word in play.case.sound.split():
        (limits if word.startswith("quiet") else wanted).append(word)
    runs = play.card.runs()
    if wanted == ["none"]:
        if runs:
            yield f"heard {describe(play.card)}, not silence"
    elif wanted != ["any"]:
        if len(runs) != len(wanted):
            yield f"heard {describe(play.card)}, not {' '.join(wanted)}"
        for run, want in zip(runs, wanted):
            first, _, last = want.partition("-")
            if first == "?":
                if run[1] - run[0] < int(last):
                    yield f"heard {describe(play.card)}, not {last} seconds in a row"
            elif run[0] != int(first) or run[1] not in (int(last or first), int(last or first) + 1):
                yield f"heard {describe(play.card)}, not {' '.join(wanted)}"
                break
    longest = max((end - start for start, end in play.card.silences()), default=0)
    for limit in limits:
        if limit[5] == "<" and longest >= float(limit[6:]) or limit[5] == ">" and longest <= float(limit[6:]):
            late = f" ({play.card.underruns} underruns)" if play.card.underruns else ""
            yield f"silent for {longest:.2f} s, not {limit}{late}"


def check_claims(play):
    """The state must not say that sound is heard while there is none."""
    changes = play.claims + [(time.monotonic(), 0, False, False)]
    for (start, rate, buffering, _), (stop, *_) in zip(changes, changes[1:]):
        if not rate or buffering:
            continue
        for begin, end in play.card.silences():
            overlap = min(stop, end) - max(start, begin)
            if overlap > 0.6:
                yield f"said to play during {overlap:.1f} s of silence"


def check_state(play, last):
    """What the state was expected to be; yields what is wrong."""
    for word in play.case.state.split():
        name, _, value = word.partition("=")
        me = last
        error = (play.ended or {}).get("error") or {}
        if name in ("playing", "paused", "buffering", "finished", "stopped"):
            if play.outcome != name:
                yield f"{play.outcome}, not {name}"
        elif name.startswith("failed"):
            found = ":".join(str(part) for part in ("failed", error.get("code"), error.get("httpStatus")) if part)
            if play.outcome != "failed" or not found.startswith(name):
                yield f"{play.outcome} {error}, not {name}"
        elif name.startswith("refused"):
            found = f"refused:{play.refusal.reason}" if play.refusal else play.outcome
            if not found.startswith(name):
                yield f"{found}, not {name}"
        elif name == "says":
            if value.replace("_", " ") not in (error.get("message") or ""):
                yield f"the error says {error.get('message')!r}, not {value}"
        elif name == "proxied":
            if not play.run.memory.get("proxied") and not play.server.tunnels:
                yield "the proxy was not asked"
        elif name == "was":
            if value == "buffering" and not any(claim[2] and claim[3] for claim in play.claims):
                yield "never buffering once it was ready"
        elif name == "duration":
            found = seconds(me["timeRange"]["duration"]) if me else -1
            if abs(found - float(value)) > 0.5:
                yield f"duration {found:.2f}, not {value}"
        elif name == "live":
            if not (me and me["isLive"]):
                yield "not live"
        elif name == "window":
            ranges = me and (me["seekableRanges"] if me.get("seekableRanges") is not None else [me["timeRange"]])
            found = sum(seconds(r["duration"]) for r in ranges or [])
            if abs(found - float(value)) > 2.5:
                yield f"seekable for {found:.1f} s, not {value}"
        elif name == "edge":
            behind = (play.run.memory["edge"]() - play.card.sounds()[-1].second) % 60
            if behind > float(value):
                yield f"{behind:.1f} s behind the live edge"
        elif name == "placed":
            yield from check_place(play, me)
        elif name == "was-told":
            if value not in play.errors:
                yield f"no error {value} was told, only {sorted(play.errors)}"
        elif name in ("title", "station", "genre", "subtitle"):
            found = me and me["metadata"].get(name)
            if (found or "") != words(value):
                yield f"{name} {found!r}, not {words(value)!r}"
        elif name == "titles":
            found = [title or "" for _, title in play.titles]
            # The station's own name comes first, or just behind.
            if me and found and found[0] in ("", me["metadata"].get("station")):
                found = found[1:]
            if found != words(value).split("+"):
                yield f"titles {found}, not {value}"
        elif name == "titled":
            yield from check_titled(play, *value.rsplit(":", 1))
        elif name.startswith("titles<"):
            if len(play.titles) >= int(name[7:]):
                yield f"{len(play.titles)} titles were told"
        elif name == "length":
            found = len((me["metadata"].get("title") or "").encode()) if me else -1
            if found != int(value):
                yield f"a title of {found} bytes, not {value}"
        elif name == "requests":
            if len(play.run.requests) != int(value):
                yield f"{len(play.run.requests)} requests, not {value}"
        elif name.startswith("requests<"):
            if len(play.run.requests) >= int(name[9:]):
                yield f"{len(play.run.requests)} requests"
        elif name in ("audio", "legible"):
            options = me["tracks"][name]["options"] if me else []
            found = "+".join(o.get("language") or "?" for o in options)
            if found != value:
                yield f"{name} {found or 'none'}, not {value}"
        elif name == "headers":
            yield from check_headers(play, value or "all")
        else:
            yield f"a state has no {name}"


def words(value):
    """A text in a table: `_` is a blank, and others are written as in an address."""
    return urllib.parse.unquote(value.replace("_", " "))


def check_place(play, me):
    """The position that is told must be that of what is heard."""
    whole = [sound for sound in play.card.sounds() if sound.length > 0.8]
    if not me or not whole:
        yield "no second was heard whole"
        return
    middle = (whole[-1].start + whole[-1].end) / 2
    position = me["position"]
    told = seconds(position["position"]) + position["rate"] * (middle - position["clockTime"] / 1e9)
    if abs(told - whole[-1].second % 100 - 0.5) > 0.3:
        yield f"told {told:.2f} in the middle of second {whole[-1].second}"


def check_titled(play, title, second):
    """A title must be told when a second of the media begins to be heard."""
    told = [moment for moment, found in play.titles if found == words(title)]
    heard = [sound.start for sound in play.card.sounds() if sound.second == int(second)]
    if not told or not heard or abs(told[0] - heard[0]) > 0.4:
        late = f"{told[0] - heard[0]:.2f} s after" if told and heard else "never with"
        yield f"the title {title} was told {late} second {second}"


def check_headers(play, value):
    """Every request has the headers of the sender; with `headers=host` only those to the item's own host."""
    if len(play.run.requests) < 3:
        yield "hardly any requests"
    for _, path, host, headers in play.run.requests:
        there = {(name.lower(), text) for name, text in headers}
        if play.agent and ("user-agent", play.agent) not in there:
            yield f"another user agent in the request for {path} at {host}"
            return
        for name, text in play.headers:
            present = (name.lower(), text.strip()) in there
            everywhere = value == "all" or host.startswith("127.0.0.1") or name.lower() in ("referer", "origin")
            if present != everywhere:
                yield f"{'no ' if everywhere else ''}{name} in the request for {path} at {host}"
                return


class PeerPlay:
    """One case as another player plays it: sound and nothing else."""

    def __init__(self, case, server, folder):
        self.case, self.folder = case, folder
        self.card = card.Card(f"{folder}/sim0")
        self.path = case.input.split()[0]
        self.url = f"http://127.0.0.1:{server.port}/p{uuid.uuid4().hex[:8]}/{self.path}"
        self.process, self.ended = None, None

    async def until(self, holds, what, limit):
        end = time.monotonic() + limit
        while not holds():
            if self.process.returncode is not None:
                self.ended = "ended"
                if not holds():
                    raise Failed(f"it ended; heard {describe(self.card)}")
            elif time.monotonic() > end:
                raise Failed(f"{what} did not come within {limit:g} s; heard {describe(self.card)}")
            await asyncio.sleep(0.05)


async def play_at_peer(case, server, name):
    """True if a player passes a case; None if the case is not for it."""
    words = [word.partition(":")[::2] for word in case.steps.split()]
    if not {verb for verb, _ in words} <= peers.PLAIN or len(case.input.split()) > 1 or "://" in case.input:
        return None
    folder = tempfile.mkdtemp(prefix="linnet-streams-")
    configure_card(folder)
    play = PeerPlay(case, server, folder)
    try:
        play.process = await peers.PEERS[name](folder, "plugsim0", play.url)
        for verb, argument in words:
            if verb != "end" and verb != "ready":
                await STEPS[verb](play, argument)
        if any(verb == "end" for verb, _ in words):
            before, patience = None, time.monotonic() + 5
            while before != (before := play.card.update() and [sound.end for sound in play.card.sounds()][-1:]) or (
                    not before and time.monotonic() < patience and play.process.returncode is None):
                await asyncio.sleep(1.5)
        play.card.update()
        return not list(check_sound(play))
    except (Failed, OSError, asyncio.TimeoutError):
        return False
    except Exception as error:  # the other cases go on
        print(f"  {case.name} at {name}: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    finally:
        if play.process:
            await peers.stop(play.process)
        shutil.rmtree(folder, ignore_errors=True)


async def play_case(case, server, build, keep):
    folder = tempfile.mkdtemp(prefix="linnet-streams-")
    play = Play(case, server, folder, build)
    faults, begun = [], time.monotonic()
    try:
        await play.begin()
        last = None
        for word in case.steps.split():
            name, _, argument = word.partition(":")
            if name not in STEPS:
                raise Failed(f"there is no step {name}")
            await STEPS[name](play, argument)
            last = play.mine or last
        play.outcome = now(play)
        last = play.mine or last
        play.card.update()
        faults += check_sound(play)
        faults += check_claims(play)
        faults += check_state(play, last)
        faults += play.client.faults[:3]
    except Failed as failure:
        faults.append(f"{failure}" + (f"; ended: {play.ended}" if play.client and play.ended else ""))
    except Exception as error:  # the other cases go on
        faults.append(f"{type(error).__name__}: {error}")
    finally:
        await play.finish()
    log = pathlib.Path(f"{folder}/linnetd.log").read_text(errors="replace") if play.daemon else ""
    if any("renderer exited (reason=" in line and "signal" in line for line in log.splitlines()):
        faults.append("the renderer crashed")
    if keep:
        pathlib.Path(f"{folder}/requests").write_text(
            "".join(f"{moment:8.3f} {host}{path}\n" for moment, path, host, _ in play.run.requests))
        print(f"  {case.name}: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return faults, time.monotonic() - begun


async def main_loop(options):
    cases = load_cases(options.names, options.long, options.quick)
    if not cases:
        sys.exit("no such case")
    sys.modules.setdefault("server", web)
    web.load_behaviours()
    server = web.Server(packaging.make_media(str(ROOT / ".build/streams")))
    server.start()
    width = max(len(case.name) for case in cases)
    results, places, begun = {}, asyncio.Semaphore(options.jobs), time.monotonic()
    others, missing = peers.present() if options.peers else ([], [])
    ahead = {name: [] for name in others}
    totals = {name: [0, 0] for name in others}

    async def one(case):
        async with places:
            faults, took = await play_case(case, server, options.build, options.keep)
            marks = []
            for name in others:
                passes = await play_at_peer(case, server, name)
                marks.append(f"{name} {'–' if passes is None else 'ok' if passes else 'no'}")
                if passes is not None:
                    totals[name][0] += passes
                    totals[name][1] += 1
                    if passes and faults:
                        ahead[name].append(case.name)
        word = "ok" if not faults else "known" if case.is_known else "FAIL"
        line = f"{word:5} {case.name:{width}} {took:5.1f} s  {'  '.join(marks)}  {'; '.join(faults)}".rstrip()
        results[case] = (word, line)
        print(line, flush=True)
    # The longest first, so that none of them is left alone at the end.
    await asyncio.gather(*(one(case) for case in sorted(cases, key=lambda case: -case.length)))
    print_totals(results, time.monotonic() - begun)
    for name in others:
        print(f"{name} passed {totals[name][0]} of {totals[name][1]}; ahead of us in: {' '.join(ahead[name]) or 'none'}")
    for name in missing:
        print(f"{name} is not installed" + (", or may not make a network" if name == "gmediarender" else ""))
    return 1 if any(word == "FAIL" for word, _ in results.values()) else 0


def print_totals(results, took):
    """Who passed by kind, what failed once more, and all of it in one line."""
    kinds = {}
    for case, (word, _) in results.items():
        kind = kinds.setdefault(case.name.lstrip("~").partition("-")[0], [])
        kind.append(word)
    print("; ".join(f"{kind} {words.count('ok')} of {len(words)}" for kind, words in sorted(kinds.items())))
    for word, line in results.values():
        if word == "FAIL":
            print(line)
    words = [word for word, _ in results.values()]
    print(f"{words.count('ok')} of {len(words)} cases passed, {words.count('known')} known not to, in {took:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", default=str(ROOT / ".build/debug"))
    parser.add_argument("--quick", action="store_true", help="leave out the cases that take long")
    parser.add_argument(
        "--jobs", type=int, default=JOBS_PER_CORE * (os.cpu_count() or 1), help="cases side by side")
    parser.add_argument("--peers", action="store_true", help="let other players play the cases, too")
    parser.add_argument("--long", action="store_true", help="also the cases that take minutes")
    parser.add_argument("--keep", action="store_true", help="keep recording and log of each case")
    return asyncio.run(main_loop(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
