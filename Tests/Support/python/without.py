#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program as on a kernel that lacks a system call. usage: without.py NUMBER PROGRAM [ARGUMENT…]

The call answers ENOSYS, in the program and in all that it starts.
"""

import ctypes
import os
import struct
import sys

number = int(sys.argv[1])
ERRNO, ALLOW, ENOSYS = 0x00050000, 0x7FFF0000, 38
steps = [
    (0x20, 0, 0, 0),  # the call's number
    (0x15, 0, 1, number),
    (0x06, 0, 0, ERRNO | ENOSYS),
    (0x06, 0, 0, ALLOW),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
library = ctypes.CDLL(None, use_errno=True)
for call in [(38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)]:
    if library.prctl(*[ctypes.c_ulong(word) for word in call]) != 0:
        sys.exit(f"without.py: prctl: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[2], sys.argv[2:])
