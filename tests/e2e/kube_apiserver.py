#!/usr/bin/env python3
"""The kube-apiserver of examples/, as it starts without flags: what it makes for its cluster, tokens of service
accounts, and how it ends.

usage: kube_apiserver.py --server BINARY [--kubectl BINARY]

Looks at the start on an empty store of its own, at what is there once it is ready, at a second start in the same
folder, at one after kill -9, at SIGTERM with watches open and with streams of pods, and at one with --runtime-config.
Exits 1 and names each failed check.
"""

import argparse
import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time

import held_streams
from checker import Checker
from kubectl_checks import Kubectl
from servers import Server, free_port, wait_until

DEFAULT = "/api/v1/namespaces/default/"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
GROUPS = ("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
          "authorization.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "flowcontrol.apiserver.k8s.io",
          "rbac.authorization.k8s.io")
REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
# Twice what a start takes: a machine whose memory others use takes that long now and then.
CPU_SECONDS_MAX = 0.6
RSS_BYTES_MAX = 60_000_000
GRACE_SECONDS = 10  # Of the server it is four; others may use the machine.
WATCHES = 100
STREAMS_OF_EACH_WAY = 10


class Api:
    """The administrator of a kubeconfig, or the bearer of another token."""

    def __init__(self, kubeconfig):
        text = open(kubeconfig).read()
        self.port = int(re.search(r'server: "https://[^"]*:(\d+)"', text).group(1))
        self.token = re.search(r'token: "([^"]+)', text).group(1)
        authority = base64.b64decode(re.search(r"authority-data: (\S+)", text).group(1)).decode()
        self.context = ssl.create_default_context(cadata=authority)

    def open(self, path, token=None, method="GET", body=None, accept="application/json"):
        """The answer, whose body is not read yet."""
        link = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=120)
        headers = {"Authorization": "Bearer " + (token or self.token), "Content-Type": "application/json",
                   "Accept": accept}
        link.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        answer = link.getresponse()
        answer.link = link  # Open for as long as the answer.
        return answer

    def call(self, method, path, body=None, token=None, accept="application/json"):
        answer = self.open(path, token, method, body, accept)
        text = answer.read().decode()
        answer.link.close()
        return answer.status, text


def cost(pid):
    """The seconds of CPU and the bytes of memory of a process."""
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    rss = re.search(r"VmRSS:\s+(\d+) kB", open("/proc/%d/status" % pid).read()).group(1)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), int(rss) << 10


def start(server):
    server.start()
    return Api(server.kubeconfig)


