#!/usr/bin/env python3
"""Compares what a server and a kube-apiserver answer to requests about custom resources.

usage: crd_differential.py GO --server KUBECONFIG|BINARY [--crds FOLDER] [--objects N] [--seed S]
       crd_differential.py GO --record FILE [--crds FOLDER]...
       crd_differential.py --server KUBECONFIG|BINARY [--replay FILE] [--crds FOLDER]

GO is `--go KUBECONFIG` of a kube-apiserver that runs, or `--go BINARY --etcd BINARY`, which starts one.
Each CRD is installed; discovery and OpenAPI are read; then N objects are made of the CRDs' schemas,
most of them with one mistake, and sent with every verb. With --record the answers of the
kube-apiserver are written to FILE, with --replay (the default is the file beside the fixture) they
are compared without one. Every difference is printed, those of one kind together. A difference that
crd_differences.json does not list, with its reason, fails, and if everything recorded is replayed so
does an entry of it without a difference.
"""

import argparse
import collections
import contextlib
import fnmatch
import json
import os
import re
import sys
import tempfile
import time

import crd_corpus
import crd_documents
from crd_answers import Peer, Request, differences, shortened
from crd_requests import Requests, Used
from go_kube_apiserver import kubeconfig_of
from servers import Failure, running

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(HERE, "..", "testdata", "crds")
KNOWN = os.path.join(HERE, "crd_differences.json")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PARTS = "documents,objects"
EXAMPLES = 2
# Of so many versions one gets the requests that have little to do with its schema.
THOROUGH = 8


def masked(value):
    """A text for what is compared, the same for differences of one kind."""
    if value is ...:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    text = re.sub(r"\\\"[^\"\\]*\\\"|'[^']*'", "'*'", text)
    text = re.sub(r"[\w\[\]-]+(\.[\w\[\]-]+)+", "a.b", text)
    text = re.sub(r"\"[0-9a-f]{8}\"", "HASH", text)
    return re.sub(r"\d+", "N", text)[:160]


def kind_of(name, at):
    """The kind of a difference: what was asked, and where the answers differ, without names."""
    what = re.sub(r" at /.*", "", name.split(" ", 1)[-1]) if " " in name else name.split("/")[0]
    return what, re.sub(r"(/parts/)(\w*).*?(/.*)?$", r"\1\2", re.sub(r"/\d+", "/N", at))


class Known:
    """Differences with a reason: {"request": PATTERN, "at": PATTERN, "reason": TEXT}."""

    def __init__(self, path):
        self.entries = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.entries = json.load(file)
        self.counts = collections.Counter()

    def has(self, name, at):
        for index, entry in enumerate(self.entries):
            if fnmatch.fnmatchcase(name, entry["request"]) and fnmatch.fnmatchcase(at, entry["at"]):
                self.counts[index] += 1
                return True
        return False

    def stale(self):
        """The entries that no difference has needed."""
        return [entry for index, entry in enumerate(self.entries) if not self.counts[index]]


class Report:
    """Collects differences and prints them by kind. `whole`: all that is known must come up."""

    def __init__(self, known, whole=False):
        self.known, self.whole, self.groups, self.asked, self.different = known, whole, {}, 0, 0
        self.codes = collections.Counter()

    def compare(self, name, request, want, got):
        self.asked += 1
        self.codes[want.get("code")] += 1
        found = [one for one in differences(want, got) if not self.known.has(name, one[0])]
        self.different += bool(found)
        for at, expected, actual in found[:20]:
            key = (kind_of(name, at), masked(expected), masked(actual))
            self.groups.setdefault(key, []).append((name, str(request or ""), at, expected, actual))

    def ended(self):
        for (what, _, _), found in sorted(self.groups.items(), key=lambda pair: -len(pair[1])):
            print("FAILED: %d times: %s %s" % (len(found), *what))
            for name, request, at, expected, actual in found[:EXAMPLES]:
                print("  %s\n    %s\n    at   %s\n    want %s\n    got  %s" % (
                    name, request[:700], at, cut(expected), cut(actual)))
        for index, count in sorted(self.known.counts.items()):
            print("known: %d times: %s" % (count, self.known.entries[index]["reason"]))
        stale = self.known.stale() if self.whole else []
        for entry in stale:
            print("FAILED: no difference any more: %(request)s at %(at)s: %(reason)s" % entry)
        print("crd_differential: %d requests, %d differ, in %d kinds; codes %s" % (
            self.asked, self.different, len(self.groups),
            " ".join("%s:%d" % pair for pair in sorted(self.codes.items(), key=str))), flush=True)
        return not self.groups and not stale


