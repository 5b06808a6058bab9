#!/usr/bin/env python3
"""kubectl and kinds that CustomResourceDefinitions bring.

usage: kubectl_crds.py --server BINARY|KUBECONFIG [--kubectl BINARY]

The server has CRDs and a namespace `default`. Exits 1 and names each failed check.
"""

import argparse
import json
import os
import sys
import tempfile
import time

from kubectl_checks import Checker, Kubectl
from servers import running

HERE = os.path.dirname(os.path.abspath(__file__))
CRDS = os.path.join(HERE, "crds")
SHIRTS, LOOMS = "shirts.stable.example.com", "looms.stable.example.com"
RAW = "/apis/stable.example.com/v1/namespaces/default/shirts"
SHIRT = """\
apiVersion: stable.example.com/%(version)s
kind: Shirt
metadata:
  name: %(name)s
  labels: {app: shop}
spec:
  color: %(color)s
  tags: [new, soft]
  buttons:
  - {place: cuff}
  - {place: front, holes: 2}
%(more)s"""


def file_of(name):
    return os.path.join(CRDS, name + ".yaml")


def shirt(name="one", color="blue", more="", version="v1"):
    return SHIRT % {"name": name, "color": color, "more": more, "version": version}


def stored(t, name="one"):
    return json.loads(t.kubectl.run("get", "--raw", RAW + "/" + name).stdout or "{}")


def field(t, path, text, name="one"):
    t.prints(["get", "shirt", name, "-o", "jsonpath={%s}" % path], text)


def eventually(t, args, *texts, seconds=40):
    """`args` prints `texts` some time: kubectl and servers learn of kinds a little later."""
    end = time.monotonic() + seconds
    while True:
        result = t.kubectl.run(*args)
        missing = [text for text in texts if text not in result.stdout + result.stderr]
        if not missing or time.monotonic() > end:
            break
        time.sleep(0.2)
    t.check(not missing, "kubectl %s: prints %s some time" % (" ".join(args), ", ".join(map(repr, missing))),
            result.stdout + result.stderr)


def install(t):
    t.says(["apply", "-f", file_of("shirts"), "-f", file_of("looms")], SHIRTS + " created", LOOMS + " created")
    t.says(["wait", "--for=condition=Established", "--timeout=60s", "crd/" + SHIRTS, "crd/" + LOOMS], "condition met")
    t.says(["wait", "--for=condition=NamesAccepted", "crd", "--all"], "condition met")
    t.says(["apply", "-f", file_of("shirts")], SHIRTS + " unchanged")
    t.says(["get", "crd", SHIRTS], "NAME", "CREATED AT", SHIRTS)
    t.prints(["get", "crd", SHIRTS, "-o", "jsonpath={.status.storedVersions}{.status.acceptedNames.kind}"],
             '["v1"]Shirt')
    t.says(["describe", "crd", SHIRTS], "no conflicts found", "the initial names have been accepted")
    t.says(["create", "-f", file_of("looms")], "already exists", code=1)


def discovered(t):
    eventually(t, ["api-resources", "--api-group=stable.example.com", "-o", "name"], SHIRTS)
    t.rows(["api-resources", "--api-group=stable.example.com"],
           "NAME SHORTNAMES APIVERSION NAMESPACED KIND",
           "looms stable.example.com/v1 false Loom",
           "shirts sh stable.example.com/v1 true Shirt")
    t.says(["api-versions"], "stable.example.com/v1\n", "stable.example.com/v1beta1\n")


def explained(t):
    eventually(t, ["explain", "shirts"], "Shirt is what people wear.")
    t.says(["explain", "sh.spec"], "What the shirt shall be.", "The color of the shirt.", "-required-")
    t.says(["explain", "shirts.spec.buttons"], "Buttons by their place.", "holes")
    t.says(["explain", "shirts.spec.nothing"], 'field "nothing" does not exist', code=1)
    t.says(["explain", "shirts", "--recursive"], "conditions", "maxWear", "metadata")
    t.says(["explain", "shirts", "--api-version=stable.example.com/v1beta1"], "Shirt is what people wear.")
    t.says(["explain", "looms.spec.width"], "number")


def created(t):
    t.rows(["get", "shirts"])
    t.says(["create", "-f", "-"], "shirt.stable.example.com/one created", stdin=shirt())
    t.rows(["get", "shirts"], "NAME COLOR SIZE REPLICAS READY AGE", "one blue M 1 *")
    t.says(["get", "sh", "one", "-o", "wide"], "TAGS", '["new","soft"]')
    t.says(["get", "clothes", "-o", "name"], "shirt.stable.example.com/one")
    t.says(["describe", "shirt", "one"], "Color:", "blue", "Place:   cuff", "Holes:   4")
    field(t, ".spec.buttons[*].holes", "4 2")
    field(t, ".metadata.generation", "1")
    t.says(["create", "-f", "-"], 'shirts.stable.example.com "one" already exists', code=1, stdin=shirt())
    t.says(["create", "-f", "-", "--dry-run=server"], "two created (server dry run)", stdin=shirt("two"))
    t.says(["get", "shirt", "two"], 'shirts.stable.example.com "two" not found', code=1)
    t.says(["get", "shirts.v1beta1.stable.example.com", "one"], "NAME   COLOR", "one    blue",
           "Warning: stable.example.com/v1beta1 Shirt is deprecated; use stable.example.com/v1 Shirt")


