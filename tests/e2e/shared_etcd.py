#!/usr/bin/env python3
"""The kube-apiserver of examples/ on an etcd that another kube-apiserver has used.

usage: shared_etcd.py --server BINARY

Go's server keeps services below services/specs/, beside the endpoints below services/endpoints/. Ours
becomes ready there, lists no endpoints as services, and keeps its services, endpoint slices and leases
under Go's keys. Needs etcd in $PATH or $APISERVER_ETCD. Exits 1 and names each failed check.
"""

import argparse
import json
import os
import sys
import tempfile

from checker import Checker
from interop_servers import Etcd, our_server

DEFAULT = "/api/v1/namespaces/default/"
# An Endpoints in protobuf, as k8s.io/api writes it: the type, then a name and a namespace.
ENDPOINTS = (b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Endpoints"
             b"\x12\x17\x0a\x15\x0a\x0akubernetes\x1a\x07default")
OBJECTS = {
    DEFAULT + "services": ("services/specs", {"apiVersion": "v1", "kind": "Service"}),
    DEFAULT + "configmaps": ("configmaps", {"apiVersion": "v1", "kind": "ConfigMap"}),
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": ("endpointslices", {
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": []}),
    "/apis/coordination.k8s.io/v1/namespaces/default/leases": ("leases", {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder, Etcd(os.environ.get("APISERVER_ETCD") or "etcd") as etcd:
        etcd.put("/registry/services/endpoints/default/kubernetes", ENDPOINTS, 3600)
        with our_server(args.server, folder, ["--etcd-servers=" + etcd.url]) as api:
            services = json.loads(api.call("GET", DEFAULT + "services")[1])
            # The server makes its own service.
            t.check(all("spec" in each for each in services["items"]), "no endpoints among the services", services)
            for path, (prefix, body) in OBJECTS.items():
                code, text = api.call("POST", path, {**body, "metadata": {"name": "one"}})
                t.check(code == 201, "create at " + path, text)
                stored = etcd.get("/registry/%s/default/one" % prefix)
                t.check(stored != b"", "the key below " + prefix)
    print("shared_etcd: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
