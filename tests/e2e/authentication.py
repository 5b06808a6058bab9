#!/usr/bin/env python3
"""Who a standalone server knows: tokens of a file, ID tokens of an issuer, its own service accounts,
bearers of bootstrap tokens, nobody in particular.

usage: authentication.py --server SAMPLE_APISERVER

The issuer is a server of this script's own, with its discovery document and keys. Exits 1 and names
each failed check.
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

from certificates import Authority, run
from front_proxy import Checker, Client
from servers import Server

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An OpenID Connect issuer with one RSA key."""

    def __init__(self, folder, authority):
        self.folder, self.asked = folder, []
        self.key = os.path.join(folder, "issuer.key")
        run("genrsa", "-out", self.key, "2048")
        pair = authority.sign("issuer", names=("IP:127.0.0.1",))
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked.append(self.path)
                body = json.dumps(issuer.documents().get(self.path, {})).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = "https://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def documents(self):
        said = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"], capture_output=True)
        modulus = bytes.fromhex(said.stdout.decode().strip().split("=")[1])
        return {"/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": self.url + "/keys"},
                "/keys": {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
                                    "n": base64url(modulus), "e": "AQAB"}]}}

    kid = "one"

    def token(self, key=None, algorithm="RS256", **claims):
        now = int(time.time())
        all_claims = {"iss": self.url, "aud": "api", "sub": "1", "iat": now, "exp": now + 600, **claims}
        all_claims = {name: value for name, value in all_claims.items() if value is not None}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (
            {"alg": algorithm, "kid": self.kid, "typ": "JWT"}, all_claims))
        if algorithm == "none":
            return signed + "."
        got = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key or self.key], input=signed.encode(),
                             capture_output=True, check=True)
        return signed + "." + base64url(got.stdout)


class Known:
    """A running server, asked who somebody is."""

    def __init__(self, binary, folder, flags):
        self.server = Server(binary, "memory", folder, flags=flags)
        self.server.start()
        text = open(self.server.kubeconfig).read()
        ca = os.path.join(folder, "server-ca.pem")
        with open(ca, "wb") as file:
            file.write(base64.b64decode(re.search(r'authority-data: "?([^"\n]+)', text).group(1)))
        self.client = Client(int(re.search(r"server: \"?https://[^:]+:(\d+)", text).group(1)), ca)

    def who(self, token=None):
        headers = [("Authorization", "Bearer " + token)] if token else []
        code, said = self.client.call(REVIEW, headers, "POST", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
        return code, said["status"]["userInfo"] if code == 201 else said

    def reviewed(self, asking, token, *audiences):
        """The status of a TokenReview by the bearer of `asking`."""
        code, said = self.client.call("/apis/authentication.k8s.io/v1/tokenreviews",
                                      [("Authorization", "Bearer " + asking)], "POST", {
                                          "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
                                          "spec": {"token": token, "audiences": list(audiences)}})
        return said["status"] if code == 201 else said

    def stop(self):
        self.server.stop(signal.SIGTERM)


def from_a_file(t, args, folder):
    path = os.path.join(folder, "tokens.csv")
    with open(path, "w") as file:
        file.write('secret-1,jane,7,"dev,ops"\nroot,admin,1,"system:masters"\n')
    os.mkdir(os.path.join(folder, "file"))
    known = Known(args.server, os.path.join(folder, "file"), ("--token-auth-file=" + path, "--anonymous-auth"))
    got = known.who("secret-1")
    t.check(got[0] == 201 and got[1]["username"] == "jane" and got[1]["uid"] == "7"
            and got[1]["groups"] == ["dev", "ops", "system:authenticated"], "a token of the file", got)
    t.check(known.who("secret-2")[0] == 401, "another token", known.who("secret-2"))
    said = known.reviewed("root", "secret-1")
    t.check(said.get("authenticated") and "audiences" not in said, "without audiences of the server", said)
    said = known.reviewed("root", "secret-1", "https://elsewhere")
    t.check("user" in said and not said.get("authenticated"), "it is for nobody else's", said)
    got = known.who()
    # Anonymous requests are known, but may ask nothing.
    t.check(got[0] == 403 and "system:anonymous" in got[1]["message"], "no token", got)
    known.stop()
    with open(path, "w") as file:
        file.write("secret-1,jane,7\nsecret-2,joe\n")
    said = subprocess.run([args.server, "--storage=memory", "--secure-port=0", "--data-dir=" + folder,
                           "--token-auth-file=" + path], capture_output=True, timeout=120)
    line = said.stderr.decode().strip().splitlines()[-1]
    t.check(said.returncode == 1 and "--token-auth-file" in line and "2" in line, "a short line stops the start", line)


def from_an_issuer(t, args, folder):
    authority = Authority(folder, "issuers")
    issuer = Issuer(folder, authority)
    config = os.path.join(folder, "authentication.json")
    with open(config, "w") as file:
        json.dump({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": [{
            "issuer": {"url": issuer.url, "audiences": ["api"], "certificateAuthority": authority.pem()},
            "claimMappings": {"username": {"claim": "sub", "prefix": "oidc:"},
                              "groups": {"claim": "groups", "prefix": "oidc:"}}}]}, file)
    os.mkdir(os.path.join(folder, "oidc"))
    known = Known(args.server, os.path.join(folder, "oidc"), ("--authentication-config=" + config,))
    got = known.who(issuer.token(groups=["dev"]))
    t.check(got[0] == 201 and got[1]["username"] == "oidc:1"
            and got[1]["groups"] == ["oidc:dev", "system:authenticated"], "a token of the issuer", got)
    asked = len(issuer.asked)
    for _ in range(5):
        known.who(issuer.token())
    t.check(len(issuer.asked) == asked, "its keys are kept", issuer.asked)
    other = os.path.join(folder, "other.key")
    run("genrsa", "-out", other, "2048")
    now = int(time.time())
    for what, token in (("of another key", issuer.token(key=other)), ("for somebody else", issuer.token(aud="x")),
                        ("of another issuer", issuer.token(iss="https://127.0.0.1")),
                        ("that has ended", issuer.token(exp=now - 60)), ("not signed", issuer.token(algorithm="none")),
                        ("without a subject", issuer.token(sub=None))):
        got = known.who(token)
        t.check(got[0] == 401, "a token " + what, got)
    known.stop()
    issuer.server.shutdown()


