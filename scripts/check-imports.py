#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Holds the sources against the layers of Docs/architecture.md.

usage: check-imports.py [--declared] [ROOT]

For each target: which modules it may import, and that `unsafe` stays in the fences. With --declared, instead: that
each target declares in Package.swift every target that it imports; the package manager's own check of that name lets
some pass when an earlier build has left the module behind. Prints file and line of each breach; exits with 1 when
there is one. The table is the list of what is allowed; a debt is an entry of DEBTS.
"""

import json
import pathlib
import re
import subprocess
import sys

WORDS = {"MediaModel", "ApplicationModel", "Timing"}
CORE = {"SessionCore", "GroupCore", "SwitchingCore"}
# What only the tools of an appliance use.
APPLIANCE = {"ApplianceCore"}
WIRE = {"RouteWire", "RendererWire", "Playlists", "GroupLink"}
RUNTIME = {"ReceiverRuntime"}
GLIB_FENCES = {"GLibLoop", "Soup", "Avahi", "DBus", "Settings", "GStreamer"}
FENCES = GLIB_FENCES | {"ALSA", "Datagrams", "InputDevices", "Sandbox", "SystemProbe"}
ADAPTERS = {
    "SoupListener", "AvahiAdvertiser", "MemberLink", "RendererProcess", "ApplicationProcess", "AudioOutput",
    "MediaSource", "GStreamerRenderer", "GroupClock", "BluetoothSources", "PlacementSensors"}
LIBRARIES = {"RouteKit", "LinnetApplication"}
SUPPORT = {"ReceiverTestKit", "LoopTestKit"}

# Target → what it may import. Modules of the toolchain are named too: nothing else may be used.
ALLOWED = {
    "MediaModel": set(),
    "ApplicationModel": set(),
    "Timing": {"MediaModel"},
    "SessionCore": WORDS,
    "GroupCore": {"MediaModel", "Timing"},
    "SwitchingCore": {"MediaModel", "Timing"},
    "ApplianceCore": set(),
    "RouteWire": WORDS,
    "GroupLink": WORDS | {"GroupCore", "RouteWire"},
    "RendererWire": WORDS,
    "Playlists": {"MediaModel"},
    "ReceiverRuntime": WORDS | CORE | {"RouteWire", "GroupLink", "Synchronization"},
    "GLibLoop": {"CGLib", "Synchronization", "Glibc"},
    "Soup": {"GLibLoop", "CGLib", "CSoup", "Synchronization", "Glibc"},
    "Avahi": {"GLibLoop", "CGLib", "CAvahi", "Synchronization", "Glibc"},
    "Settings": {"GLibLoop", "CGLib", "Synchronization", "Glibc"},
    "ALSA": {"CALSA", "Synchronization", "Glibc"},
    "DBus": {"GLibLoop", "CGLib", "Synchronization", "Glibc"},
    "Datagrams": {"Synchronization", "Glibc"},
    "InputDevices": {"CInput", "Glibc"},
    "Sandbox": {"CSandbox", "Glibc"},
    "GStreamer": {"GLibLoop", "CGLib", "CGStreamer", "Synchronization", "Glibc"},
    "SystemProbe": {"CALSA", "CGLib", "Synchronization", "Glibc"},
    "SoupListener": WORDS | RUNTIME | {"Soup", "GLibLoop", "Synchronization"},
    # Opens and proves links for the receiver and for players alike.
    "MemberLink": WORDS | {"GroupLink", "Soup", "Settings", "GLibLoop", "Synchronization"},
    # The port that it implements speaks of the core's `AdvertisementStatus`.
    "AvahiAdvertiser": WORDS | CORE | RUNTIME | {"Avahi", "GLibLoop", "Synchronization"},
    "RendererProcess": WORDS | RUNTIME | {"RendererWire", "Settings", "GLibLoop", "Synchronization"},
    # The port that it implements speaks of the core's `InstanceID`; what crosses the sockets is of the route protocol.
    "ApplicationProcess": WORDS | CORE | RUNTIME | {"RouteWire", "Sandbox", "Settings", "GLibLoop", "Synchronization"},
    "GroupClock": WORDS | {"Datagrams", "GLibLoop", "Synchronization"},
    # The ports that they implement speak of the core's words.
    "BluetoothSources": WORDS | CORE | RUNTIME | {"DBus", "Settings", "GLibLoop", "Synchronization"},
    "PlacementSensors": WORDS | CORE | RUNTIME | {"InputDevices", "GLibLoop", "Synchronization"},
    "AudioOutput": WORDS | {"ALSA", "Synchronization"},
    "MediaSource": WORDS | {"Soup", "GLibLoop", "Synchronization"},
    "GStreamerRenderer": WORDS
    | {"GStreamer", "Soup", "AudioOutput", "MediaSource", "Playlists", "Settings", "GLibLoop", "Synchronization"},
    "RouteKit": WORDS
    | {"GroupCore", "GroupLink", "GroupClock", "MemberLink", "RouteWire", "Soup", "Avahi", "GLibLoop", "Observation", "Synchronization"},
    "LinnetApplication": WORDS | {"RouteKit", "RouteWire", "Settings", "GLibLoop", "Observation", "Synchronization"},
    "LoopTestKit": {"GLibLoop", "Synchronization"},
    "SeededNumbers": set(),
    "LinkSimulation": {"SeededNumbers", "Glibc"},
    "ReceiverTestKit": WORDS | CORE | RUNTIME | {"RouteWire", "GroupLink", "Synchronization", "Glibc"},
    # The settings are the words of the policy.
    "linnetd": WORDS | RUNTIME | {
        "SwitchingCore",
        # The renderer's settings cross the wire as they are made here.
        "RendererWire",
        "SoupListener", "AvahiAdvertiser", "MemberLink", "GroupClock", "RendererProcess", "ApplicationProcess",
        "BluetoothSources", "PlacementSensors",
        "Settings", "GLibLoop", "Synchronization"},
    "linnet-renderer": WORDS | {
        "GStreamerRenderer", "AudioOutput", "RendererWire", "Sandbox", "Settings", "GLibLoop", "Synchronization"},
    "party-queue": {"LinnetApplication", "RouteKit"},
    "group-player": WORDS | {"RouteKit", "GStreamer", "Settings", "GLibLoop", "Synchronization"},
    "linnet": WORDS | APPLIANCE | {
        "RouteKit", "RouteWire", "Playlists", "InputDevices", "Settings", "Soup", "GLibLoop", "Observation", "Synchronization"},
    # Publishes and browses inside a network namespace of the tests.
    "dns-sd-probe": {"Avahi", "GLibLoop", "Settings", "Synchronization", "Glibc"},
    # Stands for the receiver in the guests that have real Bluetooth daemons.
    "bluetooth-probe": WORDS | CORE | RUNTIME | {"BluetoothSources", "Settings", "GLibLoop"},
    # Writes until a test kills it.
    "write-probe": {"Settings", "GLibLoop"},
    # Measures on the simulated card, whose reader is test support.
    # The bench of switching is a receiver of its own.
    "linnet-bench": WORDS | CORE | RUNTIME | {
        "RendererProcess", "RendererWire",
        "RouteKit", "LinnetApplication", "SeededNumbers", "LinkSimulation", "SystemProbe", "ReceiverTestKit", "Settings", "Soup",
        "GLibLoop",
        "Observation", "Synchronization"},
}

# Target → modules that one file of it may use; none at present.
CODERS: dict[str, set[str]] = {}

# Tests may also read files and compare JSON by the toolchain's means, never by full Foundation.
TESTS = {"Testing", "Dispatch", "Glibc", "FoundationEssentials", "Observation", "Synchronization"}

# Where `unsafe` may stand: the fences, and test support that uses the C library.
UNSAFE = FENCES | SUPPORT | {"dns-sd-probe"}

# (file, module): a reason, until it is paid.
DEBTS: dict[tuple[str, str], str] = {}

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|var|let)\s+)?(\w+)")
HEADER = (
    "// SPDX-FileCopyrightText: 2026 The Linnet contributors",
    "// SPDX-License-Identifier: Apache-2.0",
)
# Target → its files that import the coders.
coder_files: dict[str, set[str]] = {}
EXECUTOR = re.compile(r"unownedExecutor|asUnownedSerialExecutor|UnownedSerialExecutor")


def code_of(line):
    """The line without string literals and comment; enough to look for a keyword."""
    return re.sub(r"//.*", "", re.sub(r'"(?:\\.|[^"\\])*"', '""', line))


def code_lines(text):
    """The lines with their numbers, without those inside of long texts."""
    in_text = False
    for number, line in enumerate(text.splitlines(), 1):
        in_text ^= line.count('"""') % 2 == 1
        if not in_text:
            yield number, line


