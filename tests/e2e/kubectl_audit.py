#!/usr/bin/env python3
"""Runs a script of kubectl commands and compares what the audit log says of them with
audit.golden.jsonl, which is kubectl 1.35's: other versions ask differently.

usage: kubectl_audit.py --server BINARY --kubectl BINARY [--record]

Identifiers, times, revisions and kubectl's exact version are replaced before comparing. Exits 1 and
shows the first difference. --record writes the golden file anew.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from servers import Failure, Server, wait_until

GOLDEN = os.path.join(os.path.dirname(__file__), "audit.golden.jsonl")

# Objects of writes, metadata of all else, nothing of discovery, whose order is kubectl's choice, nor
# of what the server asks itself.
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ["*"]
- level: None
  users: ["system:apiserver"]
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources:
  - group: wardle.example.com
    resources: [flunders]
- level: Metadata
  omitStages: [RequestReceived]
"""

FLUNDER = """\
apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata:
  name: audited
  labels: {color: blue}
spec:
  reference: a
"""

# Each with what it is given, and whether it works.
COMMANDS = [
    (["create", "-f", "-"], FLUNDER, True),
    (["create", "-f", "-"], FLUNDER, False),
    (["get", "flunders"], None, True),
    (["get", "flunder", "audited", "-o", "json"], None, True),
    (["label", "flunder", "audited", "color=red", "--overwrite"], None, True),
    (["patch", "flunder", "audited", "--type=merge", "-p", '{"spec":{"flunderReference":"b"}}'],
     None, True),
    (["apply", "--server-side", "--force-conflicts", "-f", "-"], FLUNDER, True),
    (["get", "flunder", "missing"], None, False),
    (["delete", "flunder", "audited"], None, True),
]

HIDDEN = {"auditID", "uid", "creationTimestamp", "resourceVersion", "requestReceivedTimestamp",
          "stageTimestamp"}


def normalized(value, key=""):
    """`value` with what differs from run to run replaced by its name."""
    if isinstance(value, dict):
        # Who authorizes is the server's choice, and so is what it says about that.
        return {name: normalized(item, name) for name, item in value.items()
                if not (key == "" and name == "annotations")}
    if isinstance(value, list):
        return [normalized(item, key) for item in value]
    if key in HIDDEN and isinstance(value, str):
        return "<%s>" % key
    if not isinstance(value, str):
        return value
    if key == "userAgent":
        return value.split("/")[0]
    value = re.sub(r"X509SHA256=[0-9a-f]{64}", "X509SHA256=<hash>", value)
    return re.sub(r"resourceVersion(=|%3D)\d+", r"resourceVersion\1<revision>", value)


def run(args, folder):
    with open(os.path.join(folder, "policy.yaml"), "w") as file:
        file.write(POLICY)
    log = os.path.join(folder, "audit.log")
    server = Server(args.server, "memory", folder)
    server.start("--audit-policy-file=" + os.path.join(folder, "policy.yaml"),
                 "--audit-log-path=" + log)
    try:
        for command, given, works in COMMANDS:
            done = subprocess.run(
                [args.kubectl, "--kubeconfig", server.kubeconfig,
                 "--cache-dir", os.path.join(folder, "cache")] + command,
                input=given, text=True, capture_output=True, timeout=120)
            if (done.returncode == 0) != works:
                raise Failure("kubectl %s: %s" % (" ".join(command), done.stderr))
        if os.stat(log).st_mode & 0o777 != 0o600:
            raise Failure("the audit log may be read by others")
        with open(os.path.join(folder, "server.log")) as file:
            lines = file.read()
        if server.stop() != 0:
            raise Failure("the server did not end well: " + lines[-2000:])
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    wait_until(lambda: os.path.exists(log), "there is an audit log")
    with open(log) as file:
        events = [json.loads(line) for line in file]
    # What the server asks itself, when it starts, is not kubectl's.
    return [json.dumps(normalized(event)) for event in events
            if event["user"].get("username") != "system:apiserver"]


def compare(events):
    with open(GOLDEN) as file:
        golden = file.read().splitlines()
    for number, (want, got) in enumerate(zip(golden, events), 1):
        if want != got:
            raise Failure("event %d\nwant %s\ngot  %s" % (number, want, got))
    if len(golden) != len(events):
        more = (events if len(events) > len(golden) else golden)[min(len(events), len(golden))]
        raise Failure("want %d events, got %d: %s" % (len(golden), len(events), more))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", required=True)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            events = run(args, folder)
            if args.record:
                with open(GOLDEN, "w") as file:
                    file.writelines(event + "\n" for event in events)
            else:
                compare(events)
        except Failure as failure:
            print("FAILED: %s" % failure)
            return 1
    print("ok: %d audit events" % len(events))
    return 0


if __name__ == "__main__":
    sys.exit(main())
