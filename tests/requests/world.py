"""A server with everything that a request may come from: who may what is in rights.py.

Tokens of the file are the same in every world, so that a finding can be sent again to another server;
certificates and tokens of service accounts are made anew, and a request names only whose they are.
"""

import base64
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import rights  # noqa: E402
from certificates import Authority, run  # noqa: E402
from servers import Failure, Server  # noqa: E402

TOKENS = """token-writer,writer,w,tenants
token-reader,reader,r,"readers,tenants"
token-nobody,nobody,n
token-proxier,proxier,p
token-escalator,escalator,e
token-canary,canary,c
token-master,master,m,"system:masters"
"""
# Objects of the world itself are here, and no generated request writes to it.
KEPT = "kept"
CANARY = "/apis/wardle.example.com/v1alpha1/namespaces/%s/flunders/canary" % KEPT
RBAC = "/apis/rbac.authorization.k8s.io/v1"
VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
GROUPS = ["wardle.example.com", "harbor.example.com", "apps"]
# Role, where its bindings are (None: everywhere), who has it, its rules.
ROLES = (
    ("fuzz-reader", ("default",), "reader", [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": GROUPS[:1], "resources": ["flunders"], "verbs": ["get", "list", "watch"]}]),
    ("fuzz-writer", ("default", "fz"), "writer", [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": VERBS},
        {"apiGroups": GROUPS, "resources": ["*"], "verbs": VERBS}]),
    ("fuzz-proxier", (None,), "proxier", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["proxy"]}]),
    ("fuzz-escalator", ("default",), "escalator", [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": VERBS}]),
    ("fuzz-canary", (KEPT,), "canary", [
        {"apiGroups": GROUPS[:1], "resources": ["flunders"], "verbs": ["get", "update"]}]),
)
# What a world is made of: the binary's place in a build tree, its storage, whether it knows tokens of
# service accounts, for which it has secrets and service accounts instead of the other built-in kinds.
E2E_SERVER, SAMPLE = "tests/e2e/server/e2e-server", "examples/sample-apiserver/sample-apiserver"
WORLDS = {"memory": (E2E_SERVER, "memory", False), "rocks": (E2E_SERVER, "rocks", False),
          "etcd": (E2E_SERVER, "etcd", False), "accounts": (SAMPLE, "memory", True)}


class Identity:
    """Headers and a client certificate by which somebody is known, and what they may do.

    `answer` is the code that every request of theirs has, if there is only one: 401."""

    def __init__(self, name, may, headers=(), pair=None, answer=None):
        self.name, self.may, self.headers, self.pair, self.answer = name, may, tuple(headers), pair, answer


def bearer(token):
    return ("Authorization", "Bearer " + token)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def account_token(key, uid, expires_in=3600):
    """As a token controller would sign it."""
    now = int(time.time())
    claims = {"iss": "https://accounts", "aud": "https://accounts", "sub": "system:serviceaccount:%s:robot" % KEPT,
              "iat": now - 7200, "nbf": now - 7200, "exp": now + expires_in,
              "kubernetes.io": {"namespace": KEPT, "serviceaccount": {"name": "robot", "uid": uid}}}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT"}, claims))
    got = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(), capture_output=True,
                         check=True)
    return signed + "." + base64url(got.stdout)


class World:
    def __init__(self, tree, name, folder):
        binary, storage, self.accounts = WORLDS[name]
        self.folder = folder
        self.proxies, self.strangers = Authority(folder, "proxies"), Authority(folder, "strangers")
        self.users = Authority(folder, "users")
        self.key, self.other_key = os.path.join(folder, "accounts.key"), os.path.join(folder, "other.key")
        for key in (self.key, self.other_key):
            run("genrsa", "-out", key, "2048")
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w") as file:
            file.write(TOKENS)
        flags = ["--token-auth-file=" + tokens, "--anonymous-auth", "--client-ca-file=" + self.users.certificate,
                 "--requestheader-client-ca-file=" + self.proxies.certificate, "--requestheader-allowed-names=proxy",
                 "--feature-gates=CBORServingAndStorage=true"]
        if self.accounts:
            flags += ["--service-account-key-file=" + self.key, "--service-account-issuer=https://accounts",
                      "--enable-bootstrap-token-auth"]
        self.server = Server(os.path.join(tree, binary), storage, folder, flags=flags)
        self.contexts = {}

    def start(self):
        self.server.start()
        text = open(self.server.kubeconfig).read()
        find = lambda key: re.search(key + r': "?([^"\n]+)', text).group(1)
        self.port = int(find("server").rsplit(":", 1)[1])
        self.ca = self.write("server-ca.pem", find("certificate-authority-data"))
        pair = (self.write("admin.pem", find("client-certificate-data")),
                self.write("admin.key", find("client-key-data")))
        self.identities = {"admin": Identity("admin", rights.everything, pair=pair)}
        for path, body in self.objects():
            self.make(path, body)
        for each in self.others(find("token")):
            self.identities[each.name] = each
        if self.accounts:
            account = self.make("/api/v1/namespaces/%s/serviceaccounts" % KEPT, {"metadata": {"name": "robot"}})
            for each in self.of_accounts(account["metadata"]["uid"]):
                self.identities[each.name] = each

    def write(self, name, encoded):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(base64.b64decode(encoded))
        return path

    def objects(self):
        yield CANARY.rsplit("/", 1)[0], {"metadata": {"name": "canary", "labels": {"turn": "0"}}}
        for name, namespaces, user, rules in ROLES:
            yield RBAC + "/clusterroles", {"metadata": {"name": name}, "rules": rules}
            for namespace in namespaces:
                binding = {"metadata": {"name": name},
                           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                           "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}
                where = "/namespaces/%s/rolebindings" % namespace if namespace else "/clusterrolebindings"
                yield RBAC + where, binding

    def make(self, path, body):
        code, said = self.call("POST", path, body)
        if code != 201:
            raise Failure("POST %s: %d %s" % (path, code, said[:500]))
        return json.loads(said)

    def of_accounts(self, uid):
        yield Identity("account", rights.service_account, [bearer(account_token(self.key, uid))])
        yield Identity("account-expired", rights.nothing, [bearer(account_token(self.key, uid, -600))], answer=401)
        yield Identity("account-forged", rights.nothing, [bearer(account_token(self.other_key, uid))], answer=401)
        yield Identity("bootstrap", rights.nothing, [bearer("abcdef.0123456789abcdef")], answer=401)

    def others(self, admin_token):
        """Everybody but the administrator's certificate."""
        proxied = [("X-Remote-User", "reader"), ("X-Remote-Group", "readers"), ("X-Remote-Extra-Scope%2fA", "1")]
        masters = [("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters")]
        front = self.proxies.sign("proxy")
        yield Identity("admin-token", rights.everything, [bearer(admin_token)])
        yield Identity("master-token", rights.everything, [bearer("token-master")])
        for name in ("writer", "reader", "escalator"):
            yield Identity(name, getattr(rights, name), [bearer("token-" + name)])
        yield Identity("nobody", rights.known, [bearer("token-nobody")])
        yield Identity("proxier", rights.known, [bearer("token-proxier")])
        yield Identity("canary", rights.within((rights.WARDLE, KEPT, "flunders"), methods=("GET", "PUT")),
                       [bearer("token-canary")])
        yield Identity("certificate", rights.known, pair=self.users.sign("somebody", ("tenants",)))
        yield Identity("garbage", rights.nothing, [bearer("gar.ba.ge")], answer=401)
        yield Identity("proxied", rights.reader, proxied, front)
        yield Identity("proxied-nobody", rights.known, [("X-Remote-User", "nobody")], front)
        yield Identity("proxy-alone", rights.nothing, pair=front)
        yield Identity("proxy-of-another-name", rights.anonymous, masters, self.proxies.sign("another"))
        yield Identity("proxy-of-strangers", rights.anonymous, masters, self.strangers.sign("proxy"))
        yield Identity("spoofer-certificate", rights.known, masters, self.users.sign("nobody"))
        yield Identity("spoofer-token", rights.known, masters + [bearer("token-nobody")])
        yield Identity("spoofer", rights.anonymous, masters)
        yield Identity("stranger", rights.anonymous, pair=self.strangers.sign("admin", ("system:masters",)))
        yield Identity("impersonated", rights.reader, [bearer(admin_token), ("Impersonate-User", "reader"),
                                                       ("Impersonate-Extra-a", "b")])
        yield Identity("impersonated-anonymous", rights.anonymous, [
            bearer(admin_token), ("Impersonate-User", "system:anonymous")])
        yield Identity("impersonator", rights.nothing, [bearer("token-writer"), ("Impersonate-User", "admin"),
                                                        ("Impersonate-Group", "system:masters")])
        yield Identity("anonymous", rights.anonymous)

    def context(self, pair, alpn=("http/1.1",)):
        """TLS contexts are shared: they are costly, and sessions are resumed from them."""
        key = (pair, alpn)
        if key not in self.contexts:
            context = ssl.create_default_context(cafile=self.ca)
            context.set_alpn_protocols(list(alpn))
            if pair:
                context.load_cert_chain(*pair)
            self.contexts[key] = context
        return self.contexts[key]

    def call(self, method, path, body=None, identity="admin"):
        """A plain request; code and text."""
        who = self.identities[identity]
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context(who.pair))
        try:
            headers = dict(who.headers)
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def alive(self):
        return self.server.process is not None and self.server.process.poll() is None

    def log(self):
        path = os.path.join(self.folder, "server.log")
        return open(path, errors="replace").read() if os.path.exists(path) else ""

    def stop(self):
        """The exit code after SIGTERM; None: it had ended before."""
        return self.server.stop() if self.alive() else None

    def kill(self):
        if self.alive():
            self.server.process.kill()
            self.server.process.wait()
        if self.server.etcd:
            self.server.etcd.stop()
