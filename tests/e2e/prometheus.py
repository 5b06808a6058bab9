#!/usr/bin/env python3
"""Debian's prometheus scrapes the server; kubernetes-mixin's expressions and our dashboard's have answers.

usage: prometheus.py --server BINARY

Needs prometheus and promtool in $PATH.
"""

import argparse
import contextlib
import http.server
import json
import math
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

from authority import Authority
from servers import Failure, Server, free_port, wait_until

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
FLUNDERS = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders"

CONFIG = """
global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}
rule_files: [%(rules)s]
scrape_configs:
- job_name: kube-apiserver
  scheme: https
  tls_config: {ca_file: %(folder)s/authority.crt, cert_file: %(pki)s/admin.crt, key_file: %(pki)s/admin.key}
  static_configs: [{targets: ["127.0.0.1:%(port)s"], labels: {cluster: test}}]
"""

# Of github.com/kubernetes-monitoring/kubernetes-mixin, rules/kube_apiserver-*.libsonnet, with their default
# selectors; the shortest windows.
RULES = {
    "apiserver_request:burnrate5m": """
      (
        (
          sum by (cluster) (rate(apiserver_request_sli_duration_seconds_count{job="kube-apiserver",verb=~"LIST|GET",subresource!~"proxy|attach|log|exec|portforward"}[5m]))
          -
          (
            (
              sum by (cluster) (rate(apiserver_request_sli_duration_seconds_bucket{job="kube-apiserver",verb=~"LIST|GET",subresource!~"proxy|attach|log|exec|portforward",scope=~"resource|",le=~"1(\\\\.0)?"}[5m]))
              or
              vector(0)
            )
            +
            sum by (cluster) (rate(apiserver_request_sli_duration_seconds_bucket{job="kube-apiserver",verb=~"LIST|GET",subresource!~"proxy|attach|log|exec|portforward",scope="namespace",le=~"5(\\\\.0)?"}[5m]))
            +
            sum by (cluster) (rate(apiserver_request_sli_duration_seconds_bucket{job="kube-apiserver",verb=~"LIST|GET",subresource!~"proxy|attach|log|exec|portforward",scope="cluster",le=~"30(\\\\.0)?"}[5m]))
          )
        )
        +
        sum by (cluster) (rate(apiserver_request_total{job="kube-apiserver",verb=~"LIST|GET",code=~"5.."}[5m]))
      )
      /
      sum by (cluster) (rate(apiserver_request_total{job="kube-apiserver",verb=~"LIST|GET"}[5m]))""",
    "code_resource:apiserver_request_total:rate5m": """
      sum by (cluster,code,resource) (rate(apiserver_request_total{job="kube-apiserver",verb=~"LIST|GET"}[5m]))""",
    "cluster_quantile:apiserver_request_sli_duration_seconds:histogram_quantile": """
      histogram_quantile(0.99, sum by (cluster, le, resource) (rate(apiserver_request_sli_duration_seconds_bucket{job="kube-apiserver",verb=~"POST|PUT|PATCH|DELETE",subresource!~"proxy|attach|log|exec|portforward"}[5m]))) > 0""",
    "code:apiserver_request_total:increase30d": """
      sum by (cluster, code, verb) (increase(apiserver_request_total{job="kube-apiserver",verb=~"LIST|GET|POST|PUT|PATCH|DELETE",code=~"2.."}[1h]))""",
    "cluster_verb_scope:apiserver_request_sli_duration_seconds_count:increase1h": """
      sum by (cluster, verb, scope) (increase(apiserver_request_sli_duration_seconds_count{job="kube-apiserver"}[1h]))""",
}

# Of its dashboard and alerts, and what anybody looks at.
QUERIES = {
    'up{job="kube-apiserver"}': 1,
    'process_resident_memory_bytes{job="kube-apiserver",instance=~".+"}': None,
    'rate(process_cpu_seconds_total{job="kube-apiserver"}[5m])': None,
    'sum(apiserver_longrunning_requests{verb="WATCH",resource="flunders"})': 1,
    'sum(apiserver_request_total{verb="POST",resource="flunders",code="201",scope="resource",component="apiserver"})': 23,
    'sum(apiserver_request_total{verb="LIST",resource="flunders",code="200",scope="namespace"})': 20,
    'sum(apiserver_request_total{verb="LIST",resource="flunders",code="504",scope="namespace"})': 1,
    'sum(apiserver_response_sizes_count{verb="LIST",resource="flunders",scope="namespace"})': 21,
    'sum(apiserver_watch_events_total{resource="flunders"}) >= 20': None,
    'sum(apiserver_watch_events_sizes_count{resource="flunders"}) >= 20': None,
    'rate(rest_client_requests_total{job="kube-apiserver",code=~"2..",method="POST",host=~".+"}[5m])': None,
    'histogram_quantile(0.99, sum(rate(rest_client_request_duration_seconds_bucket{verb="POST"}[5m])) by (verb, host, le)) < 60': None,
    'sum(apiserver_flowcontrol_priority_level_seat_utilization_sum{phase="executing"}) > 0': None,
    'histogram_quantile(0.9, sum(rate(apiserver_flowcontrol_priority_level_request_utilization_bucket{phase="executing"}[5m])) by (le)) <= 1': None,
    'histogram_quantile(0.9, sum(rate(apiserver_flowcontrol_demand_seats_bucket[5m])) by (le)) <= 1': None,
    'sum(apiserver_flowcontrol_read_vs_write_current_requests_sum{phase="executing",request_kind="readOnly"}) > 0': None,
    'kubernetes_feature_enabled{name="WatchListCompression",stage="BETA"}': 1,
    'count(kubernetes_build_info)': 1,
    'count(apiserver_request_filter_duration_seconds_count{filter=~"authentication|authorization"})': 2,
}


DASHBOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "dashboard.json")
# Values that Grafana puts in for the variables of a dashboard.
VARIABLES = {"$job": "kube-apiserver", "$instance": ".+", "$__rate_interval": "1m"}


def drawn():
    """The expressions of our own dashboard, each with the title of its panel."""
    with open(DASHBOARD) as file:
        panels = json.load(file)["panels"]
    expressions = []
    for panel in panels:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            expressions.append((panel["title"], expression))
    if len(expressions) < 40:
        raise Failure("the dashboard has %d expressions" % len(expressions))
    return expressions


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans, so that the server makes calls of its own; they are what rest_client_* counts."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def traced(folder):
    """Starts a collector; returns the flag that sends all spans there."""
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    path = os.path.join(folder, "tracing.json")
    with open(path, "w") as file:
        json.dump({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "TracingConfiguration",
                   "endpoint": "http://127.0.0.1:%d" % collector.server_port,
                   "samplingRatePerMillion": 1000000}, file)
    return "--tracing-config-file=" + path


def audited(folder):
    """The flags of a log of all requests."""
    path = os.path.join(folder, "policy.json")
    with open(path, "w") as file:
        json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}, file)
    return ["--audit-policy-file=" + path, "--audit-log-path=" + os.path.join(folder, "audit.log")]


def certified(folder):
    """The flags of a serving certificate in files; its authority is in authority.crt."""
    pair = Authority(folder, "authority").sign("serving", "/CN=serving", "subjectAltName=IP:127.0.0.1\n")
    return ["--tls-cert-file=" + pair[0], "--tls-private-key-file=" + pair[1]]


class Client:
    """The administrator. `authority`: the certificate of who has signed the server's, if not the server itself."""

    def __init__(self, server, authority=None):
        pki = os.path.join(server.folder, "pki")
        self.context = ssl.create_default_context(cafile=authority or os.path.join(pki, "ca.crt"))
        self.context.load_cert_chain(os.path.join(pki, "admin.crt"), os.path.join(pki, "admin.key"))
        with open(server.kubeconfig) as file:
            self.url = next(line.split('"')[1] for line in file if "server:" in line)

    def open(self, path, body=None, headers=None):
        request = urllib.request.Request(self.url + path, data=body, headers=headers or {})
        if body:
            request.add_header("Content-Type", "application/json")
        return urllib.request.urlopen(request, context=self.context, timeout=60)


def post(client, path, body):
    client.open(path, json.dumps(body).encode()).read()


def create(client, name):
    post(client, FLUNDERS, {"apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder",
                            "metadata": {"name": name}, "spec": {"reference": "x"}})


