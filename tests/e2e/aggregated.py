#!/usr/bin/env python3
"""A sample-apiserver, ours or Go's, behind the aggregator of a kube-apiserver of ours, used by kubectl.

usage: aggregated.py --cluster KUBE_APISERVER --server SAMPLE_APISERVER [--go] [--go-cluster]
                     [--given-proxy] [--kubectl KUBECTL]

With --go the sample-apiserver is that of k8s.io/sample-apiserver, with --go-cluster the kube-apiserver is
Kubernetes' own; both store in an etcd. With --given-proxy flags tell the kube-apiserver of ours the
certificate of its front proxy; the extension server is only used then.

The extension server is found by a Service and an APIService, both made by kubectl. It is listed,
explained, read, written and watched; it is killed, and comes back; its APIService flaps. Exits 1 and
names each failed check.
"""

import argparse
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import checker
from certificates import Authority
from servers import Etcd, Server, free_port, wait_until

DISCOVERED = "/apis/wardle.example.com/v1alpha1"


class GoCluster:
    """A kube-apiserver of Kubernetes, whose front proxy has a certificate."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.port = binary, folder, free_port()
        self.kubeconfig, self.process, self.etcd = os.path.join(folder, "kubeconfig"), None, Etcd(folder)

    def flags(self):
        proxies = Authority(self.folder, "proxies")
        pair = proxies.sign("front-proxy")
        key, tokens = os.path.join(self.folder, "sa.key"), os.path.join(self.folder, "tokens")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
        with open(tokens, "w") as file:
            file.write("admins,admin,1,system:masters\n")
        return ["--etcd-servers=" + self.etcd.url, "--secure-port=%d" % self.port, "--bind-address=127.0.0.1",
                "--cert-dir=" + self.folder, "--token-auth-file=" + tokens, "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key,
                "--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.96.0.0/24",
                "--requestheader-client-ca-file=" + proxies.certificate, "--proxy-client-cert-file=" + pair[0],
                "--proxy-client-key-file=" + pair[1], "--requestheader-allowed-names=front-proxy",
                "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-"]

    def start(self):
        self.process = subprocess.Popen([self.binary] + self.flags(), stdout=subprocess.DEVNULL,
                                        stderr=open(os.path.join(self.folder, "server.log"), "a"))
        certificate = os.path.join(self.folder, "apiserver.crt")
        wait_until(lambda: os.path.exists(certificate), "the cluster has a certificate")
        authority = base64.b64encode(open(certificate, "rb").read()).decode()
        with open(self.kubeconfig, "w") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:%d" % self.port,
                                                              "certificate-authority-data": authority}}],
                       "users": [{"name": "u", "user": {"token": "admins"}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, file)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=120)
        self.etcd.stop()
        return code


class Scene:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.serving = Authority(folder, "serving")
        self.pair = self.serving.sign("api", names=("DNS:localhost", "DNS:api.wardle.svc"))
        os.mkdir(os.path.join(folder, "cluster"))
        cluster = os.path.join(folder, "cluster")
        self.cluster = GoCluster(args.cluster, cluster) if args.go_cluster else \
            Server(args.cluster, "memory", cluster, flags=self.cluster_flags())
        self.cluster.start()
        self.process, self.etcd, self.port, self.starts = None, None, 0, 0

    def cluster_flags(self):
        flags = getattr(self.args, "cluster_flags", ())
        if not getattr(self.args, "given_proxy", False):
            return flags
        proxies = Authority(self.folder, "proxies")
        certificate, key = proxies.sign("the-front")
        return (*flags, "--proxy-client-cert-file=" + certificate, "--proxy-client-key-file=" + key,
                "--requestheader-client-ca-file=" + proxies.certificate, "--requestheader-allowed-names=the-front",
                "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-")

    def kubectl(self, *args, given=None):
        got = subprocess.run([self.args.kubectl, "--kubeconfig", self.cluster.kubeconfig,
                              "--cache-dir=" + os.path.join(self.folder, "cache"), *args],
                             input=given, capture_output=True, text=True, timeout=120)
        return got.returncode, got.stdout + got.stderr

    def apply(self, *objects):
        code, said = self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        if code:
            raise RuntimeError(said)

    def raw(self, path):
        code, said = self.kubectl("get", "--raw", path)
        return said if code == 0 else ""

    def start(self):
        """The extension server, on the port that it had before."""
        self.starts += 1
        log = os.path.join(self.folder, "extension-%d.log" % self.starts)
        kubeconfig = self.cluster.kubeconfig
        self.process = subprocess.Popen(
            [self.args.server, *self.storage(), "--secure-port=%d" % self.port, "--tls-cert-file=" + self.pair[0],
             "--tls-private-key-file=" + self.pair[1], "--authentication-kubeconfig=" + kubeconfig,
             "--authorization-kubeconfig=" + kubeconfig], stdout=subprocess.DEVNULL, stderr=open(log, "a"))
        port = lambda: re.search(r'(?:serving .*address="[^"]*|Serving securely on .*):(\d+)', open(log).read())
        wait_until(lambda: port() or self.process.poll() is not None, "the extension server serves")
        if self.process.poll() is not None:
            raise RuntimeError(open(log).read())
        self.port = int(port().group(1))

    def storage(self):
        if not self.args.go:
            return ["--no-standalone", "--storage=rocks", "--data-dir=" + os.path.join(self.folder, "data"),
                    "--kubeconfig=" + self.cluster.kubeconfig]
        self.port = self.port or free_port()
        self.etcd = self.etcd or Etcd(self.folder)
        return ["--etcd-servers=" + self.etcd.url, "--kubeconfig=" + self.cluster.kubeconfig]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def service(self, **spec):
        """The service: another name for this machine, as no EndpointSlice may have a loopback address."""
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "namespace": "wardle"},
                "spec": spec or {"type": "ExternalName", "externalName": "localhost"}}

    def api_service(self, version, port=None):
        return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
                "metadata": {"name": version + ".wardle.example.com"},
                "spec": {"group": "wardle.example.com", "version": version, "groupPriorityMinimum": 1000,
                         "versionPriority": 20 if version == "v1alpha1" else 15,
                         "service": {"name": "api", "namespace": "wardle", "port": port or self.port},
                         "caBundle": base64.b64encode(self.serving.pem().encode()).decode()}}

    def becomes(self, condition, version="v1alpha1", seconds=60):
        path = "jsonpath={.status.conditions[0].status}/{.status.conditions[0].reason}"
        wait_until(lambda: self.kubectl("get", "apiservice", version + ".wardle.example.com", "-o", path)[1]
                   .startswith(condition), "the APIService becomes " + condition, seconds)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=120)
        if self.etcd:
            self.etcd.stop()
        return self.cluster.stop()


class Checker(checker.Checker):
    def says(self, got, text, what):
        self.check(got[0] == 0 and text in got[1], what, got)


def flunder(name, reference="x"):
    return {"apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder",
            "metadata": {"name": name, "namespace": "default"}, "spec": {"reference": reference}}


def before(t, scene):
    """What a cluster has by itself."""
    wait_until(lambda: "ok" in scene.raw("/readyz"), "the cluster is ready")
    got = scene.kubectl("get", "apiservices")
    for name in ("v1.", "v1.coordination.k8s.io", "v1.apiextensions.k8s.io"):
        t.says(got, name + " ", "%s is registered" % name)
    t.check(" False" not in got[1], "all are available", got)
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    data = json.loads(scene.raw(path))["data"]
    t.check("BEGIN CERTIFICATE" in data["requestheader-client-ca-file"] and
            data["requestheader-username-headers"] == '["X-Remote-User"]', "extension servers are told", data)


def used(t, scene):
    t.says(scene.kubectl("api-resources"), "flunders", "api-resources")
    t.says(scene.kubectl("api-versions"), "wardle.example.com/v1beta1", "api-versions")
    scene.apply(flunder("one"))
    t.says(scene.kubectl("get", "flunders"), "one", "get")
    t.says(scene.kubectl("patch", "flunder", "one", "--type=merge", "-p", '{"spec":{"reference":"y"}}'), "patched",
           "patch")
    t.says(scene.kubectl("get", "flunder", "one", "-o", "jsonpath={.spec.reference}"), "y", "and it is")
    t.says(scene.kubectl("apply", "--server-side", "--field-manager=me", "--force-conflicts", "-f", "-",
                         given=json.dumps(flunder("one", "z"))), "serverside-applied", "apply")
    t.says(scene.kubectl("create", "-f", "-", "--dry-run=server", given=json.dumps(flunder("two"))), "created",
           "validated by the schema and not stored")
    got = scene.kubectl("create", "-f", "-", given=json.dumps({**flunder("three"), "unheard": 1}))
    t.check(got[0] != 0 and "unheard" in got[1], "an unknown field is refused", got)
    t.says(scene.kubectl("delete", "flunder", "one"), "deleted", "delete")


def documents(t, scene):
    wait_until(lambda: "wardle.example.com/v1alpha1" in scene.raw("/openapi/v3"), "OpenAPI v3 has it")
    index = json.loads(scene.raw("/openapi/v3"))["paths"]
    for path in ("apis/wardle.example.com/v1alpha1", "apis/wardle.example.com", "api/v1",
                 "apis/apiregistration.k8s.io/v1"):
        t.check(path in index, "OpenAPI v3 lists " + path, sorted(index))
    url = index["apis/wardle.example.com/v1alpha1"]["serverRelativeURL"]
    t.check("?hash=" in url and "Flunder" in scene.raw(url), "the document is there", url)
    wait_until(lambda: "v1alpha1.Flunder" in scene.raw("/openapi/v2"), "OpenAPI v2 has it")
    t.says(scene.kubectl("explain", "flunder.spec.reference"), "FIELD", "explain")
    swagger = json.loads(scene.raw("/openapi/v2"))
    t.check("/apis/wardle.example.com/v1alpha1/namespaces/{namespace}/flunders" in swagger["paths"] and
            "/api/v1/namespaces/{namespace}/services" in swagger["paths"], "OpenAPI v2 has both servers' paths")
    text = json.dumps(swagger)
    dangling = set(re.findall(r'"#/definitions/([^"]+)"', text)) - set(swagger["definitions"])
    t.check(not dangling, "every definition is there", dangling)
    # Go's definitions of meta/v1 are the same as ours, word by word.
    renamed = [each for each in swagger["definitions"] if each.endswith("_v2")]
    t.check(not renamed, "equal definitions are shared", renamed)


def obeyed(t, scene):
    """The extension server does what the cluster's namespaces, policies and webhooks say."""
    lost = flunder("lost")
    lost["metadata"]["namespace"] = "nowhere"
    got = scene.kubectl("create", "-f", "-", given=json.dumps(lost))
    t.check(got[0] != 0 and 'namespaces "nowhere" not found' in got[1], "nothing is created in a namespace that is not there", got)
    group = {"apiVersion": "admissionregistration.k8s.io/v1"}
    rule = {"apiGroups": ["wardle.example.com"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["flunders"]}
    scene.apply(
        {**group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-evil"},
         "spec": {"matchConstraints": {"resourceRules": [rule]},
                  "validations": [{"expression": "object.metadata.name != 'evil'", "message": "it is evil"}]}},
        {**group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no-evil"},
         "spec": {"policyName": "no-evil", "validationActions": ["Deny"]}},
        {**group, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "away"},
         "webhooks": [{"name": "away.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "rules": [rule],
                       "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                       "objectSelector": {"matchLabels": {"asked": "yes"}}}]})
    dry = lambda **metadata: scene.kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(
        {**flunder("x"), "metadata": {"namespace": "default", **metadata}}))[1]
    wait_until(lambda: "it is evil" in dry(name="evil"), "a policy of the cluster refuses", 60)
    wait_until(lambda: "away.example.com" in dry(name="good", labels={"asked": "yes"}), "a webhook of the cluster is asked", 60)
    t.check("created" in dry(name="good"), "and what neither minds is created", dry(name="good"))
    for name in ("validatingadmissionpolicybinding/no-evil", "validatingadmissionpolicy/no-evil",
                 "validatingwebhookconfiguration/away"):
        scene.kubectl("delete", name)
    wait_until(lambda: "created" in dry(name="evil"), "without the policy it is created", 60)


def watched(t, scene):
    """A watch goes through, and ends with its server."""
    log = os.path.join(scene.folder, "watch.log")
    watch = subprocess.Popen([scene.args.kubectl, "--kubeconfig", scene.cluster.kubeconfig, "get", "flunders",
                              "--watch", "-o", "name"], stdout=open(log, "w"), stderr=subprocess.DEVNULL)
    try:
        scene.apply(flunder("seen"))
        wait_until(lambda: "seen" in open(log).read(), "the watch sees it", 60)
        scene.kill()
        wait_until(lambda: watch.poll() is not None, "the watch ends", 60)
        t.check(True, "a watch")
    finally:
        watch.kill()
        watch.wait()


def killed(t, scene):
    """Nothing but its own requests fails without the extension server, whose documents stay known."""
    scene.becomes("False/FailedDiscoveryCheck")
    got = scene.kubectl("get", "flunders")
    t.check(got[0] != 0, "no answer", got)
    t.check("service unavailable" in scene.kubectl("get", "--raw", DISCOVERED + "/flunders")[1] or
            "ServiceUnavailable" in scene.kubectl("get", "--raw", DISCOVERED + "/flunders")[1], "503")
    t.says(scene.kubectl("get", "namespaces"), "default", "the rest answers")
    t.check("wardle.example.com/v1alpha1" in scene.raw("/openapi/v3"), "its documents stay listed")
    t.check("v1alpha1.Flunder" in scene.raw("/openapi/v2"), "and merged")
    begin = time.monotonic()
    scene.kubectl("api-resources")
    t.check(time.monotonic() - begin < 5, "discovery does not wait for it", time.monotonic() - begin)
    scene.start()
    scene.becomes("True/Passed")
    t.says(scene.kubectl("get", "flunders"), "seen", "what was stored is there again")


def flapping(t, scene):
    """The APIService goes and comes; what it leads to is there or not, and nothing else."""
    for turn in range(5):
        scene.kubectl("delete", "apiservice", "v1alpha1.wardle.example.com")
        wait_until(lambda: scene.raw(DISCOVERED) == "", "it is gone")
        scene.apply(scene.api_service("v1alpha1"))
        wait_until(lambda: "flunders" in scene.raw(DISCOVERED), "it is back")
    t.says(scene.kubectl("get", "flunders"), "seen", "after flapping")
    t.check("ok" in scene.raw("/readyz"), "ready all the time")


def by_slice(t, scene):
    """Instead of being another name, the service has an EndpointSlice, at whose address nobody is (RFC 5737)."""
    scene.apply({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                 "metadata": {"name": "api-1", "namespace": "wardle", "labels": {"kubernetes.io/service-name": "api"}},
                 "endpoints": [{"addresses": ["192.0.2.1"]}], "ports": [{"name": "https", "port": 443}]})
    service = scene.service(ports=[{"name": "https", "port": 443}])
    t.says(scene.kubectl("replace", "-f", "-", given=json.dumps(service)), "replaced", "the service has endpoints")
    scene.apply(scene.api_service("v1alpha1", port=443))
    scene.becomes("False/FailedDiscoveryCheck")
    scene.kubectl("delete", "endpointslice", "-n", "wardle", "api-1")
    scene.becomes("False/EndpointsNotFound")
    t.says(scene.kubectl("replace", "--validate=false", "-f", "-", given=json.dumps(scene.service())), "replaced",
           "the service becomes another name")  # kubectl 1.20 demands ports.
    scene.apply(scene.api_service("v1alpha1"))
    scene.becomes("True/Passed")
    t.says(scene.kubectl("get", "flunders.v1alpha1.wardle.example.com"), "seen", "by another name")


def told(t, scene):
    """Extension servers are told of the front proxy that flags tell of, and its authority signs no users."""
    code, said = scene.kubectl("get", "configmap", "-n", "kube-system", "extension-apiserver-authentication", "-o", "json")
    data = json.loads(said)["data"] if code == 0 else {}
    proxies = open(os.path.join(scene.folder, "proxies.pem"), encoding="ascii").read().strip()
    t.check(data.get("requestheader-client-ca-file", "").strip() == proxies, "the authority of front proxies", said)
    t.check(data.get("requestheader-allowed-names") == '["the-front"]', "the name of the front proxy", said)
    t.check(proxies not in data.get("client-ca-file", proxies), "the authorities of users", said)


def run(t, scene):
    before(t, scene)
    scene.start()
    scene.kubectl("create", "namespace", "wardle")
    scene.apply(scene.service(), scene.api_service("v1alpha1"), scene.api_service("v1beta1"))
    scene.becomes("True/Passed")
    scene.becomes("True/Passed", "v1beta1")
    used(t, scene)
    if scene.args.given_proxy:
        return told(t, scene)
    documents(t, scene)
    if not scene.args.go:
        obeyed(t, scene)
    watched(t, scene)
    killed(t, scene)
    flapping(t, scene)
    if not scene.args.go_cluster:
        by_slice(t, scene)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--server", required=True)
    parser.add_argument("--go", action="store_true")
    parser.add_argument("--go-cluster", action="store_true")
    parser.add_argument("--given-proxy", action="store_true")
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(args, folder)
        try:
            run(t, scene)
        finally:
            code = scene.stop()
    t.check(code == 0, "SIGTERM ends the cluster with exit code 0", code)
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
