#!/usr/bin/env python3
"""A sample-apiserver behind an aggregator: its users come through a front proxy with a certificate.

usage: front_proxy.py --cluster E2E_SERVER --server SAMPLE_APISERVER

The cluster is a server of ours that has the ConfigMap extension-apiserver-authentication and answers
TokenReviews and SubjectAccessReviews by its own roles. Exits 1 and names each failed check.
"""

import argparse
import base64
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

from certificates import Authority
from servers import Server, wait_until

FLUNDERS = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders"
AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Client:
    """Requests over TLS, with a client certificate or none, and any headers at all."""

    def __init__(self, port, ca, pair=None, host="localhost"):
        self.port, self.host = port, host
        self.context = ssl.create_default_context(cafile=ca)
        if pair:
            self.context.load_cert_chain(*pair)

    def call(self, path, headers=(), method="GET", body=None):
        """Code and the answer's JSON, or its text."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=self.context)
        connection.sock = self.context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), timeout=120), server_hostname=self.host)
        connection.putrequest(method, path)
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None:
            text = json.dumps(body).encode()
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(len(text)))
        connection.endheaders()
        if body is not None:
            connection.send(text)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text


class Cluster:
    """A server whose roles decide, and where the ConfigMap stands."""

    def __init__(self, binary, folder):
        # Whom the doctor is asked about.
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w") as file:
            file.write("of-knows,knows,1\nof-judges,judges,2\n")
        self.server = Server(binary, "memory", folder, flags=("--token-auth-file=" + tokens,))
        self.server.start()
        text = open(self.server.kubeconfig).read()
        self.port = int(re.search(r"server: \"?https://[^:]+:(\d+)", text).group(1))
        self.token = re.search(r'token: "?([^"\n]+)', text).group(1)
        ca = os.path.join(folder, "cluster-ca.pem")
        with open(ca, "wb") as file:
            file.write(base64.b64decode(re.search(r'authority-data: "?([^"\n]+)', text).group(1)))
        self.client = Client(self.port, ca)
        self.admin = [("Authorization", "Bearer " + self.token)]

    def make(self, path, body):
        code, said = self.client.call(path, self.admin, "POST", body)
        if code not in (201, 409):
            raise RuntimeError("POST %s: %d %s" % (path, code, said))

    def allow(self, name, verbs, subjects, resource="flunders"):
        """A cluster role with its binding."""
        self.make(RBAC + "/clusterroles", {"metadata": {"name": name}, "rules": [
            {"apiGroups": ["wardle.example.com"], "resources": [resource], "verbs": verbs}]})
        self.make(RBAC + "/clusterrolebindings", {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", **each} for each in subjects]})

    def let_ask(self, user, group, resource):
        """A role with its binding, for who may make reviews; and who may follow the ConfigMap."""
        for name, rule in ((user, {"apiGroups": [group], "resources": [resource], "verbs": ["create"]}),
                           (user + "-reads", {"apiGroups": [""], "resources": ["configmaps"],
                                              "verbs": ["get", "list", "watch"]})):
            self.make(RBAC + "/clusterroles", {"metadata": {"name": name}, "rules": [rule]})
            self.make(RBAC + "/clusterrolebindings", {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})

    def kubeconfig_of(self, user):
        """One with the user's token and nothing else to be known by."""
        text = open(self.server.kubeconfig).read().replace(self.token, "of-" + user)
        path = self.server.kubeconfig + "-" + user
        with open(path, "w") as file:
            file.write(re.sub(r"\n *client-(certificate|key)-data: [^\n]*", "", text))
        return path

    def tell(self, data):
        """What extension-apiserver-authentication says from now on."""
        body = {"metadata": {"name": "extension-apiserver-authentication"}, "data": data}
        code, said = self.client.call(AUTHENTICATION, self.admin, "PUT", body)
        if code == 404:
            self.make(AUTHENTICATION.rsplit("/", 1)[0], body)
        elif code != 200:
            raise RuntimeError("PUT: %d %s" % (code, said))


