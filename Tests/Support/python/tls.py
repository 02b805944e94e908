#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Serves a folder over TLS on loopback, once with each kind of certificate, good and bad.

usage: tls.py WORK-FOLDER MEDIA-FOLDER
Makes an authority in WORK-FOLDER/authority.pem, which whoever is to trust it must be given, and prints a line `KIND PORT` for each
server, then `ready`. Needs openssl. Others import it for the certificates.
"""
import functools
import http.server
import ssl
import subprocess
import sys
import threading

OURS = "DNS:localhost,IP:127.0.0.1,IP:127.0.0.2"
KINDS = ("good", "expired", "other-name", "unknown-authority", "self-signed")


class Certificates:
    """Certificates of every kind in a folder, as KIND.pem and KIND.key, and the authority of the good ones."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.authority("authority")
        self.authority("stranger")
        self.certificate("good", "authority", OURS, "2")
        self.certificate("expired", "authority", OURS, "-1")
        self.certificate("other-name", "authority", "DNS:other.example", "2")
        self.certificate("unknown-authority", "stranger", OURS, "2")
        self.self_signed("self-signed")

    def openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], check=True, cwd=self.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def authority(self, name: str) -> None:
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def certificate(self, kind: str, signer: str, names: str, days: str) -> None:
        """Makes KIND.pem and KIND.key for a server of those names. Days below zero: it expired as long ago."""
        with open(f"{self.folder}/{kind}.ext", "w", encoding="ascii") as file:
            file.write(f"subjectAltName={names}\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
                     "-keyout", f"{kind}.key", "-out", f"{kind}.csr")
        self.openssl("x509", "-req", "-in", f"{kind}.csr", "-CA", f"{signer}.pem", "-CAkey", f"{signer}.key",
                     "-CAcreateserial", "-days", days, "-extfile", f"{kind}.ext", "-out", f"{kind}.pem")

    def self_signed(self, kind: str) -> None:
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", "/CN=localhost", "-addext", f"subjectAltName={OURS}",
                     "-keyout", f"{kind}.key", "-out", f"{kind}.pem")

    def wrap(self, server: http.server.HTTPServer, kind: str) -> None:
        """Has a server speak TLS with the certificate of a kind."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.folder}/{kind}.pem", f"{self.folder}/{kind}.key")
        # The handshake belongs to the connection's own thread.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_) -> None:
        """A client that does not like the certificate leaves in the middle of the handshake."""


def main() -> None:
    work, media = sys.argv[1:]
    certificates = Certificates(work)
    for kind in KINDS:
        server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=media))
        certificates.wrap(server, kind)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(kind, server.server_address[1], flush=True)
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