def short(name):
    """A request's name in a file: without what it does."""
    return re.sub(r"^(\S+/\d+) .*", r"\1", name)


def cut(value):
    return "nothing" if value is ... else json.dumps(value, ensure_ascii=False)[:900]


class Judge:
    """Sends requests to one or two servers. The right answers are those of `go`, or recorded ones."""

    def __init__(self, go, server, recorded, report):
        self.go, self.server, self.recorded, self.report = go, server, recorded, report
        self.answers = {}

    def ask(self, request):
        """Sends a request to each, and returns the code that is right."""
        if self.go:
            want = self.go.answer(request)
            self.answers[request.name] = want
        else:
            want = self.recorded.get(short(request.name))
            if want is None:
                raise Failure("no answer is recorded to: " + request.name)
        if self.server:
            self.judge(request.name, request, want, self.server.answer(request))
        return want["code"]

    def judge(self, name, request, want, got):
        if not self.go:
            got = shortened(got)
        self.report.compare(name, request, want, got)

    def each(self, read):
        """Compares {name: answer} of what `read` finds at each server."""
        if self.go:
            want = read(self.go)
            self.answers.update(want)
        got = read(self.server) if self.server else {}
        for name, answer in got.items():
            if not self.go:
                want = self.recorded
            self.judge(name, None, want.get(short(name) if not self.go else name, {}), answer)

    def peers(self):
        return [peer for peer in (self.go, self.server) if peer]


def condition(crd, kind):
    return next((one["status"] for one in (crd.get("status") or {}).get("conditions") or ()
                 if one["type"] == kind), "")


def established(peer, name, deadline):
    """Waits until a CRD is served; False if its names are refused."""
    while True:
        crd = peer.json(DEFINITIONS + "/" + name)
        if condition(crd, "Established") == "True":
            return True
        if condition(crd, "NamesAccepted") == "False" or time.monotonic() > deadline:
            return False
        time.sleep(0.05)


def install(judge, crds):
    """Installs the CRDs, and returns those that are served everywhere."""
    codes = {crd["metadata"]["name"]: judge.ask(Request(
        "install/" + crd["metadata"]["name"], "POST", DEFINITIONS, crd, crd)) for crd in crds}
    deadline, served = time.monotonic() + 900, []
    for index, crd in enumerate(crds):
        name = crd["metadata"]["name"]
        good = codes[name] == 201 and all([established(peer, name, deadline) for peer in judge.peers()])
        if good:
            served.append(crd)
        if not good or index % THOROUGH == 0:
            judge.ask(Request("installed/" + name, "GET", DEFINITIONS + "/" + name, like=crd))
    print("crd_differential: %d of %d CRDs are established" % (len(served), len(crds)), flush=True)
    return served


def settled(judge, crds):
    """Waits until lists are answered: a server may still open what it keeps of a new CRD."""
    for crd in crds:
        for version in crd["spec"]["versions"]:
            if version["served"]:
                path = "/apis/%s/%s/%s" % (crd["spec"]["group"], version["name"], crd["spec"]["names"]["plural"])
                for peer in judge.peers():
                    peer.send(Request("", "GET", path))


