#!/usr/bin/env python3
"""`doctor --standalone` finds the faults of a data folder, repairs some, and leaves a running server's alone; it
finds those of an etcd.

usage: doctor.py --server SAMPLE_APISERVER [--kube-apiserver KUBE_APISERVER]

With the latter, which has flags of its own, it is given the very command line of a server.

Exits 1 and names each failed check.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from certificates import Authority
from checker import Checker
from servers import Etcd, Server, free_port, wait_until


# The checks that judge the machine on which the test runs, and not what it has set up.
OF_THE_MACHINE = {"open-files", "cpu-profile"}


class Doctor:
    def __init__(self, program, folder, port):
        self.flags = [program, "doctor", "--standalone", "--data-dir=" + folder, "--secure-port=%d" % port]

    def text(self, *more):
        got = subprocess.run(self.flags + list(more), capture_output=True, text=True, timeout=60)
        return got.returncode, got.stdout + got.stderr

    def report(self, *more):
        """The exit code, and the checks that are not ok as (status, name)."""
        code, said = self.text("--json", *more)
        report = json.loads(said)
        assert (report["apiVersion"], report["kind"]) == ("libapiserver.dev/v1alpha1", "DoctorReport"), report
        for check in report["checks"]:
            assert {"name", "status", "message", "fix"} <= set(check), check
        return code, [(check["status"], check["name"]) for check in report["checks"]
                      if check["status"] != "ok" and check["name"] not in OF_THE_MACHINE]


def contents(folder):
    found = {}
    for parent, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(parent, name)
            about = os.stat(path)
            found[path] = (about.st_mode, about.st_mtime_ns, open(path, "rb").read())
    return found


def running(t, server, doctor, folder):
    os.chmod(os.path.join(folder, "pki", "token"), 0o644)
    before = contents(os.path.join(folder, "pki"))
    got = doctor.report()
    t.check(got == (0, [("warning", "lock"), ("warning", "secret-file")]), "a running server's folder is in use", got)
    code, said = doctor.text("--fix")
    t.check(code == 1 and "problem  fix: no more was repaired: a running server uses" in said, "--fix leaves it", said)
    t.check(contents(os.path.join(folder, "pki")) == before, "no file of a running server is changed")
    t.check(server.process.poll() is None, "the server runs on")


def stopped(t, doctor, folder):
    code, said = doctor.text("--fix")
    t.check(code == 0 and "fixed    secret-file %s/pki/token: its mode was 0644 and is 0600 now" % folder in said,
            "--fix closes the token", said)
    before = contents(folder)
    got = doctor.report()
    t.check(got == (0, []), "a folder that is well has no finding", got)
    t.check(contents(folder) == before, "the doctor changes nothing")


def faults(t, doctor, program, folder, port):
    """Each fault is found by its name; those that can be repaired are gone afterwards."""
    def path(*names):
        return os.path.join(folder, *names)

    def write(name, text):
        with open(path(name), "w") as file:
            file.write(text)
        return path(name)

    bad = write("bad", '"no')
    rows = [
        (("warning", "data-dir"), lambda: os.chmod(folder, 0o755), (), True),
        (("warning", "secret-file"), lambda: os.chmod(path("pki", "ca.key"), 0o640), (), True),
        (("warning", "kubeconfig"), lambda: os.remove(path("kubeconfig")), (), True),
        (("problem", "audit-policy-file"), None, ("--audit-policy-file=" + bad,), False),
        (("problem", "encryption-provider-config"), None, ("--encryption-provider-config=" + bad,), False),
        (("problem", "token-auth-file"), None, ("--token-auth-file=" + bad,), False),
        (("problem", "authorization-config"), None, ("--authorization-config=" + bad,), False),
        (("problem", "client-ca-file"), None, ("--client-ca-file=" + bad,), False),
        (("problem", "serving-certificate"), None,
         ("--tls-cert-file=" + path("pki", "ca.crt"), "--tls-private-key-file=" + path("pki", "admin.key")), False),
        (("problem", "store"), lambda: write("rocks/REVISION", "999999 999999\n"), (), False),
    ]
    os.chmod(bad, 0o600)
    for (status, name), spoil, flags, repaired in rows:
        if spoil:
            spoil()
        status = {"problem": "error"}.get(status, status)
        got = doctor.report(*flags)
        t.check(got == (int(status == "error"), [(status, name)]), "the doctor finds " + name, got)
        if repaired:
            got = doctor.report("--fix")
            t.check(got == (0, []), "--fix repairs " + name, got)
    os.remove(path("rocks", "REVISION"))
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        got = doctor.report()
        t.check(got == (1, [("error", "secure-port")]), "the doctor finds a port that is taken", got)
    shutil.rmtree(folder)
    got = doctor.report("--fix")
    t.check(got == (0, []) and os.stat(folder).st_mode & 0o777 == 0o700, "--fix makes the folder", got)
    config = os.path.join(os.path.dirname(folder), "config.yaml")
    with open(config, "w") as file:
        file.write("apiVersion: libapiserver.dev/v1alpha1\nkind: ServerConfiguration\nflags:\n"
                   "  standalone: true\n  data-dir: %s\n  secure-port: 0\n" % folder)
    got = subprocess.run([program, "doctor", "--config", config], capture_output=True, text=True, timeout=60)
    t.check(got.returncode == 0 and "ok       data-dir " + folder in got.stdout, "doctor reads --config", got)


def call(url, **body):
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode()), timeout=60) as answer:
        return json.load(answer)


def up(etcd):
    try:
        with socket.create_connection(etcd.url.split("//")[1].split(":"), timeout=1):
            return True
    except OSError:
        return False


def faults_of_etcd(t, program, parent):
    """The faults of an etcd: a member that is down or silent, an alarm, the wrong files."""
    folder = os.path.join(parent, "on-etcd")
    os.mkdir(folder, 0o700)
    authority, other = Authority(parent, "etcd-ca"), Authority(parent, "other-ca")
    server, client = authority.sign("etcd", names=["IP:127.0.0.1"]), authority.sign("apiserver")
    tls = ["--cert-file=" + server[0], "--key-file=" + server[1], "--trusted-ca-file=" + authority.certificate,
           "--client-cert-auth", "--initial-cluster-token=another"]
    plain, closed = Etcd(parent), Etcd(parent, tls, "https")
    silent = socket.create_server(("127.0.0.1", 0))
    try:
        wait_until(lambda: up(plain) and up(closed), "etcd listens")
        doctor = Doctor(program, folder, free_port())

        def check(what, wanted, *flags):
            began = time.monotonic()
            got = doctor.report(*flags)
            t.check(got == (int(any(status == "error" for status, _ in wanted)), wanted), what, got)
            t.check(time.monotonic() - began < 30, what + ", in time")

        check("an etcd that is well has no finding", [], "--etcd-servers=" + plain.url)
        down = "http://127.0.0.1:%d" % free_port()
        check("the doctor finds a member that is down", [("warning", "etcd-member")],
              "--etcd-servers=%s,%s" % (plain.url, down))
        check("and an etcd that is down", [("error", "etcd-member")], "--etcd-servers=" + down)
        check("and one that does not answer", [("error", "etcd-member")],
              "--etcd-servers=http://127.0.0.1:%d" % silent.getsockname()[1])

        files = ("--etcd-certfile=" + client[0], "--etcd-keyfile=" + client[1], "--etcd-servers=" + closed.url)
        right = ("--etcd-cafile=" + authority.certificate, *files)
        soon = [("warning", "etcd-cafile"), ("warning", "etcd-certfile")]
        shown = [("warning", "etcd-member-certificate")]
        check("certificates that expire in days are told", soon + shown, *right)
        wrong = ("--etcd-cafile=" + other.certificate, *files)
        check("the doctor finds a wrong authority", soon + [("error", "etcd-member")] + shown, *wrong)
        code, said = doctor.text(*wrong)
        t.check(code == 1 and "unable to get local issuer certificate" in said, "and says so", said)
        check("the doctor finds that a certificate is missing", soon[:1] + [("error", "etcd-member")] + shown, right[0],
              files[2])
        check("and certificates without a server for them", soon + [("error", "etcd-servers")], *right[:3],
              "--etcd-servers=" + plain.url)
        check("and servers of two clusters", soon + shown + [("error", "etcd-cluster")], *right[:3],
              "--etcd-servers=%s,%s" % (closed.url, plain.url))

        member = call(plain.url + "/v3/maintenance/status")["header"]["member_id"]
        call(plain.url + "/v3/maintenance/alarm", action="ACTIVATE", memberID=member, alarm="NOSPACE")
        check("the doctor finds an alarm", [("error", "etcd-alarm")], "--etcd-servers=" + plain.url)
        code, said = doctor.text("--etcd-servers=" + plain.url)
        t.check("problem  etcd-alarm member %x: NOSPACE: " % int(member) in said, "and says which", said)
    finally:
        silent.close()
        plain.stop()
        closed.stop()


def flags_of_a_program(t, program, parent):
    """What a program's own flags say and name is looked at as its server does."""
    folder, authority = os.path.join(parent, "kube"), Authority(parent, "kubelet-ca")
    os.mkdir(folder, 0o700)
    certificate, key = authority.sign("kubelet-client")
    line = ["--standalone", "--data-dir=" + folder, "--secure-port=%d" % free_port(), "--event-ttl", "2h",
            "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.1.0.0/16", "-v=2",
            "--service-account-issuer=https://issuer", "--service-account-signing-key-file=" + key,
            "--service-account-key-file=" + key, "--kubelet-client-certificate=" + certificate,
            "--kubelet-client-key=" + key, "--kubelet-certificate-authority=" + authority.certificate,
            "--proxy-client-cert-file=" + certificate, "--proxy-client-key-file=" + key]
    bad = os.path.join(parent, "bad.pem")
    with open(bad, "w") as file:
        file.write("no")
    os.chmod(bad, 0o600)

    def doctor(*more):
        got = subprocess.run([program, "doctor", *line, *more], capture_output=True, text=True, timeout=60)
        return got.returncode, got.stdout + got.stderr

    code, said = doctor()
    t.check(code == 0 and "ok       service-account-signing-key-file %s: can be used" % key in said,
            "the whole command line of a server is understood", said)
    for flag in ("service-account-signing-key-file", "kubelet-client-certificate", "kubelet-certificate-authority",
                 "proxy-client-cert-file"):
        code, said = doctor("--%s=%s" % (flag, bad))
        t.check(code == 1 and "problem  %s %s: " % (flag, bad) in said, "the doctor looks at --" + flag, said)
    for wrong, exit_code in (("--apiserver-count=0", 1), ("--event-ttl=soon", 1), ("--kubelet-client-key=", 1),
                             ("--event-tll=1h", 2)):
        code, said = doctor(wrong)
        served = subprocess.run([program, *line, wrong], capture_output=True, text=True, timeout=60)
        t.check((code, said) == (served.returncode, served.stdout + served.stderr) and code == exit_code,
                "%s is refused as the server refuses it" % wrong, (code, said, served))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kube-apiserver")
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as parent:
        folder, port = os.path.join(parent, "data"), free_port()
        os.mkdir(folder, 0o700)
        doctor = Doctor(args.server, folder, port)
        server = Server(args.server, "rocks", folder)
        server.start("--secure-port=%d" % port)
        try:
            running(t, server, doctor, folder)
        finally:
            t.check(server.stop(signal.SIGTERM) == 0, "the server stops")
        stopped(t, doctor, folder)
        faults(t, doctor, args.server, folder, port)
        faults_of_etcd(t, args.server, parent)
        if args.kube_apiserver:
            flags_of_a_program(t, args.kube_apiserver, parent)
    print("doctor: %d checks, %d failed" % (t.checks, len(t.failures)))
    sys.exit(1 if t.failures else 0)


if __name__ == "__main__":
    main()
