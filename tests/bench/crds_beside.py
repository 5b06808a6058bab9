#!/usr/bin/env python3
"""What a definition costs a Go kube-apiserver and ours: CPU time and memory, each over an etcd of its own.

usage: crds_beside.py --server BINARY --go-server BINARY --etcd BINARY [--crds FOLDER] [--quiet SECONDS]

One server after the other gets every CustomResourceDefinition of FOLDER, each once the one before is
Established, and is then left alone until it is quiet. The figures are of the server's process alone.
Exits 1 if a definition is refused or the server never becomes quiet.
"""

import argparse
import json
import os
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(BENCH, "..", "e2e"))

import crd_corpus  # noqa: E402
from etcd_turns import DEFINITIONS, FIXTURE, condition  # noqa: E402
from go_kube_apiserver import go_kube_apiserver  # noqa: E402
from interop_servers import Etcd, our_server  # noqa: E402


class Process:
    """CPU time and memory of a process, as /proc tells them."""

    def __init__(self, pid):
        self.folder = "/proc/%d/" % pid

    def cpu(self):
        """Seconds so far, in user mode and the kernel."""
        with open(self.folder + "stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """Megabytes."""
        with open(self.folder + "status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024

    def wait_quiet(self, seconds=600):
        """Waits until it uses less than a tenth of a CPU for six seconds."""
        end, calm, last = time.monotonic() + seconds, 0, self.cpu()
        while calm < 3:
            if time.monotonic() > end:
                raise RuntimeError("the server does not become quiet")
            time.sleep(2)
            now = self.cpu()
            calm, last = calm + 1 if now - last < 0.2 else 0, now


def establish(api, crd):
    code, text = api.call("POST", DEFINITIONS, crd)
    if code != 201:
        raise RuntimeError("%s: %d %s" % (crd["metadata"]["name"], code, text[:200]))
    while condition(json.loads(api.call("GET", DEFINITIONS + "/" + crd["metadata"]["name"])[1]),
                    "Established") != "True":
        time.sleep(0.02)


def measure(api, crds, quiet):
    process = Process(api.process.pid)
    process.wait_quiet()
    cpu, resident = process.cpu(), process.resident()
    for crd in crds:
        establish(api, crd)
    process.wait_quiet()
    cpu, resident = process.cpu() - cpu, process.resident() - resident
    before = process.cpu()
    time.sleep(quiet)
    idle = process.cpu() - before
    print("%s: %.1f ms of CPU and %.3f MB a definition, %.1f ms of CPU a second when quiet" % (
        api.name, 1000 * cpu / len(crds), resident / len(crds), 1000 * idle / quiet), flush=True)


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--server", "--go-server", "--etcd"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--crds", default=FIXTURE)
    parser.add_argument("--quiet", type=int, default=20, help="seconds for which an idle server is watched")
    args = parser.parse_args()
    crds = [crd for _, found in sorted(crd_corpus.read(args.crds).items()) for crd in found]
    print("%d definitions of %d bytes" % (
        len(crds), sum(len(json.dumps(crd)) for crd in crds) / max(1, len(crds))), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        with Etcd(args.etcd) as etcd, go_kube_apiserver(args.go_server, etcd, folder) as api:
            measure(api, crds, args.quiet)
        with Etcd(args.etcd) as etcd, our_server(args.server, folder, ["--etcd-servers=" + etcd.url]) as api:
            measure(api, crds, args.quiet)
    return 0


if __name__ == "__main__":
    sys.exit(main())
