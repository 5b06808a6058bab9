#!/usr/bin/env python3
"""A Go k8s.io/sample-apiserver and ours on one etcd: what one writes the other reads, pages, watches
and leaves alone; plain, then encrypted with aescbc and with aesgcm, then switched over.

usage: interop.py --server BINARY --go-server BINARY --etcd BINARY [--objects N] [--only WORD]

Not one of ctest's, because the Go server is in no package: the README beside this file says what it
must be. Prints the figures, exits 1 and names each failed check.
"""

import argparse
import base64
import contextlib
import json
import os
import re
import sys
import tempfile
import time

from curl import Checker
from interop_servers import Etcd, go_server, our_server

GROUP = "/apis/wardle.example.com/"
VERSIONS = ("v1alpha1", "v1beta1")
PREFIX = "/registry/wardle.example.com/wardle.example.com/flunders/"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
WATCH_EXPIRED = (b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},'
                 b'"status":"Failure","message":"The resourceVersion for the provided watch is too '
                 b'old.","reason":"Expired","code":410}}\n')


def flunders(version, name="", query="", namespace="default"):
    path = GROUP + version + "/namespaces/" + namespace + "/flunders"
    return path + ("/" + name if name else "") + ("?" + query if query else "")


# What is written differs from object to object: text that JSON escapes, every field of the metadata
# a client may set, each kind of reference, none.
TEXTS = ("plain", "", "<a&b>", "quote\" back\\slash", "line\nand\ttab\rand\x08\x0c\x01",
         "\u00e4\u20ac\U0001f600", "\u2028\u2029", "\x7f\u0080", " spaces ")


def content(version, number, name):
    text = TEXTS[number % len(TEXTS)]
    metadata = {"name": name}
    if number % 2:
        metadata["labels"] = {"z": "1", "a": "x", "n": str(number)}
    if number % 3 == 0:
        metadata["annotations"] = {"text": text, "empty": "", "<key".strip("<"): "v"}
    if number % 5 == 0:
        metadata["finalizers"] = ["example.com/one", "example.com/two"]
    if number % 7 == 0:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True,
             "blockOwnerDeletion": number % 2 == 0},
            {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "w"}]
    if number % 11 == 0:
        del metadata["name"]
        metadata["generateName"] = name + "-"
    kind = ("", "Flunder", "Fischer")[number % 3]
    if not kind:
        return {"metadata": metadata}
    if version == "v1alpha1":
        return {"metadata": metadata, "spec": {"reference": text or "r", "referenceType": kind}}
    return {"metadata": metadata,
            "spec": {kind.lower() + "Reference": text or "r", "referenceType": kind}}


def revision_of(got):
    try:
        return json.loads(got[1])["metadata"]["resourceVersion"]
    except (ValueError, KeyError):
        return None


def with_plain_token(got):
    """Go's watch cache begins the name in a token with a slash, Go's store does not; nor do we."""
    def plain(match):
        text = match.group(1) + b"=" * (-len(match.group(1)) % 4)
        token = base64.urlsafe_b64decode(text).replace(b'"start":"/', b'"start":"')
        return b'"continue":"%s"' % base64.urlsafe_b64encode(token).rstrip(b"=")

    return got[0], re.sub(rb'"continue":"([\w-]+)"', plain, got[1])


class Pair:
    """Both servers on one etcd."""

    def __init__(self, args, t, etcd, what):
        self.args, self.t, self.etcd, self.what = args, t, etcd, what
        self.go = self.ours = None

    @contextlib.contextmanager
    def running(self, flags=(), go_flags=(), our_flags=()):
        common = ["--etcd-servers=" + self.etcd.url, *flags]
        quiet = "--etcd-compaction-interval=0"
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            self.go = stack.enter_context(
                go_server(self.args.go_server, folder, [*common, *(go_flags or [quiet])]))
            self.ours = stack.enter_context(
                our_server(self.args.server, folder, [*common, *(our_flags or [quiet])]))
            yield self

    def both(self):
        return ((self.go, self.ours), (self.ours, self.go))

    def check(self, condition, what, got=""):
        self.t.check(condition, self.what + ": " + what, got)

    def all(self, failures, count, what):
        """One check over `count` things, some of which may have failed."""
        print("%s: %s: %d of %d" % (self.what, what, count - len(failures), count), flush=True)
        self.check(count > 0 and not failures, "%s (%d of %d failed)" % (what, len(failures), count),
                   "\n".join(str(failure) for failure in failures[:3]))

    def same(self, method, path, what, **more):
        """The same answer, to the byte, from both."""
        theirs, ours = self.go.call(method, path, **more), self.ours.call(method, path, **more)
        self.check(with_plain_token(theirs) == with_plain_token(ours), what, "go:   %s %s\nours: %s %s" % (*theirs, *ours))
        return theirs


