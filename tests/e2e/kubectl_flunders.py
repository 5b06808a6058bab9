"""kubectl and the group wardle.example.com: what can be done with any resource."""

import json
import os
import time

from servers import Failure

FLUNDER = """\
apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata:
  name: {name}
  labels: {{app: "{app}"}}
spec:
  reference: {reference}
"""


def discovery(t):
    t.rows(
        ["api-resources", "--api-group=wardle.example.com"],
        "NAME SHORTNAMES APIVERSION NAMESPACED KIND",
        "fischers wardle.example.com/v1alpha1 false Fischer",
        "flunders wardle.example.com/v1beta1 true Flunder",
    )
    t.says(["api-versions"], "wardle.example.com/v1alpha1\nwardle.example.com/v1beta1\n")
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


def strategic_patch(t):
    """What kubectl sends without --type."""
    t.says(
        ["patch", "flunder", "one", "-p", '{"spec":{"flunderReference":"strategic"}}'],
        "flunder.wardle.example.com/one patched",
    )
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "strategic")
    finalizers = ["get", "flunder", "one", "-o", "jsonpath={.metadata.finalizers}"]
    for patch, left in (
        ('{"metadata":{"finalizers":["example.com/a","example.com/b"]}}', '["example.com/a","example.com/b"]'),
        ('{"metadata":{"$setElementOrder/finalizers":["example.com/c","example.com/b"],"finalizers":["example.com/c"],'
         '"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}', '["example.com/c","example.com/b"]'),
        ('{"metadata":{"finalizers":null}}', ""),
    ):
        t.says(["patch", "flunder", "one", "--type=strategic", "-p", patch], "flunder.wardle.example.com/one patched")
        t.prints(finalizers, left)
    t.says(
        ["patch", "flunder", "one", "-p", '{"metadata":{"$retainKeys":"x"}}'],
        "invalid patch format of retainKeys",
        code=1,
    )


def change(t, folder):
    t.says(["label", "flunder", "one", "tier=x"], "flunder.wardle.example.com/one labeled")
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.metadata.labels.tier}"], "x")
    t.says(["annotate", "flunder", "one", "note=hello"], "flunder.wardle.example.com/one annotate")  # 1.27 says no more.
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
        # kubectl shows the server's words from 1.26 on.
        "The request is invalid"
        if t.kubectl.before(26)
        else "The request is invalid: the server rejected our request due to an error in our request",
        code=1,
    )
    t.prints(["get", "flunder", "one", "-o", "jsonpath={.spec.flunderReference}"], "json")
    strategic_patch(t)
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
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update",
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
        t.says(["annotate", "flunder", "seen", "a=b"], "annotate")
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
    waiting = t.kubectl.start("wait", "--for=delete", "flunder/held", "--timeout=120s")
    t.says(["delete", "flunder", "held", "--wait=false"], '"held" deleted')
    stamped = json.loads(t.kubectl.run("get", "flunder", "held", "-o", "json").stdout)
    t.check("deletionTimestamp" in stamped["metadata"], "a finalizer holds the object", stamped)
    t.says(["patch", "flunder", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'], "held patched")
    waited = waiting.communicate(timeout=150)[0]
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
    """What the README says kubectl cannot do with the sample, and what it prints."""
    for args, kind in ((["get", "ns"], "ns"), (["get", "events"], "events"),
                       (["logs", "x"], "pods"), (["rollout", "status", "sts/x"], "sts"),
                       (["cluster-info"], "services")):
        t.says(args, "error: the server doesn't have a resource type \"%s\"" % kind, code=1)
    t.says(["run", "x", "--image=y"], 'error: no matches for kind "Pod" in version "v1"', code=1)
    t.says(["top", "nodes"], "error: Metrics API not available", code=1)
    t.says(["scale", "flunder", "one", "--replicas=1"], "NotFound", code=1)


def alone(t):
    """A server with no other group than this."""
    t.prints(["auth", "can-i", "create", "flunders"], "yes\n")
    for args, kind in ((["get", "all"], "all"), (["rollout", "status", "deploy/x"], "deploy")):
        t.says(args, "error: the server doesn't have a resource type \"%s\"" % kind, code=1)


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
