#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Which tests failed, by the events that a run of `swift test` has written, so that these alone are run once more.

usage: failed-tests.py names EVENTS         one a line; status 1 where the run came to no end or what failed has no name
       failed-tests.py filter EVENTS        the same, as a pattern for `swift test --filter`
       failed-tests.py same EVENTS SECOND   status 1 unless the second run had these tests, and no others
"""

import json
import re
import sys


def read(path):
    """The tests that were run, and those that failed."""
    run, failed, is_whole = set(), set(), False
    try:
        with open(path, encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
    except (OSError, ValueError) as fault:
        sys.exit(f"failed-tests: no events of a whole run: {fault}")
    functions = {
        record["payload"]["id"]
        for record in records
        if record["kind"] == "test" and record["payload"]["kind"] == "function"
    }
    for record in records:
        if record["kind"] != "event":
            continue
        event = record["payload"]
        kind, test = event["kind"], event.get("testID")
        if kind == "runEnded":
            is_whole = True
        elif kind == "testStarted" and test in functions:
            run.add(test)
        elif kind == "issueRecorded" and event["issue"].get("isFailure", True):
            if test not in functions:
                sys.exit(f"failed-tests: {test or 'something'} failed, which is no test")
            failed.add(test)
    if not is_whole:
        sys.exit("failed-tests: the run came to no end")
    return run, failed


def pattern(name):
    """Anything may stand for what could mean something in a pattern."""
    return "^" + re.sub("[^A-Za-z0-9_ ]+", ".+", name) + "$"


def main():
    what, path = sys.argv[1], sys.argv[2]
    failed = sorted(read(path)[1])
    if not failed:
        sys.exit("failed-tests: no test failed by itself")
    if what == "names":
        print("\n".join(failed))
    elif what == "filter":
        print("|".join(map(pattern, failed)))
    elif what == "same":
        again = sorted(read(sys.argv[3])[0])
        if again != failed:
            sys.exit(f"failed-tests: not the same tests were run: {again} instead of {failed}")
    else:
        sys.exit(__doc__)


main()
