#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts the image of a board in QEMU and holds it against what an appliance promises.

usage: run.py BOARD [CASE...]     without cases all that the board has, in their order

Each case begins with a fresh copy of the image. What is needed is in .build/image and .build/deb.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases_applications
import cases_cuts
import cases_faults
import cases_group
import cases_papers
import cases_kills
import cases_start
import cases_update
from image import Image
from machine import Lab

CASES = {
    "start": cases_start.start, "control": cases_start.control, "screen": cases_start.screen,
    "network-later": cases_start.network_later,
    "update": cases_update.update, "data": cases_faults.data, "daemon": cases_faults.daemon, "group": cases_group.group,
    "papers": cases_papers.papers, "start-pi": cases_start.start_pi,
    "applications": cases_applications.applications, "boot-time": cases_start.boot_time,
    "power-cut": cases_cuts.power_cut, "kills": cases_kills.kills, "interrupted": cases_kills.interrupted,
}

# What QEMU's Raspberry Pi can show, and no other machine.
PI = ("papers", "start-pi")


def main(board, *wanted):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="linnet-image-", dir="/var/tmp"))
    failed = 0
    try:
        image = Image(board, folder)
        for name in wanted or (PI if board == "rpi-arm64" else [name for name in CASES if name != "start-pi"]):
            print(f"{name}: {CASES[name].__doc__}", flush=True)
            begun = time.monotonic()
            work = folder / name
            work.mkdir()
            try:
                with Lab(f"linnet-{os.getpid()}", work) as lab:
                    CASES[name](image, lab)
            except (AssertionError, subprocess.SubprocessError) as failure:
                print(f"  {failure}\n{name} FAILED after {time.monotonic() - begun:.0f} s", flush=True)
                failed += 1
            else:
                print(f"{name} passed in {time.monotonic() - begun:.0f} s", flush=True)
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(CASES):
        sys.exit(__doc__ + "\nCases: " + " ".join(CASES))
    # Machines and networks are taken away then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(*sys.argv[1:]))
