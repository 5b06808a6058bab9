#!/usr/bin/env python3
"""Drives one sample-apiserver after the other on one data directory: encrypted at rest, with another
provider, reloaded while running, with the keys lost, rewritten with the last one.

usage: encryption.py --server BINARY

Exits 1 and names each failed check.
"""

import argparse
import base64
import contextlib
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from curl import FLUNDERS, Checker, Server

ONE = FLUNDERS + "/one"
WORD = b"what-nobody-may-read"
JSON = ("--header", "Content-Type: application/json")


def provider(kind, name):
    secret = base64.b64encode(bytes(range(1, 33))).decode()
    return {kind: {"keys": [{"name": name, "secret": secret}]}}


def configure(path, *providers):
    with open(path, "w") as file:
        json.dump({"kind": "EncryptionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1",
                   "resources": [{"resources": ["*.wardle.example.com"],
                                  "providers": list(providers)}]}, file)


@contextlib.contextmanager
def running(args, folder, *flags):
    kubeconfig = os.path.join(folder, "kubeconfig")
    if os.path.exists(kubeconfig):
        os.remove(kubeconfig)
    server = Server(args.server, folder, ("--storage=rocks", *flags))
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def on_disk(folder, word):
    """How often `word` stands in the engine's files."""
    files = glob.glob(os.path.join(folder, "rocks", "**"), recursive=True)
    return sum(open(file, "rb").read().count(word) for file in files if os.path.isfile(file))


def call(server, path, *args, body=None):
    """Code and object."""
    if body is not None:
        args = (*args, *JSON, "--data-binary", json.dumps(body))
    code, _, text = server.call("--http2", path, *args)
    return code, json.loads(text)


def version(got):
    return got[1].get("metadata", {}).get("resourceVersion")


def names_of(got):
    return [item["metadata"]["name"] for item in got[1].get("items", [])]


def put_again(server):
    """An update that changes nothing."""
    return call(server, ONE, "--request", "PUT", body=call(server, ONE)[1])


def encrypted(t, args, folder, flag):
    with running(args, folder, flag) as server:
        made = call(server, FLUNDERS,
                    body={"metadata": {"name": "one"}, "spec": {"reference": WORD.decode()}})
        t.check(made[0] == 201, "an object is created", made)
        got = call(server, ONE)
        t.check(got[1]["spec"]["reference"] == WORD.decode(), "it is read", got)
        again = put_again(server)
        t.check(version(again) == version(got), "a PUT that changes nothing writes nothing", again)
    t.check(on_disk(folder, WORD) == 0, "what is written cannot be found on disk")
    t.check(on_disk(folder, b"k8s:enc:aesgcm:v1:one:") >= 1, "a value of its key can")


def switched(t, args, folder, flag):
    with running(args, folder, flag) as server:
        got = call(server, ONE)
        t.check(got[1]["spec"]["reference"] == WORD.decode(), "the second provider reads", got)
        rewritten = put_again(server)
        t.check(version(rewritten) > version(got), "a stale value is written anew", rewritten)
        t.check(version(put_again(server)) == version(rewritten), "once")
    t.check(on_disk(folder, b"k8s:enc:secretbox:v1:two:") >= 1, "by the first provider")
    t.check(on_disk(folder, WORD) == 0, "and nothing is found on disk")


def keys_lost(t, args, folder):
    why = "data from the storage is not transformable revision=0: "
    with running(args, folder) as server:
        t.status(server.call("--http2", ONE), 500, "InternalError",
                 why + "identity transformer tried to read encrypted data", "GET without keys")
        t.status(server.call("--http2", FLUNDERS), 500, "StorageReadError",
                 "failed to read one or more flunders.wardle.example.com from the storage",
                 "LIST without keys")
        made = call(server, FLUNDERS,
                    body={"metadata": {"name": "two"}, "spec": {"reference": "x"}})
        t.check(made[0] == 201, "other objects can be written", made)


def rewritten(t, args, folder, flag, path):
    """What has older keys, or none, is written with the first one, and then the others can go."""
    done = 'apiserver_progress_finished_total{what="re-encryption",outcome="success"} 1'
    with running(args, folder, flag, "--encryption-provider-config-rewrite-stale") as server:
        until = time.monotonic() + 60
        while done not in (text := server.call("--http2", "/metrics")[2]):
            if time.monotonic() > until:
                break
            time.sleep(0.1)
        t.check(done in text, "a run of re-encryption is counted", text[:200])
    configure(path, provider("aescbc", "three"))
    with running(args, folder, flag) as server:
        t.check(names_of(call(server, FLUNDERS)) == ["one", "two"],
                "the older keys are not needed any more")


def refused(t, args, folder, flag, path):
    with open(path, "w") as file:
        file.write("kind: Secret\napiVersion: v1\n")
    ended = subprocess.run([args.server, "--secure-port=0", "--data-dir=" + folder, flag],
                           capture_output=True, timeout=120)
    t.check(ended.returncode != 0 and b"no kind \"Secret\" is registered" in ended.stderr,
            "a file of another kind starts no server", ended)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "encryption.json")
        flag = "--encryption-provider-config=" + path
        configure(path, provider("aesgcm", "one"))
        encrypted(t, args, folder, flag)
        configure(path, provider("secretbox", "two"), provider("aesgcm", "one"))
        switched(t, args, folder, flag)
        keys_lost(t, args, folder)
        configure(path, provider("aescbc", "three"), provider("secretbox", "two"),
                  provider("aesgcm", "one"), {"identity": {}})
        with running(args, folder, flag, "--encryption-provider-config-automatic-reload") as server:
            got = call(server, FLUNDERS)
            t.check(names_of(got) == ["one", "two"],
                    "with all keys, and without, all objects are read", got)
            code, _, text = server.call("--http2", "/healthz/kms-providers")
            t.check((code, text.strip()) == (200, "ok"), "kms-providers is a health check", text)
        rewritten(t, args, folder, flag, path)
        refused(t, args, folder, flag, path)
    print("encryption: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
