# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Other players, given the same streams on a simulated card of their own. What is told cannot be compared, so only the
sound is, and only in cases that are played without any command."""

import asyncio
import os
import shutil

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


async def start(folder, *command):
    with open(f"{folder}/peer.log", "wb") as log:
        return await asyncio.create_subprocess_exec(
            *command, env={**os.environ, "ALSA_CONFIG_PATH": f"{folder}/asound.conf"},
            stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)


PEERS = {"mpv": mpv, "gst-play-1.0": gst_play, "mpd": mpd}


def present():
    """The players that are installed, and those that are not."""
    found = [name for name in PEERS if shutil.which(name)]
    return found, [name for name in PEERS if name not in found]


async def stop(process):
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 3)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
