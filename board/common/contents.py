#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Prints what is in an image, as SPDX 2.3: the Debian packages of its root, and those of which single files are in it.

usage: contents.py ROOT BOARD VERSION
  SOURCE_DATE_EPOCH    when it counts as made
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys


def installed(root):
    """Name, version, architecture, source and maintainer of each package, and that all of it is there."""
    for entry in (root / "var/lib/dpkg/status").read_text().split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", entry, re.M))
        if fields.get("Status") == "install ok installed":
            source = fields.get("Source", fields["Package"]).split()[0]
            yield fields["Package"], fields["Version"], fields["Architecture"], source, fields["Maintainer"], "whole"


def picked(root):
    for line in (root / "usr/share/linnet/picked").read_text().splitlines():
        name, version, architecture, source = line.split()
        yield name, version, architecture, source, "Debian", "single files"


def described(name, version, architecture, source, maintainer, extent):
    ours = source == "linnet"
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": f"Organization: {re.sub(r' *<.*', '', maintainer)}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "Apache-2.0" if ours else "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": f"{extent}; source package {source}",
        "externalRefs": [] if ours else [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"}],
    }


def main(root, board, version):
    root = pathlib.Path(root)
    packages = {}
    # What is installed as a whole is not told again for files that were picked.
    for package in [*picked(root), *installed(root)]:
        packages[package[0]] = described(*package)
    packages = [packages[name] for name in sorted(packages)]
    made = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"linnet-{board}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/linnet-{board}-{version}-{digest[:32]}",
        "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Organization: The Linnet contributors"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": package["SPDXID"]}
            for package in packages],
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
