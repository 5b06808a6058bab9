#!/usr/bin/env python3
"""No flag of the sample-apiserver is lost without a word: each has its effect, or stops the start.

usage: flags.py --server SAMPLE_APISERVER

What a standalone server has of the flags of one behind an aggregator (front proxies, paths for
everybody), what either refuses, and what `doctor` refuses. Exits 1 and names each failed check.
"""

import argparse
import base64
import os
import re
import signal
import subprocess
import sys
import tempfile

from certificates import Authority
from front_proxy import FLUNDERS, Checker, Client, remote
from servers import Server

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ALLOWED = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Running:
    """A standalone server that knows bob by a token."""

    def __init__(self, args, folder, *flags):
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w") as file:
            file.write("of-bob,bob,1\n")
        data = tempfile.mkdtemp(dir=folder)
        self.server = Server(args.server, "memory", data, flags=("--token-auth-file=" + tokens, *flags))
        self.server.start()
        text = open(self.server.kubeconfig).read()
        self.port = int(re.search(r"server: \"?https://[^:]+:(\d+)", text).group(1))
        self.ca = os.path.join(data, "server-ca.pem")
        with open(self.ca, "wb") as file:
            file.write(base64.b64decode(re.search(r'authority-data: "?([^"\n]+)', text).group(1)))
        self.admin = [("Authorization", "Bearer " + re.search(r'token: "?([^"\n]+)', text).group(1))]
        self.bob = [("Authorization", "Bearer of-bob")]

    def client(self, pair=None):
        return Client(self.port, self.ca, pair)

    def who(self, pair=None, headers=()):
        """The user and the groups of who asks like this, or the code."""
        code, said = self.client(pair).call(REVIEW, headers, "POST", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
        user = said["status"]["userInfo"] if code == 201 else None
        return (user["username"], user["groups"]) if user else code

    def stop(self):
        self.server.stop(signal.SIGTERM)


def paths_for_everybody(t, args, folder):
    nothing = Running(args, folder)
    t.forbidden(nothing.client().call("/metrics", nothing.bob), "bob", "the path is not for everybody")
    t.allowed(nothing.client().call("/healthz", nothing.bob), "the roles allow the probes")
    nothing.stop()
    for mode in ("--authorization-mode=RBAC", "--authorization-config=" + rbac_file(folder)):
        some = Running(args, folder, "--authorization-always-allow-paths=/metrics,/debug/flags*", mode)
        t.allowed(some.client().call("/metrics", some.bob), "the path is for everybody, " + mode)
        got = some.client().call("/debug/pprof/", some.bob)
        t.forbidden(got, "bob", "another path is not, " + mode)
        t.forbidden(some.client().call(FLUNDERS, some.bob), "bob", "no resource is, " + mode)
        t.allowed(some.client().call(FLUNDERS, some.admin), "the administrator may all the same, " + mode)
        t.check(some.client().call("/metrics")[0] == 401, "everybody is who is known, " + mode)
        for path, allowed in (("/metrics", True), ("/debug/flags/v", True), ("/debug/pprof/", False)):
            got = some.client().call(ALLOWED, some.bob, "POST", {
                "spec": {"nonResourceAttributes": {"path": path, "verb": "get"}}})
            t.check(got[0] == 201 and got[1]["status"]["allowed"] == allowed, "can-i get %s, %s" % (path, mode), got)
        some.stop()


def rbac_file(folder):
    path = os.path.join(folder, "authorization.json")
    with open(path, "w") as file:
        file.write('{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration",'
                   '"authorizers":[{"type":"RBAC","name":"rbac"}]}')
    return path


def front_proxies(t, args, folder):
    proxies, others = Authority(folder, "proxies"), Authority(folder, "others")
    proxy = proxies.sign("front-proxy")
    jane = remote("jane", ("dev",))
    nothing = Running(args, folder)
    t.check(nothing.who(proxy, jane) == 401, "nobody is a front proxy unless a flag says so")
    nothing.stop()
    running = Running(args, folder, "--requestheader-client-ca-file=" + proxies.certificate,
                      "--requestheader-allowed-names=front-proxy,another", "--anonymous-auth",
                      "--requestheader-username-headers=X-Remote-User,X-Teller")
    for what, pair, headers, expected in (
            ("its users", proxy, jane, ("jane", ["dev", "system:authenticated"])),
            ("its users by another header", proxy, [("X-Teller", "eve")], ("eve", ["system:authenticated"])),
            ("a proxy of the other name", proxies.sign("another"), jane, ("jane", ["dev", "system:authenticated"])),
            ("a proxy that speaks for nobody", proxy, (), 401),
            ("a proxy of no such name", proxies.sign("mallory"), jane, 401),
            ("a proxy of another authority", others.sign("front-proxy"), jane, 401),
            ("nobody, who is anonymous and may not ask", None, jane, 403),
            ("a token of the server's own", None, running.bob, ("bob", ["system:authenticated"])),
            ("the administrator", None, [*running.admin, *jane],
             ("admin", ["system:masters", "system:authenticated"]))):
        got = running.who(pair, headers)
        t.check(got == expected, "front proxy: " + what, got)
    t.forbidden(running.client(proxy).call(FLUNDERS, jane), "jane", "what she may, the roles say")
    t.allowed(running.client(proxy).call(FLUNDERS, remote("root", ("system:masters",))), "and groups")
    running.stop()


def refusals(t, args, folder):
    certificate = Authority(folder, "some").certificate

    def start(*flags):
        got = subprocess.run([args.server, *flags], capture_output=True, timeout=120)
        return got.returncode, got.stderr.decode().strip().splitlines()

    def refused(line, *flags):
        code, said = start("--storage=memory", "--secure-port=0", "--data-dir=" + folder, *flags)
        # What concerns a file is logged besides.
        said = [each for each in said if " a changed file is not used " not in each]
        t.check(code == 1 and said == ["error: " + line], "refused: " + " ".join(flags), said)

    about_a_cluster = " is about a cluster, and a standalone server asks none: leave it out, or add --no-standalone"
    for flag, *value in (("--authentication-kubeconfig", "nofile"), ("--authorization-kubeconfig", "nofile"),
                         ("--authentication-skip-lookup",), ("--authentication-tolerate-lookup-failure",),
                         ("--authentication-token-webhook-cache-ttl", "1s"),
                         ("--authorization-webhook-cache-authorized-ttl", "1s"),
                         ("--authorization-webhook-cache-unauthorized-ttl", "1s")):
        refused(flag + about_a_cluster, flag, *value)
    away = "; leave it out, or leave out --no-standalone"
    knows = " is for a standalone server: with --no-standalone the cluster of --authentication-kubeconfig knows who " \
            "somebody is" + away
    for flag, *value in (("--token-auth-file", "nofile"), ("--authentication-config", "nofile"), ("--anonymous-auth",),
                         ("--anonymous-auth=false",), ("--api-audiences", "api"), ("--service-account-issuer", "x"),
                         ("--service-account-key-file", "nofile"), ("--service-account-lookup",),
                         ("--service-account-jwks-uri", "x"), ("--external-hostname", "x"),
                         ("--enable-bootstrap-token-auth",)):
        refused(flag.split("=")[0] + knows, "--no-standalone", flag, *value)
    refused("--authorization-mode is for a standalone server: with --no-standalone the cluster of "
            "--authorization-kubeconfig, or a file, --authorization-config, says who may do what" + away,
            "--no-standalone", "--authorization-mode=RBAC")
    refused("--kubeconfig-out is for a standalone server: with --no-standalone users have the cluster's kubeconfig" +
            away, "--no-standalone", "--kubeconfig-out=x")
    for mode, why in (("--standalone", "there are no front proxies"),
                      ("--no-standalone", "the cluster says what its front proxies are like")):
        for flag in ("--requestheader-allowed-names", "--requestheader-username-headers", "--requestheader-uid-headers",
                     "--requestheader-group-headers", "--requestheader-extra-headers-prefix"):
            refused("%s needs --requestheader-client-ca-file: without it %s; set it, or leave out %s"
                    % (flag, why, flag), mode, flag, "x")
        refused('--authorization-always-allow-paths: only trailing * allowed in "a*b"', mode,
                "--authorization-always-allow-paths", "/ok,/a*b")
    missing = os.path.join(folder, "missing.pem")
    refused("--requestheader-client-ca-file: %s: open %s: No such file or directory" % (missing, missing),
            "--requestheader-client-ca-file", missing)
    refused('empty value in "requestheader-allowed-names"', "--requestheader-client-ca-file", certificate,
            "--requestheader-allowed-names", " ")
    for flags, line in ((("--servcie-name=api",), "unknown flag: --servcie-name; did you mean --service-name?"),
                        (("--service-name=api", "extra"), "extra"),
                        (("--standalone", "--service-name=api"), "error: --service-name is for a server behind an "
                         "aggregator: leave it out, or leave out --standalone"),
                        (("--fix",), "error: --fix repairs a standalone server; what a cluster lacks is printed, to be "
                         "applied with kubectl: leave out --fix, or add --standalone"),
                        (("--token-auth-file=x",), "error: --token-auth-file" + knows)):
        code, said = start("doctor", *flags)
        t.check(code != 0 and line in said[0], "doctor refuses " + " ".join(flags), said)
    # One of the server's, which the doctor does not need: it goes on to look for the cluster.
    code, said = start("doctor", "--secure-port=0", "--authentication-kubeconfig=nofile")
    t.check(code == 1 and "nofile" in said[0], "doctor accepts the server's flags", said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        for part in (paths_for_everybody, front_proxies, refusals):
            part(t, args, folder)
    print("flags: %d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures or not t.checks else 0


if __name__ == "__main__":
    sys.exit(main())
