#!/usr/bin/env python3
"""A standalone server whose authorizers stand in a file, two webhooks and its roles; and admission
webhooks that want to know who calls.

usage: authorization.py --server SAMPLE_APISERVER

All webhooks are one server of this script's own. Exits 1 and names each failed check.
"""

import argparse
import base64
import http.server
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from certificates import Authority
from front_proxy import RBAC, Checker, Client
from servers import Server, wait_until

FLUNDERS = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders"
ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NO_OPINION = {"allowed": False}


class Webhooks(http.server.BaseHTTPRequestHandler):
    """Answers each path with what `statuses` has for it: a status, or a code. Keeps who asked what."""

    statuses, asked = {}, []

    def log_message(self, *_):
        pass

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.split("?")[0]
        certificate = self.connection.getpeercert() or {}
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
        Webhooks.asked.append((path, self.headers.get("Authorization"), names, review))
        status = Webhooks.statuses.get(path, 500)
        answer = {"kind": review["kind"], "apiVersion": review["apiVersion"]}
        if path == "/admit":
            answer["response"] = {"uid": review["request"]["uid"], "allowed": True}
            status = 200
        elif isinstance(status, dict):
            answer["status"], status = status, 200
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @classmethod
    def paths(cls):
        """Who was asked since the last time."""
        asked, cls.asked = cls.asked, []
        return [path for path, *_ in asked]


