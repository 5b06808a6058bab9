#!/usr/bin/env python3
"""Drives one sample-apiserver with one kubectl and checks what is printed.

usage: kubectl.py --server BINARY --kubectl BINARY [--storage rocks|memory|etcd]

With --storage etcd a real etcd is started: $APISERVER_ETCD, or etcd in $PATH.

Every step checks output, not only the exit code. Where versions print different things the
expected text is a table by version range. Exits 1 and names each failed check.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from servers import Failure, Server

FLUNDER = """\
apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata:
  name: {name}
  labels: {{app: "{app}"}}
spec:
  reference: {reference}
"""


class Kubectl:
    """One kubectl binary against one server; caches live in a folder of the test's own."""

    def __init__(self, binary, kubeconfig, folder):
        self.binary, self.kubeconfig, self.folder = binary, kubeconfig, folder
        version = subprocess.run(
            [binary, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True
        )
        info = json.loads(version.stdout)["clientVersion"]
        self.version = (int(info["major"]), int(re.match(r"\d+", info["minor"]).group()))

    def command(self, args):
        cache = os.path.join(self.folder, "cache")
        return [self.binary, "--kubeconfig", self.kubeconfig, "--cache-dir", cache] + list(args)

    def environment(self, extra=None):
        return {**os.environ, "HOME": self.folder, **(extra or {})}

    def run(self, *args, stdin=None, env=None):
        return subprocess.run(
            self.command(args), input=stdin, capture_output=True, text=True, timeout=60, env=self.environment(env)
        )

    def start(self, *args):
        return subprocess.Popen(
            self.command(args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment()
        )

    def before(self, minor):
        return self.version < (1, minor)


class Checker:
    """Runs kubectl and compares; remembers what failed."""

    def __init__(self, kubectl):
        self.kubectl = kubectl
        self.checks = 0
        self.failures = []

    def check(self, condition, what, got=""):
        self.checks += 1
        if not condition:
            self.failures.append(what)
            print("FAILED: %s\n  got: %s" % (what, str(got).strip().replace("\n", "\n       ")), flush=True)

    def says(self, args, *texts, code=0, stdin=None, env=None):
        """`args` exits with `code` and prints every one of `texts` (stdout and stderr together)."""
        result = self.kubectl.run(*args, stdin=stdin, env=env)
        printed = result.stdout + result.stderr
        what = "kubectl " + " ".join(args)
        self.check(result.returncode == code, "%s: exit code %d" % (what, code), "%d\n%s" % (result.returncode, printed))
        for text in texts:
            self.check(text in printed, "%s: prints %r" % (what, text), printed)
        return result.stdout

    def prints(self, args, text):
        """`args` succeeds and prints exactly `text` on stdout."""
        result = self.kubectl.run(*args)
        what = "kubectl " + " ".join(args)
        self.check(result.returncode == 0, what + ": exit code 0", result.stderr)
        self.check(result.stdout == text, "%s: prints exactly %r" % (what, text), result.stdout)

    def rows(self, args, *rows):
        """`args` prints a table: each row's words stand in one line, in order, nothing else does."""
        result = self.kubectl.run(*args)
        lines = [line.split() for line in result.stdout.splitlines()]
        what = "kubectl " + " ".join(args)
        self.check(len(lines) == len(rows), "%s: prints %d lines" % (what, len(rows)), result.stdout + result.stderr)
        for line, row in zip(lines, rows):
            words = row.split()
            matches = len(line) == len(words) and all(w in ("*", l) for w, l in zip(words, line))
            self.check(matches, "%s: a line is %r" % (what, row), " ".join(line))

    def unchanged_by(self, args, *texts, stdin=None, code=0):
        """A dry run: says `texts` and leaves flunder one as it was."""
        before = self.kubectl.run("get", "flunder", "one", "-o", "json").stdout
        self.says(args, *texts, stdin=stdin, code=code)
        after = self.kubectl.run("get", "flunder", "one", "-o", "json").stdout
        self.check(before == after and before != "", "nothing is changed by kubectl " + " ".join(args), after)


def discovery(t):
    t.rows(
        ["api-resources"],
        "NAME SHORTNAMES APIVERSION NAMESPACED KIND",
        "fischers wardle.example.com/v1alpha1 false Fischer",
        "flunders wardle.example.com/v1beta1 true Flunder",
    )
    t.prints(["api-versions"], "wardle.example.com/v1alpha1\nwardle.example.com/v1beta1\n")
    explained = t.says(["explain", "flunders", "--recursive"], "Flunder", "spec", "metadata", "fischerReference")
    t.check("finalizers" in explained, "explain shows metadata's fields", explained)
    t.says(["explain", "flunders.spec.flunderReference"], "The name of the Flunder it refers to.")


def create_and_read(t):
    one = FLUNDER.format(name="one", app="a", reference="other")
    t.says(["create", "-f", "-"], "flunder.wardle.example.com/one created", stdin=one)
    t.says(["create", "-f", "-"], 'flunders.wardle.example.com "one" already exists', stdin=one, code=1)
    t.says(
        ["create", "--validate=false", "-f", "-"],
        "flunder.wardle.example.com/two created",
        stdin=FLUNDER.format(name="two", app="b", reference="one"),
    )
    t.rows(["get", "flunders"], "NAME CREATED AT", "one *", "two *")
    t.rows(["get", "flunders", "-o", "wide"], "NAME CREATED AT", "one *", "two *")
    t.rows(["get", "flunders", "-A"], "NAMESPACE NAME CREATED AT", "default one *", "default two *")
    t.rows(["get", "flunders", "--chunk-size=1"], "NAME CREATED AT", "one *", "two *")
    t.rows(["get", "flunders", "-l", "app=b"], "NAME CREATED AT", "two *")
    t.rows(["get", "flunders", "--field-selector", "metadata.name=one"], "NAME CREATED AT", "one *")
    t.says(
        ["get", "flunders", "--field-selector", "spec.x=1"],
        'not a known field selector: only "metadata.name", "metadata.namespace"',
        code=1,
    )
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "other")
    t.prints(
        ["get", "flunders.v1alpha1.wardle.example.com", "one", "-o", "jsonpath={.spec.reference}/{.spec.referenceType}"],
        "other/Flunder",
    )
    t.says(["get", "flunder", "one", "-o", "yaml"], "apiVersion: wardle.example.com/v1beta1", "name: one", "uid: ")
    one_json = json.loads(t.says(["get", "flunder", "one", "-o", "json"], '"kind": "Flunder"'))
    t.check(one_json["spec"] == {"flunderReference": "other", "referenceType": "Flunder"}, "the spec of one", one_json)
    raw = json.loads(t.says(["get", "--raw", "/apis/wardle.example.com/v1beta1/namespaces/default/flunders"], "FlunderList"))
    t.check([item["metadata"]["name"] for item in raw["items"]] == ["one", "two"], "a raw list", raw)
    t.says(["describe", "flunder", "one"], "Name:         one", "Flunder Reference:  other", "Labels:       app=a")
    t.says(["get", "flunder", "none"], 'flunders.wardle.example.com "none" not found', code=1)


def refusals(t):
    both = """\
apiVersion: wardle.example.com/v1beta1
kind: Flunder
metadata: {name: both}
spec: {flunderReference: a, fischerReference: b}
"""
    t.says(
        ["create", "-f", "-"],
        'The Flunder "both" is invalid: spec.fischerReference: Invalid value: "b": '
        "cannot be set with flunderReference at the same time",
        stdin=both,
        code=1,
    )
    t.says(
        ["create", "-f", "-"],
        "metadata.name: Invalid value: \"a%b\": may not contain '%'",
        stdin=FLUNDER.format(name="a%b", app="a", reference="x"),
        code=1,
    )
    if not t.kubectl.before(25):
        typo = FLUNDER.format(name="typo", app="a", reference="x") + "  typo: 1\n"
        t.says(["create", "--validate=strict", "-f", "-"], 'unknown field "spec.typo"', "strict decoding error", stdin=typo, code=1)
        t.says(["create", "--validate=warn", "-f", "-"], 'Warning: unknown field "spec.typo"', "typo created", stdin=typo)
        t.says(["delete", "flunder", "typo"], 'flunder.wardle.example.com "typo" deleted')
    fischer = """\
apiVersion: wardle.example.com/v1alpha1
kind: Fischer
metadata: {name: police}
disallowedFlunders: [forbidden]
"""
    t.says(["create", "-f", "-"], "fischer.wardle.example.com/police created", stdin=fischer)
    t.says(
        ["create", "-f", "-"],
        'flunders.wardle.example.com "forbidden" is forbidden: this name may not be used, please change the resource name',
        stdin=FLUNDER.format(name="forbidden", app="a", reference="x"),
        code=1,
    )
    t.says(["delete", "fischer", "police"], '"police" deleted')


def apply(t):
    three = FLUNDER.format(name="three", app="a", reference="one")
    changed = FLUNDER.format(name="three", app="a", reference="two")
    t.says(["apply", "-f", "-"], "flunder.wardle.example.com/three created", stdin=three)
    t.says(["apply", "-f", "-"], "flunder.wardle.example.com/three unchanged", stdin=three)
    t.says(["apply", "-f", "-"], "flunder.wardle.example.com/three configured", stdin=changed)
    t.prints(["get", "flunder", "three", "-o", "jsonpath={.spec.flunderReference}"], "two")
    t.says(["diff", "-f", "-"], "-  reference: two", "+  reference: one", stdin=three, code=1)
    t.says(["diff", "-f", "-"], stdin=changed)
    t.says(["delete", "-f", "-"], '"three" deleted', stdin=changed)


def change(t, folder):
    t.says(["label", "flunder", "one", "tier=x"], "flunder.wardle.example.com/one labeled")
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.metadata.labels.tier}"], "x")
    t.says(["annotate", "flunder", "one", "note=hello"], "flunder.wardle.example.com/one annotated")
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.metadata.annotations.note}"], "hello")
    t.says(
        ["patch", "flunder", "one", "--type=merge", "-p", '{"spec":{"flunderReference":"merged"}}'],
        "flunder.wardle.example.com/one patched",
    )
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "merged")
    json_patch = '[{"op":"test","path":"/spec/flunderReference","value":"merged"},{"op":"replace","path":"/spec/flunderReference","value":"json"}]'
    t.says(["patch", "flunder", "one", "--type=json", "-p", json_patch], "flunder.wardle.example.com/one patched")
    t.says(
        ["patch", "flunder", "one", "--type=json", "-p", json_patch],
        # kubectl shows the server's words from 1.23 on.
        "The request is invalid"
        if t.kubectl.before(23)
        else "The request is invalid: the server rejected our request due to an error in our request",
        code=1,
    )
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "json")
    t.says(
        ["patch", "flunder", "one", "-p", '{"spec":{"flunderReference":"strategic"}}'],
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json",
        code=1,
    )
    replace_and_conflict(t)
    edit(t, folder)


