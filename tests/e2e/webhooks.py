#!/usr/bin/env python3
"""Registers webhooks at a sample-apiserver with kubectl; the server behind them mutates, denies,
warns, fails and hangs.

usage: webhooks.py --server BINARY [--kubectl BINARY]

Exits 1 and names each failed check.
"""

import argparse
import base64
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from servers import Server

CONFIGURATIONS = "validatingwebhookconfigurations.admissionregistration.k8s.io"


class Hooks(http.server.BaseHTTPRequestHandler):
    """One path for each thing a webhook may do. What it was told is kept."""

    protocol_version = "HTTP/1.1"
    told = []
    release = threading.Event()

    def log_message(self, *_):
        pass

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        Hooks.told.append((self.path, request))
        response = {"uid": request["uid"], "allowed": True}
        path = self.path.split("?")[0]
        if path == "/label":
            patch = [{"op": "add", "path": "/metadata/labels", "value": {"touched": "yes"}}]
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        elif path == "/deny":
            response["allowed"] = "forbidden" not in request["name"]
            response["status"] = {"code": 403, "message": "not in this house"}
        elif path == "/warn":
            response["warnings"] = ["this one is on the house"]
        elif path == "/lie":
            response["uid"] = "another"
        elif path == "/hang":
            Hooks.release.wait(30)
        body = json.dumps({"kind": "AdmissionReview", "apiVersion": review["apiVersion"],
                           "response": response}).encode()
        if path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "/allow")
            body = b""
        else:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class HooksServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that gave up is what the test wants."""


def serve(folder):
    """The webhooks' server on a free port with a certificate of its own; port and CA."""
    certificate, key = os.path.join(folder, "hooks.pem"), os.path.join(folder, "hooks.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=hooks", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    server = HooksServer(("127.0.0.1", 0), Hooks)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1], open(certificate, "rb").read()


class Run:
    def __init__(self, kubectl, kubeconfig, port, authority):
        self.kubectl, self.kubeconfig, self.port, self.authority = (
            kubectl, kubeconfig, port, base64.b64encode(authority).decode())
        self.failed = 0

    def check(self, what, holds, shown=""):
        print("%s: %s" % ("ok" if holds else "FAILED", what), flush=True)
        if not holds:
            self.failed += 1
            print("  " + str(shown)[:2000], flush=True)

    def __call__(self, *args, text=None):
        done = subprocess.run([self.kubectl, "--kubeconfig", self.kubeconfig, *args], input=text,
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def webhook(self, path, **more):
        return {"name": path + ".hooks.example.com", "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://127.0.0.1:%d/%s" % (self.port, path),
                                 "caBundle": self.authority},
                "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["wardle.example.com"],
                           "apiVersions": ["v1alpha1"], "resources": ["flunders"]}], **more}

    def register(self, kind, *webhooks):
        text = json.dumps({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
                           "metadata": {"name": "hooks"}, "webhooks": list(webhooks)})
        return self("apply", "--validate=false", "-f", "-", text=text)

    def create(self, name, *args):
        text = json.dumps({"apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder",
                           "metadata": {"name": name}})
        return self("create", "--validate=false", "-f", "-", *args, text=text)

    def until(self, what, ask, wanted):
        """Webhooks are known within milliseconds, not at once."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            got = ask()
            if wanted(got):
                return self.check(what, True)
        self.check(what, False, got)


def checks(run):
    code, out = run.register("ValidatingWebhookConfiguration", run.webhook("deny"))
    run.check("kubectl creates a ValidatingWebhookConfiguration", code == 0, out)
    run.until("a webhook denies what it does not like",
              lambda: run.create("forbidden", "--dry-run=server"),
              lambda got: 'admission webhook "deny.hooks.example.com" denied the request: '
                          "not in this house" in got[1])
    code, out = run.create("welcome")
    run.check("it allows the rest", code == 0, out)
    code, out = run("get", CONFIGURATIONS)
    rows = [line.split() for line in out.splitlines()]
    run.check("its columns are NAME, WEBHOOKS and AGE",
              rows[0] == ["NAME", "WEBHOOKS", "AGE"] and rows[1][:2] == ["hooks", "1"], out)
    told = [request for path, request in Hooks.told if request["name"] == "welcome"]
    run.check("it is told who asks and with which options",
              told and told[-1]["userInfo"]["username"] == "admin"
              and told[-1]["options"]["kind"] == "CreateOptions", told)

    run.register("ValidatingWebhookConfiguration", run.webhook("warn"))
    run.until("a webhook's warning is shown by kubectl",
              lambda: run.create("warned", "--dry-run=server"),
              lambda got: "Warning: this one is on the house" in got[1])

    for path, words in (("lie", 'expected response.uid='),
                        ("redirect", "302")):
        run.register("ValidatingWebhookConfiguration", run.webhook(path))
        run.until("a webhook that answers with a %s fails the request" % path,
                  lambda: run.create("lied", "--dry-run=server"),
                  lambda got, w=words, p=path: got[0] != 0 and w in got[1] and
                  'failed calling webhook "%s.hooks.example.com"' % p in got[1])
    run.check("a redirect is not followed",
              not [path for path, _ in Hooks.told if path.startswith("/allow")], Hooks.told)

    run.register("ValidatingWebhookConfiguration", run.webhook("hang", timeoutSeconds=1))
    run.until("a webhook that hangs fails the request after its timeout",
              lambda: run.create("hung", "--dry-run=server"),
              lambda got: got[0] != 0 and "context deadline exceeded" in got[1])
    run.register("ValidatingWebhookConfiguration",
                 run.webhook("hang", timeoutSeconds=1, failurePolicy="Ignore"))
    run.until("unless its failurePolicy is Ignore",
              lambda: run.create("ignored", "--dry-run=server"), lambda got: got[0] == 0)
    Hooks.release.set()

    code, out = run.register("ValidatingWebhookConfiguration",
                             {**run.webhook("deny"), "clientConfig": {"url": "http://127.0.0.1/x"}})
    run.check("a URL without TLS is refused",
              code != 0 and "'https' is the only allowed URL scheme" in out, out)
    code, out = run("delete", CONFIGURATIONS, "hooks")
    run.check("kubectl deletes the configuration", code == 0, out)
    code, out = run.register("MutatingWebhookConfiguration", run.webhook("label"))
    run.check("kubectl creates a MutatingWebhookConfiguration", code == 0, out)
    run.until("a webhook labels what is created",
              lambda: run.create("labelled", "--dry-run=server", "-o", "json"),
              lambda got: '"touched": "yes"' in got[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    args = parser.parse_args()
    if not args.kubectl:
        print("FAILED: no kubectl in $PATH")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        port, authority = serve(folder)
        server = Server(args.server, "memory", folder)
        server.start()
        try:
            run = Run(args.kubectl, server.kubeconfig, port, authority)
            checks(run)
        finally:
            stopped = server.stop()
        run.check("SIGTERM ends the server with exit code 0", stopped == 0, stopped)
        if run.failed:
            print(open(os.path.join(folder, "server.log")).read()[-4000:], file=sys.stderr)
        return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
