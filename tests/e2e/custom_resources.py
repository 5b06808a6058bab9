#!/usr/bin/env python3
"""Published CRDs with kubectl, a chart that has one with helm, and controllers' libraries.

usage: custom_resources.py --server BINARY|KUBECONFIG [--kubectl BINARY] [--corpus FOLDER]
                           [--helm BINARY] [--client BINARY]

--corpus installs every CRD of a folder (../testdata/crds, or what crd_corpus.py unpacked), waits until
each is established, explains each, and creates, applies and lists objects made of its schema. --helm
installs, upgrades and removes crds/chart. --client is the program built from crd_client/. Exits 1 and
names each failed check.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import crd_corpus
from crd_objects import make
from kubectl_checks import Checker, Kubectl
from kubectl_crds import CRDS, eventually
from servers import running

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 40


def batches(items):
    return [items[start:start + BATCH] for start in range(0, len(items), BATCH)]


def listed(items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def sent(t, items, verb, what):
    """Creates or applies objects together, and returns what kubectl printed of those that were refused."""
    printed, refused = "", []
    for some in batches(items):
        result = t.kubectl.run(*verb, "--validate=false", "-f", "-", stdin=listed(some))
        printed += result.stdout
        refused += [line for line in result.stderr.splitlines() if line.startswith(("Error", "The ", "error"))]
    count = len(printed.splitlines())
    print("custom_resources: %s %d of %d %s" % (" ".join(verb), count, len(items), what), flush=True)
    return count, refused


def samples(crds, name, full):
    found = []
    for crd in crds:
        for version in crd["spec"]["versions"]:
            if version["storage"] and version["served"]:
                made = make(crd, version, name, ("large" if full else "small", 1), full)
                if crd["spec"]["scope"] == "Namespaced":
                    made["metadata"]["namespace"] = "default"
                found.append(made)
    return found


def labelled(made):
    return {**made, "metadata": {**made["metadata"], "labels": {"applied": "again"}}}


def cut(refused):
    return "\n".join(line[:200] for line in refused[:20])


def resource(crd):
    return crd["spec"]["names"]["plural"] + "." + crd["spec"]["group"]


def established(t, crds):
    names = ["crd/" + crd["metadata"]["name"] for crd in crds]
    for some in batches(names):
        t.says(["wait", "--for=condition=Established", "--timeout=120s", *some], *[
            "%s condition met" % name.split("/")[1] for name in some])


def explained(t, crds):
    """Each kind has an explanation, and each of its top fields a line in it."""
    count, began = 0, time.monotonic()
    for crd in crds:
        names, version = crd["spec"]["names"], next(one for one in crd["spec"]["versions"] if one["storage"])
        if not version["served"]:
            continue
        fields = version["schema"]["openAPIV3Schema"].get("properties", {})
        eventually(t, ["explain", names["plural"], "--api-version=%s/%s" % (crd["spec"]["group"], version["name"])],
                   names["kind"], *["\n  " + name + "\t" for name in fields])
        count += 1
    print("custom_resources: %d kinds explained in %d s" % (count, time.monotonic() - began), flush=True)


def listed_as_tables(t, crds, there):
    """Each kind is listed, with a line for each object: `there` counts them."""
    lines = []
    for some in batches([resource(crd) for crd in crds]):
        result = t.kubectl.run("get", ",".join(some), "-A")
        t.check(result.returncode == 0, "kubectl get " + ",".join(some), result.stderr)
        lines += result.stdout.splitlines()
    tables = [line for line in lines if line.split()[:1] == ["NAME"] or line.split()[:2] == ["NAMESPACE", "NAME"]]
    rows = [line for line in lines if line not in tables and line]
    print("custom_resources: %d objects in tables" % len(rows), flush=True)
    t.check(len(rows) == there, "every object is in a table", "%d of %d" % (len(rows), there))


def corpus(t, folder):
    crds = [crd for _, found in sorted(crd_corpus.read(folder).items()) for crd in found]
    count, refused = sent(t, crds, ["apply", "--server-side"], "CRDs")
    t.check(count == len(crds), "every CRD is applied", "\n".join(refused))
    established(t, crds)
    explained(t, crds)
    small, large, apply = samples(crds, "small", False), samples(crds, "large", True), ["apply", "--server-side"]
    for verb, made, what in ((["create"], small, "small objects"), (apply, large, "large objects"),
                             (apply + ["--force-conflicts"], [labelled(one) for one in small], "objects again")):
        count, refused = sent(t, made, verb, what)
        # What a schema alone tells is not always enough for rules.
        wrong = [line for line in refused if "is invalid" not in line]
        t.check(not wrong and count + len(refused) >= len(made), "objects are written or invalid", "\n".join(wrong))
        t.check(count >= 0.75 * len(made), "most %s are valid" % what, cut(refused))
    there = sum(len(t.kubectl.run("get", ",".join(some), "-A", "-o", "name").stdout.splitlines())
                for some in batches([resource(crd) for crd in crds]))
    t.check(there >= 1.5 * len(small), "most kinds have two objects", there)
    listed_as_tables(t, crds, there)
    for some in batches([crd["metadata"]["name"] for crd in crds]):
        t.says(["delete", "crd", "--timeout=120s", *some], *some)


def helm(t, binary, folder):
    environment = {"KUBECONFIG": t.kubectl.kubeconfig, "HELM_CACHE_HOME": folder + "/helm-cache",
                   "HELM_CONFIG_HOME": folder + "/helm-config", "HELM_DATA_HOME": folder + "/helm-data"}
    chart = os.path.join(CRDS, "chart")

    def run(*args):
        result = subprocess.run([binary, *args], env={**os.environ, **environment}, capture_output=True, text=True,
                                timeout=120)
        t.check(result.returncode == 0, "helm " + " ".join(args), result.stdout + result.stderr)
        return result.stdout

    t.check("STATUS: deployed" in run("install", "top", chart, "--wait", "--timeout=60s"), "helm installs a chart with a CRD")
    t.prints(["get", "hat", "top", "-o", "jsonpath={.spec.color} {.spec.width}"], "green 5")
    run("upgrade", "top", chart, "--set", "color=red")
    t.prints(["get", "hat", "top", "-o", "jsonpath={.spec.color} {.metadata.generation}"], "red 2")
    result = subprocess.run([binary, "upgrade", "top", chart, "--set", "color=pink"], env={**os.environ, **environment},
                            capture_output=True, text=True, timeout=120)
    t.check(result.returncode != 0 and 'Unsupported value: "pink"' in result.stderr, "helm tells why", result.stderr)
    run("rollback", "top", "1")
    t.prints(["get", "hat", "top", "-o", "jsonpath={.spec.color}"], "green")
    run("uninstall", "top", "--wait")
    t.says(["get", "hats"], "No resources found")
    t.says(["get", "crd", "hats.chart.example.com"], "hats.chart.example.com")
    t.says(["delete", "crd", "hats.chart.example.com"], "deleted")


def client(t, binary):
    result = subprocess.run([binary, os.path.join(CRDS, "shirts.yaml")], capture_output=True, text=True, timeout=600,
                            env={**os.environ, "KUBECONFIG": t.kubectl.kubeconfig})
    print(result.stdout, end="")
    t.check(result.returncode == 0, "the client's steps", result.stderr[-3000:])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--corpus")
    parser.add_argument("--helm")
    parser.add_argument("--client")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(args.server) as kubeconfig:
        t = Checker(Kubectl(args.kubectl, kubeconfig, folder))
        if args.corpus:
            corpus(t, args.corpus)
        if args.helm:
            helm(t, args.helm, folder)
        if args.client:
            client(t, args.client)
    print("custom_resources: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