class Scene:
    """The webhooks, what describes them, and a server that asks them."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.hooks, self.callers = Authority(folder, "hooks"), Authority(folder, "callers")
        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhooks)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.hooks.sign("hooks", names=("DNS:localhost",)))
        context.load_verify_locations(self.callers.certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
        self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True)
        self.place = "localhost:%d" % self.listener.server_port
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        self.write("tokens.csv", "of-jane,jane,1\n")
        self.token = self.write("token", "of-the-server\n")
        certificate, key = self.callers.sign("the-server")
        self.kubeconfigs = {
            "first": self.kubeconfig("first", {"client-certificate": certificate, "client-key": key}),
            "second": self.kubeconfig("second", {"tokenFile": self.token})}
        self.server = None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        return path

    def kubeconfig(self, name, user):
        return self.write(name + ".kubeconfig", {
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": {"server": "https://%s/%s" % (self.place, name),
                                                   "certificate-authority": self.hooks.certificate}}],
            "users": [{"name": "u", "user": user}]})

    def webhook(self, name, policy, **more):
        return {"type": "Webhook", "name": name, "webhook": {
            "timeout": "30s", "subjectAccessReviewVersion": "v1", "failurePolicy": policy,
            "cacheAuthorizedRequests": False, "cacheUnauthorizedRequests": False,
            "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": self.kubeconfigs[name]}, **more}}

    def config(self, *authorizers):
        return self.write("authorization.json", {
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration",
            "authorizers": list(authorizers)})

    def start(self, *flags):
        folder = os.path.join(self.folder, "data")
        os.makedirs(folder, exist_ok=True)
        self.server = Server(self.args.server, "memory", folder,
                             flags=("--token-auth-file=" + os.path.join(self.folder, "tokens.csv"), *flags))
        self.server.start()
        text = open(self.server.kubeconfig).read()
        ca = self.write("server-ca.pem", base64.b64decode(
            re.search(r'authority-data: "?([^"\n]+)', text).group(1)).decode())
        self.client = Client(int(re.search(r"server: \"?https://[^:]+:(\d+)", text).group(1)), ca)
        self.admin = [("Authorization", "Bearer " + re.search(r'token: "?([^"\n]+)', text).group(1))]
        self.jane = [("Authorization", "Bearer of-jane")]

    def stop(self):
        self.server.stop(signal.SIGTERM)

    def refusal(self, *flags):
        """The line that stops the start."""
        said = subprocess.run([self.args.server, "--storage=memory", "--secure-port=0", "--data-dir=" + self.folder,
                               *flags], capture_output=True, timeout=120)
        return said.returncode, said.stderr.decode().strip().splitlines()[-1]


def webhooks_decide(t, scene):
    condition = "!has(request.nonResourceAttributes) || request.nonResourceAttributes.path != '/excluded'"
    config = scene.config(scene.webhook("first", "NoOpinion"),
                          scene.webhook("second", "Deny", matchConditionSubjectAccessReviewVersion="v1",
                                        matchConditions=[{"expression": condition}]),
                          {"type": "RBAC", "name": "rbac"})
    scene.start("--authorization-config=" + config)
    get = lambda: scene.client.call(FLUNDERS, scene.jane)
    decide = lambda first, second: Webhooks.statuses.update({"/first": first, "/second": second})

    decide({"allowed": False, "denied": True, "reason": "not on Sundays"}, {"allowed": True})
    got = get()
    t.forbidden(got, "jane", "the first webhook denies")
    t.check(got[1]["message"].endswith(": not on Sundays"), "with its reason", got)
    path, authorization, names, review = Webhooks.asked[0]
    t.check(names == ["the-server"] and not authorization, "who asks it has a certificate", (names, authorization))
    t.check(review["spec"]["user"] == "jane" and review["spec"]["resourceAttributes"]["resource"] == "flunders",
            "it is told what jane wants", review)
    t.check(Webhooks.paths() == ["/first"], "the second is not asked")

    decide(NO_OPINION, {"allowed": True})
    t.allowed(get(), "the second allows what the first does not know")
    t.check(Webhooks.asked[-1][1] == "Bearer of-the-server", "who asks it has a token of a file", Webhooks.asked[-1])
    t.check(Webhooks.paths() == ["/first", "/second"], "in their order")
    got = scene.client.call("/excluded", scene.jane)
    t.check(got[0] == 403 and Webhooks.paths() == ["/first"], "a match condition keeps a request from the second", got)

    decide(NO_OPINION, NO_OPINION)
    t.forbidden(get(), "jane", "nobody allows")
    scene.client.call(RBAC + "/clusterroles", scene.admin, "POST", {"metadata": {"name": "reader"}, "rules": [
        {"apiGroups": ["wardle.example.com"], "resources": ["flunders"], "verbs": ["list"]}]})
    scene.client.call(RBAC + "/clusterrolebindings", scene.admin, "POST", {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
    wait_until(lambda: get()[0] == 200, "a role allows")
    t.allowed(get(), "a role allows what no webhook does")

    decide(500, NO_OPINION)
    t.allowed(get(), "a webhook that fails open is passed over")
    decide(NO_OPINION, 400)
    got = get()
    t.forbidden(got, "jane", "a webhook that fails closed denies, whatever the roles say")
    got = scene.client.call("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", scene.admin, "POST", {
        "spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}})
    t.check(got[0] == 201 and got[1]["status"]["allowed"], "system:masters may everything all the same", got)
    counts(t, scene.client.call("/metrics", scene.admin)[1])
    scene.stop()


def counts(t, text):
    for series in ('decisions_total{type="Webhook",name="first",decision="denied"} 1',
                   'decisions_total{type="Webhook",name="second",decision="allowed"} 1',
                   'decisions_total{type="RBAC",name="rbac",decision="allowed"}',
                   'webhook_evaluations_total{name="first",result="success"}',
                   'webhook_evaluations_total{name="second",result="error"} 1',
                   'webhook_duration_seconds_count{name="first",result="error"}',
                   'webhook_evaluations_fail_open_total{name="first",result="error"} 1',
                   'match_condition_exclusions_total{type="Webhook",name="second"} 1',
                   'match_condition_evaluation_seconds_count{type="Webhook",name="second"}',
                   'config_controller_last_config_info{'):
        t.check("\napiserver_authorization_" + series in text, "/metrics has " + series,
                [line for line in text.splitlines() if "_authorization_" in line])


def wrong_starts(t, scene):
    flag = "--authorization-config=" + scene.config({"type": "RBAC", "name": "rbac"})
    excluded = "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* " \
               "flags are defined; leave out "
    for other in ("--authorization-mode=RBAC", "--authorization-webhook-cache-authorized-ttl=1s",
                  "--authorization-webhook-cache-unauthorized-ttl=1s"):
        code, line = scene.refusal(flag, other)
        t.check(code != 0 and excluded + other.split("=")[0] in line, "not with " + other, line)
    code, line = scene.refusal(flag, "--authorization-kubeconfig=/x")
    t.check(code != 0 and "--authorization-config can not be specified when --authorization-kubeconfig" in line,
            "not with a cluster", line)
    for what, words, authorizers in (
            ("a match condition", "matchConditions[0].expression: Invalid value: \"request.who == 'x'\": compilation failed: ",
             [scene.webhook("first", "Deny", matchConditionSubjectAccessReviewVersion="v1",
                            matchConditions=[{"expression": "request.who == 'x'"}])]),
            ("Node", "authorizers[0].type is Node, which this server does not have", [{"type": "Node", "name": "node"}]),
            ("nobody", "authorizers: Required value: at least one authorization mode must be defined", [])):
        path = scene.config(*authorizers)
        code, line = scene.refusal("--authorization-config=" + path)
        t.check(code == 1 and path in line and "line 1: " in line and words in line, what + " stops the start", line)


def admission_webhooks(t, scene):
    certificate, key = scene.callers.sign("admission")
    kubeconfig = scene.write("admission.kubeconfig", {"users": [
        {"name": scene.place, "user": {"client-certificate": certificate, "client-key": key, "tokenFile": scene.token}},
        {"name": "*", "user": {"token": "for-others"}}]})

    def config(name, **says):
        return "--admission-control-config-file=" + scene.write(name, {
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": [{
                "name": "ValidatingAdmissionWebhook", "configuration": {
                    "apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration", **says}}]})

    scene.start(config("admission.json", kubeConfigFile=kubeconfig))
    got = scene.client.call(ADMISSION, scene.admin, "POST", {"metadata": {"name": "hooks"}, "webhooks": [{
        "name": "admit.hooks.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://%s/admit" % scene.place,
                         "caBundle": base64.b64encode(scene.hooks.pem().encode()).decode()},
        "rules": [{"operations": ["CREATE"], "apiGroups": ["wardle.example.com"], "apiVersions": ["v1alpha1"],
                   "resources": ["flunders"]}]}]})
    t.check(got[0] == 201, "a webhook is registered", got)
    Webhooks.paths()
    deadline = time.monotonic() + 60
    while not Webhooks.asked and time.monotonic() < deadline:
        got = scene.client.call(FLUNDERS + "?dryRun=All", scene.admin, "POST", {
            "metadata": {"name": "a"}, "spec": {"reference": "x"}})
    t.check(got[0] == 201, "it admits", got)
    asked = [(authorization, names) for path, authorization, names, _ in Webhooks.asked if path == "/admit"]
    t.check(asked and asked[0] == ("Bearer of-the-server", ["admission"]),
            "it knows who calls by certificate and token", asked)
    scene.stop()

    bad = scene.write("bad.kubeconfig", {"users": [{"name": "*", "user": {"exec": {"command": "x"}}}]})
    code, line = scene.refusal(config("bad.json", kubeConfigFile=bad))
    t.check(code == 1 and bad + ": kubeconfig: exec: credential plug-ins are not supported" in line,
            "a plug-in stops the start", line)
    code, line = scene.refusal(config("relative.json", kubeConfigFile="x"))
    t.check(code == 1 and "relative.json: line 1: kubeConfigFile" in line and "must be an absolute file path" in line,
            "so does a relative path", line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(args, folder)
        try:
            for part in (webhooks_decide, wrong_starts, admission_webhooks):
                part(t, scene)
        finally:
            if scene.server and scene.server.process.poll() is None:
                scene.stop()
            scene.listener.shutdown()
            log = os.path.join(folder, "data", "server.log")
            if t.failures and os.path.exists(log):
                print(open(log).read()[-3000:], file=sys.stderr)
    print("authorization: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures or not t.checks else 0


if __name__ == "__main__":
    sys.exit(main())
