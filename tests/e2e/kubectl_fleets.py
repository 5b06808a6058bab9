"""kubectl and server/'s kind Fleet, which is made of a .proto file: what needs subresources, lists that
merge, or a group of its own."""

import json
import os

FLEET = """\
apiVersion: harbor.example.com/v1
kind: Fleet
metadata:
  name: {name}
  labels: {{app: fleet}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: ship}}}}
  cargo:
  - {{name: rum, tons: 3}}
  - {{name: tea, tons: 1}}
  flags: [{flag}]
"""
RAW = "/apis/harbor.example.com/v1/namespaces/default/fleets/"


def served(t):
    return "fleets" in t.kubectl.run("api-resources", "--api-group=harbor.example.com", "-o", "name").stdout


def fleet(name="one", replicas=1, flag="red"):
    return FLEET.format(name=name, replicas=replicas, flag=flag)


def stored(t, name="one"):
    """What is stored, whatever kubectl shows of it."""
    return json.loads(t.kubectl.run("get", "--raw", RAW + name).stdout or "{}")


def field(t, path, text, name="one"):
    """`path` of kubectl's jsonpath; several with slashes between."""
    template = "/".join("{%s}" % one for one in path.split("/"))
    t.prints(["get", "fleet", name, "-o", "jsonpath=" + template], text)


def kinds(t):
    t.rows(
        ["api-resources", "--api-group=harbor.example.com"],
        "NAME SHORTNAMES APIVERSION NAMESPACED KIND",
        "fleets fl harbor.example.com/v1 true Fleet",
    )
    t.says(["explain", "fleets"], "Fleet", "A fleet is a number of ships that sail one route.")
    t.says(["explain", "fl.spec"], "How many ships there shall be; one if nothing is said.", "What each ship carries",
           "FleetSpec is what is wanted of a fleet.")
    t.says(["explain", "fleets.spec.cargo.tons"], "How much of it, in tons.", "integer")
    t.says(["explain", "fleets.status.conditions.type"], "string")
    t.says(["explain", "fleets.spec.selector.matchLabels"], "map[string]string")
    t.says(["explain", "fleets.spec.nothing"], 'field "nothing" does not exist', code=1)


def reading(t):
    t.says(["create", "-f", "-"], "fleet.harbor.example.com/one created", stdin=fleet())
    t.rows(["get", "fl"], "NAME DESIRED CURRENT AGE", "one 1 *")
    t.prints(["get", "all", "-o", "name"], "fleet.harbor.example.com/one\n")
    field(t, ".metadata.generation", "1")
    t.says(["describe", "fleet", "one"], "Name:         one", "Replicas:  1", "Tons:  3")
    bare = fleet("bare").split("spec:")[0] + "spec: {limits: {wind: 0.5}}\n"
    t.says(["create", "--validate=false", "-f", "-"], "bare created", stdin=bare)
    t.check(stored(t, "bare").get("spec") == {"replicas": 1, "limits": {"wind": "500m"}}, "what the .proto file says is set",
            stored(t, "bare"))
    t.says(["delete", "fleet", "bare"], '"bare" deleted')
    t.says(["create", "-f", "-"], "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
           stdin=fleet("below", -1), code=1)


def status(t, folder):
    patch = '{"status":{"replicas":2},"spec":{"replicas":9}}'
    t.says(["patch", "fleet", "one", "--type=merge", "-p", '{"status":{"replicas":7}}'], "one patched")
    t.check(stored(t)["status"] == {}, "a status is not changed with its object", stored(t))
    if t.kubectl.before(24):
        changed = {**stored(t), "status": {"replicas": 2}}
        t.says(["replace", "--raw", RAW + "one/status", "-f", "-"], '"replicas":2', stdin=json.dumps(changed))
    else:
        t.says(["patch", "fleet", "one", "--subresource=status", "--type=merge", "-p", patch], "one patched")
        t.prints(["get", "fleet", "one", "--subresource=status", "-o", "jsonpath={.status.replicas}"], "2")
        t.rows(["get", "fleet", "one", "--subresource=status"], "NAME DESIRED CURRENT AGE", "one 1 2 *")
        editor = os.path.join(folder, "status-editor")
        with open(editor, "w") as script:
            script.write('#!/bin/sh\nsed -i "s/^  replicas: 2/  replicas: 3/" "$1"\n')
        os.chmod(editor, 0o755)
        t.says(["edit", "fleet", "one", "--subresource=status"], "one edited", env={"KUBE_EDITOR": editor})
        field(t, ".status.replicas", "3")
        changed = {**stored(t), "status": {"replicas": 2}}
        t.says(["replace", "--subresource=status", "-f", "-"], "one replaced", stdin=json.dumps(changed))
    field(t, ".status.replicas/.spec.replicas/.metadata.generation", "2/1/1")


def replace_force(t):
    before = stored(t)["metadata"]["uid"]
    t.says(["replace", "--force", "-f", "-"], '"one" deleted', "fleet.harbor.example.com/one replaced", stdin=fleet(replicas=2))
    after = stored(t)
    t.check(after["metadata"]["uid"] != before, "replace --force makes a new object", after)
    t.check((after["spec"]["replicas"], after["status"]) == (2, {}), "it is as in the file", after)


