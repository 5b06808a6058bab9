#!/usr/bin/env python3
"""Prints the figures of the README: a server's start and memory, as a program and inside one.

usage: figures.py --server PATH --embedding PATH [--runs N]
                  [--etcd PATH [--go-server PATH [--go-flag FLAG]...]]

--server is our sample-apiserver, --embedding our embedding_bench. With --etcd ours is also started on
an etcd of its own, and with --go-server the one of k8s.io/sample-apiserver, in turn with it; our
server stands in for the cluster that it wants to ask, and is no whole cluster: its check
informer-sync is left out, which is to its advantage. Ready is the moment when /readyz first answers
200 over TLS; it is asked every 5 ms. Medians of the runs. Memory is the resident set at that moment.
"""

import argparse
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

START_SECONDS_MAX = 120


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def answers(port, path, tls=True):
    """Whether the path answers 200. Who the server is does not matter here."""
    try:
        if tls:
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5,
                                                     context=ssl._create_unverified_context())
        else:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.closing(connection):
            connection.request("GET", path)
            return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False


class Process:
    """A program that serves a port, until the end of a with-statement."""

    def __init__(self, arguments, port, path, tls=True):
        self.log = tempfile.TemporaryFile()
        began = time.monotonic()
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=self.log)
        while not answers(port, path, tls):
            if self.process.poll() is not None or time.monotonic() - began > START_SECONDS_MAX:
                self.__exit__()
                self.log.seek(0)
                sys.exit("%s\nerror: does not come up: %s" %
                         (self.log.read().decode(errors="replace")[-4000:], " ".join(arguments)))
            time.sleep(0.005)
        self.ready_ms = (time.monotonic() - began) * 1000
        self.rss_mb = self.rss()

    def rss(self):
        with open("/proc/%d/statm" % self.process.pid, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="figures-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def etcd(options):
    """The address of an empty etcd."""
    with folder() as data:
        port = free_port()
        url = "http://127.0.0.1:%d" % port
        with Process([options.etcd, "--data-dir=" + data, "--listen-client-urls=" + url,
                      "--advertise-client-urls=" + url,
                      "--listen-peer-urls=http://127.0.0.1:%d" % free_port()], port, "/health",
                     tls=False):
            yield url


@contextlib.contextmanager
def our_server(options, storage, *flags):
    """Our server, and its kubeconfig."""
    with folder() as data:
        port = free_port()
        with Process([options.server, "--storage=" + storage, "--secure-port=%d" % port,
                      "--data-dir=" + data, "--kubeconfig-out=" + data + "/kubeconfig",
                      "--anonymous-auth=true", "--authorization-always-allow-paths=/readyz",
                      *flags], port, "/readyz") as server:
            yield server, data + "/kubeconfig"


@contextlib.contextmanager
def go_server(options, url, kubeconfig):
    with folder() as data:
        port = free_port()
        with Process([options.go_server, "--etcd-servers=" + url, "--secure-port=%d" % port,
                      "--cert-dir=" + data, "--kubeconfig=" + kubeconfig,
                      "--authentication-kubeconfig=" + kubeconfig,
                      "--authorization-kubeconfig=" + kubeconfig,
                      "--authentication-tolerate-lookup-failure", *options.go_flag], port,
                     "/readyz?exclude=informer-sync") as server:
            yield server


def measure(options):
    """{name: [(ready_ms, rss_mb) of each run]}, the servers in turn."""
    found = {"memory": [], "rocks": [], "etcd": [], "go": []}

    def note(name, server):
        found[name].append((server.ready_ms, server.rss_mb))

    for _ in range(options.runs):
        for storage in ("memory", "rocks"):
            with our_server(options, storage) as (server, _):
                note(storage, server)
        if options.etcd:
            with etcd(options) as url, our_server(options, "etcd", "--etcd-servers=" + url) as (server, _):
                note("etcd", server)
        if options.go_server:
            # Ours is the cluster that it asks.
            with our_server(options, "memory") as (_, kubeconfig), etcd(options) as url:
                with go_server(options, url, kubeconfig) as server:
                    note("go", server)
    return found


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    commit = subprocess.run(["git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe",
                             "--always", "--dirty"], capture_output=True, text=True, check=False)
    return "%d x %s, commit %s" % (os.cpu_count(), models[0] if models else "unknown CPU",
                                   commit.stdout.strip() or "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--embedding", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--go-server", help="the program of k8s.io/sample-apiserver; needs --etcd")
    parser.add_argument("--etcd")
    parser.add_argument("--go-flag", action="append", default=[], help="one more flag of it")
    options = parser.parse_args()
    if options.go_server and not options.etcd:
        parser.error("--go-server needs --etcd")

    found = measure(options)
    embedding = json.loads(subprocess.run([options.embedding], check=True, capture_output=True,
                                          text=True).stdout)

    def cell(name, which, unit):
        values = [run[which] for run in found[name]]
        return "%.0f %s" % (statistics.median(values), unit) if values else "–"

    print("| | in memory | RocksDB | etcd | Go's server on etcd |\n|---|---|---|---|---|")
    for title, which, unit in (("start to ready", 0, "ms"), ("resident memory when ready", 1, "MB")):
        print("| sample-apiserver: %s | %s |" %
              (title, " | ".join(cell(name, which, unit) for name in ("memory", "rocks", "etcd", "go"))))
    print("| a server in a unit test: start, list, stop | %.0f ms | | | |" % embedding["unit_test_ms"])
    print("| its memory | %.1f MB | | | |" % embedding["unit_test_mb"])
    print("| %d servers with TLS in one process: memory | %.0f MB | | | |" %
          (embedding["servers"], embedding["servers_mb"]))
    print("| started one after the other in | %.1f s | | | |" % (embedding["servers_ms"] / 1000))
    print("\n%s; medians of %d runs" % (machine(), options.runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
