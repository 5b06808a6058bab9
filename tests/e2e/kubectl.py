#!/usr/bin/env python3
"""Drives one server with one kubectl and checks what is printed.

usage: kubectl.py --server BINARY --kubectl BINARY [--storage rocks|memory|etcd]

The server is the sample-apiserver or server/'s, which has more kinds.

With --storage etcd a real etcd is started: $APISERVER_ETCD, or etcd in $PATH.

Every step checks output, not only the exit code. Where versions print different things the
expected text is a table by version range. Exits 1 and names each failed check.
"""

import argparse
import os
import signal
import sys
import tempfile

import kubectl_apply
import kubectl_fleets as fleets
import kubectl_flunders as flunders
from kubectl_checks import Checker, Kubectl
from servers import Server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", required=True)
    parser.add_argument("--storage", default="rocks")
    parser.add_argument("--encrypt", action="store_true", help="at rest; providers are switched")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, args.storage, folder, args.encrypt)
        server.encrypt_with("aescbc")
        server.start()
        kubectl = Kubectl(args.kubectl, server.kubeconfig, folder)
        t = Checker(kubectl)
        try:
            if args.encrypt:
                flunders.switch_encryption(t, server)
            flunders.discovery(t)
            flunders.create_and_read(t)
            flunders.refusals(t)
            flunders.apply(t)
            kubectl_apply.server_side_apply(t)
            flunders.change(t, folder)
            flunders.dry_runs(t)
            flunders.watch(t)
            flunders.deletion(t)
            if args.storage != "memory":
                server.stop(signal.SIGKILL)
                # The server's own roles and levels are still as the first one wrote them.
                server.encrypt_with("secretbox", "aesgcm", "aescbc")
                server.start()
                t.rows(["get", "flunders"], "NAME CREATED AT", "one *", "two *")
            flunders.not_yet(t)
            if fleets.served(t):
                fleets.steps(t, folder)
            else:
                flunders.alone(t)
            flunders.health(t)
            t.check(server.stop() == 0, "SIGTERM ends the server with exit code 0")
        finally:
            if server.process.poll() is None:
                server.stop(signal.SIGKILL)
            if server.etcd:
                server.etcd.stop()
        print("kubectl %d.%d: %d checks, %d failed" % (*kubectl.version, t.checks, len(t.failures)))
        if counts := os.environ.get("CI_COUNTS"):
            with open(counts, "a") as file:
                file.write("%d %d\n" % (t.checks - len(t.failures), len(t.failures)))
        return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
