#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Notes which functions run when a receiver waits, plays, pauses, seeks and ends, for the linker to lay them side by side.

usage: link-order.py PROGRAMS SUPPORT MEDIA OUTPUT

Runs linnetd and its renderer under callgrind (valgrind) on a simulated card. A function that the linker does not know is
passed over, so a list that is older than the sources only does less.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

HEAD = """# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Made by `make link-order`: the functions that run when a receiver waits and plays, in the order of their first call.
"""
TRACKS = ["position.flac", "position.mp3", "position.m4a", "position.wav", "position.ogg"]


def functions(profile, program):
    """The functions of `program` in a profile, without those of libraries."""
    names, objects, current = {}, {}, ""
    for line in open(profile, encoding="utf-8", errors="replace"):
        match = re.match(r"(ob|fn|cfn|cob)=\((\d+)\)(?: (.*))?$", line.rstrip("\n"))
        if not match:
            continue
        kind, number, name = match.groups()
        known = objects if kind.endswith("ob") else names
        if name:
            known[number] = re.sub(r"'\d+$", "", name)
        if kind == "ob":
            current = known.get(number, "")
        elif kind == "fn" and current.endswith("/" + program):
            yield known[number]


def until(what, seconds, question):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.2)
    sys.exit(f"link-order: {what} did not come within {seconds} s")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def main(programs, support, media, output):
    programs, support, media = (os.path.abspath(path) for path in (programs, support, media))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{programs}/linnet-renderer", "--prepare", f"{folder}/plugins"], check=True)
        with open(f"{folder}/asoundrc", "w", encoding="utf-8") as file:
            file.write("</usr/share/alsa/alsa.conf>\n")
            file.write(f'pcm_type.simdac {{ lib "{support}/libasound_module_pcm_simdac.so" }}\n')
            file.write(f'pcm.sim {{ type simdac path "{folder}/card" hint {{ show on description "sim" }} }}\n')
            file.write('pcm.plugsim { type plug slave.pcm sim hint { show on description "plug" } }\n')
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--demangle=no"]
        valgrind.append(f"--callgrind-out-file={folder}/profile.%p")
        with open(f"{folder}/renderer", "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {" ".join(valgrind)} {programs}/linnet-renderer "$@"\n')
        os.chmod(f"{folder}/renderer", 0o755)
        os.mkdir(f"{folder}/configuration")
        environment = dict(os.environ, ALSA_CONFIG_PATH=f"{folder}/asoundrc", HOME=folder)
        log = open(f"{folder}/log", "w", encoding="utf-8")
        server = subprocess.Popen([f"{support}/quickhttpd", "18197", media], stdout=log)
        daemon = subprocess.Popen(
            valgrind + [
                f"{programs}/linnetd", "--config-dir", f"{folder}/configuration", "--state-dir", f"{folder}/state",
                "--port", "0", "--name", "link-order", "--device", "plugsim", "--plugin-folder", f"{folder}/plugins",
                "--renderer-program", f"{folder}/renderer",
            ], env=environment, stdout=log, stderr=log)
        try:
            port = until("the receiver", 60, lambda: re.search(r"ready on port (\d+)", read(log.name))).group(1)
            receiver = f"--on=127.0.0.1:{port}"

            def linnet(*words):
                return subprocess.run(
                    [f"{programs}/linnet", *words, receiver], capture_output=True, text=True, timeout=60, check=False
                ).stdout

            # The warm-up, which nothing tells the end of.
            time.sleep(30)
            for track in TRACKS:
                player = subprocess.Popen(
                    [f"{programs}/linnet", "play", f"http://127.0.0.1:18197/{track}", receiver],
                    stdout=subprocess.DEVNULL)
                until(f"the sound of {track}", 60, lambda: "playing: " in linnet("status"))
                time.sleep(2)
                for words in (["pause"], ["resume"], ["seek", "0:04"], ["volume", "40%"], ["status"], ["stop"]):
                    linnet(*words)
                player.wait(timeout=60)
            processes = [daemon.pid] + [int(pid) for pid in read(
                f"/proc/{daemon.pid}/task/{daemon.pid}/children").split()]
            for process in processes:
                subprocess.run(["callgrind_control", "-d", str(process)], check=True, stdout=subprocess.DEVNULL)
            profiles = [f"{folder}/profile.{process}.1" for process in processes]
            until("the profiles", 30, lambda: all(os.path.exists(path) for path in profiles))
            names = dict.fromkeys(functions(profiles[0], "linnetd"))
            for path in profiles[1:]:
                names.update(dict.fromkeys(functions(path, "linnet-renderer")))
        finally:
            for process in (daemon, server):
                process.terminate()
                process.wait(timeout=30)
    # Names without a symbol are addresses; parts of a function lie with it.
    kept = [name for name in names if not name.startswith("0x") and name != "(below main)"]
    with open(output, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"{name}\n" for name in kept))
    print(f"link-order: {len(kept)} functions")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