def refused(t):
    """With the server's words: the client's own validation is off."""
    for what, text in (
            ("  size: huge\n", 'spec.size: Invalid value: "huge": spec.size in body should match \'^(S|M|L|XL)$\''),
            ("  replicas: 101\n", "spec.replicas: Invalid value: 101: spec.replicas in body should be less than or equal to 100"),
            ("  replicas: many\n", 'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"'),
            ("  maxWear: 0\n", "spec: Invalid value: maxWear must be at least replicas"),
            ("  since: yesterday\n", 'spec.since: Invalid value: "yesterday": spec.since in body must be of type date-time: "yesterday"'),
            ("  price: true\n", 'spec.price in body must be of type integer,string: "boolean"'),
            ("  sizes: {a: b}\n", 'spec.sizes.a in body must be of type integer: "string"')):
        t.says(["create", "--validate=false", "-f", "-"], 'The Shirt "bad" is invalid', text, code=1,
               stdin=shirt("bad", more=what))
    t.says(["create", "--validate=false", "-f", "-"], 'spec.color: Unsupported value: "pink": supported values: "blue", "red", "green", "black"',
           code=1, stdin=shirt("bad", "pink"))
    twice = shirt("bad").replace("place: front", "place: cuff")
    t.says(["create", "--validate=false", "-f", "-"], 'spec.buttons[1]: Duplicate value: {"place":"cuff"}', code=1, stdin=twice)
    twice = shirt("bad").replace("[new, soft]", "[new, new]")
    t.says(["create", "--validate=false", "-f", "-"], 'spec.tags[1]: Duplicate value: "new"', code=1, stdin=twice)
    t.says(["create", "-f", "-"], 'unknown field "spec.typo"' if not t.kubectl.before(24) else 'unknown field "typo"',
           code=1, stdin=shirt("bad", more="  typo: 1\n"))
    t.says(["create", "--validate=false", "-f", "-"], "typo created", stdin=shirt("typo", more="  typo: 1\n"))
    t.check("typo" not in stored(t, "typo")["spec"], "an unknown field is dropped", stored(t, "typo"))
    t.says(["delete", "shirt", "typo"], "deleted")


def changed(t, folder):
    patch = lambda kind, text, *says, **more: t.says(["patch", "shirt", "one", "--type=" + kind, "-p", text], *says, **more)
    patch("merge", '{"spec":{"size":"L"}}', "one patched")
    field(t, ".spec.size", "L")
    patch("json", '[{"op":"add","path":"/spec/tags/-","value":"old"}]', "one patched")
    field(t, ".spec.tags", '["new","soft","old"]')
    patch("merge", '{"spec":{"size":null}}', "one patched")
    field(t, ".spec.size/.metadata.generation".split("/")[0], "M")
    patch("merge", '{"spec":{"color":"black"}}', "a shirt cannot be dyed black", code=1)
    t.says(["label", "shirt", "one", "season=winter"], "one labeled")
    t.says(["annotate", "shirt", "one", "a=b"], "one annotate")
    t.says(["get", "shirts", "-l", "season=winter"], "one")
    t.says(["get", "shirts", "--field-selector=spec.color=blue"], "one")
    t.says(["get", "shirts", "--field-selector=spec.color!=blue"], "No resources found")
    t.says(["get", "shirts", "--field-selector=spec.price=1"], "field label not supported: spec.price", code=1)
    editor = os.path.join(folder, "shirt-editor")
    with open(editor, "w") as script:
        script.write('#!/bin/sh\nsed -i "s/color: blue/color: red/" "$1"\n')
    os.chmod(editor, 0o755)
    t.says(["edit", "shirt", "one"], "one edited", env={"KUBE_EDITOR": editor})
    field(t, ".spec.color", "red")
    now = stored(t)
    now["spec"]["color"] = "green"
    t.says(["replace", "-f", "-"], "one replaced", stdin=json.dumps(now))
    now["spec"]["color"] = "blue"
    t.says(["replace", "-f", "-"], "the object has been modified", code=1, stdin=json.dumps(now))