def from_own_objects(t, args, folder):
    """Tokens of the server's own service accounts, and bootstrap tokens."""
    key = os.path.join(folder, "accounts.key")
    run("genrsa", "-out", key, "2048")
    folder = os.path.join(folder, "own")
    os.mkdir(folder)
    tokens = os.path.join(folder, "tokens.csv")
    with open(tokens, "w") as file:
        file.write('root,admin,1,"system:masters"\n')
    known = Known(args.server, folder, (
        "--token-auth-file=" + tokens, "--service-account-key-file=" + key, "--service-account-issuer=https://accounts",
        "--service-account-issuer=https://before", "--enable-bootstrap-token-auth"))
    root = [("Authorization", "Bearer root")]
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    secrets = "/api/v1/namespaces/kube-system/secrets"
    issuer = Issuer.__new__(Issuer)
    # Any key of the server will do.
    issuer.key, issuer.url, issuer.kid = key, "https://accounts", ""

    def token(uid, **claims):
        return issuer.token(**{"aud": "https://accounts", "sub": "system:serviceaccount:default:robot",
                               "kubernetes.io": {"namespace": "default",
                                                 "serviceaccount": {"name": "robot", "uid": uid}}, **claims})

    def create():
        code, said = known.client.call(accounts, root, "POST", {"metadata": {"name": "robot"}})
        t.check(code == 201, "a service account is made", said)
        return said["metadata"]["uid"]

    first = create()
    got = known.who(token(first))
    t.check(got[0] == 201 and got[1]["username"] == "system:serviceaccount:default:robot"
            and got[1]["groups"] == ["system:serviceaccounts", "system:serviceaccounts:default",
                                     "system:authenticated"], "a token of it", got)
    t.check(known.who(token(first, iss="https://before"))[0] == 201, "a token of the other issuer")
    t.check(known.who(token(first, aud="https://elsewhere"))[0] == 401, "a token for somebody else")
    t.check(known.client.call(accounts + "/robot", root, "DELETE")[0] == 200, "the service account is deleted")
    t.check(known.who(token(first))[0] == 401, "its token is good no more")
    second = create()
    t.check(known.who(token(first))[0] == 401, "nor after one of the same name is made")
    bearer = [("Authorization", "Bearer " + token(second))]
    code, said = known.client.call("/.well-known/openid-configuration", bearer)
    t.check(code == 200 and said["issuer"] == "https://accounts"
            and said["jwks_uri"] == "https://127.0.0.1:%d/openid/v1/jwks" % known.client.port,
            "the issuer's metadata, for a service account", said)
    code, said = known.client.call("/openid/v1/jwks", bearer)
    t.check(code == 200 and [one["alg"] for one in said["keys"]] == ["RS256"] and "d" not in said["keys"][0],
            "its public keys", said)
    bootstrap = "abcdef.0123456789abcdef"
    t.check(known.who(bootstrap)[0] == 401, "a bootstrap token without its secret")
    code, said = known.client.call(secrets, root, "POST", {
        "metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"}})
    t.check(code == 201, "a bootstrap token's secret is made", said)
    got = known.who(bootstrap)
    t.check(got[0] == 201 and got[1]["username"] == "system:bootstrap:abcdef", "a bootstrap token", got)
    both = ["https://accounts", "https://before"]
    for what, bearing, audiences in (("bootstrap", bootstrap, both), ("file", "root", both),
                                     ("service account", token(second), both[:1])):
        said = known.reviewed("root", bearing)
        t.check(said.get("authenticated") and said["audiences"] == audiences, "a reviewed token: " + what, said)
        said = known.reviewed("root", bearing, "https://accounts", "https://elsewhere")
        t.check(said.get("authenticated") and said["audiences"] == both[:1], "for one of two: " + what, said)
        said = known.reviewed("root", bearing, "https://elsewhere")
        t.check("user" in said and not said.get("authenticated"), "for others: " + what, said)
    t.check(known.client.call(secrets + "/bootstrap-token-abcdef", root, "DELETE")[0] == 200, "it is deleted")
    t.check(known.who(bootstrap)[0] == 401, "it is good no more")
    known.stop()
    for flags, line in (
            (("--service-account-key-file=" + key,), "service-account-issuer is a required flag"),
            (("--service-account-issuer=x",), "service-account-key-file is a required flag"),
            (("--service-account-issuer=x", "--service-account-key-file=" + tokens),
             "--service-account-key-file: " + tokens + ": "),
            (("--no-standalone", "--enable-bootstrap-token-auth"), "standalone")):
        said = subprocess.run([args.server, "--storage=memory", "--secure-port=0", "--data-dir=" + folder, *flags],
                              capture_output=True, timeout=120)
        last = said.stderr.decode().strip().splitlines()[-1]
        t.check(said.returncode == 1 and line in last, "the start ends with: " + line, last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        from_a_file(t, args, folder)
        from_an_issuer(t, args, folder)
        from_own_objects(t, args, folder)
    print("authentication: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures or not t.checks else 0


if __name__ == "__main__":
    sys.exit(main())
