#!/usr/bin/env python3
"""`doctor --standalone` finds the faults of a data folder, repairs some, and leaves a running server's alone.

usage: doctor.py --server SAMPLE_APISERVER

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

from checker import Checker
from servers import Server, free_port


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
        return code, [(check["status"], check["name"]) for check in report["checks"] if check["status"] != "ok"]


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
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
    print("doctor: %d checks, %d failed" % (t.checks, len(t.failures)))
    sys.exit(1 if t.failures else 0)


if __name__ == "__main__":
    main()