def call_webhook(client):
    """From now on each flunder that is created is shown to a webhook that is not there, which does no harm."""
    post(client, WEBHOOKS, {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "away"},
        "webhooks": [{"name": "away.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "failurePolicy": "Ignore",
                      "rules": [{"apiGroups": ["wardle.example.com"], "apiVersions": ["*"], "operations": ["CREATE"],
                                 "resources": ["flunders"]}],
                      "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})


def load(client):
    """Twenty objects, twenty lists, one watch that stays; returns it."""
    watch = client.open(FLUNDERS + "?watch=1")
    for i in range(20):
        create(client, "f%d" % i)
        client.open(FLUNDERS).read()
    client.open(FLUNDERS + "/f0").read()
    client.open("/apis/wardle.example.com/v1alpha1/flunders").read()
    for _ in range(20):
        watch.readline()
    try:  # Without one error the mixin's burn rate has no answer.
        client.open(FLUNDERS + "?resourceVersion=999999999&resourceVersionMatch=NotOlderThan")
    except urllib.error.HTTPError as error:
        if error.code != 504:
            raise Failure("a revision of the future is answered %d" % error.code)
    return watch


class Visitors:
    """A few requests a second until it is closed, at most 600. Not by an administrator: those are exempt from queues."""

    def __init__(self, client):
        self.client, self.closed = client, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        for i in range(600):
            if self.closed.wait(0.2):
                return
            create(self.client, "v%d" % i)
            # The controller of aggregated roles looks at each.
            post(self.client, ROLES, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                                      "metadata": {"name": "v%d" % i}})
            try:
                self.client.open(FLUNDERS + "/f0", headers={"Impersonate-User": "visitor"}).read()
            except urllib.error.HTTPError as error:
                error.close()  # 403 has waited for a seat, too.

    def close(self):
        self.closed.set()
        self.thread.join()


def lint(client):
    text = client.open("/metrics").read()
    check_reference(text.decode())
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    # 3: names that promtool would rather have otherwise, upstream's among them; 1: not the format.
    if done.returncode not in (0, 3):
        raise Failure("promtool: %s" % done.stderr.decode()[-1000:])
    return len(text)


class Prometheus:
    def __init__(self, folder, target):
        self.folder, port = folder, free_port()
        self.url = "http://127.0.0.1:%d" % port
        rules = os.path.join(folder, "rules.json")
        with open(rules, "w") as file:
            json.dump({"groups": [{"name": "mixin", "rules": [{"record": name, "expr": expression}
                                                              for name, expression in RULES.items()]}]}, file)
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w") as file:
            file.write(CONFIG % {"rules": rules, "pki": os.path.join(folder, "pki"), "folder": folder, "port": target})
        done = subprocess.run(["promtool", "check", "config", config], capture_output=True)
        if done.returncode:
            raise Failure("promtool: %s" % (done.stdout + done.stderr).decode()[-1000:])
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=" + config, "--web.listen-address=127.0.0.1:%d" % port,
             "--storage.tsdb.path=" + os.path.join(folder, "tsdb")],
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "prometheus.log"), "w"))

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)["data"]

    def values(self, expression):
        data = self.get("/api/v1/query?query=" + urllib.parse.quote(expression))
        return [float(each["value"][1]) for each in data["result"]]

    def has_counted(self):
        try:
            return bool(self.values('sum_over_time(up[5m]) >= 2'))
        except OSError:
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()


def check(prometheus):
    def scraped():
        if prometheus.process.poll() is not None:
            raise Failure("prometheus has ended")
        try:
            targets = prometheus.get("/api/v1/targets")["activeTargets"]
        except OSError:
            return False
        errors = [each["lastError"] for each in targets if each["lastError"]]
        if errors:
            raise Failure("prometheus cannot scrape: %s" % errors)
        return bool(targets) and all(each["health"] == "up" for each in targets)

    wait_until(scraped, "prometheus scrapes the server")
    for expression, expected in list(QUERIES.items()) + [(name, None) for name in RULES]:
        def answered():
            values = prometheus.values(expression)
            return values == [expected] if expected is not None else bool(values)
        try:
            wait_until(answered, expression)
        except Failure:
            raise Failure("%s is %s, not %s" % (expression, prometheus.values(expression), expected))
    rules = prometheus.get("/api/v1/rules")["groups"][0]["rules"]
    wrong = [rule["name"] + ": " + rule["lastError"] for rule in rules if rule["health"] != "ok"]
    if wrong:
        raise Failure("rules: %s" % wrong)


def check_reference(text):
    """docs/metrics.md has every metric of the server."""
    with open(os.path.join(os.path.dirname(DASHBOARD), "metrics.md")) as file:
        page = file.read()
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")]
    missing = [name for name in names if "| `%s` |" % name not in page]
    if missing or len(names) < 50:
        raise Failure("docs/metrics.md lacks %s of %d metrics" % (missing, len(names)))


def check_dashboard(prometheus):
    for title, expression in drawn():
        def has_data():
            return any(not math.isnan(value) for value in prometheus.values(expression))
        try:
            wait_until(has_data, title)
        except Failure:
            raise Failure("%s has no data: %s" % (title, expression))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    for tool in ("prometheus", "promtool"):
        if not shutil.which(tool):
            print("FAILED: no %s in $PATH" % tool)
            return 1
    with tempfile.TemporaryDirectory() as folder:
        flags = [traced(folder), *certified(folder), *audited(folder)]
        server, prometheus = Server(args.server, "rocks", folder, flags=flags), None
        try:
            server.start()
            client = Client(server, os.path.join(folder, "authority.crt"))
            watch = load(client)
            # As prometheus sees it: what a counter had before its first scrape is no increase.
            prometheus = Prometheus(folder, urllib.parse.urlparse(client.url).port)
            wait_until(prometheus.has_counted, "two scrapes")
            for i in range(3):
                create(client, "g%d" % i)
            size = lint(client)
            check(prometheus)
            call_webhook(client)
            with contextlib.closing(Visitors(client)):
                check_dashboard(prometheus)
            watch.close()
            print("%d bytes of metrics, %d expressions" % (size, len(QUERIES) + len(RULES) + len(drawn())))
        except Failure as failure:
            print("FAILED: %s" % failure, flush=True)
            return 1
        finally:
            if prometheus:
                prometheus.stop()
            server.stop(signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
