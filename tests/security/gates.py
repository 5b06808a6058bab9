#!/usr/bin/env python3
"""No feature gate opens a door: with each of them the other way round, the same is allowed.

usage: gates.py --server BINARY
"""

import argparse
import concurrent.futures
import json
import re
import subprocess
import sys
import tempfile

from victim import CONFIGMAPS, FLUNDERS, Victim

JSON = {"Content-Type": "application/json"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
# Servers at a time: each is mostly waited for.
SERVERS = 3
USERS = {"nobody": [], "reader": [], "writer": [], "master": ["system:masters"]}
ROLES = {"reader": ["get", "list", "watch"], "writer": ["create", "update", "patch", "delete", "deletecollection"]}
REQUESTS = [
    ("GET", FLUNDERS, None), ("GET", FLUNDERS + "?watch=1&timeoutSeconds=1", None),
    ("GET", FLUNDERS + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true"
     "&resourceVersionMatch=NotOlderThan", None),
    ("GET", FLUNDERS + "/x", None), ("GET", FLUNDERS + "/x/status", None), ("GET", CONFIGMAPS, None),
    ("POST", FLUNDERS + "?dryRun=All", b'{"metadata":{"name":"x"},"spec":{"reference":"a"}}'),
    ("PUT", FLUNDERS + "/x?dryRun=All", b'{"metadata":{"name":"x"},"spec":{"reference":"a"}}'),
    ("PATCH", FLUNDERS + "/x?dryRun=All", b'{"spec":{"reference":"b"}}'),
    ("DELETE", FLUNDERS + "/x?dryRun=All", None), ("DELETE", FLUNDERS + "?dryRun=All", None),
    ("GET", RBAC + "/clusterroles", None), ("GET", "/metrics", None), ("GET", "/", None),
    ("GET", "/debug/api_priority_and_fairness/dump_requests", None),
]


def gates(binary):
    """Names of the gates and what they are by default."""
    said = subprocess.run([binary, "--help"], capture_output=True, check=True).stdout.decode()
    found = dict(re.findall(r"(\w+)=true\|false \(\w+ - default=(\w+)\)", said))
    return {name: default == "true" for name, default in found.items()}


def codes_of(victim, user, groups):
    """Code of every request by this user."""
    headers = {"Impersonate-User": user, **{"Impersonate-Group": group for group in groups}}
    codes = {}
    for method, path, body in REQUESTS:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        codes[user, method, path] = victim.call(method, path, body, {**headers, "Content-Type": kind})[0]
    return codes


def matrix(binary, flags):
    """Code of every request by every user."""
    with tempfile.TemporaryDirectory() as folder:
        victim = Victim(binary, folder, flags=flags)
        try:
            for name, verbs in ROLES.items():
                for path, body in (
                        ("/clusterroles", {"rules": [{"apiGroups": ["wardle.example.com"],
                                                      "resources": ["flunders", "flunders/status"], "verbs": verbs}]}),
                        ("/clusterrolebindings", {
                            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]})):
                    made = victim.call("POST", RBAC + path, json.dumps({"metadata": {"name": name}, **body}), JSON)
                    assert made[0] == 201, made
            # Side by side: each user's watches last two seconds, and nothing is stored.
            with concurrent.futures.ThreadPoolExecutor() as pool:
                of_users = pool.map(lambda user: codes_of(victim, user, USERS[user]), USERS)
            codes = {key: code for of_user in of_users for key, code in of_user.items()}
            for method, path, body in REQUESTS:
                codes["stranger", method, path] = victim.call(method, path, body, JSON, identified=False)[0]
            return codes
        finally:
            victim.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    known, failures = gates(args.server), []
    usual = matrix(args.server, ())
    expected = {("nobody", "GET", FLUNDERS): 403, ("reader", "GET", FLUNDERS): 200,
                ("reader", "DELETE", FLUNDERS + "?dryRun=All"): 403, ("writer", "GET", FLUNDERS): 403,
                ("writer", "POST", FLUNDERS + "?dryRun=All"): 201, ("master", "GET", "/metrics"): 200,
                ("reader", "GET", "/metrics"): 403, ("stranger", "GET", FLUNDERS): 401}
    failures += ["%s: %s" % (key, usual[key]) for key, code in expected.items() if usual[key] != code]
    flags = [("--feature-gates=%s=%s" % (gate, str(not default).lower()),) for gate, default in known.items()]
    with concurrent.futures.ThreadPoolExecutor(SERVERS) as pool:
        others = dict(zip(known, pool.map(lambda each: matrix(args.server, each), flags)))
    for gate, other in others.items():
        # What a gate switches off may be gone or malformed, for those who may; never open to others.
        failures += ["%s: %s: %s, was %s" % (gate, key, other[key], code) for key, code in usual.items()
                     if (other[key] < 300) > (code < 300) or (code in (401, 403)) != (other[key] in (401, 403))]
    for failure in failures:
        print("  FAILED: " + failure)
    print("row 21: CVE-2025-4563: a check that a feature gate skips: %d gates: %s"
          % (len(known), "failed" if failures or not known else "passed"))
    return 1 if failures or not known else 0


if __name__ == "__main__":
    sys.exit(main())
