#!/usr/bin/env python3
"""The commands crd and openapi print what a server of the same program serves.

usage: export.py --server BINARY --gen APISERVER_GEN
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

from prometheus import Client
from servers import Failure, Server

VERSION = "wardle.example.com/v1alpha1"


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expect(true, what):
    if not true:
        raise Failure(str(what))


def check_crds(program, gen, folder):
    code, crds, error = run(program, "crd")
    expect(code == 0 and error == "", error)
    expect("# flunders.wardle.example.com, version v1alpha1: is converted by code\n" in crds, crds)
    refused = run(program, "crd", "Flunder")
    expect(refused[0] == 1 and "is converted by code" in refused[2], refused)
    expect("\n  group: wardle.example.com\n" in crds and ".k8s.io" not in crds.replace("apiextensions.k8s.io", ""), crds)
    code, one, error = run(program, "crd", "Fischer")
    expect(code == 0 and one in crds and one.count("kind: CustomResourceDefinition") == 1, one + error)
    path = os.path.join(folder, "fischer.yaml")
    with open(path, "w") as file:
        file.write(one)
    code, header, error = run(gen, "types", "--namespace", "wardle", path)
    expect(code == 0 and "struct Fischer {" in header, error)
    refused = run(program, "crd", "Whale")
    expect(refused[0] == 1 and "there is no kind Whale" in refused[2], refused)


def of_own_groups(document):
    """Without the lists of all groups: a server also has groups of the library, depending on its flags."""
    for schema in document["components"]["schemas"].values():
        schema.pop("x-kubernetes-group-version-kind", None)
    return document


def check_documents(program, client):
    served = json.load(client.open("/openapi/v3/apis/" + VERSION))
    code, printed, error = run(program, "openapi", VERSION)
    expect(code == 0 and error == "", error)
    expect(of_own_groups(json.loads(printed)) == of_own_groups(served), "the v3 document is not the server's")
    code, printed, error = run(program, "openapi")
    expect(code == 0 and "com.example.wardle" in printed and json.loads(printed)["swagger"] == "2.0", error)
    refused = run(program, "openapi", "no.example.com/v1")
    expect(refused[0] == 1 and "there is no version no.example.com/v1" in refused[2], refused)
    expect("GROUP/VERSION" in run(program, "openapi", "--help")[1], "no help")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--gen", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, "memory", folder)
        try:
            check_crds(args.server, args.gen, folder)
            server.start()
            check_documents(args.server, Client(server))
        except Failure as failure:
            print("FAILED: %s" % failure, flush=True)
            return 1
        finally:
            if server.process:
                server.stop(signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