def check_file(path, name, target, allowed, may_be_unsafe, coders):
    lines = path.read_text(encoding="utf-8").splitlines()
    start = 1 if lines and lines[0].startswith(("// swift-tools-version", "#!")) else 0
    if tuple(lines[start:start + 2]) != HEADER:
        yield f"{name}:1: the two lines of the licence are missing"
    if len(lines) > 450 and not name.startswith("Tests/"):
        yield f"{name}: {len(lines)} lines; a file past 400 wants a reason or a cut"
    for number, line in code_lines("\n".join(lines)):
        found = IMPORT.match(line)
        if found:
            module = found.group(1)
            if module in coders.get(target, ()):
                coder_files.setdefault(target, set()).add(name)
            elif module not in allowed and (name, module) not in DEBTS:
                yield f"{name}:{number}: {target} may not import {module}"
        code = code_of(line)
        if re.search(r"\btry!", code):
            yield f"{name}:{number}: try! is not used here"
        if not may_be_unsafe and re.search(r"\bunsafe\b", code) and not EXECUTOR.search(code):
            yield f"{name}:{number}: unsafe outside a fence"


def main(root):
    breaches = []
    targets = sorted(path for path in (root / "Sources").iterdir() if path.is_dir())
    for folder in targets:
        target = folder.name
        if target.startswith("C") and (folder / "module.modulemap").exists():
            continue
        if target not in ALLOWED:
            breaches.append(f"Sources/{target}: no line in the table of scripts/check-imports.py")
            continue
        for path in sorted(folder.rglob("*.swift")):
            name = str(path.relative_to(root))
            breaches += check_file(path, name, target, ALLOWED[target], target in UNSAFE, CODERS)
    own = {folder.name for folder in targets}
    for path in sorted((root / "Tests").rglob("*.swift")):
        name = str(path.relative_to(root))
        target = path.relative_to(root / "Tests").parts[0]
        # A test reaches what it tests; a C door only in the tests of its fence.
        tested = target.removesuffix("Tests")
        doors = {f"C{tested}", "CGLib"} if tested in FENCES else set()
        modules = {name for name in own if not (root / "Sources" / name / "module.modulemap").exists()}
        breaches += check_file(path, name, target, modules | doors | TESTS, True, {})
    for target, files in coder_files.items():
        if len(files) > 1:
            breaches.append(f"{target}: the coders belong in one file, not in {sorted(files)}")
    for breach in breaches:
        print(breach)
    if breaches:
        return f"check-imports: {len(breaches)} breaches"
    print(f"check-imports: {len(targets)} targets keep the layers")
    return 0


def imports_of(path):
    for number, line in code_lines(path.read_text(encoding="utf-8")):
        found = IMPORT.match(line)
        if found:
            yield number, found.group(1)


def check_declared(root):
    dumped = subprocess.run(
        ["swift", "package", "--package-path", str(root), "dump-package"], check=True, capture_output=True, text=True)
    targets = json.loads(dumped.stdout)["targets"]
    own = {target["name"] for target in targets}
    breaches = []
    for target in targets:
        declared = {name for dependency in target["dependencies"] for name in dependency.get("byName") or [] if name}
        folder = root / ("Tests" if target["type"] == "test" else "Sources") / target["name"]
        for path in sorted(folder.rglob("*.swift")):
            for number, module in imports_of(path):
                if module in own - declared:
                    breaches.append(f"{path.relative_to(root)}:{number}: {target['name']} does not declare {module}")
    for breach in breaches:
        print(breach)
    if breaches:
        return f"check-imports: {len(breaches)} imports that are not declared"
    print(f"check-imports: {len(targets)} targets declare what they import")
    return 0


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--declared"]
    start = (pathlib.Path(words[0]) if words else pathlib.Path(__file__).parent.parent).resolve()
    sys.exit(check_declared(start) if "--declared" in sys.argv else main(start))
