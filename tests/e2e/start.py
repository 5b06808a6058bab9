#!/usr/bin/env python3
"""How the sample-apiserver starts: one line for each mistake, and a kubeconfig that works whatever the address and the
certificate are.

usage: start.py --server SAMPLE_APISERVER

Exits 1 and names each failed check.
"""

import argparse
import base64
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from certificates import Authority
from front_proxy import Checker
from servers import Server

NOT_USED = "a changed file is not used"


def refused(args, folder, *flags):
    """The exit code and the lines of standard error."""
    got = subprocess.run([args.server, "--secure-port=0", "--storage=memory", "--data-dir=" + folder, *flags],
                         capture_output=True, timeout=120)
    return got.returncode, got.stderr.decode().strip().splitlines()


def bad_files(t, args, folder):
    """Each is one line that begins with its flag and names the file."""
    bad = os.path.join(folder, "bad")
    with open(bad, "w") as file:
        file.write("a,b\n")
    for flag, more in (("--token-auth-file", ()), ("--client-ca-file", ()), ("--authentication-config", ()),
                       ("--authorization-config", ()), ("--audit-policy-file", ("--audit-log-path=-",)),
                       ("--encryption-provider-config", ()), ("--tracing-config-file", ()),
                       ("--tls-cert-file", ("--tls-private-key-file=" + bad,)),
                       ("--admission-control-config-file", ())):
        for path in (bad, os.path.join(folder, "missing")):
            code, lines = refused(args, folder, flag + "=" + path, *more)
            # What the server says of its end comes after.
            lines = [line for line in lines if " lifecycle phase=" not in line]
            t.check(code == 1 and len(lines) == 1 and lines[0].startswith("error: " + flag) and path in lines[0],
                    "%s=%s is one line" % (flag, os.path.basename(path)), (code, lines))


def bad_flags(t, args, folder):
    for flags, said in (
            (("--bind-address", "foo"),
             'error: --bind-address: "foo" is no IP address; give one of this machine\'s, e.g. 127.0.0.1 or ::1, '
             'or 0.0.0.0 for all'),
            (("--shutdown-delay-duration", "5"),
             'error: --shutdown-delay-duration: "5" is no duration; give one like 5s, 1m30s or 500ms'),
            (("--max-requests-inflight", "0", "--max-mutating-requests-inflight", "0"),
             "error: --max-requests-inflight=0 and --max-mutating-requests-inflight=0 leave no seats to share; "
             "raise one, or have no limit with --enable-priority-and-fairness=false")):
        code, lines = refused(args, folder, *flags)
        t.check(code == 1 and lines == [said], " ".join(flags), (code, lines))
    code, lines = refused(args, folder, "--secure-prot=1")
    t.check(code == 2 and lines == ["error: unknown flag: --secure-prot; did you mean --secure-port?"],
            "an unknown flag", (code, lines))


def asked(t, args, folder):
    """What it says of itself: as envtest's starter reads it (controller-runtime, process.Arguments)."""
    def run(*flags):
        got = subprocess.run([args.server, *flags], capture_output=True, timeout=120)
        return got.returncode, got.stdout.decode(), got.stderr.decode()

    code, out, err = run("--version")
    t.check(code == 0 and re.fullmatch(r"sample-apiserver 0\.1 \(libapiserver \S+, Kubernetes v1\.\d+\.\d+\S*\)\n", out)
            and not err, "--version", (code, out, err))
    code, out, err = run("--help")
    t.check(code == 0 and not err and re.search(r"(?m)^Secure serving flags:", out)
            and re.search(r"(?m)^\s*doctor\b", out), "--help", (code, out, err))
    for flag in ("secure-port", "etcd-servers", "cert-dir", "client-ca-file", "authorization-mode"):
        t.check(re.search(r"(?m)^\s*--%s\b" % flag, out), "--help has a line for --" + flag, out)


def bad_key(t, args, folder):
    """Of a client, in the kubeconfig of a cluster."""
    authority = Authority(folder, "cluster")
    certificate, good_key = authority.sign("client")
    key = os.path.join(folder, "no.key")
    with open(key, "w") as file:
        file.write("no key\n")
    path, good = os.path.join(folder, "cluster.kubeconfig"), os.path.join(folder, "good.kubeconfig")
    for name, pair in ((path, (certificate, key)), (good, (certificate, good_key))):
        with open(name, "w") as file:
            file.write("current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
                       "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1', certificate-authority: '%s'}}]\n"
                       "users: [{name: a, user: {client-certificate: '%s', client-key: '%s'}}]\n"
                       % (authority.certificate, *pair))
    for flags, of in ((("--authentication-kubeconfig=" + path, "--authorization-kubeconfig=" + good),
                       "the cluster of --authentication-kubeconfig: " + path),
                      (("--authentication-skip-lookup", "--authorization-kubeconfig=" + path),
                       "--authorization-kubeconfig: " + path)):
        code, lines = refused(args, folder, "--no-standalone", *flags)
        said = lines[-1] if lines else ""
        t.check(code == 1 and said.startswith("error: " + of) and key in said and "bad private key" in said,
                of.split(":")[0] + " with a bad key", (code, lines))


