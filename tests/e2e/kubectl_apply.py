"""Server-side apply as kubectl drives it: conflicts, force, and the way from client-side apply and back."""

SSA = """\
apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata:
  name: {name}
  labels: {{app: "{app}"}}
spec:
  reference: {reference}
"""
APPLIED = "flunder.wardle.example.com/%s serverside-applied"
LAST_APPLIED = "{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}"


def manifest(name, reference, app="s"):
    return SSA.format(name=name, app=app, reference=reference)


def field(t, name, path):
    return t.kubectl.run("get", "flunder", name, "-o", "jsonpath={%s}" % path).stdout


def managers(t, name):
    return field(t, name, ".metadata.managedFields[*].manager").split()


def owners(t):
    """Two managers of one object."""
    apply = ["apply", "--server-side", "-f", "-"]
    t.says(apply + ["--dry-run=server"], APPLIED % "ssa", "server dry run", stdin=manifest("ssa", "x"))
    t.says(["get", "flunder", "ssa"], '"ssa" not found', code=1)
    t.says(apply, APPLIED % "ssa", stdin=manifest("ssa", "x"))
    revision = field(t, "ssa", ".metadata.resourceVersion")
    t.says(apply, APPLIED % "ssa", stdin=manifest("ssa", "x"))
    t.check(field(t, "ssa", ".metadata.resourceVersion") == revision, "applying again makes no revision")
    t.check(managers(t, "ssa") == ["kubectl"], "kubectl owns what it applied", managers(t, "ssa"))

    other = apply + ["--field-manager=other"]
    t.says(other, 'Apply failed with 1 conflict: conflict with "kubectl": .spec.reference', code=1,
           stdin=manifest("ssa", "other"))
    t.says(other + ["--force-conflicts"], APPLIED % "ssa", stdin=manifest("ssa", "other"))
    t.prints(["get", "flunder", "ssa", "-o", "jsonpath={.spec.flunderReference}"], "other")
    t.says(apply, 'Apply failed with 1 conflict: conflict with "other": .spec.reference', code=1,
           stdin=manifest("ssa", "z"))
    t.says(["patch", "flunder", "ssa", "--type=merge", "--field-manager=patcher", "-p",
            '{"spec":{"flunderReference":"p"}}'] if not t.kubectl.before(22) else
           ["patch", "flunder", "ssa", "--type=merge", "-p", '{"spec":{"flunderReference":"p"}}'], "patched")
    updater = "kubectl-patch" if t.kubectl.before(22) else "patcher"
    t.says(other, 'conflict with "%s" using wardle.example.com/v1beta1: .spec.flunderReference' % updater, code=1,
           stdin=manifest("ssa", "other"))
    hidden = t.kubectl.run("get", "flunder", "ssa", "-o", "yaml").stdout
    t.check(("managedFields:" in hidden) == t.kubectl.before(21), "from 1.21 on kubectl hides managedFields", hidden)
    if not t.kubectl.before(21):
        t.says(["get", "flunder", "ssa", "-o", "yaml", "--show-managed-fields"], "managedFields:", "f:flunderReference")
    t.says(["delete", "flunder", "ssa"], '"ssa" deleted')


def migration(t):
    """From client-side apply and back."""
    t.says(["apply", "-f", "-"], "flunder.wardle.example.com/csa created", stdin=manifest("csa", "one"))
    t.check(managers(t, "csa") == ["kubectl-client-side-apply"], "client-side apply is an update", managers(t, "csa"))
    t.says(["apply", "--server-side", "-f", "-"], APPLIED % "csa", stdin=manifest("csa", "two"))
    t.prints(["get", "flunder", "csa", "-o", "jsonpath={.spec.flunderReference}"], "two")
    last = t.kubectl.run("get", "flunder", "csa", "-o", "jsonpath=" + LAST_APPLIED).stdout
    t.check('"reference":"two"' in last, "the annotation follows the server-side apply", last)
    t.says(["apply", "-f", "-"], "flunder.wardle.example.com/csa configured", stdin=manifest("csa", "three"))
    t.prints(["get", "flunder", "csa", "-o", "jsonpath={.spec.flunderReference}"], "three")
    t.says(["apply", "-f", "-"], "flunder.wardle.example.com/csa unchanged", stdin=manifest("csa", "three"))
    t.says(["delete", "flunder", "csa"], '"csa" deleted')


def server_side_apply(t):
    owners(t)
    migration(t)
