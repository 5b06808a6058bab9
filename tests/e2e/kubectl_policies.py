#!/usr/bin/env python3
"""Registers admission policies and bindings of every action with one kubectl, at a server of
server/, and shows what they do to flunders.

usage: kubectl_policies.py --server BINARY [--kubectl BINARY]

Exits 1 and names each failed check. kubectl knows these kinds in v1 from 1.30 on.
"""

import argparse
import json
import os
import signal
import sys
import tempfile

from kubectl_checks import Checker, Kubectl
from servers import Failure, Server, wait_until

AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n"

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: references}
spec:
  failurePolicy: Fail
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [wardle.example.com], apiVersions: [v1beta1], operations: [CREATE, UPDATE], resources: [flunders]}
    objectSelector: {matchLabels: {judged: "yes"}}
  matchConditions:
  - {name: not-free, expression: "!object.metadata.name.startsWith('free')"}
  variables:
  - {name: reference, expression: "object.spec.?flunderReference.orValue('')"}
  validations:
  - expression: variables.reference != params.data.forbidden
    messageExpression: "'refers to ' + variables.reference"
    reason: Forbidden
  auditAnnotations:
  - {key: reference, valueExpression: string(variables.reference)}
"""

BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: references}
spec:
  policyName: references
  validationActions: [%s]
  paramRef: {name: %s, namespace: default, parameterNotFoundAction: Deny}
"""

SELECTING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: references}
spec:
  policyName: references
  validationActions: [Deny]
  paramRef: {selector: {matchLabels: {limits: "%s"}}, parameterNotFoundAction: Allow}
"""

PARAMETERS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: forbidden, labels: {limits: "yes"}}
data: {forbidden: evil}
"""

MUTATION = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: colors}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [wardle.example.com], apiVersions: ["*"], operations: [CREATE], resources: [flunders]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'color': 'blue'}}}"}
  - patchType: JSONPatch
    jsonPatch:
      expression: "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/b'), value: 'c'}]"
"""

MUTATION_BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: colors}
spec: {policyName: colors}
"""

FLUNDER = """\
apiVersion: wardle.example.com/v1beta1
kind: Flunder
metadata: {name: %s, labels: {judged: "yes"}}
spec: {flunderReference: %s, referenceType: Flunder}
"""

DENIED = "ValidatingAdmissionPolicy 'references' with binding 'references' denied request: "


def tried(t, name, reference, *args):
    """What kubectl says about a flunder that it creates in a dry run."""
    result = t.kubectl.run("create", "--dry-run=server", "-f", "-", *args, stdin=FLUNDER % (name, reference))
    return result.returncode, result.stdout + result.stderr


def until(t, what, reference, code, text, name="judged"):
    """A change of a policy is known within milliseconds, not at once."""
    try:
        wait_until(lambda: tried(t, name, reference)[0] == code and text in tried(t, name, reference)[1], what, 60)
        t.check(True, what)
    except Failure:
        t.check(False, what, tried(t, name, reference))


