"""Sends requests to a server that has admission policies, and keeps of its answers what does not
change from run to run."""

import http.client
import json
import re
import ssl
import time
import urllib.parse
import uuid

from servers import Failure

GROUP = "/apis/admissionregistration.k8s.io/"
IDENTIFIER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=-generated-)[a-z0-9]{5}\b")
HIDDEN = {"uid": "<uid>", "continue": "<token>", "resourceVersion": "<revision>", "creationTimestamp": "<time>",
          "deletionTimestamp": "<time>", "time": "<time>", "lastTransitionTime": "<time>"}
# The names of the recorder and of the controller that writes the status of policies.
MANAGER = "policy-answers"
STATUS_WRITER = "validatingadmissionpolicy-status"


def normalized(value, key=""):
    """`value` with what differs from run to run replaced."""
    if isinstance(value, dict):
        return {name: normalized(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [normalized(item, key) for item in value]
    if not isinstance(value, str):
        return value
    if key in HIDDEN:
        return HIDDEN[key]
    if key == "cells" and re.fullmatch(r"(\d+[smhd])+|<invalid>", value):
        return "<age>"
    return IDENTIFIER.sub("<uid>", value)


def objects_of(answer):
    """The objects in an answer: itself, those of a list or a table, that of an event."""
    if not isinstance(answer, dict):
        return []
    inner = answer.get("items") or answer.get("rows") or [answer]
    return [one for one in (each.get("object", each) for each in inner) if "metadata" in one]


def without_status(policy):
    """Takes off what a controller writes at some later time: only a request that waits shows it."""
    if isinstance(status := policy.get("status"), dict):
        status.pop("observedGeneration", None)
        status.pop("typeChecking", None)
    if fields := policy["metadata"].get("managedFields"):
        policy["metadata"]["managedFields"] = [one for one in fields if one["manager"] != STATUS_WRITER]


def warning_text(header):
    """The text of a Warning header, which is quoted in it."""
    match = re.fullmatch(r'299 \S+ "(.*)"', header, re.DOTALL)
    return re.sub(r"\\(.)", r"\1", match.group(1)) if match else header


class AuditLog:
    """The annotations of requests, from a log of one JSON event a line."""

    def __init__(self, path):
        self.file, self.rest, self.found = open(path, encoding="utf-8"), "", {}

    def annotations(self, audit_id):
        """What the policies wrote; who authorized is another matter."""
        deadline = time.monotonic() + 20
        while audit_id not in self.found:
            self._read()
            if time.monotonic() > deadline:
                raise Failure("the audit log has no request " + audit_id)
        return {key: self._parsed(value) for key, value in self.found.pop(audit_id).items()
                if not key.startswith(("authorization.k8s.io/", "pod-security.kubernetes.io/",
                                    "apiserver.latency.k8s.io/"))}

    @staticmethod
    def _parsed(value):
        return json.loads(value) if value.startswith("[{") else value

    def _read(self):
        text = self.rest + self.file.read()
        lines = text.split("\n")
        self.rest = lines.pop()
        for line in lines:
            event = json.loads(line)
            if event["stage"] == "ResponseComplete":
                self.found[event["auditID"]] = event.get("annotations", {})
        if not lines:
            time.sleep(0.01)


class Peer:
    """A server, asked over one connection as its administrator."""

    def __init__(self, url, authority, token, audit_log=None):
        parts = urllib.parse.urlsplit(url)
        context = ssl.create_default_context(cafile=authority) if authority else ssl._create_unverified_context()
        self.connection = http.client.HTTPSConnection(parts.hostname, parts.port, context=context, timeout=60)
        self.token, self.audit = token, AuditLog(audit_log) if audit_log else None
        self.settled = 0
        # 1.35 has mutating policies in v1beta1 only.
        self.mutating = next(version for version in ("v1", "v1beta1")
                             if "mutatingadmissionpolicies" in self.send("GET", GROUP + version)[2])

    def send(self, method, target, body="", headers=()):
        """Code, headers and body of the answer."""
        audit_id = str(uuid.uuid4())
        self.connection.request(method, target, body.encode() or None,
                                {"Authorization": "Bearer " + self.token, "User-Agent": MANAGER,
                                 "Accept": "application/json", "Audit-ID": audit_id, **dict(headers)})
        response = self.connection.getresponse()
        return response.status, response.headers, response.read().decode()

    def answer(self, request):
        """What `request` is answered, without what differs from run to run."""
        deadline = time.monotonic() + 30
        target, body = (text.replace("$MUTATING", self.mutating) for text in (request.target, request.body))
        while True:
            code, headers, text = self.send(request.method, target, body, request.headers)
            if not request.until or request.until in text:
                break
            if time.monotonic() > deadline:
                raise Failure("%s: has no %s: %s" % (request.name, request.until, text))
            time.sleep(0.1)
        if "mutating" in target:
            group = "admissionregistration.k8s.io/"
            text = text.replace(group + self.mutating, group + "$MUTATING")
        try:
            parsed = [normalized(json.loads(line)) for line in text.splitlines() if line]
        except ValueError:
            parsed = [text]
        if not request.until:
            for one in parsed:
                for policy in objects_of(one):
                    without_status(policy)
        answer = {"request": request.name, "code": code,
                  "body": parsed[0] if len(parsed) == 1 else parsed}
        if warnings := headers.get_all("Warning"):
            answer["warnings"] = [IDENTIFIER.sub("<uid>", warning_text(one)) for one in warnings]
        if self.audit and (notes := self.audit.annotations(headers["Audit-Id"])):
            answer["audit"] = notes
        return answer

    def _make(self, version, plural, kind, name, spec):
        body = {"apiVersion": "admissionregistration.k8s.io/" + version, "kind": kind,
                "metadata": {"name": name}, "spec": spec}
        code, _, text = self.send("POST", GROUP + version + "/" + plural, json.dumps(body),
                                  {"Content-Type": "application/json"})
        if code != 201:
            raise Failure("%s %s: %s" % (kind, name, text))
        return GROUP + version + "/" + plural + "/" + name

    def settle(self, namespace, pause):
        """Waits until policies and bindings of all kinds that were written are in effect: until one
        of each, written now, is. `pause`: seconds for what else the server follows."""
        self.settled += 1
        name = "settled-%d" % self.settled
        constraints = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                          "resources": ["configmaps"], "resourceNames": ["settled"]}]}
        label = 'Object{metadata: Object.metadata{labels: {"%s": "yes"}}}' % name
        made = [
            self._make("v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", name,
                       {"matchConstraints": constraints, "validations": [{"expression": "false"}]}),
            self._make(self.mutating, "mutatingadmissionpolicies", "MutatingAdmissionPolicy", name,
                       {"matchConstraints": constraints, "reinvocationPolicy": "Never", "mutations": [
                           {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": label}}]}),
            self._make("v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", name,
                       {"policyName": name, "validationActions": ["Warn"]}),
            self._make(self.mutating, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", name,
                       {"policyName": name}),
        ]
        probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settled"}}
        deadline = time.monotonic() + 60
        while True:
            _, headers, text = self.send("POST", "/api/v1/namespaces/%s/configmaps?dryRun=All" % namespace,
                                         json.dumps(probe), {"Content-Type": "application/json"})
            if '"%s":"yes"' % name in text and any("'%s'" % name in one for one in headers.get_all("Warning", [])):
                break
            if time.monotonic() > deadline:
                raise Failure("policies are not in effect after a minute: " + text)
            time.sleep(0.02)
        for path in made:
            self.send("DELETE", path)
        time.sleep(pause)
