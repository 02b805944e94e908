# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""The web server behind the cases: it serves, and misbehaves, as a path says.

A path is /RUN/BEHAVIOUR/REST. RUN names one run of one case and is given by the runner, so that cases side by side do
not see each other's requests. BEHAVIOUR is a name that a module of `behaviours` has registered:

    from server import behaviour

    @behaviour("hello")
    def hello(request, rest):
        request.send(b"hello", "text/plain")
"""

import http.server
import importlib
import os
import pathlib
import shutil
import socket
import socketserver
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support", "python"))

import tls  # noqa: E402 (it stands in another folder)

BEHAVIOURS = {}


def behaviour(name):
    """Registers a function of a request and the rest of its path."""
    def register(function):
        if name in BEHAVIOURS:
            raise ValueError(f"two behaviours are called {name}")
        BEHAVIOURS[name] = function
        return function
    return register


class Run:
    """What the server knows of one run of a case. `memory` is free for its behaviours."""

    def __init__(self):
        self.begun = None  # of the first request, in seconds of the monotonic clock
        self.requests = []  # (seconds since the first, path with the query, host, headers)
        self.memory = {}
        self.lock = threading.Lock()
        self.link = threading.Event()  # cleared while the link is gone
        self.link.set()
        self.refuses = False  # every connection is cut

    def note(self, path, host, headers):
        with self.lock:
            now = time.monotonic()
            if self.begun is None:
                self.begun = now
            self.requests.append((now - self.begun, path, host, headers))

    def elapsed(self):
        """Seconds since the first request."""
        return time.monotonic() - (self.begun or time.monotonic())


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120

    def setup(self):
        super().setup()
        # What the kernel keeps for us comes through even when the link is gone.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32768)

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def do_GET(self):
        # A client that takes this server for its proxy gives the whole address.
        parts = urllib.parse.urlsplit(self.path)
        self.is_proxied = bool(parts.netloc)
        self.path = urllib.parse.urlunsplit(parts._replace(scheme="", netloc=""))
        _, name, kind, rest = (parts.path + "///").split("/", 3)
        rest = rest.rstrip("/")
        self.run = self.server.run(name)
        self.query = dict(urllib.parse.parse_qsl(parts.query))
        self.prefix = f"/{name}"
        self.run.note(self.path[len(self.prefix):], self.headers.get("Host", ""), list(self.headers.items()))
        if self.is_proxied:
            self.run.memory["proxied"] = True
        if self.wait_or_cut():
            return
        function = BEHAVIOURS.get(kind)
        if function is None:
            self.send(b"no such behaviour\n", "text/plain", 404)
        else:
            function(self, urllib.parse.unquote(rest))

    do_HEAD = do_GET

    def do_CONNECT(self):
        """A tunnel, for a client that takes this server for its proxy: to the port that was named, on this machine."""
        port = int(self.path.rpartition(":")[2])
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", port)) as other:
            self.send_response(200)
            self.end_headers()
            self.server.tunnels += 1
            there = threading.Thread(target=self.pump, args=(self.connection, other), daemon=True)
            there.start()
            self.pump(other, self.connection)
            there.join()

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    # What behaviours answer with

    def wait_for_link(self):
        """Waits while the link is gone, as a packet would; the other side may have given up meanwhile."""
        self.run.link.wait(timeout=300)

    def wait_or_cut(self):
        """As `wait_for_link`; True if the connection is to be cut now."""
        self.wait_for_link()
        if self.run.refuses:
            self.cut()
        return self.run.refuses

    def send(self, body, kind, status=200, headers=()):
        """Answers with a whole body. A range is served if it is asked for."""
        size = len(body)
        wanted = self.headers.get("Range", "")
        ranges = ()
        if status == 200 and wanted.startswith("bytes=") and "," not in wanted:
            first, _, last = wanted[6:].partition("-")
            start = int(first) if first else max(0, size - int(last))
            end = min(int(last), size - 1) if first and last else size - 1
            if start >= size or start > end:
                return self.send(b"", kind, 416, [("Content-Range", f"bytes */{size}")])
            status, body = 206, body[start:end + 1]
            ranges = (("Content-Range", f"bytes {start}-{end}/{size}"),)
        self.send_response(status)
        for name, value in (
                ("Content-Type", kind), ("Content-Length", str(len(body))), ("Accept-Ranges", "bytes"), *ranges,
                *headers):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.write(body)
        return None

    def write(self, body):
        """Writes a body in pieces that stop while the link is gone."""
        for place in range(0, len(body), 8192):
            if self.wait_or_cut():
                return
            self.wfile.write(body[place:place + 8192])

    def redirect(self, address, status=302):
        self.send(b"", "text/plain", status, [("Location", address)])

    def cut(self):
        """Ends the connection in the middle of whatever was being said."""
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def log_message(self, *arguments):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def server_bind(self):
        # Nobody needs the name of this machine, which may take long to find.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def start(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request, address):
        """A client that goes away is no error of the server."""


class Server(Listener):
    """The server of all cases. It also listens with TLS, once for each kind of certificate, when that is asked for."""

    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def __init__(self, media):
        # Also reached as 127.0.0.2: that is another host.
        super().__init__(("", 0), Request)
        self.media = media
        self.port = self.server_address[1]
        self.runs = {}
        self.tunnels = 0
        self.lock = threading.Lock()
        self.folder = self.certificates = None
        self.secure = {}  # listeners with TLS by the kind of their certificate
        self.hole = None

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def server_close(self):
        super().server_close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, name):
        with self.lock:
            return self.runs.setdefault(name, Run())

    def secure_port(self, kind):
        """The port at which a certificate of this kind is shown."""
        with self.lock:
            if kind not in self.secure:
                if not self.certificates:
                    self.folder = tempfile.mkdtemp(prefix="linnet-tls-")
                    self.certificates = tls.Certificates(self.folder)
                self.secure[kind] = SecureListener(self, kind)
                self.secure[kind].start()
            return self.secure[kind].port

    def tone_file(self):
        """The path of the coded tone."""
        return self.media["main"].path

    def hole_port(self):
        """A port at which nothing answers, not even a refusal: its queue of connections is full."""
        with self.lock:
            if not self.hole:
                listener = socket.create_server(("127.0.0.1", 0), backlog=0)
                fillers = [socket.socket() for _ in range(4)]
                for filler in fillers:
                    filler.setblocking(False)
                    filler.connect_ex(listener.getsockname())
                self.hole = (listener, fillers)
            return self.hole[0].getsockname()[1]


class SecureListener(Listener):
    """The same server over TLS."""

    def __init__(self, server, kind):
        super().__init__(("", 0), Request)
        self.server, self.port = server, self.server_address[1]
        server.certificates.wrap(self, kind)

    def __getattr__(self, name):
        # Runs, media and whatever else belongs to all.
        return getattr(self.__dict__["server"], name)


def load_behaviours():
    folder = pathlib.Path(__file__).resolve().parent / "behaviours"
    for path in sorted(folder.glob("*.py")):
        importlib.import_module(f"behaviours.{path.stem}")