def replace_and_conflict(t):
    current = json.loads(t.kubectl.run("get", "flunder", "one", "-o", "json").stdout)
    current["spec"]["flunderReference"] = "replaced"
    text = json.dumps(current)
    t.says(["replace", "-f", "-"], "flunder.wardle.example.com/one replaced", stdin=text)
    # The same again carries a resourceVersion that is no longer the object's.
    current["spec"]["flunderReference"] = "late"
    t.says(
        ["replace", "-f", "-"],
        'Operation cannot be fulfilled on flunders.wardle.example.com "one": the object has been modified; '
        "please apply your changes to the latest version and try again",
        stdin=json.dumps(current),
        code=1,
    )
    del current["metadata"]["resourceVersion"]
    t.says(
        ["replace", "--raw", "/apis/wardle.example.com/v1beta1/namespaces/default/flunders/one", "-f", "-"],
        "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update",
        stdin=json.dumps(current),
        code=1,
    )
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "replaced")


def edit(t, folder):
    editor = os.path.join(folder, "editor")
    with open(editor, "w") as script:
        script.write('#!/bin/sh\nsed -i "s/flunderReference: replaced/flunderReference: edited/" "$1"\n')
    os.chmod(editor, 0o755)
    t.says(["edit", "flunder", "one"], "flunder.wardle.example.com/one edited", env={"KUBE_EDITOR": editor})
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "edited")