class Checker:
    def __init__(self):
        self.checks, self.failures = 0, []

    def check(self, condition, what, got=""):
        self.checks += 1
        if not condition:
            self.failures.append(what)
            print("FAILED: %s: %s" % (what, str(got)[:1000]))

    def allowed(self, got, what):
        self.check(got[0] == 200, what, got)

    def refused(self, got, what):
        """Nobody that the server knows."""
        self.check(got[0] == 401 and got[1]["reason"] == "Unauthorized", what, got)

    def forbidden(self, got, user, what):
        """Known as `user`, who may not."""
        self.check(got[0] == 403 and 'User "%s" cannot' % user in got[1]["message"], what, got)


def remote(user, groups=(), extra=()):
    return [("X-Remote-User", user), *(("X-Remote-Group", each) for each in groups), *extra]


class Scene:
    """The cluster, the sample-apiserver and everybody's certificates."""

    def __init__(self, args, folder):
        self.folder, self.args = folder, args
        self.clients = Authority(folder, "clients")
        self.proxies = Authority(folder, "proxies")
        self.others = Authority(folder, "others")
        self.serving = Authority(folder, "serving")
        os.mkdir(os.path.join(folder, "cluster"))
        self.cluster = Cluster(args.cluster, os.path.join(folder, "cluster"))
        self.cluster.tell(self.authentication(self.proxies.pem()))
        self.cluster.allow("reads", ["get", "list", "watch"], [{"kind": "User", "name": "jane"}])
        self.cluster.allow("writes", ["create"], [{"kind": "Group", "name": "writers"}])
        self.process = self.authorization = None

    def authentication(self, proxies):
        return {"client-ca-file": self.clients.pem(), "requestheader-client-ca-file": proxies,
                "requestheader-allowed-names": '["front-proxy"]',
                "requestheader-username-headers": '["X-Remote-User"]',
                "requestheader-group-headers": '["X-Remote-Group"]',
                "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]'}

    def flags(self):
        pair = self.serving.sign("api", names=("DNS:localhost", "DNS:api.wardle.svc"))
        kubeconfig = self.cluster.server.kubeconfig
        return ["--no-standalone", "--secure-port=0", "--storage=memory",
                "--data-dir=" + os.path.join(self.folder, "data"), "--tls-cert-file=" + pair[0],
                "--tls-private-key-file=" + pair[1], "--authentication-kubeconfig=" + kubeconfig,
                self.authorization or "--authorization-kubeconfig=" + kubeconfig]

    def ask_by_file(self, *authorizers):
        """From the next start on a file says who decides."""
        path = os.path.join(self.folder, "authorization.json")
        with open(path, "w") as file:
            json.dump({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration",
                       "authorizers": list(authorizers)}, file)
        self.authorization = "--authorization-config=" + path

    def start(self):
        log = os.path.join(self.folder, "server.log")
        self.process = subprocess.Popen([self.args.server] + self.flags(), stdout=subprocess.DEVNULL,
                                        stderr=open(log, "a"))
        port = lambda: re.search(r'serving .*address="[^"]*:(\d+)"', open(log).read())
        wait_until(lambda: port() or self.process.poll() is not None, "the server serves")
        if self.process.poll() is not None:
            raise RuntimeError(open(log).read())
        self.port = int(port().group(1))
        wait_until(lambda: self.client().call("/readyz")[0] == 200, "the server is ready")

    def restart(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)
        os.rename(os.path.join(self.folder, "server.log"), os.path.join(self.folder, "server.log.old"))
        self.start()

    def client(self, pair=None):
        return Client(self.port, self.serving.certificate, pair)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=120)
        self.cluster.server.stop(signal.SIGKILL)


def through_the_proxy(t, scene):
    proxy = scene.client(scene.proxies.sign("front-proxy"))
    t.allowed(proxy.call(FLUNDERS, remote("jane")), "who may read, reads")
    t.forbidden(proxy.call(FLUNDERS, remote("mallory")), "mallory", "who may not, does not")
    body = {"metadata": {"name": "a"}, "spec": {"reference": "x"}}
    t.forbidden(proxy.call(FLUNDERS, remote("jane"), "POST", body), "jane", "reading is not writing")
    got = proxy.call(FLUNDERS, remote("joe", ("writers", "others")), "POST", body)
    t.check(got[0] == 201, "a group brings its rights", got)
    t.forbidden(proxy.call(FLUNDERS, remote("joe", ("system:masters2",))), "joe", "another group does not")
    t.allowed(proxy.call(FLUNDERS, remote("root", ("system:masters",))), "system:masters may do all")
    t.refused(proxy.call(FLUNDERS), "a proxy that speaks for nobody is nobody")
    extra = [("X-Remote-Extra-Scopes", "a"), ("X-Remote-Extra-acme.com%2Fproject", "b")]
    t.allowed(proxy.call(FLUNDERS, remote("jane", (), extra)), "extras do no harm")