def remove(judge, crds):
    """Deletes the CRDs, and waits until they are gone."""
    for index, crd in enumerate(crds):
        path = DEFINITIONS + "/" + crd["metadata"]["name"]
        if index % THOROUGH == 0:
            judge.ask(Request("removed/" + crd["metadata"]["name"], "DELETE", path, like=crd))
        else:
            for peer in judge.peers():
                peer.once("DELETE", path)
    deadline = time.monotonic() + 300
    for crd, peer in ((crd, peer) for crd in crds for peer in judge.peers()):
        while peer.once("GET", DEFINITIONS + "/" + crd["metadata"]["name"])[0] != 404:
            if time.monotonic() > deadline:
                raise Failure(crd["metadata"]["name"] + " does not go")
            time.sleep(0.05)


def objects(judge, crds, wanted, seed):
    """Sends objects of every CRD and version."""
    rows = [(crd, version) for crd in crds for version in crd["spec"]["versions"] if version["served"]]
    used, count = Used(), 0
    for index, (crd, version) in enumerate(rows):
        share = wanted * (index + 1) // len(rows) - wanted * index // len(rows)
        requests = Requests(crd, version, seed, used, judge.ask)
        requests.run(share, index % THOROUGH == 0)
        count += requests.count
    print("crd_differential: %d versions, %d requests about objects" % (len(rows), count), flush=True)


def run(judge, crds, args):
    served = install(judge, crds)
    if "documents" in args.parts:
        judge.each(lambda peer: crd_documents.documents(peer, served))
    if "objects" in args.parts:
        settled(judge, served)
        objects(judge, served, args.objects, args.seed)
    remove(judge, crds)


def record(judge, path):
    with open(path, "w", encoding="utf-8") as out:
        for name, answer in judge.answers.items():
            out.write(json.dumps({"request": short(name), **shortened(answer)}, ensure_ascii=False,
                                 separators=(",", ":")) + "\n")
    print("crd_differential: recorded %d answers, %d bytes" % (len(judge.answers), os.path.getsize(path)))


def recorded_answers(path):
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row.pop("request"): row for row in rows}


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--go", help="a kube-apiserver that is started, or the kubeconfig of one that runs")
    parser.add_argument("--etcd", help="the program on which a kube-apiserver is started")
    parser.add_argument("--server", help="a program that is started, or the kubeconfig of one that runs")
    parser.add_argument("--crds", default=FIXTURE)
    parser.add_argument("--only", default="*", help="pattern of the names of CRDs")
    parser.add_argument("--objects", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default=PARTS)
    parser.add_argument("--record")
    parser.add_argument("--replay", default=os.path.join(FIXTURE, "answers", "kube-apiserver-1.35.jsonl"))
    parser.add_argument("--known", default=KNOWN)
    args = parser.parse_args()
    if not args.go and (not args.server or args.record):
        parser.error("give --go or --server")
    if args.go and os.access(args.go, os.X_OK) and not args.etcd:
        parser.error("--go BINARY needs --etcd")
    return args


def compare(args, kubeconfig):
    crds = [crd for _, found in sorted(crd_corpus.read(args.crds).items()) for crd in found
            if fnmatch.fnmatchcase(crd["metadata"]["name"], args.only)]
    # What is known is that of the recorded answers; other requests need not show it.
    whole = not args.go and args.only == "*" and args.parts == PARTS
    report = Report(Known(args.known), whole)
    judge = Judge(Peer(args.go) if args.go else None, Peer(kubeconfig) if kubeconfig else None,
                  None if args.go else recorded_answers(args.replay), report)
    try:
        run(judge, crds, args)
    finally:
        # What was answered until a failure is worth knowing, too.
        if args.record:
            record(judge, args.record)
        right = report.ended() if kubeconfig else True
    return right


def main():
    args = arguments()
    with contextlib.ExitStack() as stack:
        if args.go and args.etcd:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            args.go = stack.enter_context(kubeconfig_of(args.go, args.etcd, folder))
        kubeconfig = stack.enter_context(running(args.server)) if args.server else None
        return 0 if compare(args, kubeconfig) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print("FAILED: %s" % failure)
        sys.exit(1)
