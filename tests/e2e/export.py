#!/usr/bin/env python3
"""The commands crd and openapi print what a server of the same program serves, manifests what deploys it.

usage: export.py --server BINARY --gen APISERVER_GEN --deploy FOLDER
"""

import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

import yaml

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
    lacks = "# flunders.wardle.example.com, version v1alpha1: is converted by code\n"
    expect(code == 0 and error.startswith(lacks) and "crd Flunder --version=v1" in error, error)
    expect(lacks in crds, crds)
    code, partial, error = run(program, "crd", "Flunder")
    expect(code == 0 and partial in crds and error.startswith(lacks), error)
    spec = yaml.safe_load(partial)["spec"]
    expect(spec["conversion"] == {"strategy": "Webhook"}, spec)
    names = [version["name"] for version in spec["versions"]]
    expect(len(names) > 1, names)
    for flags in (["--version=" + names[-1]], ["--version", names[-1]]):
        code, one, error = run(program, "crd", "Flunder", *flags)
        spec = yaml.safe_load(one)["spec"]
        expect(code == 0 and "conversion" not in spec and "webhook" not in error, error)
        expect([(each["name"], each["storage"]) for each in spec["versions"]] == [(names[-1], True)], spec)
    for words, message in ((["Flunder", "--version=v9"], "has no version v9; it has " + names[0]),
                           (["--version=v9"], "no kind has a version v9"), (["--version"], "--version needs a value"),
                           (["--all"], "crd has no flag --all")):
        refused = run(program, "crd", *words)
        expect(refused[0] == 1 and refused[1] == "" and message in refused[2], refused)
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


def documents(text):
    """The objects of a YAML stream, by kind, namespace and name; resources of rules in any order."""
    found = {}
    for each in yaml.safe_load_all(text):
        for rule in each.get("rules", []):
            rule["resources"].sort()
        key = (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"])
        expect(key not in found, "twice: %s" % (key,))
        found[key] = each
    return found


def check_manifests(program, deploy):
    code, printed, error = run(program, "manifests")
    expect(code == 0 and error == "", error)
    wanted = {}
    for file in glob.glob(os.path.join(deploy, "*.yaml")):
        with open(file) as text:
            wanted.update(documents(text.read()))
    expect(len(wanted) > 10, wanted)
    got = documents(printed)
    for key in sorted({*wanted, *got}, key=str):
        expect(got.get(key) == wanted.get(key), "%s: %s, not %s" % (key, got.get(key), wanted.get(key)))
    code, printed, error = run(program, "manifests", "--namespace=null", "--service-name", "y", "--image=a/b:1#x")
    expect(code == 0, error)
    got = documents(printed)
    expect({key[1] for key in got if key[0] != "RoleBinding"} == {None, "null"}, sorted(got, key=str))
    expect(("Service", "null", "y") in got and ("ClusterRole", None, "null:edit") in got, sorted(got, key=str))
    service = got["APIService", None, "v1beta1.wardle.example.com"]["spec"]["service"]
    expect(service == {"name": "y", "namespace": "null"}, service)
    containers = got["Deployment", "null", "apiserver"]["spec"]["template"]["spec"]["containers"]
    expect(containers[0]["image"] == "a/b:1#x", containers)
    for words, message in ((["--namespace=a b"], "--namespace=a b: "), (["--image="], "--image is empty"),
                           (["--namespace"], "--namespace needs a value"), (["all"], "has no argument all")):
        refused = run(program, "manifests", *words)
        expect(refused[0] == 1 and refused[1] == "" and message in refused[2], refused)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--gen", required=True)
    parser.add_argument("--deploy", required=True, help="the manifests of --server")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, "memory", folder)
        try:
            check_crds(args.server, args.gen, folder)
            check_manifests(args.server, args.deploy)
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