def attackers(t, scene):
    """Row 31: front-proxy headers from whoever is no front proxy."""
    masters = remote("root", ("system:masters",))
    t.refused(scene.client().call(FLUNDERS, masters), "without a certificate")
    for what, pair, user in (
            ("a user's certificate", scene.clients.sign("jane2"), "jane2"),
            ("a user called as the proxy", scene.clients.sign("front-proxy"), "front-proxy")):
        t.forbidden(scene.client(pair).call(FLUNDERS, masters), user, what)
    for what, pair in (("a proxy of another name", scene.proxies.sign("front-proxy-2")),
                       ("a proxy of another authority", scene.others.sign("front-proxy")),
                       ("a proxy's name in the organization", scene.proxies.sign("x", ("front-proxy",))),
                       ("a server's certificate", scene.proxies.sign("front-proxy", names=("DNS:a",)))):
        t.refused(scene.client(pair).call(FLUNDERS, masters), what)
    proxy = scene.client(scene.proxies.sign("front-proxy"))
    for what, headers in (
            ("underscores", [("X_Remote_User", "root"), ("X_Remote_Group", "system:masters")]),
            ("an empty name", [("X-Remote-User", ""), ("X-Remote-Group", "system:masters")])):
        t.refused(proxy.call(FLUNDERS, headers), what)
    got = proxy.call(FLUNDERS, [("X-Remote-User", "mallory"), ("X-Remote-User", "root")])
    t.forbidden(got, "mallory", "the first of two names counts")
    got = proxy.call(FLUNDERS, [("Connection", "X-Remote-User, close"), *remote("mallory")])
    t.forbidden(got, "mallory", "Connection names no header of ours away")
    got = proxy.call(FLUNDERS, [*remote("jane"), ("X_Remote_Group", "writers")], "POST",
                     {"metadata": {"name": "b"}, "spec": {"reference": "x"}})
    t.forbidden(got, "jane", "an underscore adds no group")


