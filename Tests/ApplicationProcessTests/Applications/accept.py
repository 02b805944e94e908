# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts a program for each connection to a local socket, which is its standard input, as service managers do.
usage: accept.py SOCKET PROGRAM ARGUMENT…     Prints a line when it listens, the number of each process as it is started,
and the status of each that has ended. It ends with its standard input."""

import os, select, signal, socket, sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen(16)


def reap(*_):
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if process == 0:
            return
        print("ended", os.waitstatus_to_exitcode(status), flush=True)


signal.signal(signal.SIGCHLD, reap)
print("listening", flush=True)
while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
    connection, _ = listener.accept()
    process = os.fork()
    if process == 0:
        listener.close()
        os.dup2(connection.fileno(), 0)
        connection.close()
        os.execv(sys.argv[2], sys.argv[2:])
    connection.close()
    print("started", process, flush=True)
