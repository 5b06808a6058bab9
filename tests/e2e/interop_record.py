#!/usr/bin/env python3
"""Writes ../testdata/go-storage/flunders.txt anew: what a Go sample-apiserver stores, plain, and the
same objects once it has rewritten them with aescbc, then with aesgcm.

usage: interop_record.py --go-server BINARY --etcd BINARY > flunders.txt

The README beside that file says what its lines are, the one beside this what BINARY must be.
"""

import argparse
import base64
import json
import sys
import tempfile

from interop import MERGE_PATCH, PREFIX, configured, flunders, provider
from interop_servers import Etcd, go_server

APPLY_PATCH = "application/apply-patch+yaml"
ENCRYPTED = ("b-defaulted", "e-escapes")
TEXT = ("<a&b> \" \\ / \n\r\t\b\f\x01\x1f\x7f\u0080 \u00e4\u20ac\U0001f600 \u2028\u2029 \ufffd")


def ask(go, code, method, path, **more):
    got = go.call(method, path, **more)
    if got[0] != code:
        sys.exit("%s %s: %s %s" % (method, path, *got))
    return json.loads(got[1])


def write(go):
    def create(version, **body):
        ask(go, 201, "POST", flunders(version), body=body)

    create("v1alpha1", metadata={"name": "a-bare"})
    create("v1alpha1", metadata={"name": "b-defaulted"}, spec={"reference": "one"})
    create("v1beta1", metadata={"name": "c-fischer"},
           spec={"fischerReference": "two", "referenceType": "Fischer"})
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True,
               "blockOwnerDeletion": False},
              {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "w"}]
    create("v1beta1", metadata={
        "name": "d-metadata", "labels": {"z": "1", "a": "x", "M": ""},
        "annotations": {"b": "", "example.com/a": "text"},
        "finalizers": ["example.com/one", "example.com/two"], "ownerReferences": owners,
    }, spec={"flunderReference": "one", "referenceType": "Flunder"})
    create("v1alpha1", metadata={"name": "e-escapes", "annotations": {"text": TEXT}},
           spec={"reference": TEXT})
    create("v1alpha1", metadata={"generateName": "f-generated-"})
    create("v1alpha1", metadata={"name": "g-deleting", "finalizers": ["example.com/one"]})
    ask(go, 200, "DELETE", flunders("v1alpha1", "g-deleting"), body={"gracePeriodSeconds": 5})
    ask(go, 201, "PATCH", flunders("v1beta1", "h-applied", query="fieldManager=someone&force=true"),
        content_type=APPLY_PATCH,
        body={"apiVersion": "wardle.example.com/v1beta1", "kind": "Flunder",
              "metadata": {"name": "h-applied", "labels": {"a": "b"}},
              "spec": {"flunderReference": "x", "referenceType": "Flunder"}})
    ask(go, 200, "PATCH", flunders("v1alpha1", "a-bare"), content_type=MERGE_PATCH,
        body={"metadata": {"labels": {"patched": "yes"}}})


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--go-server", "--etcd"):
        parser.add_argument(flag, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Etcd(args.etcd) as etcd:
        def running(*flags):
            return go_server(args.go_server, folder, ["--etcd-servers=" + etcd.url,
                                                      "--etcd-compaction-interval=0", *flags])

        with running() as go:
            write(go)
            page = ask(go, 200, "GET", flunders("v1beta1", query="limit=3"))["metadata"]
        for one in etcd.range(b"/", b"0"):
            print("plain", base64.b64decode(one["key"]).decode(), one["mod_revision"],
                  one.get("lease", 0), one["value"])
        print("continue", page["resourceVersion"], page["remainingItemCount"], page["continue"])
        for kind in ("aescbc", "aesgcm"):
            # Each time the value is stale, so what is written is the same object.
            providers = [provider(other) for other in ("aescbc", "aesgcm") if other != kind]
            flag = configured(folder, provider(kind), *providers, {"identity": {}})
            with running(flag) as go:
                for name in ENCRYPTED:
                    read = go.call("GET", flunders("v1beta1", name))
                    ask(go, 200, "PUT", flunders("v1beta1", name), raw=read[1])
                    key = PREFIX + "default/" + name
                    print(kind, key, base64.b64encode(etcd.get(key)).decode())


if __name__ == "__main__":
    main()