def applied(t):
    t.says(["apply", "-f", "-"], "applied created", stdin=shirt("applied"))
    # A default in the item of a list is not in the file, so the list differs.
    t.says(["apply", "-f", "-"], "applied configured", stdin=shirt("applied"))
    field(t, ".metadata.generation", "1", "applied")
    t.says(["apply", "-f", "-"], "applied configured", stdin=shirt("applied", "red"))
    t.says(["diff", "-f", "-"], "-  color: red", "+  color: green", code=1, stdin=shirt("applied", "green"))
    field(t, ".spec.color", "red", "applied")
    apply = ["apply", "--server-side", "-f", "-"]
    t.says(apply, "server serverside-applied", stdin=shirt("server"))
    t.says(apply + ["--field-manager=other"], 'conflict with "kubectl": .spec.color', code=1,
           stdin=shirt("server", "red"))
    t.says(apply + ["--field-manager=other", "--force-conflicts"], "server serverside-applied",
           stdin=shirt("server", "red"))
    other = shirt("server", "red").replace("place: cuff", "place: collar")
    t.says(apply + ["--field-manager=other"], "server serverside-applied", stdin=other)
    # kubectl owns the button at the cuff still.
    places = sorted(one["place"] for one in stored(t, "server")["spec"]["buttons"])
    t.check(places == ["collar", "cuff", "front"], "buttons merge by their place", places)
    t.says(["delete", "shirts", "applied", "server"], '"applied" deleted', '"server" deleted')


def status_and_scale(t):
    generation = stored(t)["metadata"]["generation"]
    status = '{"status":{"replicas":1,"phase":"Sewn","conditions":[{"type":"Ready","status":"True"}]},"spec":{"color":"red"}}'
    before = stored(t)["spec"]["color"]
    if t.kubectl.before(24):
        now = {**stored(t), **json.loads(status)}
        t.says(["replace", "--raw", RAW + "/one/status", "-f", "-"], '"phase":"Sewn"', stdin=json.dumps(now))
    else:
        t.says(["patch", "shirt", "one", "--subresource=status", "--type=merge", "-p", status], "one patched")
    got = stored(t)
    t.check((got["spec"]["color"], got["metadata"]["generation"]) == (before, generation), "a status changes only itself", got)
    t.says(["patch", "shirt", "one", "--type=merge", "-p", '{"status":{"phase":"Torn"}}'], "one patched (no change)")
    t.rows(["get", "shirts"], "NAME COLOR SIZE REPLICAS READY AGE", "one green M 1 True *")
    t.says(["wait", "--for=condition=Ready", "shirt/one", "--timeout=10s"], "condition met")
    if not t.kubectl.before(23):
        t.says(["wait", "--for=jsonpath={.status.phase}=Sewn", "shirt/one", "--timeout=10s"], "condition met")
    t.says(["scale", "shirt/one", "--replicas=7"], "one scaled")
    field(t, ".spec.replicas", "7")
    t.says(["scale", "shirt/one", "--replicas=101"], "should be less than or equal to 100", code=1)
    scale = json.loads(t.kubectl.run("get", "--raw", RAW + "/one/scale").stdout)
    t.check((scale["kind"], scale["spec"], scale["status"]) == ("Scale", {"replicas": 7}, {"replicas": 1}),
            "a shirt's Scale", scale)
    t.says(["get", "--raw", "/apis/stable.example.com/v1/looms/none/status"], "NotFound", code=1)


