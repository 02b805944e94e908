#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Links linnetd and linnet-renderer anew, with what both contain in one library, so that it is in memory once.

usage: share.py RELEASE STATIC ORDER OUTPUT

RELEASE is where SwiftPM has built both with everything linked in, STATIC a folder that has C++'s library as an archive only,
ORDER the list of functions that are to lie side by side. OUTPUT gets both programs and liblinnet.so: the Swift runtime
and the objects that both have, with no more of it than both refer to, and no other name exported.

For another machine than this one: LINNET_TARGET is its triple, LINNET_SYSROOT the folder with its libraries, LINNET_RUNTIME
the one with Swift's archives for it, NM the program that lists names.
"""
import json
import os
import re
import shutil
import subprocess
import sys

PROGRAMS = ["linnetd", "linnet-renderer"]
LIBRARY = "liblinnet.so"
# The parts of Swift's library that may be referred to; what is not stays out.
RUNTIME = ["swiftCore", "swift_Concurrency", "swiftSynchronization", "swift_Builtin_float", "swiftGlibc", "dispatch",
           "BlocksRuntime"]
FLAGS = ["-fuse-ld=lld", "-static-libgcc", "-g", "-Wl,--build-id", "-Wl,--gc-sections", "-Wl,--icf=all",
         "-Wl,-z,separate-code", "-Wl,-z,pack-relative-relocs", "-Wl,--no-warn-symbol-ordering",
         "-Wl,--no-undefined"]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(kind, files):
    """The global names that files define, or need and do not define."""
    found = set()
    for start in range(0, len(files), 100):
        listing = output(os.environ.get("NM", "nm"), "--extern-only", f"--{kind}-only", "--format=posix", *files[start:start + 100])
        lines = (line.split(" ") for line in listing.splitlines())
        # Small letters are weak: nothing is missing where nobody has such a name.
        found.update(words[0] for words in lines if len(words) > 1 and (kind == "defined" or words[1] not in "wv"))
    return found


def needed(program):
    """The libraries of the system that a program is linked with."""
    found = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", program))
    return [f"-l:{name}" for name in found if not name.startswith("ld-linux")]


def main(release, static, order, folder):
    swift = shutil.which(os.environ.get("SWIFT", "swift")) or sys.exit("share: there is no swift")
    # Beside it.
    swiftc = f"{swift}c"
    target = os.environ.get("LINNET_TARGET")
    if target:
        home, cross = os.environ["LINNET_RUNTIME"], [f"--target={target}", f"--sysroot={os.environ['LINNET_SYSROOT']}"]
    else:
        paths = json.loads(output(swiftc, "-print-target-info", "-static-stdlib"))
        home, cross, target = paths["paths"]["runtimeLibraryPaths"][0], [], paths["target"]["triple"]
    start = f"{home}/{target.split('-')[0]}/swiftrt.o"
    clang = os.path.join(os.path.dirname(os.path.realpath(swiftc)), "clang")
    link = [clang if os.path.exists(clang) else "clang", *cross, *FLAGS, f"-Wl,--symbol-ordering-file={order}"]
    objects = {}
    for program in PROGRAMS:
        with open(f"{release}/{program}.product/Objects.LinkFileList", encoding="utf-8") as file:
            objects[program] = [line.strip() for line in file if line.strip()]
    common = [path for path in objects[PROGRAMS[0]] if path in set(objects[PROGRAMS[1]])]
    own = {program: [path for path in objects[program] if path not in set(common)] for program in PROGRAMS}

    archives = [f"{home}/lib{name}.a" for name in RUNTIME if os.path.exists(f"{home}/lib{name}.a")]
    wanted = names("undefined", [start] + [path for program in PROGRAMS for path in own[program]])
    exported = sorted(wanted & (names("defined", archives) | names("defined", common)))
    os.makedirs(folder, exist_ok=True)
    work = f"{folder}/share"
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/exports", "w", encoding="utf-8") as file:
        file.write("{ global:\n" + "".join(f'  "{name}";\n' for name in exported) + "local: *; };\n")
    with open(f"{work}/objects", "w", encoding="utf-8") as file:
        file.write("".join(f"-Wl,-u,{name}\n" for name in exported) + "".join(f'"{path}"\n' for path in common))
    both = [name for name in needed(f"{release}/{PROGRAMS[0]}") if name in needed(f"{release}/{PROGRAMS[1]}")]
    subprocess.run(
        [*link, "-shared", "-o", f"{work}/{LIBRARY}", f"-Wl,-soname,{LIBRARY}", "-Wl,-Bsymbolic",
         f"-Wl,--version-script={work}/exports", start, f"@{work}/objects", "-Wl,--start-group", *archives,
         "-Wl,--end-group", f"-L{static}", "-lstdc++", *both],
        check=True)
    for program in PROGRAMS:
        entry = program.replace("-", "_") + "_main"
        subprocess.run(
            [*link, "-pie", "-o", f"{work}/{program}", f"-Wl,--defsym=main={entry}", start, *own[program], f"-L{work}",
             f"-l:{LIBRARY}", *needed(f"{release}/{program}"), "-Wl,-rpath,$ORIGIN/../lib/linnet:$ORIGIN"],
            check=True)
        if re.search(r"\bR_\w+_COPY\b", output("readelf", "--relocs", "--wide", f"{work}/{program}")):
            sys.exit(f"share: {program} copies data of {LIBRARY}, which would be two of it")
    # A program that runs goes on with the file that it began with.
    for name in [LIBRARY, *PROGRAMS]:
        os.replace(f"{work}/{name}", f"{folder}/{name}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*(os.path.abspath(path) for path in sys.argv[1:]))
