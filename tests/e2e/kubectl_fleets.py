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


def prune(t):
    """What has the label and is not in the file goes, if its kind is on the list."""
    allow = "--prune-whitelist" if t.kubectl.before(26) else "--prune-allowlist"
    file = lambda *names: "---\n".join(fleet(name).replace("app: fleet", "app: prune") for name in names)
    apply = ["apply", "--prune", "-l", "app=prune", allow + "=harbor.example.com/v1/Fleet", "-f", "-"]
    flunder = '{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"kept","labels":{"app":"prune"}}}'
    t.says(["apply", "-f", "-"], "kept created", stdin=flunder)
    t.says(apply, "fleet.harbor.example.com/p1 created", "fleet.harbor.example.com/p2 created", stdin=file("p1", "p2"))
    t.says(apply + ["--dry-run=server"], "p1 unchanged (server dry run)", "p2 pruned (server dry run)", stdin=file("p1"))
    t.says(apply, "fleet.harbor.example.com/p1 unchanged", "fleet.harbor.example.com/p2 pruned", stdin=file("p1"))
    t.prints(["get", "fleets,flunders", "-l", "app=prune", "-o", "name"],
             "fleet.harbor.example.com/p1\nflunder.wardle.example.com/kept\n")
    t.says(["delete", "fleets,flunders", "-l", "app=prune"], '"p1" deleted', '"kept" deleted')


def managers(t, name):
    entries = stored(t, name)["metadata"].get("managedFields", [])
    return sorted((entry["manager"], entry["operation"]) for entry in entries)


def server_side_apply(t):
    apply = ["apply", "--server-side", "-f", "-"]
    applied = "fleet.harbor.example.com/ssa serverside-applied"
    t.says(apply, applied, stdin=fleet("ssa", 3))
    first = stored(t, "ssa")
    t.check(managers(t, "ssa") == [("kubectl", "Apply")], "kubectl owns what it applied", first)
    t.check("annotations" not in first["metadata"], "no annotation is needed", first)
    t.says(apply, applied, stdin=fleet("ssa", 3))
    t.check(stored(t, "ssa") == first, "the same again writes nothing", stored(t, "ssa"))
    other = ["--field-manager=other"]
    t.says(apply + other, 'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas', code=1, stdin=fleet("ssa", 4))
    t.says(apply + other, 'Apply failed with 2 conflicts: conflicts with "kubectl":', "- .spec.replicas",
           '- .spec.cargo[name="rum"].tons', code=1, stdin=fleet("ssa", 4).replace("tons: 3", "tons: 4"))
    t.says(apply + ["--dry-run=server"], applied + " (server dry run)", stdin=fleet("ssa", 5))
    t.says(["diff", "--server-side", "-f", "-"], "-  replicas: 3", "+  replicas: 5", code=1, stdin=fleet("ssa", 5))
    t.check(stored(t, "ssa") == first, "neither writes", stored(t, "ssa"))
    t.says(apply + other + ["--force-conflicts"], applied, stdin=fleet("ssa", 4))
    t.check(managers(t, "ssa") == [("kubectl", "Apply"), ("other", "Apply")], "both own it", stored(t, "ssa"))
    field(t, ".spec.replicas", "4", "ssa")
    bare = fleet("ssa", 4).replace("  - {name: tea, tons: 1}\n", "")
    t.says(apply + other, applied, stdin=bare)
    t.check(len(stored(t, "ssa")["spec"]["cargo"]) == 2, "what another owns stays", stored(t, "ssa"))
    t.says(apply, applied, stdin=bare)
    t.check(stored(t, "ssa")["spec"]["cargo"] == [{"name": "rum", "tons": 3}], "what nobody owns any more goes", stored(t, "ssa"))
    t.says(["scale", "fleet", "ssa", "--replicas=7"], "scaled")
    t.says(apply, 'conflict with "kubectl" with subresource "scale"', ".spec.replicas", code=1, stdin=bare)
    if not t.kubectl.before(21):
        t.says(["get", "fleet", "ssa", "-o", "yaml", "--show-managed-fields"], "f:cargo:", 'k:{"name":"rum"}:')
        shown = t.says(["get", "fleet", "ssa", "-o", "yaml"], "name: ssa")
        t.check("managedFields" not in shown, "managed fields are hidden", shown)
    t.says(["delete", "fleet", "ssa"], '"ssa" deleted')


def migration(t):
    """From apply by the client to apply by the server, and back."""
    last = "kubectl.kubernetes.io/last-applied-configuration"
    annotation = lambda: json.loads(stored(t, "moved")["metadata"]["annotations"][last])
    client, server = ("kubectl-client-side-apply", "Update"), ("kubectl", "Apply")
    bare = lambda replicas: fleet("moved", replicas).replace("  - {name: tea, tons: 1}\n", "")
    t.says(["apply", "-f", "-"], "fleet.harbor.example.com/moved created", stdin=fleet("moved", 1))
    t.check(managers(t, "moved") == [client], "the client's apply is an update", stored(t, "moved"))
    t.says(["apply", "--server-side", "-f", "-"], "moved serverside-applied", stdin=bare(2))
    field(t, ".spec.replicas", "2", "moved")
    t.check(annotation()["spec"]["replicas"] == 2, "the annotation follows", annotation())
    # From 1.26 on kubectl takes its own fields over first, and keeps the annotation by a name of its own.
    own = [client, server] if t.kubectl.before(26) else [server, ("kubectl-last-applied", "Apply")]
    t.check(managers(t, "moved") == sorted(own), "the managers are %s" % own, stored(t, "moved"))
    cargo = len(stored(t, "moved")["spec"]["cargo"])
    t.check(cargo == (2 if t.kubectl.before(26) else 1), "what the client owned goes if it was taken over", cargo)
    t.says(["apply", "-f", "-"], "fleet.harbor.example.com/moved configured", stdin=bare(3))
    field(t, ".spec.replicas", "3", "moved")
    t.check(managers(t, "moved") == [server, client], "the client owns it again", stored(t, "moved"))
    t.check(annotation()["spec"]["replicas"] == 3, "the annotation is the client's", annotation())
    t.says(["apply", "--server-side", "-f", "-"], "moved serverside-applied", stdin=bare(4))
    field(t, ".spec.replicas", "4", "moved")
    t.says(["delete", "fleet", "moved"], '"moved" deleted')


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
    prune(t)
    server_side_apply(t)
    migration(t)
    may_i(t)
    t.says(["delete", "fleets", "--all"], '"one" deleted')
