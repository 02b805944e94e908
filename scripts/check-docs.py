#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents: every link inside the project leads somewhere, every target has its page.

usage: check-docs.py [ROOT]
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"(?<!!)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)(?:\s+\"[^\"]*\")?\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")


def slug(heading):
    """The anchor that a forge makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").strip().lower())
    return text.replace(" ", "-")


def prose(path):
    """The lines of a page that are not in a block of code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path):
    seen, found = {}, set()
    for _, line in prose(path):
        heading = HEADING.match(line)
        if heading:
            name = slug(heading.group(1))
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(name if count == 0 else f"{name}-{count}")
    return found


def pages(root):
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        check=False, capture_output=True, text=True)
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.splitlines() if (root / name).exists()]
    return [path for path in root.rglob("*.md") if ".build" not in path.parts]


def check_links(root, path):
    for number, line in prose(path):
        line = re.sub(r"`[^`]*`(?!\])", "", line)
        for link in LINK.findall(line) + IMAGE.findall(line):
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            where = f"{path.relative_to(root)}:{number}"
            if not target.exists():
                yield f"{where}: {link} leads nowhere"
            elif root not in target.parents and target != root:
                yield f"{where}: {link} leads out of the project"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield f"{where}: {name or path.name} has no heading #{anchor}"


def check_targets(root):
    for folder in sorted((root / "Sources").iterdir()):
        if not folder.is_dir() or (folder / "module.modulemap").exists():
            continue
        page = folder / "README.md"
        if not page.exists():
            yield f"Sources/{folder.name}: has no README.md"
        elif not re.search(r"\b(?:not|never|no|nothing)\b", page.read_text(encoding="utf-8"), re.IGNORECASE):
            yield f"Sources/{folder.name}/README.md: does not say what the target does not do"


def check_map(root):
    """Every page under Docs is reached from the map."""
    page = root / "Docs" / "README.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for path in pages(root):
        name = str(path.relative_to(root))
        if name.startswith("Docs/") and path != page:
            inside = name.removeprefix("Docs/")
            if inside not in text and f"{inside.split('/')[0]}/)" not in text:
                yield f"{name}: is not on the map, Docs/README.md"


def main(root):
    breaches = [breach for path in pages(root) for breach in check_links(root, path)]
    breaches += check_targets(root)
    breaches += check_map(root)
    for breach in breaches:
        print(breach)
    if breaches:
        return f"check-docs: {len(breaches)} faults"
    print(f"check-docs: the links of {len(pages(root))} pages lead somewhere")
    return 0


if __name__ == "__main__":
    start = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    sys.exit(main(start.resolve()))
