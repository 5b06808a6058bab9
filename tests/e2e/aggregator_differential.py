#!/usr/bin/env python3
"""Compares what the aggregators of a server and of a Go kube-apiserver answer.

usage: aggregator_differential.py --go KUBE_APISERVER --server KUBE_APISERVER
       aggregator_differential.py --go KUBE_APISERVER --record FILE
       aggregator_differential.py --server KUBE_APISERVER [--replay FILE]

Both servers are started here, Go's on the etcd of $APISERVER_ETCD, and get the same extension server.
With --record the answers of Go's are written to FILE, with --replay (the default is the file of the test
data) they are compared without one. A difference that aggregator_differences.json does not list, with
its reason, fails, and if recorded answers are replayed so does an entry of it without a difference.
"""

import argparse
import base64
import contextlib
import json
import os
import re
import sys
import tempfile

import aggregator_requests
from aggregated import GoCluster
from aggregator_requests import Asker
from certificates import Authority
from crd_answers import Peer, reduced
from crd_differential import Judge, Known, Report, record, recorded_answers
from extension_server import extension_server
from servers import Failure, free_port, running, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = os.path.join(HERE, "..", "testdata", "aggregator", "kube-apiserver-1.35.jsonl")
PARTS = ("invalid", "proxied", "ways", "generated", "local", "definitions")
# What the ports of the extension server are called in answers.
STEADY = {"up": 65001, "closed": 65002, "own": 65003}


class AggregatorPeer(Peer):
    """A server whose answers are taken as they come: 503 may be the right one."""

    def __init__(self, kubeconfig, ports, authorities=()):
        super().__init__(kubeconfig)
        self.token, self.ports = "admins", {**ports, "own": self.connection.port}
        self.bundles = {base64.b64encode(one.pem().encode()).decode(): one.name for one in authorities}

    def send(self, request):
        body = request.body
        if body and "$REVISION" in body:
            body = body.replace("$REVISION", self.revision(request.path))
        return self.once(request.method, request.path, body, request.headers)

    def steady(self, text):
        """`text` with the same ports and authorities in every run, and kube-apiserver's name for its own writes."""
        text = text.replace('"manager":"libapiserver"', '"manager":"kube-apiserver"')
        # What localhost is depends on the machine.
        text = text.replace("dial tcp [::1]:", "dial tcp 127.0.0.1:")
        for name, port in self.ports.items():
            text = re.sub(r"(?<!\d)%d(?!\d)" % port, str(STEADY[name]), text)
        for bundle, name in self.bundles.items():
            text = text.replace(bundle, name)
        return text

    def answer(self, request):
        code, headers, text = self.send(request)
        if request.like:
            request.like = json.loads(self.steady(json.dumps(request.like)))
        kept = reduced(request, code, headers, self.steady(text))
        for name in ("Retry-After", "Location", "X-Own", "Allow"):
            if name in headers:
                kept.setdefault("headers", {})[name] = self.steady(headers[name])
        return kept

    def lists(self, path):
        """Whether OpenAPI has the documents of the extension server."""
        return path in self.json("/openapi/v3")["paths"] and "/" + path + "/echoes" in self.json("/openapi/v2")["paths"]

    def shows_resources(self, group):
        found = self.json("/apis", Accept=aggregator_requests.V2 % "v2")["items"]
        return any(one["metadata"]["name"] == group and one["versions"][0].get("resources") for one in found)


def run(judge, ports, authorities, parts):
    for part in parts:
        ask = Asker(judge, part)
        more = {"ways": (ports["up"],), "proxied": (ports, *(one.pem() for one in authorities))}.get(part, ())
        getattr(aggregator_requests, part)(ask, *more)


@contextlib.contextmanager
def go_cluster(binary, folder):
    """The kubeconfig of a kube-apiserver of Kubernetes that is ready."""
    os.mkdir(folder)
    cluster = GoCluster(binary, folder)
    cluster.start()
    try:
        peer = Peer(cluster.kubeconfig)

        def ready():
            with contextlib.suppress(OSError):
                return peer.once("GET", "/readyz")[0] == 200
            return False
        wait_until(ready, "the Go server is ready")
        yield cluster.kubeconfig
        # It waits a minute for connections.
        peer.connection.close()
    finally:
        cluster.process.kill()
        cluster.stop()


@contextlib.contextmanager
def our_cluster(binary, folder):
    os.mkdir(folder)
    tokens = os.path.join(folder, "tokens")
    with open(tokens, "w", encoding="utf-8") as file:
        file.write("admins,admin,1,system:masters\n")
    with running(binary, folder=folder, flags=("--token-auth-file=" + tokens,)) as kubeconfig:
        # Without the client certificate that the file has, too.
        with open(kubeconfig, encoding="utf-8") as file:
            text = re.sub(r"\n *client-(certificate|key)-data: [^\n]*", "", file.read())
        plain = os.path.join(folder, "kubeconfig-of-token")
        with open(plain, "w", encoding="utf-8") as file:
            file.write(text)
        peer = AggregatorPeer(plain, {})
        wait_until(lambda: peer.once("GET", "/readyz")[0] == 200, "the server is ready")
        yield plain


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--go")
    parser.add_argument("--server")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--record")
    parser.add_argument("--replay", default=ANSWERS)
    args = parser.parse_args()
    if not args.go and (not args.server or args.record):
        parser.error("give --go or --server")
    return args


def main():
    args = arguments()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        serving, wrong = Authority(folder, "serving"), Authority(folder, "wrong")
        pair = serving.sign("api", names=("DNS:localhost", "DNS:api.peers.svc"))
        ports = {"up": stack.enter_context(extension_server(pair)), "closed": free_port()}

        def peer(start, binary, name):
            kubeconfig = stack.enter_context(start(binary, os.path.join(folder, name)))
            return AggregatorPeer(kubeconfig, ports, (serving, wrong))
        go = peer(go_cluster, args.go, "go") if args.go else None
        server = peer(our_cluster, args.server, "ours") if args.server else None
        whole = not args.go and args.parts == ",".join(PARTS)
        report = Report(Known(os.path.join(HERE, "aggregator_differences.json")), whole)
        judge = Judge(go, server, None if go else recorded_answers(args.replay), report)
        try:
            run(judge, ports, (serving, wrong), args.parts.split(","))
        finally:
            if args.record:
                record(judge, args.record)
            right = report.ended() if server else True
        return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print("FAILED: %s" % failure)
        sys.exit(1)
