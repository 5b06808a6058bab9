#!/usr/bin/env python3
"""A Go kube-apiserver and ours in turns over one etcd: CustomResourceDefinitions and objects of them.

usage: etcd_turns.py --server BINARY --go-server BINARY --etcd BINARY [--crds FOLDER] [--count N] [--turns N]

Each turn starts one of the two on the same etcd. It is shown

- that its start rewrites nothing of what the other has stored,
- that it answers each definition and object with the JSON, and each definition with the protobuf, that
  the other answered, and goes on with the other's list where a page ended,
- that a PUT of what it answers, in JSON or protobuf, and an apply that the other has seen make no
  revision.

Then it defines kinds and writes objects of its own, changes some of the other's, and deletes one of the
other's definitions with its objects. Not one of ctest's, because the Go server is in no package: the
README beside this file says how both are started. Prints the figures, exits 1 and names each failed
check.
"""

import argparse
import base64
import json
import os
import sys
import tempfile
import time

import crd_corpus
from crd_objects import make
from checker import Checker
from go_kube_apiserver import go_kube_apiserver
from interop_servers import Etcd, our_server

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(HERE, "..", "testdata", "crds")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PROTOBUF, APPLY = "application/vnd.kubernetes.protobuf", "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STORED = "/registry/apiextensions.k8s.io/"


def stored_version(crd):
    return next(one for one in crd["spec"]["versions"] if one["storage"])


def collection(crd, version):
    spec = crd["spec"]
    space = "namespaces/default/" if spec["scope"] == "Namespaced" else ""
    return "/apis/%s/%s/%s%s" % (spec["group"], version, space, spec["names"]["plural"])


def objects_of(crd, name, owner):
    """Valid objects of a kind, the fullest first, in the version that is stored."""
    version = stored_version(crd)
    for words, full in (("large", True), ("other", True), ("small", False)):
        yield make(crd, version, name, (words, owner), full)


def condition(crd, kind):
    return next((one["status"] for one in (crd.get("status", {}).get("conditions") or ())
                 if one["type"] == kind), "")