def dry_runs(t):
    t.unchanged_by(["label", "flunder", "one", "dry=run", "--dry-run=server"], "one labeled")
    t.unchanged_by(
        ["patch", "flunder", "one", "--type=merge", "-p", '{"spec":{"flunderReference":"dry"}}', "--dry-run=server"],
        "one patched",
    )
    t.unchanged_by(["delete", "flunder", "one", "--dry-run=server"], '"one" deleted')
    t.unchanged_by(
        ["create", "-f", "-", "--dry-run=server"],
        "four created (server dry run)",
        stdin=FLUNDER.format(name="four", app="a", reference="x"),
    )
    t.says(["get", "flunder", "four"], '"four" not found', code=1)


def read_line(process, what):
    line = process.stdout.readline()
    if not line:
        raise Failure("the watch ended before: " + what)
    return line


def watch(t):
    process = t.kubectl.start("get", "flunders", "-w", "--output-watch-events", "-l", "app=w")
    try:
        time.sleep(0.5)  # kubectl lists, then watches from that revision: nothing is lost if it is late.
        t.says(["create", "-f", "-"], "created", stdin=FLUNDER.format(name="seen", app="w", reference="x"))
        t.says(["annotate", "flunder", "seen", "a=b"], "annotated")
        t.says(["delete", "flunder", "seen"], "deleted")
        header = read_line(process, "the header")
        t.check(header.split() == ["EVENT", "NAME", "CREATED", "AT"], "get -w prints a header", header)
        for event in ("ADDED", "MODIFIED", "DELETED"):
            line = read_line(process, event)
            t.check(line.split()[:2] == [event, "seen"], "get -w prints %s" % event, line)
    finally:
        process.kill()
        process.wait()


