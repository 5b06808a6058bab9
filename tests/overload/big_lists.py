#!/usr/bin/env python3
"""Sixteen clients list 100 MiB at once, from a server that is a process of its own; its peak of memory
(VmHWM) is to stay under 512 MiB.

usage: big_lists.py --server build/examples/sample-apiserver/sample-apiserver [--mebibytes 100]
"""

import argparse
import base64
import http.client
import json
import os
import ssl
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from servers import Server  # noqa: E402

LISTS = 16
OBJECT_BYTES = 100 << 10
LIMIT_MEBIBYTES = 512
ALL = "/apis/wardle.example.com/v1alpha1/flunders"
DEFAULT = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders"


class Client:
    """Connections as the administrator of a kubeconfig."""

    def __init__(self, kubeconfig, folder):
        with open(kubeconfig) as file:
            text = file.read()
        fields = dict(line.strip().lstrip("- ").split(": ", 1) for line in text.splitlines()
                      if ": " in line)
        paths = {}
        for name in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            paths[name] = os.path.join(folder, name)
            with open(paths[name], "wb") as file:
                file.write(base64.b64decode(fields[name].strip('"')))
        self.context = ssl.create_default_context(cafile=paths["certificate-authority-data"])
        self.context.load_cert_chain(paths["client-certificate-data"], paths["client-key-data"])
        self.port = int(fields["server"].strip('"').rsplit(":", 1)[1])

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=300)


def fill(client, count):
    connection = client.connect()
    for i in range(count):
        body = json.dumps({
            "apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder",
            "metadata": {"name": "big-%d" % i, "annotations": {"a": os.urandom(OBJECT_BYTES // 2).hex()}},
            "spec": {}})
        connection.request("POST", DEFAULT, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            raise SystemExit("cannot create: %d %s" % (answer.status, text[:500]))


def list_all(client, start, sizes, i):
    connection = client.connect()
    connection.connect()
    start.wait()
    connection.request("GET", ALL)
    answer = connection.getresponse()
    size = 0
    while True:
        piece = answer.read(1 << 16)
        if not piece:
            break
        size += len(piece)
    sizes[i] = size if answer.status == 200 else -answer.status


def peak_mebibytes(pid):
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise SystemExit("no VmHWM")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--storage", default="rocks")
    parser.add_argument("--mebibytes", type=int, default=100)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, args.storage, folder)
        server.start()
        try:
            client = Client(server.kubeconfig, folder)
            fill(client, (args.mebibytes << 20) // OBJECT_BYTES)
            before = peak_mebibytes(server.process.pid)
            start = threading.Barrier(LISTS)
            sizes = [0] * LISTS
            threads = [threading.Thread(target=list_all, args=(client, start, sizes, i))
                       for i in range(LISTS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            peak = peak_mebibytes(server.process.pid)
        finally:
            server.stop()
    print("peak after filling, MiB: %.0f" % before)
    print("lists, MiB: %s" % " ".join("%.1f" % (size / (1 << 20)) for size in sizes))
    print("peak after %d lists, MiB: %.0f (<= %d)" % (LISTS, peak, LIMIT_MEBIBYTES))
    complete = all(size >= args.mebibytes << 20 for size in sizes)
    if not complete:
        print("MISS: a list was not complete")
    return 0 if complete and peak <= LIMIT_MEBIBYTES else 1


if __name__ == "__main__":
    sys.exit(main())
