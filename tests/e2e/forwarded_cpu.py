#!/usr/bin/env python3
"""What a GET costs that a kube-apiserver forwards to an extension server, in microseconds of its CPU.

usage: forwarded_cpu.py --cluster KUBE_APISERVER --go KUBE_APISERVER --server SAMPLE_APISERVER [--requests N]

--cluster is ours, --go Kubernetes' own, each with a sample-apiserver of ours behind its aggregator. Both
are asked in turn: over one connection, one request after the other, and by h2load over 32 connections with
10 requests each at a time, as scripts/bench W1 asks, as an administrator whose token is short and as a
service account. Prints a line for each turn.
"""

import argparse
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile

import aggregated

PATH = aggregated.DISCOVERED + "/namespaces/default/flunders/x"


def cpu_seconds(pid):
    """The time of all threads of a process, in the kernel and outside of it."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Asker:
    """A connection to the cluster of a scene, with its user's credentials."""

    def __init__(self, scene, folder):
        config = json.loads(scene.kubectl("config", "view", "--raw", "-o", "json")[1])
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        if "client-certificate-data" in user:
            pair = os.path.join(folder, "pair.pem")
            with open(pair, "wb") as file:
                for part in ("certificate", "key"):
                    file.write(base64.b64decode(user["client-%s-data" % part]))
            tls.load_cert_chain(pair)
        self.headers = {"Authorization": "Bearer " + user["token"]} if "token" in user else {}
        self.connection = http.client.HTTPSConnection(cluster["server"].removeprefix("https://"), context=tls)

    def get(self, path):
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError("%d %s" % (answer.status, body))

    def turn(self, pid, requests):
        before = cpu_seconds(pid)
        for _ in range(requests):
            self.get(PATH)
        return (cpu_seconds(pid) - before) * 1e6 / requests


class Crowd:
    """Many requests at a time, with a token."""

    def __init__(self, scene, token):
        config = json.loads(scene.kubectl("config", "view", "--raw", "-o", "json")[1])
        self.command = ["h2load", "--clients=32", "--max-concurrent-streams=10", "--threads=1",
                        "--header=Authorization: Bearer " + token, config["clusters"][0]["cluster"]["server"] + PATH]

    def turn(self, pid, requests):
        before = cpu_seconds(pid)
        said = subprocess.run([*self.command, "--requests=%d" % requests], capture_output=True, text=True, timeout=300).stdout
        after = cpu_seconds(pid)
        if re.search(r"status codes: (\d+) 2xx", said).group(1) != str(requests):
            raise RuntimeError(said)
        return (after - before) * 1e6 / requests


def account_token(scene):
    """The token of a service account that may do everything."""
    scene.kubectl("create", "serviceaccount", "crowd")
    scene.kubectl("create", "clusterrolebinding", "crowd", "--clusterrole=cluster-admin", "--serviceaccount=default:crowd")
    code, token = scene.kubectl("create", "token", "crowd")
    if code:
        raise RuntimeError(token)
    return token.strip()


def ready(scene):
    aggregated.wait_until(lambda: "ok" in scene.raw("/readyz"), "the cluster is ready")
    scene.start()
    scene.kubectl("create", "namespace", "wardle")
    scene.apply(scene.service(), scene.api_service("v1alpha1"))
    scene.becomes("True/Passed")
    scene.apply(aggregated.flunder("x"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--go", required=True)
    parser.add_argument("--server", required=True)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        scenes = []
        tokens = os.path.join(folder, "tokens")
        with open(tokens, "w") as file:
            file.write("admins,admin,1,system:masters\n")  # As Go's has, too.
        for name, cluster, is_go in (("ours", args.cluster, False), ("Go", args.go, True)):
            inside = os.path.join(folder, name)
            os.mkdir(inside)
            given = argparse.Namespace(cluster=cluster, server=args.server, go=False, go_cluster=is_go,
                                       kubectl=args.kubectl, cluster_flags=("--token-auth-file=" + tokens,))
            scene = aggregated.Scene(given, inside)
            stack.callback(scene.stop)
            ready(scene)
            askers = (Asker(scene, inside), Crowd(scene, "admins"), Crowd(scene, account_token(scene)))
            scenes.append((name, askers, scene.cluster.process.pid))
        for way, title in enumerate(("one after the other", "320 at a time", "320 of a service account")):
            for turn in range(6):
                took = [(name, askers[way].turn(pid, args.requests)) for name, askers, pid in scenes]
                # The first turn fills caches.
                if turn > 0:
                    print(title + ": " + "  ".join("%s %.1f us" % each for each in took), flush=True)


if __name__ == "__main__":
    main()
