"""A server under attack: the process, raw connections to it over TLS, a client that must not notice,
and the table of rows.

A row is an advisory, a class of attack, of docs/security.md. Its function attacks; what it checks
beyond that, run() checks for all: the process lives, no request of the canary fails, and the
server's memory is what it was.
"""

import argparse
import base64
import http.client
import os
import re
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from servers import Failure, Server  # noqa: E402

# A server that warns of much sends more headers than Python expects.
http.client._MAXHEADERS = 10_000
MEBIBYTE = 1 << 20
# What an attack may leave behind, if making it again leaves as much again.
GROWTH_MAX = 64 * MEBIBYTE
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
FLUNDERS = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders"


class Victim:
    def __init__(self, binary, folder, storage="memory", flags=()):
        self.server = Server(binary, storage, folder, flags=flags)
        self.server.start()
        self.folder = folder
        text = open(self.server.kubeconfig).read()
        find = lambda key: re.search(key + r': "?([^"\n]+)', text).group(1)
        self.port = int(find("server").rsplit(":", 1)[1])
        self.token = find("token")
        self.ca = self.write("ca.pem", find("certificate-authority-data"))
        self.certificate = self.write("client.pem", find("client-certificate-data"))
        self.key = self.write("client.key", find("client-key-data"))

    def write(self, name, encoded):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(base64.b64decode(encoded))
        return path

    @property
    def pid(self):
        return self.server.process.pid

    def alive(self):
        return self.server.process.poll() is None

    def status(self, key):
        """Bytes of a line of /proc: VmRSS, VmHWM."""
        with open("/proc/%d/status" % self.pid) as file:
            return int(re.search(key + r":\s+(\d+) kB", file.read()).group(1)) * 1024

    def forget_peak(self):
        with open("/proc/%d/clear_refs" % self.pid, "w") as file:
            file.write("5")

    def cpu(self):
        """Seconds of the processor so far."""
        with open("/proc/%d/stat" % self.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def tcp(self, timeout=120):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def context(self, alpn=(), identified=True):
        context = ssl.create_default_context(cafile=self.ca)
        if alpn:
            context.set_alpn_protocols(list(alpn))
        if identified:
            context.load_cert_chain(self.certificate, self.key)
        return context

    def tls(self, alpn=(), identified=True, timeout=120):
        return self.context(alpn, identified).wrap_socket(
            self.tcp(timeout), server_hostname="127.0.0.1")

    def call(self, method, path, body=None, headers=None, identified=True, timeout=120):
        """One HTTP/1.1 request; code, headers, body."""
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=timeout, context=self.context(identified=identified))
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def raw(self, request, identified=True, timeout=10):
        """What the server says to bytes sent over HTTP/1.1's TLS, until it closes or falls silent."""
        connection = self.tls(("http/1.1",), identified, timeout)
        said = b""
        try:
            connection.sendall(request)
            while piece := connection.recv(65536):
                said += piece
        except (OSError, ssl.SSLError):
            pass
        finally:
            connection.close()
        return said

    def log(self):
        return open(os.path.join(self.folder, "server.log"), errors="replace").read()

    def stop(self):
        return self.server.stop()


class Canary(threading.Thread):
    """Reads /readyz and an object ten times a second, as a client that has nothing to do with it."""

    def __init__(self, victim):
        super().__init__(daemon=True)
        self.victim, self.stopping = victim, threading.Event()
        self.seconds, self.failures = [], []

    def run(self):
        connection = None
        while True:
            for path in ("/readyz", CONFIGMAPS + "/canary"):
                begun = time.monotonic()
                try:
                    if connection is None:
                        connection = http.client.HTTPSConnection(
                            "127.0.0.1", self.victim.port, timeout=60, context=self.victim.context())
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status != 200:
                        self.failures.append("%s: %d" % (path, answer.status))
                except (OSError, http.client.HTTPException) as error:
                    self.failures.append("%s: %r" % (path, error))
                    connection = None
                self.seconds.append(time.monotonic() - begun)
            if self.stopping.wait(0.1):
                return

    def stop(self):
        self.stopping.set()
        self.join()


class Check:
    """What a row finds."""

    def __init__(self):
        self.checks, self.failures = 0, []

    def __call__(self, condition, what, got=""):
        self.checks += 1
        if not condition:
            self.failures.append("%s%s" % (what, ": " + repr(got)[:600] if got != "" else ""))


ROWS = []


def row(number, what):
    """Registers a row of the table: its number and what attacks."""

    def add(function):
        ROWS.append((number, what, function))
        return function

    return add


def settled(victim, before):
    """Growth of memory a little after an attack, when what was freed has gone back."""
    for _ in range(50):
        grown = victim.status("VmRSS") - before
        if grown < GROWTH_MAX:
            return grown
        time.sleep(0.1)
    return grown


def left_behind(victim, before, again):
    """Growth of memory by an attack, or by repeating it: free pages between blocks in use stay with
    the allocator, and the next attack is made in them."""
    grown = settled(victim, before)
    for _ in range(3):
        if grown < GROWTH_MAX:
            break
        before = victim.status("VmRSS")
        again()
        grown = settled(victim, before)
    return grown


def attack(victim, number, what, function):
    check, canary = Check(), Canary(victim)
    before = victim.status("VmRSS")

    def make():
        try:
            function(victim, check)
        except Exception:  # What went wrong is the row's result.
            check(False, "the attack went as planned", traceback.format_exc(limit=3))

    canary.start()
    make()
    canary.stop()
    check(victim.alive(), "the server lives")
    if victim.alive():
        check(not canary.failures, "nobody else notices", canary.failures[:3])
        check(canary.seconds, "others are served meanwhile")
        grown = left_behind(victim, before, make)
        check(grown < GROWTH_MAX, "the memory comes back", grown)
    for failure in check.failures:
        print("  FAILED: " + failure)
    # The slowest is told, not judged: other programs may keep the machine busy.
    print("row %d: %s: %s; others waited %.2f s at the most"
          % (number, what, "failed" if check.failures else "passed", max(canary.seconds, default=0)), flush=True)
    return check


def main():
    """Attacks one server with every row registered, or with those named by number."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("rows", nargs="*", type=int)
    args = parser.parse_args()
    checks = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        victim = Victim(args.server, folder)
        try:
            canary = b'{"metadata":{"name":"canary"},"data":{"song":"yes"}}'
            created = victim.call("POST", CONFIGMAPS, canary, {"Content-Type": "application/json"})
            if created[0] != 201:
                raise Failure("no canary: %r" % (created,))
            for number, what, function in sorted(ROWS, key=lambda each: each[0]):
                if args.rows and number not in args.rows:
                    continue
                if not victim.alive():
                    failed += 1
                    print("row %d: %s: failed: no server" % (number, what))
                    continue
                check = attack(victim, number, what, function)
                checks += check.checks
                failed += 1 if check.failures else 0
            if victim.alive() and victim.stop() != 0:
                failed += 1
                print("FAILED: SIGTERM ends the server with exit code 0")
        finally:
            if victim.alive():
                victim.server.stop(signal.SIGKILL)
            if failed:
                print(victim.log()[-3000:], file=sys.stderr)
    print("%d rows, %d checks, %d rows failed" % (len(args.rows or ROWS), checks, failed))
    return 1 if failed or not checks else 0