class Link:
    """A connection of a client that has the kubeconfig."""

    def __init__(self, kubeconfig, folder):
        self.host, self.token, self.socket = connect(kubeconfig, folder)

    def get(self, *headers):
        """The status line of a GET."""
        lines = ["GET /apis HTTP/1.1", "Host: x", "Authorization: Bearer " + self.token, *headers, "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        return self.socket.recv(4096).split(b"\r\n")[0].decode()


def dial(kubeconfig, folder):
    """The host that the file names, and the status line of a GET."""
    link = Link(kubeconfig, folder)
    with link.socket:
        return link.host, link.get("Connection: close")


def connect(kubeconfig, folder):
    """The host that the file names, its token, and a connection to the server."""
    text = open(kubeconfig).read()
    host, port = re.search(r'server: "https://(\[[^]]+\]|[^:"]+):(\d+)"', text).groups()
    name = re.search(r'tls-server-name: "?([^"\n]+)', text)
    ca = os.path.join(folder, "ca.pem")
    with open(ca, "wb") as file:
        file.write(base64.b64decode(re.search(r"authority-data: (\S+)", text).group(1)))
    token = re.search(r'token: "([^"]+)', text).group(1)
    context = ssl.create_default_context(cafile=ca)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # As Go's clients: any certificate of the file.
    raw = socket.create_connection((host.strip("[]"), int(port)), timeout=120)
    return host, token, context.wrap_socket(raw, server_hostname=name.group(1) if name else host.strip("[]"))


def addresses(t, args, folder):
    own = Authority(folder, "own")
    certificate, key = own.sign("own", names=("DNS:api.example.com",))
    files = ("--tls-cert-file=" + certificate, "--tls-private-key-file=" + key)
    for bound, flags, host in (("127.0.0.1", (), "127.0.0.1"), ("127.0.0.2", (), "127.0.0.2"), ("::1", (), "[::1]"),
                               ("0.0.0.0", (), "127.0.0.1"), ("::", (), "[::1]"), ("127.0.0.2", files, "127.0.0.2")):
        what = "--bind-address=%s %s" % (bound, " ".join(flags))
        place = tempfile.mkdtemp(dir=folder)
        server = Server(args.server, "memory", place, flags=("--bind-address=" + bound, *flags))
        server.start()
        try:
            got = dial(server.kubeconfig, place)
            t.check(got == (host, "HTTP/1.1 200 OK"), what, got)
        except OSError as error:
            t.check(False, what, error)
        t.check(server.stop(signal.SIGTERM) == 0, what + ": stops cleanly")
        log = open(os.path.join(place, "server.log")).read()
        listens = "[%s]" % bound if ":" in bound else bound
        t.check('address="%s:' % listens in log, what + ": the log names the address", log)
        t.check("starting over" not in log and NOT_USED not in log, what + ": a clean stop warns of nothing", log)


def one_directory(t, args, folder):
    """docs/security.md, row 82: a second server on a data directory touches nothing of the first one's."""
    place = tempfile.mkdtemp(dir=folder)
    first = Server(args.server, "memory", place)
    first.start()
    read = lambda: {name: open(os.path.join(at, name), "rb").read() for at, _, names in os.walk(place)
                    for name in names if name != "server.log"}
    before = read()

    code, lines = refused(args, place)

    t.check(code == 1 and lines == ["error: --data-dir: %s is used by another process; give this server a directory "
                                    "of its own, or stop the other one" % place], "a second server", (code, lines))
    t.check(read() == before, "the files are what they were")
    t.check(dial(first.kubeconfig, folder)[1] == "HTTP/1.1 200 OK", "the first kubeconfig is good")
    first.stop(signal.SIGKILL)
    first.start()
    t.check(dial(first.kubeconfig, folder)[1] == "HTTP/1.1 200 OK", "a server that was killed holds nobody up")
    t.check(first.stop(signal.SIGTERM) == 0, "and stops cleanly")


def idle_connection(t, args, folder):
    """A client that keeps a connection open does not hold up the stop. The best of three: the machine is shared."""
    took = []
    for _ in range(3):
        place = tempfile.mkdtemp(dir=folder)
        server = Server(args.server, "memory", place)
        server.start()
        link = Link(server.kubeconfig, place)
        t.check(link.get() == "HTTP/1.1 200 OK", "the connection is used once")
        begun = time.monotonic()
        t.check(server.stop(signal.SIGTERM) == 0, "stops cleanly beside an idle connection")
        took.append(time.monotonic() - begun)
        link.socket.close()
    t.check(min(took) <= 0.2, "stops within 0.2 s beside an idle connection", took)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        for case in (bad_files, bad_flags, asked, bad_key, addresses, one_directory, idle_connection):
            case(t, args, folder)
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
