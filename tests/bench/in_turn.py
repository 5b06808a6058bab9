#!/usr/bin/env python3
"""Runs workloads of the bench with several servers in turn, and prints medians and their ratios.

usage: in_turn.py --bench BENCH --server NAME=SAMPLE_APISERVER... [--go SAMPLE_APISERVER --etcd ETCD]
                  [--turns 5] [--floors] [--fewer 10] [--all-cpus] [--json FILE] WORKLOAD...

In each turn each server runs each workload once. The first server is what the others are compared with.
--go is the program of k8s.io/sample-apiserver, on an etcd of its own, asked by a user who may do
everything; --fewer so many times fewer operations of it are measured. It takes part in the workloads
that need no server of ours. --floors adds what the machine takes without an API server: nghttpd for W1,
h2load and etcd for W7, RocksDB for W8. Servers run on CPU 0; the driver and etcd on CPU 1; with
--all-cpus all of them on all CPUs, which is for times of day and not for those of CPUs.
Stores lie in new folders in $TMPDIR, or in /tmp: TMPDIR=/dev/shm leaves the disk out.
"""

import argparse
import base64
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from authority import Authority  # noqa: E402
import figures  # noqa: E402

FLOORS = {"W1": "floor/http", "W7": "floor/etcd", "W8": "floor/rocks"}
GO_WORKLOADS = {"W1", "W2", "W3", "W5", "W6", "W7", "W9", "W10", "W11"}
# They wait for namespaces, webhooks and policies of a whole cluster; leaving them out favours Go.
NEEDS_CLUSTER = ("NamespaceLifecycle", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
                 "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook")
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: go
contexts: [{name: go, context: {cluster: go, user: admin}}]
users: [{name: admin, user: {client-certificate-data: %s, client-key-data: %s}}]
clusters: [{name: go, cluster: {server: "https://127.0.0.1:%d", certificate-authority-data: %s}}]
"""


def data(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


def rows_of(options, workload, *flags):
    """{(variant, metric): (value, unit)} of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows")
        done = subprocess.run([options.bench, workload, "--json", out, *flags], capture_output=True, text=True)
        if done.returncode:
            sys.exit("error: %s %s: %s" % (workload, " ".join(flags), done.stderr[-2000:]))
        with open(out, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    return {(row["workload"], row["metric"]): (row["value"], row["unit"]) for row in rows}


def go_rows(options, workload):
    """One run of a new Go server on a new etcd. Our server is the cluster that it asks."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        authority = Authority(folder, "go-ca")
        serving = authority.sign("serving", "/CN=go", "subjectAltName=IP:127.0.0.1\n")
        admin = authority.sign("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth\n")
        # What is started here inherits the CPU: the etcd of the Go server, and the cluster.
        os.sched_setaffinity(0, {1})
        url = stack.enter_context(figures.etcd(options))
        _, cluster = stack.enter_context(figures.our_server(options, "memory"))
        os.sched_setaffinity(0, {0})
        port = figures.free_port()
        server = stack.enter_context(figures.Process(
            [options.go, "--etcd-servers=" + url, "--secure-port=%d" % port, "--bind-address=127.0.0.1",
             "--kubeconfig=" + cluster, "--authentication-kubeconfig=" + cluster,
             "--authorization-kubeconfig=" + cluster, "--authentication-skip-lookup",
             "--disable-admission-plugins=" + ",".join(NEEDS_CLUSTER),
             "--client-ca-file=" + authority.cert, "--tls-cert-file=" + serving[0],
             "--tls-private-key-file=" + serving[1]], port, "/readyz?exclude=informer-sync"))
        os.sched_setaffinity(0, {0, 1})
        kubeconfig = os.path.join(folder, "kubeconfig")
        with open(kubeconfig, "w", encoding="utf-8") as file:
            file.write(KUBECONFIG % (data(admin[0]), data(admin[1]), port, data(authority.cert)))
        return rows_of(options, workload, "--server=127.0.0.1:%d" % port, "--kubeconfig=" + kubeconfig,
                       "--pid=%d" % server.process.pid, "--etcd=" + url.removeprefix("http://"),
                       "--fewer=%d" % options.fewer)


def measure(options):
    """{(variant, metric): {name: [a value a turn]}}, and the units."""
    found, units = {}, {}
    flags = ["--all-cpus"] if options.all_cpus else []

    def note(name, rows):
        for key, (value, unit) in rows.items():
            found.setdefault(key, {}).setdefault(name, []).append(value)
            units[key] = unit
        sys.stderr.write(".")
        sys.stderr.flush()

    for workload in options.workloads:
        for _ in range(options.turns):
            for name, path in options.servers:
                note(name, rows_of(options, workload, "--binary=" + path, *flags))
            if options.go and workload in GO_WORKLOADS:
                note("Go", go_rows(options, workload))
            if options.floors and workload in FLOORS:
                note("floor", rows_of(options, FLOORS[workload]))
    return found, units


def print_table(found, units, names):
    print("| workload | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for key, values in found.items():
        base = statistics.median(values[names[0]]) if names[0] in values else None
        cells = []
        for name in names:
            if name not in values:
                cells.append("")
                continue
            median = statistics.median(values[name])
            ratio = " (%+.1f %%)" % (100 * (median / base - 1)) if base and name != names[0] else ""
            cells.append("%.5g%s [%s]" % (median, ratio, ", ".join("%.4g" % value for value in values[name])))
        print("| %s %s, %s | %s |" % (*key, units[key], " | ".join(cells)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="+")
    parser.add_argument("--bench", required=True)
    parser.add_argument("--server", action="append", required=True, help="NAME=PATH")
    parser.add_argument("--go")
    parser.add_argument("--etcd")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--fewer", type=int, default=10)
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--all-cpus", action="store_true", help="bind no program to a CPU")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.go and not options.etcd:
        parser.error("--go needs --etcd")
    options.servers = [text.split("=", 1) for text in options.server]
    options.server = options.servers[-1][1]  # The cluster of the Go server.

    found, units = measure(options)
    names = [name for name, _ in options.servers] + (["Go"] if options.go else [])
    print_table(found, units, names + (["floor"] if options.floors else []))
    print("\n%s; medians of %d turns" % (figures.machine(), options.turns))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([{"workload": key[0], "metric": key[1], "unit": units[key], "values": values}
                       for key, values in found.items()], file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
