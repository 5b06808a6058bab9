#!/usr/bin/env python3
"""Drives two_handlers/: one server whose serving chain has two handlers, with kubectl and curl.

usage: two_handlers.py --server BINARY [--kubectl KUBECTL]

kubectl's part is left out where there is none. Exits 1 and names each failed check.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from checker import Checker
from examples import PATIENCE, Example

ORDERS = "/apis/shop.example.com/v1/namespaces/default/orders"
PETS = "/apis/zoo.example.com/v1/namespaces/default/pets"
ORDER = {"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": "one"}, "spec": {"customer": "Ada"}}


def documents(t, server):
    groups = [group["name"] for group in json.loads(server.get("/apis"))["groups"]]
    t.check(groups == ["shop.example.com", "zoo.example.com"], "/apis lists the groups of both", groups)
    aggregated = server.get("/apis", "--header", "Accept: application/json;g=apidiscovery.k8s.io;v=v2;"
                            "as=APIGroupDiscoveryList")
    found = [resource["resource"] for group in json.loads(aggregated)["items"] for version in group["versions"]
             for resource in version["resources"]]
    t.check(found == ["orders", "pets"], "aggregated discovery lists the resources of both", aggregated)
    v3 = json.loads(server.get("/openapi/v3"))["paths"]
    t.check({"apis/shop.example.com/v1", "apis/zoo.example.com/v1"} <= set(v3), "OpenAPI v3 lists both", v3)
    v2 = json.loads(server.get("/openapi/v2"))
    t.check({"com.example.v1.Order", "com.example.v1.Pet"} <= set(v2["definitions"]), "OpenAPI v2 has both",
            list(v2["definitions"]))
    index = json.loads(server.get("/"))["paths"]
    t.check({"/apis/shop.example.com/v1", "/apis/zoo.example.com/v1", "/readyz/pets",
             "/readyz/poststarthook/first-pet"} <= set(index), "the index lists the paths of both", index)
    code = server.get("/apis/nobody.example.com/v1/things", "--output", "/dev/null", "--write-out", "%{http_code}")
    t.check(code == "404", "no handler's group is 404", code)


def illness(t, server):
    ready = server.get("/readyz?verbose")
    t.check("[+]pets ok\n" in ready and "[+]poststarthook/first-pet ok\n" in ready,
            "/readyz shows the handler's check and hook", ready)
    open(os.path.join(server.folder, "ill"), "w").close()
    for path in ("/readyz", "/livez", "/healthz"):
        ill = server.get(path, "--write-out", "%{http_code}")
        t.check("[-]pets failed: reason withheld\n" in ill and ill.endswith("check failed\n500"),
                path + " shows the handler's illness", ill)
    os.remove(os.path.join(server.folder, "ill"))
    t.check(server.get("/readyz") == "ok", "/readyz is ok again", server.get("/readyz"))


def kubectl(t, server, binary):
    base = [binary, "--kubeconfig", server.kubeconfig, "--cache-dir", os.path.join(server.folder, "cache")]

    def run(*args, body=None):
        done = subprocess.run([*base, *args], input=body, capture_output=True, timeout=PATIENCE)
        return done.returncode, (done.stdout + done.stderr).decode()

    code, got = run("api-resources", "--no-headers")
    names = [line.split()[0] for line in got.splitlines()]
    t.check(code == 0 and names == ["orders", "pets"], "kubectl api-resources lists both", got)
    got = run("api-versions")
    t.check(got == (0, "shop.example.com/v1\nzoo.example.com/v1\n"), "kubectl api-versions lists both", got)
    for what, text in (("orders.spec.customer", "Who pays."), ("pets.spec.food", "What it eats.")):
        got = run("explain", what)
        t.check(got[0] == 0 and text in got[1], "kubectl explain " + what, got)
    got = run("create", "-f", "-", body=json.dumps(ORDER).encode())
    t.check(got == (0, "order.shop.example.com/one created\n"), "kubectl create", got)
    got = run("get", "orders,pets", "-o", "name")
    t.check(got == (0, "order.shop.example.com/one\npet.zoo.example.com/first\n"), "kubectl get of both", got)
    code, got = run("get", "pets")
    t.check(code == 0 and re.search(r"^first +\S+$", got, re.MULTILINE), "kubectl get as a table", got)
    got = run("delete", "pets", "--all")
    t.check(got == (0, 'pet.zoo.example.com "first" deleted\n'), "kubectl delete", got)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    arguments = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        server = Example(arguments.server, folder, "chain.kubeconfig")
        try:
            documents(t, server)
            illness(t, server)
            if arguments.kubectl:
                kubectl(t, server, arguments.kubectl)
            else:
                print("no kubectl: its part is left out")
            server.process.send_signal(signal.SIGTERM)
            code = server.process.wait(PATIENCE)
            t.check(code == 0, "SIGTERM ends the server", code)
            t.check(os.path.exists(os.path.join(folder, "closed")), "the handler's pre-shutdown hook has run")
        finally:
            server.process.kill()
            server.process.wait()
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