def written(pair, writer, objects):
    """Names of what `writer` was asked to create."""
    names, failures = [], []
    for number in range(objects):
        version = VERSIONS[number // (objects // 2 or 1) % 2]
        body = content(version, number, "%s-%04d" % (writer.name, number))
        got = writer.call("POST", flunders(version), body=body)
        if got[0] != 201:
            failures.append(got)
            continue
        names.append(json.loads(got[1])["metadata"]["name"])
    pair.all(failures, objects, "created by " + writer.name)
    return names


def read_by_both(pair, names):
    for version in VERSIONS:
        failures = []
        for name in names:
            theirs = pair.go.call("GET", flunders(version, name))
            ours = pair.ours.call("GET", flunders(version, name))
            if theirs != ours or theirs[0] != 200:
                failures.append("go:   %s %s\nours: %s %s" % (*theirs, *ours))
        pair.all(failures, len(names), "the same bytes from both as " + version)
        pair.same("GET", flunders(version), "the whole list is the same bytes as " + version)
    pair.same("GET", flunders("v1beta1", query="labelSelector=a%3Dx,n+notin+(3)"), "a selected list")
    pair.same("GET", flunders("v1alpha1", query="fieldSelector=metadata.name%3D" + names[0]),
              "a list of one name")


def untouched(pair, verb, server, names):
    """`verb` on each name through `server` changes nothing, not even the revision of etcd."""
    before, failures = pair.etcd.revision(), []
    for number, name in enumerate(names):
        path = flunders(VERSIONS[number % 2], name)
        read = server.call("GET", path)
        if verb == "PUT":
            got = server.call("PUT", path, raw=read[1])
        elif verb == "merge patch":
            got = server.call("PATCH", path, body={"metadata": {"labels": {"none": None}}},
                              content_type=MERGE_PATCH)
        else:
            value = json.loads(read[1])["metadata"]["uid"]
            got = server.call("PATCH", path, content_type=JSON_PATCH,
                              body=[{"op": "replace", "path": "/metadata/uid", "value": value}])
        if got != read or got[0] != 200:
            failures.append("read: %s %s\ngot:  %s %s" % (*read, *got))
    pair.all(failures, len(names), "left as they were by a %s through %s" % (verb, server.name))
    pair.check(pair.etcd.revision() == before, "a no-op %s through %s makes no revision"
               % (verb, server.name), "%d became %d" % (before, pair.etcd.revision()))


def no_ops(pair, names):
    for server in (pair.go, pair.ours):
        for verb in ("PUT", "merge patch", "JSON patch"):
            untouched(pair, verb, server, names)


def pages(pair):
    """Every page from the server the page before did not come from, with writes in between."""
    for first, second in pair.both():
        whole = json.loads(first.call("GET", flunders("v1beta1"))[1])
        got, token, turn = [], "", 0
        while turn == 0 or token:
            server = (first, second)[turn % 2]
            query = "limit=97" + ("&continue=" + token if token else "")
            theirs = server.call("GET", flunders("v1beta1", query=query))
            if turn and theirs[0] == 200:
                again = (second, first)[turn % 2].call("GET", flunders("v1beta1", query=query))
                pair.check(with_plain_token(theirs) == with_plain_token(again), "page %d, begun on %s, "
                           "is the same bytes" % (turn, first.name), "%s\n%s" % (theirs, again))
            page = json.loads(theirs[1])
            if theirs[0] != 200:
                pair.check(False, "a page begun on " + first.name, theirs)
                return
            got += page["items"]
            token = page["metadata"].get("continue", "")
            second.call("POST", flunders("v1beta1"), body={"metadata": {"generateName": "zz-between-"}})
            turn += 1
        pair.check(got == whole["items"], "pages begun on %s, taken in turn, are the list at its "
                   "revision" % first.name, "%d of %d items" % (len(got), len(whole["items"])))
    pair.same("GET", flunders("v1beta1", query="limit=5"), "a first page and its token")
    pair.same("GET", flunders("v1beta1", query="continue=bm90aGluZw"), "a token that is none")


def changes(pair):
    """Events of both, of one object's life through one and the other."""
    revision = revision_of(pair.ours.call("GET", flunders("v1beta1", query="limit=1")))
    query = "watch=1&resourceVersion=" + revision
    watches = [server.watch(flunders("v1alpha1", query=query)) for server in (pair.go, pair.ours)]
    seen = 0
    for writer, other in pair.both():
        name = "life-" + writer.name
        made = writer.call("POST", flunders("v1alpha1"),
                           body={"metadata": {"name": name}, "spec": {"reference": "x"}})
        pair.check(made[0] == 201, "created by " + writer.name, made)
        patched = other.call("PATCH", flunders("v1alpha1", name), content_type=MERGE_PATCH,
                             body={"metadata": {"labels": {"by": other.name}}})
        pair.check(patched[0] == 200, "patched through " + other.name, patched)
        body = json.loads(patched[1])
        body["spec"] = {"reference": "y", "referenceType": "Fischer"}
        updated = writer.call("PUT", flunders("v1alpha1", name), body=body)
        pair.check(updated[0] == 200, "updated through " + writer.name, updated)
        stale = other.call("PUT", flunders("v1alpha1", name), body=body)
        pair.check(stale[0] == 409 and stale == writer.call("PUT", flunders("v1alpha1", name), body=body),
                   "a stale PUT is the same conflict", stale)
        gone = other.call("DELETE", flunders("v1alpha1", name))
        pair.check(gone[0] == 200, "deleted through " + other.name, gone)
        pair.same("GET", flunders("v1alpha1", name), "gone for both")
        pair.same("DELETE", flunders("v1alpha1", name), "deleted again")
        seen += 4
    events = [watch.take(seen, 10) for watch in watches]
    pair.check(len(events[0]) == seen and events[0] == events[1],
               "both watches deliver the same %d events, to the byte" % seen,
               b"\ngo\n" + b"".join(events[0]) + b"ours\n" + b"".join(events[1]))


def leases(pair):
    """An object with a lease, which no API of the group gives: put beside both."""
    key = PREFIX + "default/leased"
    value = pair.etcd.get(PREFIX + "default/template")
    if not value:
        made = pair.go.call("POST", flunders("v1alpha1"), body={"metadata": {"name": "template"}})
        pair.check(made[0] == 201, "a template", made)
        value = pair.etcd.get(PREFIX + "default/template")
    for server, other in pair.both():
        watch = other.watch(flunders("v1alpha1", query="watch=1&resourceVersion=%d"
                                     % pair.etcd.revision()))
        lease = pair.etcd.put(key, json_value(value, "leased"), ttl=5)
        read = server.call("GET", flunders("v1alpha1", "leased"))
        again = server.call("PUT", flunders("v1alpha1", "leased"), raw=read[1])
        pair.check(read[0] == 200 and again == read, "a leased object is read, and left, by "
                   + server.name, "%s\n%s" % (read, again))
        pair.check(pair.etcd.lease(key) == lease, "and keeps its lease")
        events = watch.take(2, 20)
        pair.check([json.loads(event)["type"] for event in events] == ["ADDED", "DELETED"],
                   "%s sees it come and expire" % other.name, events)
        lease = pair.etcd.put(key, json_value(value, "leased"), ttl=60)
        changed = server.call("PATCH", flunders("v1alpha1", "leased"), content_type=MERGE_PATCH,
                              body={"metadata": {"labels": {"a": "b"}}})
        # Go's store forgets the lease of what is updated without a TTL, ours keeps it.
        pair.check(changed[0] == 200 and pair.etcd.lease(key) == (0 if server is pair.go else lease),
                   "an update through %s does with the lease what it should" % server.name, changed)
        other.call("DELETE", flunders("v1alpha1", "leased"))


def json_value(value, name):
    return re.sub(rb'"name":"[^"]*"', b'"name":"%s"' % name.encode(), value, count=1)


def compaction(args, t, etcd):
    """Each in turn compacts; after it both, started anew, know nothing older."""
    for who in ("go", "ours"):
        pair = Pair(args, t, etcd, "compaction by " + who)
        fast = ["--etcd-compaction-interval=2s"]
        with pair.running(go_flags=fast if who == "go" else (), our_flags=fast if who == "ours" else ()):
            for number in range(5):
                pair.go.call("POST", flunders("v1beta1"), body={"metadata": {"name": "c%d" % number}})
            page = json.loads(pair.go.call("GET", flunders("v1beta1", query="limit=2"))[1])
            old = int(page["metadata"]["resourceVersion"])
            end = time.monotonic() + 180
            while etcd.compacted() <= old and time.monotonic() < end:
                pair.ours.call("POST", flunders("v1beta1"),
                               body={"metadata": {"generateName": "filler-"}})
                time.sleep(0.5)
            pair.check(etcd.compacted() > old, "happens", (etcd.compacted(), old))
        with pair.running():
            token = page["metadata"]["continue"]
            expired = pair.same("GET", flunders("v1beta1", query="limit=2&continue=" + token),
                                "the same words for an expired token")
            pair.check(expired[0] == 410, "an expired token is Gone", expired)
            more = json.loads(expired[1]).get("metadata", {}).get("continue", "")
            pair.same("GET", flunders("v1beta1", query="limit=2&continue=" + more),
                      "the inconsistent token goes on")
            exact = "resourceVersionMatch=Exact&resourceVersion=%d" % old
            pair.check(pair.same("GET", flunders("v1beta1", query=exact), "the same words for an "
                                 "old revision")[0] == 410, "an old revision is Gone")
            watched = "watch=1&timeoutSeconds=5&resourceVersion=%d" % old
            theirs = pair.go.call("GET", flunders("v1beta1", query=watched))
            ours = pair.ours.call("GET", flunders("v1beta1", query=watched))
            # Go's watch cache, which is younger, knows nothing older than itself. Ours reads on in
            # etcd, and says what Go's store says without a cache.
            pair.check(theirs[0] == 200 and re.search(
                rb'"message":"too old resource version: %d \(\d+\)","reason":"Expired","code":410'
                % old, theirs[1]), "a watch from there, on Go's server", theirs)
            pair.check(ours == (200, WATCH_EXPIRED), "a watch from there, on ours", ours)


def provider(kind, first=1):
    secret = base64.b64encode(bytes(range(first, first + 32))).decode()
    return {kind: {"keys": [{"name": "k%d" % first, "secret": secret}]}}


def configured(folder, *providers):
    path = os.path.join(folder, "encryption.json")
    with open(path, "w") as file:
        json.dump({"kind": "EncryptionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1",
                   "resources": [{"resources": ["flunders.wardle.example.com"],
                                  "providers": list(providers)}]}, file)
    return "--encryption-provider-config=" + path


def stored_by(pair, prefix, what):
    values = pair.etcd.values(PREFIX)
    wrong = [value[:80] for value in values if not value.startswith(prefix)]
    pair.all(wrong, len(values), what)


def alternate(args, t, what, providers=(), prefix=b"{"):
    with tempfile.TemporaryDirectory() as folder, Etcd(args.etcd) as etcd:
        pair = Pair(args, t, etcd, what)
        flags = [configured(folder, *providers)] if providers else []
        with pair.running(flags):
            names = written(pair, pair.go, args.objects) + written(pair, pair.ours, args.objects)
            stored_by(pair, prefix, "stored with " + prefix.decode())
            read_by_both(pair, names)
            no_ops(pair, names)
            pages(pair)
            changes(pair)
            if not providers:
                leases(pair)
        if not providers:
            # What one wrote and the other read without a cache that saw it come.
            with pair.running():
                read_by_both(pair, names[:20] + names[-20:])
            compaction(args, t, etcd)


def switch(args, t):
    """Plain values, then a first provider: each is rewritten once, by whoever updates it."""
    count = max(10, args.objects // 10)
    with tempfile.TemporaryDirectory() as folder, Etcd(args.etcd) as etcd:
        pair = Pair(args, t, etcd, "switched on")
        with pair.running():
            names = [written(pair, pair.go, count), written(pair, pair.ours, count)]
        with pair.running([configured(folder, provider("aesgcm"), {"identity": {}})]):
            for server, mine in ((pair.go, names[1]), (pair.ours, names[0])):
                failures = []
                for name in mine:
                    path = flunders("v1beta1", name)
                    read = server.call("GET", path)
                    once = server.call("PUT", path, raw=read[1])
                    twice = server.call("PUT", path, raw=once[1])
                    if once[0] != 200 or revision_of(once) == revision_of(read) or twice != once:
                        failures.append((read, once, twice))
                pair.all(failures, len(mine), "stale values rewritten once through " + server.name)
            stored_by(pair, b"k8s:enc:aesgcm:v1:k1:", "encrypted afterwards")
            read_by_both(pair, names[0] + names[1])
            no_ops(pair, names[0] + names[1])


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--server", "--go-server", "--etcd"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--objects", type=int, default=1000, help="written by each")
    parser.add_argument("--only", default="", help="plain, aescbc, aesgcm or switch")
    args = parser.parse_args()
    t = Checker()
    parts = {"plain": lambda: alternate(args, t, "plain")}
    for kind in ("aescbc", "aesgcm"):
        parts[kind] = lambda kind=kind: alternate(args, t, kind, [provider(kind)],
                                                  b"k8s:enc:%s:v1:k1:" % kind.encode())
    parts["switch"] = lambda: switch(args, t)
    for name, part in parts.items():
        if args.only in ("", name):
            part()
    print("interop: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