def by_file(t, scene):
    """The same, where a file names the cluster as a webhook."""
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    text = re.sub(r'(server: "?https://[^"\s]+?)/?("?)\n', r"\g<1>%s\g<2>\n" % reviews,
                  open(scene.cluster.server.kubeconfig).read())
    kubeconfig = os.path.join(scene.folder, "reviews.kubeconfig")
    with open(kubeconfig, "w") as file:
        file.write(text)
    scene.ask_by_file({"type": "Webhook", "name": "cluster", "webhook": {
        "timeout": "30s", "subjectAccessReviewVersion": "v1", "failurePolicy": "Deny",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": kubeconfig}}})
    scene.restart()
    proxy = scene.client(scene.proxies.sign("front-proxy"))
    t.allowed(proxy.call(FLUNDERS, remote("jane")), "by file: who may read, reads")
    t.forbidden(proxy.call(FLUNDERS, remote("mallory")), "mallory", "by file: who may not, does not")
    t.allowed(proxy.call(FLUNDERS, remote("root", ("system:masters",))), "by file: system:masters may do all")
    t.allowed(scene.client().call("/healthz"), "by file: probes are for everybody")
    scene.ask_by_file({"type": "RBAC", "name": "rbac"})
    # Beside the server that runs, so with a directory of its own.
    got = subprocess.run([scene.args.server] + scene.flags() + ["--data-dir=" + scene.folder + "/other"],
                         capture_output=True, timeout=120)
    line = got.stderr.decode().strip().splitlines()[-1]
    t.check(got.returncode == 1 and "authorizers[0].type is RBAC, but this server has no roles of its own" in line,
            "by file: there are no roles here", line)
    scene.authorization = None
    scene.restart()


def own_credentials(t, scene):
    """Those who come without a proxy."""
    got = scene.client().call(FLUNDERS, [("Authorization", "Bearer " + scene.cluster.token)])
    t.allowed(got, "the cluster's token is known by TokenReview")
    t.refused(scene.client().call(FLUNDERS, [("Authorization", "Bearer nonsense")]), "another is not")
    t.allowed(scene.client(scene.clients.sign("jane")).call(FLUNDERS), "a certificate of the cluster's users")
    t.refused(scene.client(scene.others.sign("jane")).call(FLUNDERS), "a certificate of somebody else's")
    t.refused(scene.client().call(FLUNDERS), "nobody")
    for path in ("/healthz", "/livez", "/readyz"):
        t.allowed(scene.client().call(path), "%s is for everybody" % path)


def rotation(t, scene):
    old = scene.client(scene.proxies.sign("front-proxy"))
    new = scene.client(scene.others.sign("front-proxy"))
    t.refused(new.call(FLUNDERS, remote("jane")), "the new proxy before")
    scene.cluster.tell(scene.authentication(scene.others.pem()))
    wait_until(lambda: new.call(FLUNDERS, remote("jane"))[0] == 200, "the new authority counts", 30)
    t.refused(old.call(FLUNDERS, remote("jane")), "the old proxy after")
    scene.cluster.tell(scene.authentication("nonsense"))
    t.allowed(new.call(FLUNDERS, remote("jane")), "a ConfigMap that cannot be read changes nothing")
    scene.cluster.tell(scene.authentication(scene.proxies.pem()))
    wait_until(lambda: old.call(FLUNDERS, remote("jane"))[0] == 200, "and back", 30)


def doctor(t, scene):
    def run(*more):
        got = subprocess.run([scene.args.server, "doctor"] + scene.flags() + list(more), capture_output=True,
                             timeout=120)
        return got.returncode, got.stdout.decode() + got.stderr.decode()

    got = run()
    t.check(got[0] == 0 and "problem" not in got[1] and "ok       delegation" in got[1], "nothing is wrong", got)
    got = run("--service-name=api", "--service-namespace=wardle")
    t.check(got[0] == 1 and "kind: APIService" in got[1] and "caBundle" in got[1], "no APIService", got)
    data = scene.authentication(scene.proxies.pem())
    del data["requestheader-client-ca-file"]
    scene.cluster.tell(data)
    got = run()
    t.check(got[0] == 1 and "--requestheader-client-ca-file" in got[1], "no authority for proxies", got)
    scene.cluster.tell(scene.authentication(scene.proxies.pem()))
    two_users(t, scene)


def two_users(t, scene):
    """Each kind of review is asked for as somebody else."""
    scene.cluster.let_ask("knows", "authentication.k8s.io", "tokenreviews")
    scene.cluster.let_ask("judges", "authorization.k8s.io", "subjectaccessreviews")
    knows, judges = (scene.cluster.kubeconfig_of(user) for user in ("knows", "judges"))

    def ask(authentication, authorization):
        got = subprocess.run([scene.args.server, "doctor", "--authentication-kubeconfig=" + authentication,
                              "--authorization-kubeconfig=" + authorization], capture_output=True, timeout=120)
        return got.returncode, got.stdout.decode()

    wait_until(lambda: ask(knows, judges)[0] == 0, "the roles count")
    got = ask(knows, judges)
    for line in ("ok       identity: asks as knows", "ok       delegation: may ask for TokenReviews",
                 "ok       identity of authorization: asks as judges",
                 "ok       delegation of authorization: may ask for SubjectAccessReviews"):
        t.check(line + "\n" in got[1], "two users: " + line, got)
    got = ask(judges, knows)
    for line in ("problem  delegation: may not ask for TokenReviews: ",
                 "problem  delegation of authorization: may not ask for SubjectAccessReviews: "):
        t.check(got[0] == 1 and line in got[1], "the wrong way round: " + line, got)
    got = ask(knows, knows)
    t.check(got[0] == 1 and "problem  delegation: may not ask for SubjectAccessReviews: " in got[1],
            "one user that may ask only one thing", got)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(args, folder)
        try:
            scene.start()
            for part in (through_the_proxy, attackers, own_credentials, by_file, rotation, doctor):
                part(t, scene)
        finally:
            scene.stop()
            if t.failures:
                print(open(os.path.join(folder, "server.log")).read()[-3000:], file=sys.stderr)
    print("front proxy: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures or not t.checks else 0


if __name__ == "__main__":
    sys.exit(main())
