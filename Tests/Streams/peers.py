# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Other players, given the same streams on a simulated card of their own. What is told cannot be compared, so only the
sound is, and only in cases that are played without any command."""

import asyncio
import atexit
import itertools
import os
import shutil
import subprocess

# What a case may do to be played by others, too.
PLAIN = {"hear", "wait", "end", "ready"}


async def mpv(folder, device, url):
    return await start(
        folder, "mpv", "--no-config", "--no-video", "--no-terminal", "--ao=alsa", f"--audio-device=alsa/{device}", url)


async def gst_play(folder, device, url):
    return await start(
        folder, "gst-play-1.0", "--no-interactive", "--videosink=fakesink", f"--audiosink=alsasink device={device}", url)


async def mpd(folder, device, url):
    with open(f"{folder}/mpd.conf", "w", encoding="utf-8") as file:
        file.write(f"""bind_to_address "{folder}/mpd.socket"
db_file "{folder}/mpd.db"
playlist_directory "{folder}"
audio_output {{
    type "alsa"
    name "card"
    device "{device}"
    mixer_type "none"
}}
""")
    process = await start(folder, "mpd", "--no-daemon", f"{folder}/mpd.conf")
    for _ in range(100):
        if os.path.exists(f"{folder}/mpd.socket"):
            break
        await asyncio.sleep(0.05)
    reader, writer = await asyncio.open_unix_connection(f"{folder}/mpd.socket")
    await reader.readline()
    for command in (f'add "{url}"', "play"):
        writer.write(f"{command}\n".encode())
        await reader.readline()
    writer.close()
    return process


class Network:
    """A network of two ends, one of them in a namespace: gmediarender refuses the loopback interface."""
    made = None
    ports = itertools.count(49_200)

    def __init__(self):
        number = os.getpid() % 250
        self.name, self.link = f"linnet-streams-{os.getpid()}", f"linnets{number}"
        self.inside, self.outside = f"10.88.{number}.1", f"10.88.{number}.2"
        atexit.register(self.remove)
        space = ("-n", self.name)
        for command in (
                ("netns", "add", self.name), (*space, "link", "set", "lo", "up"),
                ("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name),
                ("addr", "add", f"{self.outside}/24", "dev", self.link), ("link", "set", self.link, "up"),
                (*space, "addr", "add", f"{self.inside}/24", "brd", "+", "dev", "eth0"),
                (*space, "link", "set", "eth0", "up"), (*space, "route", "add", "224.0.0.0/4", "dev", "eth0")):
            subprocess.run(["ip", *command], check=True)

    def remove(self):
        subprocess.run(["ip", "netns", "delete", self.name], check=False)

    @classmethod
    def get(cls):
        cls.made = cls.made or cls()
        return cls.made


async def gmediarender(folder, device, url):
    network, port = Network.get(), next(Network.ports)
    process = await start(
        folder, "ip", "netns", "exec", network.name, "gmediarender", "-f", f"streams{port}", "--port", str(port),
        "-I", "eth0", "--gstout-audiosink=alsasink", f"--gstout-audiodevice={device}", "--logfile=stdout")
    for _ in range(150):
        try:
            _, writer = await asyncio.open_connection(network.inside, port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.1)
    address = url.replace("127.0.0.1", network.outside)
    try:
        await act(network.inside, port, "SetAVTransportURI",
                  f"<CurrentURI>{address}</CurrentURI><CurrentURIMetaData></CurrentURIMetaData>")
        await act(network.inside, port, "Play", "<Speed>1</Speed>")
    except (OSError, asyncio.TimeoutError):
        await stop(process)
        raise
    return process


async def act(host, port, name, arguments):
    """Asks a UPnP renderer for something."""
    service = "urn:schemas-upnp-org:service:AVTransport:1"
    body = ('<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" '
            's:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>'
            f'<u:{name} xmlns:u="{service}"><InstanceID>0</InstanceID>{arguments}</u:{name}></s:Body></s:Envelope>')
    reader, writer = await asyncio.open_connection(host, port)
    writer.write((f"POST /upnp/control/rendertransport1 HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
                  f'Content-Type: text/xml; charset="utf-8"\r\nSOAPACTION: "{service}#{name}"\r\n'
                  f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
    await asyncio.wait_for(reader.readline(), 10)
    writer.close()


async def start(folder, *command):
    with open(f"{folder}/peer.log", "wb") as log:
        return await asyncio.create_subprocess_exec(
            *command, env={**os.environ, "ALSA_CONFIG_PATH": f"{folder}/asound.conf"},
            stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)


PEERS = {"mpv": mpv, "gst-play-1.0": gst_play, "mpd": mpd, "gmediarender": gmediarender}


def present():
    """The players that are installed, and those that are not. A network of its own takes root to make."""
    found = [name for name in PEERS
             if shutil.which(name) and (name != "gmediarender" or os.geteuid() == 0 and shutil.which("ip"))]
    return found, [name for name in PEERS if name not in found]


async def stop(process):
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 3)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
