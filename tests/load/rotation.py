#!/usr/bin/env python3
"""A server under load whose serving certificate, and whose clients' authority, change again and again.

usage: rotation.py --server BINARY --driver BINARY [--swaps 25]

No request of the load may fail. After each change of the authority the old identity must be refused
on the connection it already had, on new ones, and with its TLS session, and never again be let in;
the new one is let in. Prints figures; exits 1 if anything is otherwise.
"""

import argparse
import http.client
import os
import ssl
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from authority import Authority  # noqa: E402
from servers import Failure, free_port, wait_until  # noqa: E402
from rolling_restart import finish_driver, start_driver  # noqa: E402


def replace(source, target):
    """As a controller does: written beside, then renamed."""
    with open(source) as old, open(target + ".new", "w") as new:
        new.write(old.read())
    os.rename(target + ".new", target)


class Identity:
    """A client certificate with a connection that stays."""

    def __init__(self, pair, trusted, port):
        self.context = ssl.create_default_context(cafile=trusted)
        self.context.maximum_version = ssl.TLSVersion.TLSv1_2  # Where Python can offer a session.
        self.context.load_cert_chain(*pair)
        self.port = port
        self.kept = self.connect()

    def connect(self, session=None):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)
        raw = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        raw.connect()
        connection.sock = self.context.wrap_socket(raw.sock, server_hostname="127.0.0.1", session=session)
        return connection

    def code(self, connection):
        connection.request("GET", "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders?limit=1")
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def codes(self):
        """Of the connection that stays, of a new one, and of one that offers the session."""
        session = self.kept.sock.session
        resumed = self.connect(session)
        return [self.code(self.kept), self.code(self.connect()), self.code(resumed)]


class Rotation:
    def __init__(self, args, folder):
        self.args, self.folder, self.process = args, folder, None
        self.serving_ca = Authority(folder, "serving-ca")
        self.port = free_port()
        self.cert, self.key, self.clients = (os.path.join(folder, name)
                                             for name in ("tls.crt", "tls.key", "clients.crt"))
        self.new_serving(0)
        self.authority = Authority(folder, "clients-0")
        replace(self.authority.cert, self.clients)

    def new_serving(self, turn):
        cert, key = self.serving_ca.sign("serving-%d" % turn, "/CN=serving-%d" % turn,
                                         "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        # Two files cannot change at once: the server must not take half a pair.
        replace(cert, self.cert)
        replace(key, self.key)

    def identity(self, turn):
        pair = self.authority.sign("user-%d" % turn, "/O=system:masters/CN=user-%d" % turn,
                                   "extendedKeyUsage=clientAuth\n")
        return Identity(pair, self.serving_ca.cert, self.port)

    def start(self):
        kubeconfig = os.path.join(self.folder, "kubeconfig")
        self.process = subprocess.Popen(
            [self.args.server, "--secure-port=%d" % self.port, "--storage=memory", "--data-dir=" + self.folder,
             "--kubeconfig-out=" + kubeconfig, "--tls-cert-file=" + self.cert,
             "--tls-private-key-file=" + self.key, "--client-ca-file=" + self.clients],
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(self.folder, "server.log"), "a"))
        wait_until(lambda: os.path.exists(kubeconfig), "the server is ready")

    def served_name(self):
        context = ssl.create_default_context(cafile=self.serving_ca.cert)
        raw = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        raw.connect()
        with context.wrap_socket(raw.sock, server_hostname="127.0.0.1") as connection:
            return dict(part[0] for part in connection.getpeercert()["subject"])["commonName"]

    def swap(self, turn):
        """Seconds until the old identity was refused."""
        old = self.identity(2 * turn)
        if old.codes() != [200, 200, 200]:
            raise Failure("an identity of the authority is not let in")
        self.new_serving(turn)
        self.authority = Authority(self.folder, "clients-%d" % turn)
        replace(self.authority.cert, self.clients)
        begun = time.monotonic()
        wait_until(lambda: old.code(old.kept) == 401, "the old identity is refused", 60)
        took = time.monotonic() - begun
        for _ in range(5):
            if old.codes() != [401, 401, 401]:
                raise Failure("the old identity is let in again: %s" % old.codes())
        if self.identity(2 * turn + 1).codes() != [200, 200, 200]:
            raise Failure("an identity of the new authority is not let in")
        wait_until(lambda: self.served_name() == "serving-%d" % turn, "the new certificate is served", 60)
        return took

    def run(self):
        self.start()
        driver = start_driver(self.args.driver, self.folder, [self.port], self.serving_ca.cert, "--turns=50")
        try:
            took = [self.swap(turn + 1) for turn in range(self.args.swaps)]
            figures = finish_driver(driver)
        finally:
            driver.kill()
        print("%d swaps; old identities were refused within %.2f s" % (self.args.swaps, max(took)), flush=True)
        if driver.returncode != 0 or figures["failed"] or figures["relists"]:
            raise Failure("requests failed")
        if figures["moves"] < self.args.swaps:
            raise Failure("there were too few handshakes to tell")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--swaps", type=int, default=25)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rotation = Rotation(args, folder)
        try:
            rotation.run()
        except Failure as failure:
            print("FAILED: %s" % failure, flush=True)
            print(open(os.path.join(folder, "server.log")).read()[-3000:], file=sys.stderr)
            return 1
        finally:
            if rotation.process:
                rotation.process.kill()
                rotation.process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