def strategic(t):
    """Lists by their merge key and sets, as the .proto file's markers say."""
    cargo = "{range .spec.cargo[*]}{.name}={.tons} {end}{.spec.flags}"
    see = lambda text: t.prints(["get", "fleet", "one", "-o", "jsonpath=" + cargo], text)
    patch = lambda spec, *args: t.says(["patch", "fleet", "one", *args, "-p", '{"spec":%s}' % spec], "one patched")
    patch('{"cargo":[{"name":"tea","tons":5},{"name":"oil","tons":9}],"flags":["blue"]}')
    see('rum=3 tea=5 oil=9 ["blue","red"]')
    patch('{"cargo":[{"name":"rum","$patch":"delete"}],"$deleteFromPrimitiveList/flags":["red"]}', "--type=strategic")
    see('tea=5 oil=9 ["blue"]')
    patch('{"$setElementOrder/cargo":[{"name":"oil"},{"name":"tea"}],"cargo":[{"name":"oil","sender":"x"}]}')
    see('oil=9 tea=5 ["blue"]')
    patch('{"cargo":[{"$patch":"replace"},{"name":"rum","tons":3},{"name":"tea","tons":1}],"flags":["red"]}')
    t.says(["patch", "fleet", "one", "-p", '{"spec":{"cargo":[{"tons":1}]}}'], "does not contain declared merge key: name", code=1)
    dry = ["patch", "fleet", "one", "-p", '{"spec":{"replicas":9}}', "--dry-run=server", "-o", "jsonpath={.spec.replicas}"]
    t.prints(dry, "9")
    field(t, ".spec.replicas", "2")


def scale(t):
    t.says(["scale", "fleet", "one", "--replicas=4"], "fleet.harbor.example.com/one scaled")
    field(t, ".spec.replicas/.metadata.generation", "4/%d" % (stored(t)["metadata"]["generation"]))
    t.says(["scale", "fleet/one", "--replicas=6", "--current-replicas=9"], "Expected replicas to be 9, was 4", code=1)
    if not t.kubectl.before(21):
        t.says(["scale", "fleet", "one", "--replicas=9", "--dry-run=server"], "one scaled")
    raw = json.loads(t.says(["get", "--raw", RAW + "one/scale"], '"kind":"Scale","apiVersion":"autoscaling/v1"'))
    t.check((raw["spec"], raw["status"]) == ({"replicas": 4}, {"replicas": 0, "selector": "app=ship"}), "what the Scale says", raw)
    # kubectl refuses less than nothing itself.
    raw["spec"]["replicas"] = -1
    t.says(["replace", "--raw", RAW + "one/scale", "-f", "-"], "must be greater than or equal to 0", stdin=json.dumps(raw), code=1)
    if not t.kubectl.before(24):
        t.prints(["get", "fleet", "one", "--subresource=scale", "-o", "jsonpath={.spec.replicas}"], "4")
    t.says(["scale", "fleet", "one", "--replicas=2", "--current-replicas=4"], "one scaled")
    field(t, ".spec.replicas", "2")


def cascade(t):
    """No garbage collector runs here: what a delete leaves to it waits for a finalizer to go."""
    for how, finalizer in (("foreground", "foregroundDeletion"), ("orphan", "orphan")):
        name = "held-" + how
        t.says(["create", "-f", "-"], "created", stdin=fleet(name))
        t.says(["delete", "fleet", name, "--cascade=" + how, "--wait=false"], 'fleet.harbor.example.com "%s" deleted' % name)
        held = stored(t, name)["metadata"]
        t.check("deletionTimestamp" in held and held["deletionGracePeriodSeconds"] == 0, how + " marks the object", held)
        t.check(held["finalizers"] == [finalizer], how + " sets a finalizer", held)
        t.says(["annotate", "fleet", name, "still=here"], "annotate")
        t.says(["patch", "fleet", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}'], "patched")
        t.says(["get", "fleet", name], 'fleets.harbor.example.com "%s" not found' % name, code=1)
    t.says(["create", "-f", "-"], "created", stdin=fleet("free"))
    t.says(["delete", "fleet", "free", "--cascade=background", "--wait=false"], '"free" deleted')
    t.says(["get", "fleet", "free"], "not found", code=1)


def may_i(t):
    """A request in JSON, from 1.32 on in protobuf."""
    t.prints(["auth", "can-i", "create", "fleets"], "yes\n")
    t.prints(["auth", "can-i", "update", "fleets.harbor.example.com/one", "--subresource=status"], "yes\n")
    t.prints(["auth", "can-i", "get", "/livez"], "yes\n")
    said = t.kubectl.run("auth", "can-i", "get", "flunders", "-v=8").stderr
    protobuf = "application/vnd.kubernetes.protobuf" in said
    t.check(protobuf != t.kubectl.before(32), "kubectl from 1.32 on asks in protobuf", said)


def steps(t, folder):
    kinds(t)
    reading(t)
    status(t, folder)
    replace_force(t)
    strategic(t)
    scale(t)
    cascade(t)
    may_i(t)
    t.says(["delete", "fleets", "--all"], '"one" deleted')