def watched(t):
    process = t.kubectl.start("get", "shirts", "--watch", "--output-watch-events")
    try:
        lines = [process.stdout.readline() for _ in range(2)]
        t.says(["create", "-f", "-"], "created", stdin=shirt("seen"))
        lines.append(process.stdout.readline())
        t.says(["patch", "shirt", "seen", "--type=merge", "-p", '{"spec":{"color":"green"}}'], "patched")
        lines.append(process.stdout.readline())
        t.says(["delete", "shirt", "seen"], "deleted")
        lines.append(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
    words = [line.split()[:3] for line in lines]
    t.check(words == [["EVENT", "NAME", "COLOR"], ["ADDED", "one", "green"], ["ADDED", "seen", "blue"],
                      ["MODIFIED", "seen", "green"], ["DELETED", "seen", "green"]], "a watch of shirts", words)


def cluster_scoped(t):
    loom = "apiVersion: stable.example.com/v1\nkind: Loom\nmetadata: {name: %s}\nspec: {width: %s}\nstatus: {speed: 3}\n"
    t.says(["apply", "-f", "-"], "loom.stable.example.com/big created", stdin=loom % ("big", 1.5))
    t.rows(["get", "looms"], "NAME AGE", "big *")
    # Without the subresource a status is a field as others are.
    t.prints(["get", "loom", "big", "-o", "jsonpath={.status.speed} {.spec.width} {.metadata.generation}"], "3 1.5 1")
    t.says(["apply", "-f", "-"], "spec.width in body should be greater than or equal to 0.5", code=1,
           stdin=loom % ("small", 0.25))
    t.says(["delete", "loom", "big", "--wait=false"], '"big" deleted')


def schema_changed(t):
    """A CRD that changes is in effect at once, and objects that it would refuse now can still be changed."""
    crd = json.loads(t.kubectl.run("get", "crd", SHIRTS, "-o", "json").stdout)
    for version in crd["spec"]["versions"]:
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"]["size"]["enum"] = ["S", "M"]
        spec["properties"]["fabric"] = {"type": "string", "default": "wool", "description": "What it is made of."}
    crd["spec"]["versions"][0]["additionalPrinterColumns"][1:5] = [
        {"name": "Fabric", "type": "string", "jsonPath": ".spec.fabric"}]
    t.says(["replace", "-f", "-"], SHIRTS + " replaced", stdin=json.dumps(crd))
    eventually(t, ["get", "shirts"], "FABRIC")
    t.rows(["get", "shirts"], "NAME COLOR FABRIC AGE", "one green wool *")
    t.says(["label", "shirt", "one", "still=changes"], "one labeled")
    t.says(["patch", "shirt", "one", "--type=merge", "-p", '{"spec":{"size":"L"}}'],
           'spec.size: Unsupported value: "L": supported values: "S", "M"', code=1)
    eventually(t, ["explain", "shirts.spec.fabric"], "What it is made of.")


def bad_definitions(t):
    with open(file_of("looms"), encoding="utf-8") as file:
        loom = file.read()
    for old, new, text in (
            ("name: looms.stable", "name: loom.stable", 'metadata.name: Invalid value: "loom.stable.example.com": must be spec.names.plural+"."+spec.group'),
            ("type: number", "type: numbr", 'Unsupported value: "numbr": supported values: "array", "boolean", "integer", "number", "object", "string"'),
            ("{type: number, minimum: 0.5}", "{type: array}", "properties[width].items: Required value: must be specified"),
            ("scope: Cluster", "scope: Namespaced", "spec.scope: Invalid value: \"Namespaced\": field is immutable")):
        verb = ["apply"] if "scope" in old else ["create"]
        t.says(verb + ["--validate=false", "-f", "-"], "is invalid", text, code=1, stdin=loom.replace(old, new))
    conflict = loom.replace("looms", "webs").replace("singular: loom", "singular: web")
    t.says(["create", "-f", "-"], "webs.stable.example.com created", stdin=conflict)
    eventually(t, ["get", "crd", "webs.stable.example.com", "-o", "jsonpath={.status.conditions[*].reason}"], "KindConflict")
    t.says(["get", "webs"], 'the server doesn\'t have a resource type "webs"', code=1)
    t.says(["delete", "crd", "webs.stable.example.com"], "deleted")


def removed(t):
    """A CRD takes its objects with it, and one of its name begins empty."""
    t.says(["patch", "shirt", "one", "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/held"]}}'], "one patched")
    t.says(["delete", "crd", SHIRTS, "--wait=false"], '"%s" deleted' % SHIRTS)
    eventually(t, ["get", "crd", SHIRTS, "-o", "jsonpath={.status.conditions[?(@.type=='Terminating')].reason}"],
               "InstanceDeletionInProgress")
    t.says(["create", "--validate=false", "-f", "-"], "create not allowed while custom resource definition is terminating", code=1,
           stdin=shirt("late"))
    t.says(["patch", "shirt", "one", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'], "one patched")
    t.says(["wait", "--for=delete", "crd/" + SHIRTS, "--timeout=90s"])
    # Some kubectls remember the kind for a while.
    result = t.kubectl.run("get", "shirts")
    t.check(result.returncode == 1 and ("could not find the requested resource" in result.stderr
                                        or "doesn't have a resource type" in result.stderr),
            "kubectl get shirts without their CRD", result.stderr)
    t.says(["get", "--raw", RAW], "could not find the requested resource", code=1)
    t.says(["create", "-f", file_of("shirts")], SHIRTS + " created")
    t.says(["wait", "--for=condition=Established", "--timeout=60s", "crd/" + SHIRTS], "condition met")
    t.says(["get", "shirts"], "No resources found")
    t.says(["delete", "-f", file_of("shirts"), "-f", file_of("looms")], "deleted")


def steps(t, folder):
    install(t)
    discovered(t)
    explained(t)
    created(t)
    refused(t)
    changed(t, folder)
    applied(t)
    status_and_scale(t)
    watched(t)
    cluster_scoped(t)
    schema_changed(t)
    bad_definitions(t)
    removed(t)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(args.server) as kubeconfig:
        t = Checker(Kubectl(args.kubectl, kubeconfig, folder))
        steps(t, folder)
    print("kubectl %d.%d and CRDs: %d checks, %d failed" % (*t.kubectl.version, t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