def registers(t):
    group = "--api-group=admissionregistration.k8s.io"
    t.says(["api-resources", group], "validatingadmissionpolicies", "validatingadmissionpolicybindings",
           "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
    t.says(["create", "-f", "-"], "validatingadmissionpolicy.admissionregistration.k8s.io/references created",
           stdin=POLICY)
    t.says(["apply", "-f", "-"], "validatingadmissionpolicybinding.admissionregistration.k8s.io/references created",
           stdin=BINDING % ("Deny", "missing"))
    t.rows(["get", "validatingadmissionpolicies"], "NAME VALIDATIONS PARAMKIND AGE",
           "references 1 v1/ConfigMap *")
    t.rows(["get", "validatingadmissionpolicybindings"], "NAME POLICYNAME PARAMREF AGE",
           "references references default/missing *")


def refuses(t):
    bad = POLICY.replace("variables.reference != ", "variables.referense != ").replace("references}", "bad}")
    t.says(["create", "-f", "-"], 'The ValidatingAdmissionPolicy "bad" is invalid: spec.validations[0].expression: '
           "Invalid value:", "undefined field 'referense'", stdin=bad, code=1)
    t.says(["create", "-f", "-"], "spec.validationActions: Invalid value:", "must not contain both Deny and Warn",
           stdin=(BINDING % ("Deny, Warn", "a")).replace("name: references}", "name: bad}"), code=1)
    t.says(["create", "-f", "-"], 'unknown field "spec.validations[0].colour"',
           stdin=POLICY.replace("reason: Forbidden", "colour: red").replace("references}", "bad}"), code=1)
    t.says(["create", "--dry-run=server", "-f", "-"], "created (server dry run)",
           stdin=POLICY.replace("references}", "dry}"))
    t.says(["get", "validatingadmissionpolicy", "dry"], "not found", code=1)


def judges(t):
    until(t, "denied for want of parameters", "good", 1, "failed to configure binding: no params found")
    t.says(["create", "-f", "-"], "configmap/forbidden created", stdin=PARAMETERS)
    t.says(["apply", "-f", "-"], "configured", stdin=BINDING % ("Deny", "forbidden"))
    until(t, "an expression denies, with the message of an expression", "evil", 1,
          'flunders.wardle.example.com "judged" is forbidden: ' + DENIED + "refers to evil")
    until(t, "the rest is allowed", "good", 0, "created (server dry run)")
    until(t, "so is what a match condition leaves out", "evil", 0, "created", name="free")
    t.says(["create", "-f", "-"], "flunder.wardle.example.com/one created", stdin=FLUNDER % ("one", "good"))
    t.says(["patch", "flunder", "one", "--type=merge", "-p", '{"spec":{"flunderReference":"evil"}}'],
           DENIED + "refers to evil", code=1)
    t.says(["apply", "--server-side", "--force-conflicts", "-f", "-"], DENIED + "refers to evil", code=1,
           stdin=FLUNDER % ("one", "evil"))
    t.says(["apply", "-f", "-"], "configured", stdin=SELECTING % "yes")
    t.rows(["get", "validatingadmissionpolicybinding", "references"], "NAME POLICYNAME PARAMREF AGE",
           "references references * * *")


def selects(t):
    """A binding that selects its parameters: it has replaced one that named them."""
    stored = json.loads(t.kubectl.run("get", "validatingadmissionpolicybinding", "references", "-o", "json").stdout)
    t.check(stored["spec"]["paramRef"] == {"selector": {"matchLabels": {"limits": "yes"}},
                                           "parameterNotFoundAction": "Allow"}, "apply removes the name", stored)
    until(t, "selected parameters are judged by", "evil", 1, DENIED + "refers to evil")
    t.says(["apply", "-f", "-"], "configured", stdin=SELECTING % "no")
    until(t, "without parameters it is allowed", "evil", 0, "created")


def annotations(log, name):
    """The annotations of each create of a flunder that is no dry run, as far as lines are complete."""
    with open(log, encoding="utf-8") as file:
        events = [json.loads(line) for line in file.read().split("\n")[:-1]]
    return [event.get("annotations", {}) for event in events if event["verb"] == "create"
            and event.get("objectRef", {}).get("resource") == "flunders" and "dryRun" not in event["requestURI"]
            and event.get("objectRef", {}).get("name") == name]


def warns_and_audits(t, log):
    t.says(["apply", "-f", "-"], "configured", stdin=BINDING % ("Warn, Audit", "forbidden"))
    until(t, "kubectl shows a warning", "evil", 0,
          "Warning: Validation failed for ValidatingAdmissionPolicy 'references' with binding 'references': "
          "refers to evil")
    t.says(["create", "-f", "-"], "Warning: Validation failed", "created", stdin=FLUNDER % ("warned", "evil"))
    # An event is written after its answer is sent.
    wait_until(lambda: annotations(log, "warned"), "the create stands in the audit log", 30)
    notes = annotations(log, "warned")
    t.check(len(notes) == 1 and notes[0].get("references/reference") == "evil", "an audit annotation", notes)
    failure = json.loads(notes[0].get("validation.policy.admission.k8s.io/validation_failure", "[]"))
    t.check(failure == [{"message": "refers to evil", "policy": "references", "binding": "references",
                         "expressionIndex": 0, "validationActions": ["Warn", "Audit"]}],
            "the failure is in the audit log", notes)
    t.says(["patch", "validatingadmissionpolicybinding", "references", "--type=merge", "-p",
            '{"spec":{"validationActions":["Audit"]}}'], "patched")
    until(t, "Audit alone says nothing", "evil", 0, "created")


def mutates(t):
    t.says(["apply", "--server-side", "-f", "-"], "colors serverside-applied", stdin=MUTATION)
    t.says(["create", "-f", "-"], "mutatingadmissionpolicybinding.admissionregistration.k8s.io/colors created",
           stdin=MUTATION_BINDING)
    t.rows(["get", "mutatingadmissionpolicies"], "NAME MUTATIONS PARAMKIND AGE", "colors 2 <unset> *")
    t.rows(["get", "mutatingadmissionpolicybindings"], "NAME POLICYNAME PARAMREF AGE", "colors colors <unset> *")
    def colored():
        out = t.kubectl.run("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=FLUNDER % ("c", "d")).stdout
        return '"color": "blue"' in out and '"example.com/b": "c"' in out
    try:
        wait_until(colored, "a mutating policy changes what is created", 60)
        t.check(True, "")
    except Failure as failure:
        t.check(False, str(failure))


def shows(t):
    t.says(["describe", "validatingadmissionpolicy", "references"], "Name:         references",
           "Failure Policy:      Fail", "variables.reference != params.data.forbidden", "Message Expression:")
    t.says(["describe", "validatingadmissionpolicybinding", "references"], "Policy Name:", "Validation Actions:")
    t.says(["describe", "mutatingadmissionpolicy", "colors"], "Reinvocation Policy:  Never",
           "Patch Type:         JSONPatch")
    t.says(["explain", "validatingadmissionpolicies.spec.validations"], "ValidatingAdmissionPolicy",
           "messageExpression", "<string>")
    t.says(["explain", "validatingadmissionpolicybindings.spec.paramRef"], "parameterNotFoundAction")
    t.says(["explain", "mutatingadmissionpolicies", "--recursive"], "reinvocationPolicy", "applyConfiguration")
    def observed():
        return t.kubectl.run("get", "validatingadmissionpolicy", "references", "-o",
                             "jsonpath={.status.observedGeneration}").stdout == "1"
    try:
        wait_until(observed, "the status has the generation", 60)
        t.check(True, "")
    except Failure as failure:
        t.check(False, str(failure))


def deletes(t):
    t.says(["label", "validatingadmissionpolicy", "references", "a=b"], "labeled")
    t.rows(["get", "validatingadmissionpolicies", "-l", "a=b", "--no-headers"], "references 1 v1/ConfigMap *")
    t.says(["patch", "validatingadmissionpolicybinding", "references", "--type=json", "-p",
            '[{"op":"replace","path":"/spec/validationActions","value":["Deny"]}]'], "patched")
    until(t, "it denies again", "evil", 1, DENIED)
    t.says(["delete", "validatingadmissionpolicybinding", "references"], '"references" deleted')
    until(t, "an unbound policy has no effect", "evil", 0, "created")
    t.says(["delete", "validatingadmissionpolicy,mutatingadmissionpolicy,mutatingadmissionpolicybinding", "--all"],
           '"references" deleted', '"colors" deleted')
    t.says(["get", "validatingadmissionpolicies"], "No resources found")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        policy, log = os.path.join(folder, "audit-policy.yaml"), os.path.join(folder, "audit.log")
        with open(policy, "w") as file:
            file.write(AUDIT_POLICY)
        server = Server(args.server, "memory", folder,
                        flags=("--audit-policy-file=" + policy, "--audit-log-path=" + log))
        server.start()
        try:
            t = Checker(Kubectl(args.kubectl, server.kubeconfig, folder))
            registers(t)
            refuses(t)
            judges(t)
            selects(t)
            warns_and_audits(t, log)
            mutates(t)
            shows(t)
            deletes(t)
            t.check(server.stop() == 0, "SIGTERM ends the server with exit code 0")
        finally:
            if server.process.poll() is None:
                server.stop(signal.SIGKILL)
        print("kubectl %d.%d and policies: %d checks, %d failed" % (*t.kubectl.version, t.checks, len(t.failures)))
        return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
