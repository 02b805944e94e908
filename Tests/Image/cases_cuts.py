# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What is on a disk whose device lost its power.

CUTS=all has every cut of the recordings judged, CUTS=N so many of them; SEED chooses which.
"""
import collections
import json
import mmap
import os
import random
import re
import time

from judge import Flaw, Judge
from machine import PATIENCE, wait
from steps import expect
from stories import CARD, RECORDED, SECRET, Story, record
from writes import SECTOR, Cut, Disk, all_cuts

SEED = int(os.environ.get("SEED", "1"))


def fixed(image, disk):
    """Files of the card that GRUB starts from."""
    found = {}
    for name in ("EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/grub.cfg", "arguments.cfg"):
        target = image.folder / "fixed"
        image.tool("mcopy", "-n", "-o", "-i", f"{disk}@@4M", f"::/{name}", target)
        found[name] = target.read_bytes()
    return found


def check(story, cut, found):
    """Whether what was certainly kept is there, and nothing that never was."""
    def is_past(size):
        return size is not None and story.recording.kept(story.recording.at(size)) <= cut.kept

    if story.states:
        texts = [text for _, text in story.states]
        oldest = max((number for number, (size, _) in enumerate(story.states) if is_past(size)), default=-1)
        state = found["data"]["state"]
        text = None if state is None else state.decode("utf-8", "replace").strip()
        if text is None and oldest >= 0:
            raise Flaw("the receiver's state is lost")
        if text is not None and text not in texts[max(oldest, 0):]:
            where = texts.index(text) if text in texts else "none"
            raise Flaw(f"the receiver's state is {where} of those it had, {oldest} was kept: {text!r}")
    for size, slot in story.starts_from:
        if is_past(size) and found["slot"] != slot:
            raise Flaw(f"slot {found['slot']} is taken after the update was complete")
    if story.card:
        check_card(found, any(is_past(size) for size in story.card))


def check_card(found, is_taken):
    page, kept = found["card"]["linnet.conf"], found["data"]["settings"]
    if page is None or len(page) != len(CARD):
        raise Flaw("linnet.conf is lost")
    for before, after in zip(CARD.splitlines(), page.decode("utf-8", "replace").splitlines()):
        if before != after and not (before.startswith("key") and after.startswith("#")):
            raise Flaw(f"linnet.conf has {after!r} for {before!r}")
    if SECRET.encode() not in page and (kept is None or SECRET.encode() not in kept):
        raise Flaw("the key of the network is lost")
    if is_taken and (kept is None or SECRET.encode() not in kept):
        raise Flaw("what was taken over is lost")


def choose_cuts(story, begin, end, count, data, choose):
    """Cuts of a stretch, half of them from where the choice of the slot, the partition table and the beginning of the data are
    written; all if there is no count."""
    cuts = list(all_cuts(story.recording, begin, end, random.Random(SEED)))
    writes = story.recording.writes
    if not count or len(cuts) <= count:
        return cuts, len(cuts)
    hot = [number for number, cut in enumerate(cuts)
           if any(writes[index].sector < 8192 or writes[index].touches(data) for index, *_ in cut.extra)]
    taken = set(choose.sample(hot, min(count // 2, len(hot))))
    rest = [number for number in range(len(cuts)) if number not in taken]
    taken |= set(choose.sample(rest, count - len(taken)))
    return [cuts[number] for number in sorted(taken)], len(cuts)


def replay(image, lab, story, slots, count, look_closer):
    """Judges cuts of a story. Returns how many there were and what was wrong."""
    choose, flaws, judged, begin = random.Random(SEED), [], 0, 0
    closer = []
    with (Disk(story.recording, story.base, image.folder / "cut.img") as disk,
          Judge(image, disk, slots, fixed(image, disk.path)) as judge):
        beginning = (judge.first[3][0], judge.first[3][0] + 8)
        for name, size in story.phases:
            end, begun, taken = story.recording.at(size), time.monotonic(), collections.Counter()
            cuts, possible = choose_cuts(story, begin, end, count, beginning, choose)
            near = set(choose.sample(range(len(cuts)), min(look_closer, len(cuts))))
            for number, cut in enumerate(cuts):
                disk.become(cut)
                try:
                    found = judge.look(cut)
                    check(story, cut, found)
                    taken[f"{found['slot']} {found['version']}"] += 1
                    if number in near:
                        closer.append((found["slot"], loader_takes(image, lab, disk.path)))
                except Flaw as flaw:
                    flaws.append(f"{name}, {cut.kind} after {cut.kept} of {len(story.recording.writes)} writes: {flaw}")
                    print(f"  NOT: {flaws[-1]}", flush=True)
            judged += len(cuts)
            flushes = sum(begin <= index < end for index in story.recording.flushes)
            print(f"  {name}: {end - begin - flushes} writes, {flushes} flushes; {len(cuts)} of {possible} cuts in "
                  f"{time.monotonic() - begun:.0f} s: {dict(taken)}", flush=True)
            begin = end
        print(f"  {judge.mended} times a superblock was torn, and mended")
        expect_to_see(image, disk, slots, story)
    expect(all(own == theirs for own, theirs in closer), f"the boot loader takes the same slot: {len(closer)} times")
    return judged, flaws


def expect_to_see(image, disk, slots, story):
    """A judge that lets everything pass is none: the disk at the end is good, and not with any of these damages."""
    end = Cut(len(story.recording.writes), "all")
    disk.become(end)
    known = fixed(image, disk.path)

    def see():
        with Judge(image, disk, slots, known) as judge:
            check(story, end, judge.look(end))
            return judge.first

    first = see()
    content = mmap.mmap(disk.file.fileno(), 0, access=mmap.ACCESS_READ)
    state, card = story.states[-1][1].encode(), known["EFI/BOOT/grub.cfg"][:512]
    for what, places in (
        ("a slot", [first[8][0] * SECTOR + 5_000_000]),
        ("the choice of the slot", [(first[4][0] + 7) * SECTOR, (first[4][0] + 7 + 2048) * SECTOR]),
        ("the data partition", [first[3][0] * SECTOR + 1024 + 56]),
        ("the settings", [found.start() for found in re.finditer(re.escape(state), content)]),
        ("the boot loader", [content.find(card)]),
    ):
        before = [content[place:place + 32] for place in places]
        overwrite(disk, [(place, b"#" * 32) for place in places])
        try:
            see()
        except Flaw:
            pass
        else:
            raise AssertionError(f"NOT: damage to {what} is seen")
        overwrite(disk, zip(places, before))


def overwrite(disk, pieces):
    for place, data in pieces:
        disk.file.seek(place)
        disk.file.write(data)


def loader_takes(image, lab, disk):
    with image.start(lab, disk, "-snapshot") as machine:
        pattern = re.compile(rb"linnet: starting slot ([AB])")
        wait(lambda: machine.console.exists() and pattern.search(machine.console.read_bytes()), "the boot loader", PATIENCE)
        return pattern.search(machine.console.read_bytes()).group(1).decode()


def power_cut(image, lab):
    """Cut at any moment of a first start, a change, an update or the first start of that, a disk is whole and has its settings."""
    wanted = os.environ.get("CUTS", "400")
    count = 0 if wanted == "all" else max(1, int(wanted) // 5)
    if not RECORDED:
        record(image, lab)
    folder = RECORDED or image.folder
    slots = json.loads((folder / "slots.json").read_text())
    judged, flaws = 0, []
    for name in ("life", "card"):
        more, wrong = replay(image, lab, Story.kept(folder, name), slots, count, 1)
        judged += more
        flaws += wrong
    expect(not flaws, f"{judged} cuts, {len(flaws)} of them lost something")
