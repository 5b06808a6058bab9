#!/usr/bin/env python3
"""Drives one sample-apiserver with curl, over HTTP/1.1 and HTTP/2: reads, watches, bad input, the end.

usage: curl.py --server BINARY [--mounted]

--mounted: the server is in a cpprestsdk listener, which speaks HTTP/1.1 alone and has no limits of
its own on heads.

Prints how long events took. Exits 1 and names each failed check.
"""

import argparse
import base64
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import checker

FLUNDERS = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders"
PROTOCOLS = {"--http1.1": "1.1", "--http2": "2"}
EVENTS = 20


def flunder(name):
    return json.dumps({"metadata": {"name": name}, "spec": {"reference": "x"}})


class Server:
    """A sample-apiserver on a free port, and what curl needs to reach it."""

    def __init__(self, binary, folder, flags=("--storage=memory",)):
        self.folder = folder
        kubeconfig = os.path.join(folder, "kubeconfig")
        self.process = subprocess.Popen(
            [binary, "--secure-port=0", "--data-dir=" + folder, *flags],
            stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(folder, "server.log"), "a"),
        )
        end = time.monotonic() + 120
        while not os.path.exists(kubeconfig):
            if time.monotonic() > end:
                raise RuntimeError("the server does not come up")
            time.sleep(0.02)
        text = open(kubeconfig).read()
        find = lambda key: re.search(key + r': "?([^"\n]+)', text).group(1)
        self.url = find("server")
        self.token = find("token")
        self.ca = os.path.join(folder, "ca.pem")
        with open(self.ca, "wb") as file:
            file.write(base64.b64decode(find("certificate-authority-data")))

    def curl(self, protocol, path, *args):
        return ["curl", "--silent", "--show-error", protocol, "--cacert", self.ca,
                "--header", "Authorization: Bearer " + self.token, *args, self.url + path]

    def call(self, protocol, path, *args, stdin=None):
        """Code, protocol, body."""
        result = subprocess.run(
            self.curl(protocol, path, "--write-out", "\n%{http_code} %{http_version}", *args),
            input=stdin, capture_output=True, timeout=120)
        body, _, end = result.stdout.decode().rpartition("\n")
        code, _, version = end.partition(" ")
        return int(code or 0), version, body


class Checker(checker.Checker):
    def status(self, got, code, reason, message, what):
        """An answer that is a Status."""
        try:
            status = json.loads(got[2])
        except ValueError:
            status = {}
        right = got[0] == code and status.get("code") == code and status.get("reason") == reason
        self.check(right and message in status.get("message", ""), what, got)


class Watch:
    """A curl that watches, and when each event came."""

    def __init__(self, server, protocol):
        self.process = subprocess.Popen(
            server.curl(protocol, FLUNDERS + "?watch=1", "--no-buffer"), stdout=subprocess.PIPE)
        self.seen, self.ended = {}, threading.Event()
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            self.seen[event["object"]["metadata"]["name"]] = time.monotonic()
        self.ended.set()

    def wait_for(self, name):
        """The watch is open then: `name` may have come as state or as news."""
        end = time.monotonic() + 60
        while name not in self.seen and time.monotonic() < end:
            time.sleep(0.01)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()


def reads(t, server, protocol):
    version = PROTOCOLS[protocol]
    got = server.call(protocol, "/readyz")
    t.check(got == (200, version, "ok"), "/readyz over " + version, got)
    got = server.call(protocol, FLUNDERS)
    t.check(got[:2] == (200, version) and json.loads(got[2])["kind"] == "FlunderList",
            "a list over " + version, got)


def create(t, server, protocol, name):
    got = server.call(protocol, FLUNDERS, "--json", flunder(name))
    t.check(got[0] == 201, "POST %s over %s" % (name, PROTOCOLS[protocol]), got)
    return time.monotonic()


def watches(t, server, protocol):
    version = PROTOCOLS[protocol].replace(".", "-")
    watch = Watch(server, protocol)
    try:
        create(t, server, protocol, "first-" + version)
        watch.wait_for("first-" + version)
        names = ["w%d-%s" % (n, version) for n in range(EVENTS)]
        answered = {name: create(t, server, protocol, name) for name in names}
        watch.wait_for(names[-1])
        t.check(all(name in watch.seen for name in names), "every event came over " + version, watch.seen)
        late = [max(0.0, watch.seen[name] - answered[name]) for name in names if name in watch.seen]
        if late:
            print("curl over HTTP/%s: an event came %.1f ms (median) after curl had ended its POST, at most %.1f ms"
                  % (PROTOCOLS[protocol], statistics.median(late) * 1000, max(late) * 1000))
    finally:
        watch.stop()