def first_starts(t, binary, folder):
    """What a start in an empty folder takes: the least of five, as what others on the machine add to its
    time is not its own."""
    least = [float("inf"), float("inf")]
    for i in range(5):
        place = os.path.join(folder, "first-%d" % i)
        os.mkdir(place)
        server = Server(binary, "rocks", place)
        server.start()
        least = [min(pair) for pair in zip(least, cost(server.process.pid))]
        server.stop()
    seconds, rss = least
    print("ready after %.2f s of CPU, with %.1f MB" % (seconds, rss / 1e6))
    t.check(seconds <= CPU_SECONDS_MAX, "ready within %.1f s" % CPU_SECONDS_MAX, seconds)
    t.check(rss <= RSS_BYTES_MAX, "at most %d MB" % (RSS_BYTES_MAX // 1_000_000), rss)


def found(api, path, part):
    code, text = api.call("GET", path)
    return code == 200 and part in text


def cluster(t, api):
    code, text = api.call("GET", "/api/v1/namespaces")
    names = sorted(each["metadata"]["name"] for each in json.loads(text)["items"])
    t.check(names == ["default", "kube-node-lease", "kube-public", "kube-system"], "the system namespaces", names)
    known = {"%s/v1" % group for group in GROUPS}
    t.check(all_versions(api) == known, "stable versions alone", all_versions(api) ^ known)
    wait_until(lambda: found(api, SLICE, '"addresses"'), "the endpoints of the service kubernetes")
    service = json.loads(api.call("GET", DEFAULT + "services/kubernetes")[1])
    t.check(service["spec"]["clusterIP"] == "10.0.0.1", "the first cluster IP", service)
    endpoints = json.loads(api.call("GET", DEFAULT + "endpoints/kubernetes")[1])
    port = endpoints["subsets"][0]["ports"][0]
    t.check(port["name"] == "https" and port["port"] == api.port, "the port of the server", endpoints)
    wait_until(lambda: found(api, LEASES, "holderIdentity"), "the Lease of the server")
    leases = json.loads(api.call("GET", LEASES)[1])["items"]
    t.check(len(leases) == 1 and re.fullmatch("apiserver-[a-z2-7]{26}", leases[0]["metadata"]["name"]),
            "the Lease of the server", leases)
    text = api.call("GET", "/readyz?verbose")[1]
    for hook in ("start-system-namespaces-controller", "bootstrap-controller", "rbac/bootstrap-roles",
                 "start-kube-apiserver-identity-lease-controller", "start-cluster-authentication-info-controller",
                 "start-kube-apiserver-identity-lease-garbage-collector", "kube-apiserver-autoregistration",
                 "start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced",
                 "apiservice-openapi-controller", "apiservice-openapiv3-controller"):
        t.check("[+]poststarthook/%s ok" % hook in text, "the hook " + hook, text)
    t.check("[+]autoregister-completion ok" in text, "the built-in APIServices are available", text)


def events(t, api):
    """--event-ttl, and validation in upstream's words."""
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "Started",
             "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}
    code, text = api.call("POST", DEFAULT + "events", event)
    t.check(code == 201, "an event", text)
    wait_until(lambda: api.call("GET", DEFAULT + "events/e")[0] == 404, "the end of the event")
    event["involvedObject"]["namespace"] = "other"
    code, text = api.call("POST", DEFAULT + "events", event)
    t.check(code == 422 and "does not match event.namespace" in text, "an event of another namespace", text)


def tokens(t, api):
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}}
    for path, body in (("serviceaccounts", account), ("secrets", secret)):
        code, text = api.call("POST", DEFAULT + path, body)
        t.check(code == 201, "create one of " + path, text)

    def token(spec):
        code, text = api.call("POST", DEFAULT + "serviceaccounts/robot/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        t.check(code == 201, "a token for %s" % spec, text)
        return json.loads(text)["status"]["token"]

    def who(bearer):
        code, text = api.call("POST", REVIEW, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
                              token=bearer)
        return json.loads(text)["status"]["userInfo"]["username"] if code == 201 else code

    robot = "system:serviceaccount:default:robot"
    plain = token({})
    bound = token({"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "key"}})
    t.check(who(plain) == robot and who(bound) == robot, "the tokens are believed", (who(plain), who(bound)))
    code, text = api.call("POST", DEFAULT + "pods", {
        "metadata": {"name": "holder"}, "spec": {"serviceAccountName": "robot",
                                                 "containers": [{"name": "c", "image": "i"}]}})
    t.check(code == 201, "a pod", text)
    of_pod = token({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "holder"}})
    t.check(who(of_pod) == robot, "the token of a pod is believed", who(of_pod))
    api.call("DELETE", DEFAULT + "pods/holder?gracePeriodSeconds=0")
    t.check(who(of_pod) == 401, "a token ends with its pod", who(of_pod))
    t.check(who(token({"audiences": ["other"]})) == 401, "a token for another audience is refused")
    code, text = api.call("GET", "/.well-known/openid-configuration", token=plain)
    issuer = json.loads(text)
    t.check(code == 200 and issuer["issuer"] == "https://kubernetes.default.svc.cluster.local", "the issuer", text)
    code, text = api.call("GET", "/openid/v1/jwks", token=plain)
    t.check(code == 200 and len(json.loads(text)["keys"]) == 1, "the keys of the issuer", text)
    api.call("DELETE", DEFAULT + "secrets/key")
    t.check(who(bound) == 401 and who(plain) == robot, "a token ends with its secret", (who(bound), who(plain)))
    return plain, who


def all_versions(api):
    """The group versions that discovery lists."""
    groups = json.loads(api.call("GET", "/apis")[1])["groups"]
    return {each["groupVersion"] for group in groups for each in group["versions"]}


def documents(api):
    """What names group versions: the legacy and the aggregated discovery, OpenAPI, the index."""
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    texts = [api.call("GET", path)[1] for path in ("/apis", "/openapi/v2", "/openapi/v3", "/")]
    return texts + [api.call("GET", "/apis", accept=accept)[1]]


def refuses(t, binary, folder, config, words):
    """A server that does not start with a runtime config, and says why."""
    ended = subprocess.run([binary, "--secure-port=0", "--storage=memory", "--data-dir=" + folder,
                            "--runtime-config=" + config], capture_output=True, text=True, timeout=60)
    t.check(ended.returncode == 1 and "error: " + words in ended.stderr, "refuses " + config, ended.stderr[-500:])


def ends_while_it_starts(t, binary, folder):
    """SIGTERM while hooks wait for what will never be there."""
    log = os.path.join(folder, "start.log")
    with subprocess.Popen([binary, "--secure-port=0", "--storage=memory", "--data-dir=" + folder,
                           "--runtime-config=v1=false"], stdout=subprocess.DEVNULL, stderr=open(log, "w")) as server:
        try:
            wait_until(lambda: "serving" in open(log).read(), "the server listens")
            server.send_signal(signal.SIGTERM)
            code = server.wait(timeout=30)
        finally:
            server.kill()
    t.check(code == 0, "SIGTERM ends a server that starts", open(log).read()[-500:])


def runtime_config(t, binary, folder):
    """--runtime-config: what is disabled is not served, nor in any document."""
    ends_while_it_starts(t, binary, folder)
    refuses(t, binary, folder, "api/all=false,flowcontrol.apiserver.k8s.io/v1=true",
            "API group/version apiregistration.k8s.io/v1 must be enabled")
    refuses(t, binary, folder, "apps/v1=true,nothing.io/v1=true", "unknown api groups apps/v1,nothing.io/v1")
    refuses(t, binary, folder, "discovery.k8s.io/v9=true",
            "group version discovery.k8s.io/v9 that has not been registered")
    off = "discovery.k8s.io/v1=false,coordination.k8s.io/v1/leases=false,admissionregistration.k8s.io/v1beta1=true"
    server = Server(binary, "memory", folder, flags=("--runtime-config=" + off, "--event-ttl=0"))
    try:
        api = start(server)
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
                 "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}
        code, text = api.call("POST", DEFAULT + "events", event)
        t.check(code == 201 and api.call("GET", DEFAULT + "events/e")[0] == 200, "an event without an end", text)
        versions = all_versions(api)
        t.check("discovery.k8s.io/v1" not in versions, "a disabled version is not in /apis", versions)
        t.check("admissionregistration.k8s.io/v1beta1" in versions, "a beta version is, if it is enabled", versions)
        for text in documents(api):
            t.check("discovery.k8s.io/v1" not in text, "a document without the version", text[:200])
        for path in ("/apis/discovery.k8s.io", "/apis/discovery.k8s.io/v1", SLICE, LEASES):
            code, text = api.call("GET", path)
            t.check(code == 404, "404 for " + path, text)
        services = "/apis/apiregistration.k8s.io/v1/apiservices/"
        wait_until(lambda: api.call("GET", services + "v1.authentication.k8s.io")[0] == 200, "APIServices")
        code, text = api.call("GET", services + "v1.discovery.k8s.io")
        t.check(code == 404, "no APIService of the version", text)
        code, text = api.call("GET", "/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies")
        t.check(code == 200, "the beta version", text)
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                      "metadata": {"name": "cups.shop.example.com"},
                      "spec": {"group": "shop.example.com", "scope": "Cluster",
                               "names": {"plural": "cups", "kind": "Cup"},
                               "versions": [{"name": "v1beta1", "served": True, "storage": True,
                                             "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
        code, text = api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        t.check(code == 201, "a definition", text)
        wait_until(lambda: api.call("GET", "/apis/shop.example.com/v1beta1/cups")[0] == 200, "what is defined is served")
        t.check(server.stop() == 0, "and ends with exit code 0")
    finally:
        if server.process and server.process.poll() is None:
            server.stop(signal.SIGKILL)


def namespace_ends(t, server, folder, binary):
    """A namespace that kubectl deletes stays, and takes nothing new, until whoever empties it finalizes it."""
    kubectl = Kubectl(binary, server.kubeconfig, folder)

    def says(text, *args, code=0, stdin=None):
        ended = kubectl.run(*args, stdin=stdin)
        printed = ended.stdout + ended.stderr
        t.check(ended.returncode == code and text in printed, "kubectl %s: %s" % (" ".join(args), text), printed)
        return ended.stdout

    says("namespace/gone created", "create", "namespace", "gone")
    says("Active", "get", "namespace", "gone")
    says('namespace "gone" deleted', "delete", "namespace", "gone", "--wait=false")
    says("Terminating", "get", "namespace", "gone")
    says("because it is being terminated", "create", "configmap", "late", "--namespace=gone", code=1)
    one = json.loads(says('"kubernetes"', "get", "namespace", "gone", "--output=json"))
    one["spec"] = {}
    says('"phase":"Terminating"', "replace", "--raw", "/api/v1/namespaces/gone/finalize", "-f", "-", stdin=json.dumps(one))
    says('namespaces "gone" not found', "get", "namespace", "gone", code=1)


def ends_with_watches(t, server, api):
    """SIGTERM while clients follow the namespaces."""
    links = [api.open("/api/v1/namespaces?watch=true") for _ in range(WATCHES)]
    begin = time.monotonic()
    code = server.stop()
    seconds = time.monotonic() - begin
    for link in links:
        link.close()
        link.link.close()
    print("SIGTERM with %d watches: %.2f s" % (WATCHES, seconds))
    t.check(code == 0, "SIGTERM ends the server with exit code 0", code)
    t.check(seconds < GRACE_SECONDS, "within its grace", seconds)


def streams_of_clients_that_go(t, server, api, kubelet, ways):
    """Nothing is left of streams whose clients have gone."""
    before = held_streams.descriptors(server)
    for path, headers in ways:
        client = held_streams.Client(api, path, headers)
        t.check(client.began(), "a stream of " + path, client.head)
        client.link.close()
    wait_until(lambda: kubelet.open == 0, "the streams of clients that went end")
    wait_until(lambda: held_streams.descriptors(server) <= before, "their descriptors are closed")


def ends_with_streams(t, server, api, kubelet, ways, clients_read):
    """SIGTERM while clients hold streams of a pod, and close them when they are told to."""
    clients = [held_streams.Client(api, *way) for way in ways]
    t.check(all(client.began() for client in clients), "streams of each way", [client.head for client in clients])
    wait_until(lambda: kubelet.open == len(clients), "the kubelet has the streams")
    if clients_read:
        for client in clients:
            client.follow()
    begin = time.monotonic()
    code = server.stop()
    seconds = time.monotonic() - begin
    what = "%d streams that are %s" % (len(clients), "read" if clients_read else "not read")
    print("SIGTERM with %s: %.2f s" % (what, seconds))
    t.check(code == 0, "SIGTERM ends the server with exit code 0, with " + what, code)
    t.check(seconds < GRACE_SECONDS, "within its grace, with " + what, seconds)
    if not clients_read:
        for client in clients:
            client.follow()
    t.check(all(client.ended() for client in clients), "every client is told the end, with " + what)
    wait_until(lambda: kubelet.open == 0, "the kubelet is told the end of all streams")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        runtime_config(t, args.server, folder)
    with tempfile.TemporaryDirectory() as folder:
        # Of one that is killed the endpoints keep the port.
        server = Server(args.server, "rocks", folder, flags=("--secure-port=%d" % free_port(), "--event-ttl=2s"))
        log = os.path.join(folder, "server.log")
        stale = "Error removing old endpoints from kubernetes service"  # It was the only server.
        try:
            first_starts(t, args.server, folder)
            api = start(server)
            cluster(t, api)
            events(t, api)
            plain, who = tokens(t, api)
            namespace_ends(t, server, folder, args.kubectl)
            ends_with_watches(t, server, api)
            t.check(stale not in open(log).read(), "nothing is left of the server")

            api = start(server)
            cluster(t, api)
            plain, who = (plain, lambda bearer: api.call("GET", "/api", token=bearer)[0])
            t.check(who(plain) == 200, "the token is good after a restart", who(plain))
            server.stop(signal.SIGKILL)
            t.check(stale not in open(log).read(), "nothing was left of the first server")

            api = start(server)
            cluster(t, api)
            t.check(stale in open(log).read(), "a server that was killed has left its lease")
            kubelet = held_streams.Kubelet(folder)
            pod = held_streams.start_pod(t, api, kubelet.port)
            ways = held_streams.streams(pod)
            streams_of_clients_that_go(t, server, api, kubelet, ways)
            ends_with_streams(t, server, api, kubelet, ways * STREAMS_OF_EACH_WAY, clients_read=True)
            t.check("still running" not in open(log).read(), "streams that are read end before the grace")

            api = start(server)
            floods = [held_streams.flood(pod)] * STREAMS_OF_EACH_WAY
            ends_with_streams(t, server, api, kubelet, floods, clients_read=False)
        finally:
            if server.process and server.process.poll() is None:
                server.stop(signal.SIGKILL)
            if t.failures:
                print(open(log).read()[-4000:])
    print("kube_apiserver: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