def deletion(t):
    held = FLUNDER.format(name="held", app="h", reference="x").replace("  labels", '  finalizers: ["example.com/hold"]\n  labels')
    t.says(["create", "-f", "-"], "created", stdin=held)
    waiting = t.kubectl.start("wait", "--for=delete", "flunder/held", "--timeout=30s")
    t.says(["delete", "flunder", "held", "--wait=false"], '"held" deleted')
    stamped = json.loads(t.kubectl.run("get", "flunder", "held", "-o", "json").stdout)
    t.check("deletionTimestamp" in stamped["metadata"], "a finalizer holds the object", stamped)
    t.says(["patch", "flunder", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'], "held patched")
    waited = waiting.communicate(timeout=40)[0]
    t.check(waiting.returncode == 0, "wait --for=delete ends when the finalizer goes", waited)
    t.says(["get", "flunder", "held"], '"held" not found', code=1)

    for name in ("d1", "d2"):
        t.says(["create", "-f", "-"], "created", stdin=FLUNDER.format(name=name, app="d", reference="x"))
    t.says(["delete", "flunders", "-l", "app=d"], '"d1" deleted', '"d2" deleted')
    collection = "/apis/wardle.example.com/v1beta1/namespaces/default/flunders"
    for name in ("e1", "e2"):
        t.says(["create", "-f", "-"], "created", stdin=FLUNDER.format(name=name, app="e", reference="x"))
    deleted = t.says(["delete", "--raw", collection + "?labelSelector=app%3De"], "FlunderList")
    names = [item["metadata"]["name"] for item in json.loads(deleted)["items"]]
    t.check(names == ["e1", "e2"], "deletecollection answers with what it deleted", deleted)
    t.rows(["get", "flunders"], "NAME CREATED AT", "one *", "two *")


def not_yet(t):
    """What the README says kubectl cannot do here yet, and what it prints."""
    for args, kind in ((["get", "all"], "all"), (["get", "ns"], "ns"), (["get", "events"], "events"),
                       (["logs", "x"], "pods"), (["rollout", "status", "deploy/x"], "deploy"),
                       (["cluster-info"], "services")):
        t.says(args, "error: the server doesn't have a resource type \"%s\"" % kind, code=1)
    t.says(["run", "x", "--image=y"], 'error: no matches for kind "Pod" in version "v1"', code=1)
    t.says(["auth", "can-i", "create", "flunders"],
           "Error from server (NotFound): the server could not find the requested resource", code=1)
    t.says(["top", "nodes"], "error: Metrics API not available", code=1)
    t.says(["scale", "flunder", "one", "--replicas=1"], "NotFound", code=1)
    types = "accepted media types include: application/json-patch+json, application/merge-patch+json"
    t.says(["patch", "flunder", "one", "-p", "{}"], types, code=1)
    t.says(["apply", "--server-side", "-f", "-"], "Server-side apply not available on the server", types,
           code=1, stdin=FLUNDER.format(name="one", app="a", reference="x"))


def switch_encryption(t, server):
    """The rest runs after the switch."""
    t.says(["create", "-f", "-"], "created", stdin=FLUNDER.format(name="old", app="o", reference="x"))
    server.stop()
    server.encrypt_with("aesgcm", "aescbc")
    server.start()
    t.rows(["get", "flunders"], "NAME CREATED AT", "old *")
    t.says(["delete", "flunder", "old"], '"old" deleted')


def health(t):
    t.prints(["get", "--raw", "/readyz"], "ok")
    t.says(["get", "--raw", "/livez?verbose"], "[+]ping ok", "livez check passed")
    t.says(["version"] if t.kubectl.before(28) else ["version", "-o", "yaml"], "libapiserver")
    t.says(["delete", "flunders", "--all"], '"one" deleted', '"two" deleted')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", required=True)
    parser.add_argument("--storage", default="rocks")
    parser.add_argument("--encrypt", action="store_true", help="at rest; providers are switched")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, args.storage, folder, args.encrypt)
        server.encrypt_with("aescbc")
        server.start()
        kubectl = Kubectl(args.kubectl, server.kubeconfig, folder)
        t = Checker(kubectl)
        try:
            if args.encrypt:
                switch_encryption(t, server)
            discovery(t)
            create_and_read(t)
            refusals(t)
            apply(t)
            change(t, folder)
            dry_runs(t)
            watch(t)
            deletion(t)
            if args.storage != "memory":
                server.stop(signal.SIGKILL)
                server.encrypt_with("secretbox", "aesgcm")
                server.start()
                t.rows(["get", "flunders"], "NAME CREATED AT", "one *", "two *")
            not_yet(t)
            health(t)
            t.check(server.stop() == 0, "SIGTERM ends the server with exit code 0")
        finally:
            if server.process.poll() is None:
                server.stop(signal.SIGKILL)
            if server.etcd:
                server.etcd.stop()
        print("kubectl %d.%d: %d checks, %d failed" % (*kubectl.version, t.checks, len(t.failures)))
        if counts := os.environ.get("CI_COUNTS"):
            with open(counts, "a") as file:
                file.write("%d %d\n" % (t.checks - len(t.failures), len(t.failures)))
        return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
