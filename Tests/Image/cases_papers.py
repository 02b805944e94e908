# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""What lies beside an image: sums and who signed them, what is in it, which parts of it have to be written."""
import json
import pathlib
import re

from steps import expect


def papers(image, _lab):
    """Sums, signature, list of contents and map of blocks belong to the image, and to no other."""
    stem = pathlib.Path("/images") / image.path.stem
    sums = (image.path.parent / f"{image.path.stem}.sha256").read_text()
    named = {line.split()[1] for line in sums.splitlines()}
    expect(named == {f"{image.path.stem}.{end}" for end in ("img.zst", "img.bmap", "raucb", "spdx.json")}, "everything has a sum")
    image.tool("sh", "-c", f"cd /images && sha256sum --quiet --check {stem}.sha256")
    print("  ok: the sums are right")
    verify = ("openssl", "cms", "-verify", "-binary", "-inform", "PEM", "-purpose", "any", "-CAfile", "/keys/ca.pem",
              "-in", f"{stem}.sha256.sig", "-out", "/dev/null", "-content")
    image.tool(*verify, f"{stem}.sha256")
    other = image.folder / "other.sha256"
    other.write_text(sums.replace(sums[:8], "00000000", 1))
    expect(refused(image, *verify, other), "the signature holds for these sums and for no others")

    written = image.folder / "written.img"
    image.tool("bmaptool", "copy", "--bmap", f"{stem}.img.bmap", f"{stem}.img.zst", written)
    image.tool("cmp", written, f"{stem}.img")
    mapped = re.search(r"<MappedBlocksCount>\s*(\d+)", (image.path.parent / f"{image.path.stem}.img.bmap").read_text())
    print(f"  ok: what the map has written is the image: {int(mapped[1]) * 4096 / 1e6:.0f} MB of {written.stat().st_size / 1e6:.0f}")
    with open(written, "r+b") as file:
        file.seek(image.place(6)[0] + 100_000)
        file.write(bytes(64))
    expect(refused(image, "bmaptool", "copy", "--bmap", f"{stem}.img.bmap", written, image.folder / "again.img"),
           "an image that is damaged is not written as whole")
    written.unlink()

    listed = json.loads((image.path.parent / f"{image.path.stem}.spdx.json").read_text())
    contents = {package["name"]: package["versionInfo"] for package in listed["packages"]}
    image.part(6, image.folder / "root.img")
    status = image.tool("unsquashfs", "-cat", image.folder / "root.img", "var/lib/dpkg/status")
    installed = {re.search(r"^Package: (.*)", entry, re.M)[1]: re.search(r"^Version: (.*)", entry, re.M)[1]
                 for entry in status.split("\n\n") if "\nStatus: install ok installed" in entry}
    expect(len(installed) > 100 and installed.items() <= contents.items(), f"all {len(installed)} packages are in the list")
    picked = image.tool("unsquashfs", "-cat", image.folder / "root.img", "usr/share/linnet/picked").split("\n")
    expect({line.split()[0] for line in picked if line} <= set(contents), "and those of which single files are in it")
    expect("linnet-receiver" in contents and all(package["SPDXID"].startswith("SPDXRef-") for package in listed["packages"]),
           "ours among them")


def refused(image, *command):
    try:
        image.tool(*command)
    except AssertionError:
        return True
    return False