def bad_input(t, server, protocol):
    """Each is told what is wrong, and the server lives on."""
    def post(body, content_type="application/json", path=FLUNDERS):
        return server.call(protocol, path, "--header", "Content-Type: " + content_type,
                           "--header", "Expect:", "--data-binary", "@-", stdin=body)

    over = " over " + PROTOCOLS[protocol]
    t.status(post(b'{"metadata":'), 400, "BadRequest", "unexpected", "half a JSON text" + over)
    t.status(post(b"[" * 1000000), 400, "BadRequest", "exceeded max depth", "a million brackets" + over)
    t.status(post(b'{"a":' * 600000), 400, "BadRequest", "exceeded max depth", "600,000 objects" + over)
    t.status(post(b'{"spec":{"reference":1e999}}'), 400, "BadRequest", "", "a number out of range" + over)
    t.status(post(b"a: " + b"[" * 100000, "application/yaml"), 400, "BadRequest", "", "deep YAML" + over)
    bomb = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(ord("b"), ord("k")))
    t.status(post(bomb, "application/yaml"), 400, "BadRequest", "", "a YAML bomb" + over)
    t.status(post(b"k8s\0\x0a\xff\xff\xff\xff\xff", "application/vnd.kubernetes.protobuf"), 400,
             "BadRequest", "", "broken protobuf" + over)
    t.status(post(b"x" * ((3 << 20) + 1)), 413, "RequestEntityTooLarge", "limit is 3145728",
             "a body over 3 MiB" + over)
    t.status(post(b"{}", "text/csv"), 415, "UnsupportedMediaType", "", "an unknown media type" + over)
    t.status(server.call(protocol, FLUNDERS, "--header", "Accept: image/png"), 406, "NotAcceptable",
             "", "an unknown Accept" + over)
    t.status(post(b'{"metadata":{"name":"a/b"}}'), 422, "Invalid", "", "a wrong name" + over)
    t.status(post(b'{"metadata":{"name":"x","namespace":"other"}}'), 400, "BadRequest",
             "does not match", "a wrong namespace" + over)
    for query, what in (("labelSelector=a%21%21", "a label selector"),
                        ("fieldSelector=spec.nothing%3D1", "a field selector"),
                        ("continue=%21%21", "a continue token"), ("limit=x", "a limit"),
                        ("resourceVersion=x", "a resourceVersion")):
        got = server.call(protocol, FLUNDERS + "?" + query)
        t.status(got, 400 if "Version" not in query else got[0], "BadRequest" if got[0] == 400 else "Invalid",
                 "", "%s that is none%s" % (what, over))


def large_heads(t, server, protocol):
    over = " over " + PROTOCOLS[protocol]
    many = [arg for n in range(300) for arg in ("--header", "X-%d: 1" % n)]
    t.check(server.call(protocol, "/readyz", *many)[0] == 431, "300 header fields" + over)
    large = os.path.join(server.folder, "headers")
    with open(large, "w") as file:
        for n in range(20):
            file.write("X-%d: %s\n" % (n, "x" * 60000))
    # HTTP/2 clients may learn of the limit in the handshake and not even send it.
    code = server.call(protocol, "/readyz", "--header", "@" + large)[0]
    t.check(code in (431, 0), "more than 1 MiB of headers" + over, code)


def the_end(t, server, protocol):
    watch = Watch(server, protocol)
    create(t, server, protocol, "last")
    watch.wait_for("last")
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(timeout=120)
    t.check(code == 0, "SIGTERM ends a server with an open watch", code)
    t.check(watch.ended.wait(60) and watch.process.wait() == 0, "its watch ends cleanly")
    watch.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--mounted", action="store_true")
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, folder)
        try:
            protocols = ["--http1.1"] if args.mounted else list(PROTOCOLS)
            for protocol in protocols:
                reads(t, server, protocol)
                watches(t, server, protocol)
                bad_input(t, server, protocol)
                if not args.mounted:
                    large_heads(t, server, protocol)
                reads(t, server, protocol)
            the_end(t, server, protocols[-1])
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
    print("curl: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