class Turns:
    """What both servers have written, and the checks of one server's turn."""

    def __init__(self, t, etcd, crds):
        self.t, self.etcd, self.left = t, etcd, list(crds)
        self.crds = {}      # Those that are defined, by name.
        self.answers = {}   # What the last server answered, by path and accepted type.
        self.applied = {}   # What was applied last, by path.
        self.revisions = {}
        self.counts = {"answers": 0, "no-ops": 0, "definitions": 0, "objects": 0}

    def check(self, name, passed, *shown):
        self.t.check(passed, name, shown)

    def wait(self, what, done, seconds=120):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise RuntimeError("timed out: " + what)
            time.sleep(0.1)

    def stored(self):
        """The revisions at which what concerns us was written, by key."""
        found = {}
        prefixes = [STORED] + ["/registry/%s/%s/" % (crd["spec"]["group"], crd["spec"]["names"]["plural"])
                               for crd in self.crds.values()]
        for prefix in prefixes:
            begin = prefix.encode()
            for one in self.etcd.range(begin, begin[:-1] + bytes([begin[-1] + 1])):
                found[base64.b64decode(one["key"]).decode()] = int(one["mod_revision"])
        return found

    def unchanged(self, what):
        now = self.stored()
        changed = sorted(key for key in {**now, **self.revisions} if now.get(key) != self.revisions.get(key))
        self.check(what, not changed, changed[:5])
        self.revisions = now

    def get(self, api, path, accept="application/json"):
        api.connection.request("GET", path, headers={**api.headers, "Accept": accept})
        answer = api.connection.getresponse()
        return answer.status, answer.read()

    def paths(self):
        """What is asked of each server: each definition, each list in each version."""
        for name, crd in sorted(self.crds.items()):
            yield DEFINITIONS + "/" + name, "application/json"
            yield DEFINITIONS + "/" + name, PROTOBUF
            for version in crd["spec"]["versions"]:
                if version["served"]:
                    yield collection(crd, version["name"]), "application/json"

    def read(self, api):
        found = {}
        for path, accept in self.paths():
            # A list is refused while what is stored of a new kind is opened.
            self.wait("list " + path, lambda: self.get(api, path, accept)[0] not in (429, 503))
            code, body = self.get(api, path, accept)
            value = body if accept == PROTOBUF else json.loads(body)
            if accept != PROTOBUF and "items" in value:
                value["metadata"] = {}  # The revision of the list goes on.
            found[path, accept] = (code, value)
        return found

    def compare(self, api):
        now = self.read(api)
        for key, want in self.answers.items():
            got = now.get(key)
            self.counts["answers"] += 1
            self.check("%s answers as the other: %s %s" % (api.name, *key), got == want,
                       "want %r" % (want,), "got  %r" % (got,))

    def put_again(self, api):
        """PUTs what is answered, and applies what was applied: nothing may be written."""
        for name, crd in sorted(self.crds.items()):
            path = DEFINITIONS + "/" + name
            for kind in ("application/json", PROTOBUF):
                _, body = self.get(api, path, kind)
                code, answer = api.call("PUT", path, raw=body, content_type=kind)
                self.counts["no-ops"] += 1
                self.check("%s takes what it answered: %s %s" % (api.name, path, kind), code == 200, code, answer[:300])
            where = collection(crd, stored_version(crd)["name"])
            for one in json.loads(self.get(api, where)[1])["items"]:
                path = where + "/" + one["metadata"]["name"]
                code, answer = api.call("PUT", path, one)
                self.counts["no-ops"] += 1
                self.check("%s takes what it answered: %s" % (api.name, path), code == 200, code, answer[:300])
                if path in self.applied:
                    self.apply(api, path, self.applied[path])
                    self.counts["no-ops"] += 1
        self.unchanged("%s writes nothing for what changes nothing" % api.name)

    def apply(self, api, path, body):
        code, answer = api.call("PATCH", path + "?fieldManager=turns", body, content_type=APPLY)
        self.check("%s applies %s" % (api.name, path), code in (200, 201), code, answer[:300])

    def define(self, api, count):
        mine, self.left = self.left[:count], self.left[count:]
        for crd in mine:
            code, answer = api.call("POST", DEFINITIONS, crd)
            self.check("%s defines %s" % (api.name, crd["metadata"]["name"]), code == 201, code, answer[:300])
            self.crds[crd["metadata"]["name"]] = crd
        for crd in mine:
            path = DEFINITIONS + "/" + crd["metadata"]["name"]
            self.wait(path, lambda: condition(json.loads(self.get(api, path)[1]), "Established") == "True")
        self.counts["definitions"] += len(mine)
        # A kube-apiserver waits with creates until a definition has been established for two seconds.
        time.sleep(2.5)
        for crd in mine:
            self.fill(api, crd)

    def fill(self, api, crd):
        """Creates an object, and another one by an apply."""
        where = collection(crd, stored_version(crd)["name"])
        self.wait("list " + where, lambda: self.get(api, where)[0] == 200)
        for made in objects_of(crd, api.name + "-created", api.name):
            if api.call("POST", where, made)[0] == 201:
                self.counts["objects"] += 1
                break
        for made in objects_of(crd, api.name + "-applied", api.name):
            path = where + "/" + made["metadata"]["name"]
            if api.call("PATCH", path + "?fieldManager=turns", made, content_type=APPLY)[0] == 201:
                self.applied[path] = made
                self.counts["objects"] += 1
                break

    def change(self, api):
        """Changes the labels of each object of the other, and the description of each definition."""
        for name, crd in sorted(self.crds.items()):
            patch = {"metadata": {"labels": {"turn": api.name}}}
            code, answer = api.call("PATCH", DEFINITIONS + "/" + name, patch, content_type=MERGE)
            self.check("%s changes %s" % (api.name, name), code == 200, code, answer[:300])
            where = collection(crd, stored_version(crd)["name"])
            for one in json.loads(self.get(api, where)[1])["items"]:
                path = where + "/" + one["metadata"]["name"]
                code, answer = api.call("PATCH", path, patch, content_type=MERGE)
                self.check("%s changes %s" % (api.name, path), code == 200, code, answer[:300])

    def remove(self, api):
        """Deletes a definition, whoever made it, with its objects."""
        name = sorted(self.crds)[0]
        path, crd = DEFINITIONS + "/" + name, self.crds[name]
        self.check("%s deletes %s" % (api.name, name), api.call("DELETE", path)[0] == 200)
        self.wait(path + " goes", lambda: self.get(api, path)[0] == 404)
        below = "/registry/%s/%s/" % (crd["spec"]["group"], crd["spec"]["names"]["plural"])
        self.check("%s has deleted the objects of %s" % (api.name, name), self.etcd.values(below) == [])
        del self.crds[name]
        self.applied = {key: body for key, body in self.applied.items()
                        if not key.startswith(tuple(collection(crd, one["name"]) + "/"
                                                    for one in crd["spec"]["versions"]))}

    def page(self, api, token):
        """Goes on with the other's page of definitions, or begins one. The token of the next."""
        more = "&continue=" + token if token else ""
        code, body = self.get(api, DEFINITIONS + "?limit=2" + more)
        value = json.loads(body)
        self.check("%s goes on with a page" % api.name, code == 200, body[:300])
        if token:
            names = [one["metadata"]["name"] for one in value["items"]]
            self.check("%s goes on where it ended" % api.name, names == self.expected, names, self.expected)
        return value["metadata"].get("continue", "")

    def begin_page(self, api):
        token = self.page(api, "")
        self.expected = sorted(self.crds)[2:4]
        return token

    def turn(self, api, token, count):
        """Everything that one server does in its turn. The token of a page to go on with."""
        self.unchanged("%s starts without a write" % api.name)
        if token:
            self.page(api, token)
        self.compare(api)
        self.put_again(api)
        self.define(api, count)
        self.change(api)
        # What others have changed since is noted by the next apply.
        for path, body in self.applied.items():
            self.apply(api, path, body)
        if self.answers:
            self.remove(api)
        # Conditions and managers are written behind the requests.
        self.wait("quiet", self.quiet)
        self.answers = self.read(api)
        self.revisions = self.stored()
        return self.begin_page(api)

    def quiet(self):
        before = self.stored()
        time.sleep(1)
        return before == self.stored()


def chosen(folder, count):
    """Definitions from all over the folder."""
    crds = [crd for _, found in sorted(crd_corpus.read(folder).items()) for crd in found]
    step = max(1, len(crds) // count)
    return crds[::step][:count]


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--server", "--go-server", "--etcd"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--crds", default=FIXTURE)
    parser.add_argument("--count", type=int, default=24, help="definitions, in equal parts of all turns")
    parser.add_argument("--turns", type=int, default=4)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder, Etcd(args.etcd) as etcd:
        turns, token = Turns(t, etcd, chosen(args.crds, args.count)), ""
        for number in range(args.turns):
            own = os.path.join(folder, str(number))
            start = go_kube_apiserver(args.go_server, etcd, own) if number % 2 == 0 else our_server(
                args.server, own, ["--etcd-servers=" + etcd.url])
            with start as api:
                token = turns.turn(api, token, args.count // args.turns)
    print("etcd_turns: %d checks, %d failed; %s" % (t.checks, len(t.failures), ", ".join(
        "%d %s" % (count, what) for what, count in turns.counts.items())))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
