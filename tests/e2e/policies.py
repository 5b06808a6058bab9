#!/usr/bin/env python3
"""Compares what a server answers to requests about admission policies with what a kube-apiserver
answered, or records it.

usage: policies.py --server BINARY
       policies.py --url URL [--ca FILE] --token TOKEN [--audit-log FILE] [--record | --exact]

The requests are in policies/*.http, the recorded answers in ../testdata/policies. A difference that
policies/differences.json does not list, with its reason, fails, and so does one that it lists and
that is none; with --exact, which a kube-apiserver passes, every difference does. BINARY is
policy-server/'s or one with the same kinds.
"""

import argparse
import base64
import fnmatch
import json
import os
import re
import sys
import tempfile
import time

import http_file
from policy_answers import Peer
from servers import Failure, Server

HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = os.path.join(HERE, "policies")
ANSWERS = os.path.join(HERE, "..", "testdata", "policies")
NAMESPACE = "policies"
# Every request in full would be larger than what is asked of it.
AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n"


def files():
    return sorted(name[:-len(".http")] for name in os.listdir(REQUESTS) if name.endswith(".http"))


def requests_of(file, variables):
    with open(os.path.join(REQUESTS, file + ".http"), encoding="utf-8") as text:
        return http_file.read(text.read(), variables)


def answers_path(file):
    return os.path.join(ANSWERS, file + ".jsonl")


def differences(want, got, at=""):
    """Paths at which two answers differ, with both values; None: absent."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted({**want, **got}):
            yield from differences(want.get(key), got.get(key), at + "/" + key)
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, pair in enumerate(zip(want, got)):
            yield from differences(*pair, "%s/%d" % (at, index))
    elif want != got:
        yield at, want, got


class Known:
    """The differences that have a reason: {"requests": [PATTERN], "at": PATTERN, "reason"}, and with
    "got" only if the server's value is that."""

    def __init__(self, exact):
        self.entries = []
        if not exact:
            with open(os.path.join(REQUESTS, "differences.json"), encoding="utf-8") as file:
                self.entries = json.load(file)
        self.used = [False] * len(self.entries)

    def has(self, request, at, got):
        found = False
        for index, entry in enumerate(self.entries):
            if any(fnmatch.fnmatchcase(request, name) for name in entry["requests"]) \
                    and fnmatch.fnmatchcase(at, entry["at"]) and entry.get("got", got) == got:
                self.used[index] = found = True
        return found

    def unused(self):
        return [entry for entry, used in zip(self.entries, self.used) if not used]


class Comparison:
    def __init__(self, exact):
        self.known, self.count, self.different, self.failed = Known(exact), 0, 0, 0

    def judge(self, peer, request, want):
        """Asks, and once more if the answer may be about to change: parameters and namespaces are
        followed too."""
        self.count += 1
        deadline = time.monotonic() + 5
        while True:
            found = list(differences(want, peer.answer(request)))
            unknown = [one for one in found if not self.known.has(request.name, one[0], one[2])]
            if not unknown or not request.repeatable() or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        self.different += bool(found)
        self.failed += bool(unknown)
        for at, expected, got in unknown:
            print("FAILED: %s: %s\n  want %s\n  got  %s"
                  % (request.name, at, json.dumps(expected), json.dumps(got)), flush=True)

    def ended(self):
        for entry in self.known.unused():
            self.failed += 1
            print("FAILED: this differs no longer: " + json.dumps(entry))
        print("policies: %d requests, %d failed, %d with known differences" % (self.count, self.failed, self.different))
        return self.failed == 0


def compare(peer, pause, exact=False):
    variables, comparison = {}, Comparison(exact)
    for file in files():
        with open(answers_path(file), encoding="utf-8") as lines:
            recorded = {answer["request"]: answer for answer in map(json.loads, lines)}
        for request in requests_of(file, variables):
            if request.settle:
                peer.settle(NAMESPACE, pause)
            want = recorded.get(request.name)
            if want is None:
                raise Failure("no answer is recorded to: " + request.name)
            if not peer.audit:
                want.pop("audit", None)
            comparison.judge(peer, request, want)
    return comparison.ended()


def record(peer, pause):
    os.makedirs(ANSWERS, exist_ok=True)
    variables, names = {}, set()
    for file in files():
        answers = []
        for request in requests_of(file, variables):
            if request.name in names:
                raise Failure("two requests are named " + request.name)
            names.add(request.name)
            if request.settle:
                peer.settle(NAMESPACE, pause)
            answers.append(peer.answer(request))
        with open(answers_path(file), "w", encoding="utf-8") as out:
            for answer in answers:
                out.write(json.dumps(answer, sort_keys=True, ensure_ascii=False) + "\n")
    print("policies: recorded %d answers" % len(names))
    return True


def with_server(binary):
    """Compares with a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        policy, log = os.path.join(folder, "audit-policy.yaml"), os.path.join(folder, "audit.log")
        with open(policy, "w") as file:
            file.write(AUDIT_POLICY)
        server = Server(binary, "memory", folder,
                        flags=("--audit-policy-file=" + policy, "--audit-log-path=" + log))
        server.start()
        try:
            with open(server.kubeconfig) as file:
                text = file.read()
            url, token = (re.search(key + r": *\"?([^\s\"]+)", text).group(1) for key in ("server", "token"))
            authority = os.path.join(folder, "ca.crt")
            with open(authority, "wb") as file:
                file.write(base64.b64decode(re.search(r"certificate-authority-data: *(\S+)", text).group(1)))
            passed = compare(Peer(url, authority, token, log), 0)
        finally:
            stopped = server.stop()
            if stopped != 0:
                print("FAILED: SIGTERM ends the server with exit code 0")
                print(open(os.path.join(folder, "server.log")).read()[-4000:], file=sys.stderr)
    return passed and stopped == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server")
    parser.add_argument("--url")
    parser.add_argument("--ca")
    parser.add_argument("--token")
    parser.add_argument("--audit-log")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--exact", action="store_true")
    args = parser.parse_args()
    if bool(args.server) == bool(args.url):
        parser.error("give --server or --url")
    try:
        if args.server:
            return 0 if with_server(args.server) else 1
        peer = Peer(args.url, args.ca, args.token, args.audit_log)
        # A kube-apiserver looks at its policies once a second.
        passed = record(peer, 1) if args.record else compare(peer, 1, args.exact)
        return 0 if passed else 1
    except Failure as failure:
        print("FAILED: %s" % failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
