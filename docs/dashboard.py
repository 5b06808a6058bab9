#!/usr/bin/env python3
"""Makes docs/dashboard.json, a Grafana dashboard of a server, from the table below.

usage: dashboard.py [--write] [--root DIR]

Without --write, fails if the file is not what would be written. tests/e2e/prometheus.py asks a
Prometheus for every expression.
"""

import argparse
import json
import os
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FILE = os.path.join("docs", "dashboard.json")

# In an expression: {} selects the server, {,x="y"} with more labels, [] is the time of a rate.
ROWS = [
    ("Requests", [
        ("Requests a second", "By verb.", "reqps",
         {"{{verb}}": "sum by (verb) (rate(apiserver_request_total{}[]))"}),
        ("Errors a second", "By HTTP status code; 429 is the server's own limit, 504 a deadline.", "reqps",
         {"{{code}}": 'sum by (code) (rate(apiserver_request_total{,code=~"[45].."}[]))'}),
        ("Answered without a server error", "The share of requests whose code is below 500.", "percentunit",
         {"{{instance}}": '1 - (sum by (instance) (rate(apiserver_request_total{,code=~"5.."}[])) or 0 * sum by (instance) '
                          "(rate(apiserver_request_total{}[]))) / sum by (instance) (rate(apiserver_request_total{}[]))"}),
        ("Latency, 99th percentile", "By verb, without watches and tunnels.", "s",
         {"{{verb}}": "histogram_quantile(0.99, sum by (verb, le) "
                      '(rate(apiserver_request_duration_seconds_bucket{,verb!~"WATCH|CONNECT"}[])))'}),
        ("Latency, median", "By verb, without watches and tunnels.", "s",
         {"{{verb}}": "histogram_quantile(0.5, sum by (verb, le) "
                      '(rate(apiserver_request_duration_seconds_bucket{,verb!~"WATCH|CONNECT"}[])))'}),
        ("Time in filters", "Mean of a request, for each step before its handler.", "s",
         {"{{filter}}": "sum by (filter) (rate(apiserver_request_filter_duration_seconds_sum{}[])) / "
                        "sum by (filter) (rate(apiserver_request_filter_duration_seconds_count{}[]))"}),
        ("Admission, 99th percentile", "By plugin.", "s",
         {"{{name}} {{type}}": "histogram_quantile(0.99, sum by (name, type, le) "
                               "(rate(apiserver_admission_controller_admission_duration_seconds_bucket{}[])))"}),
        ("Bytes answered a second", "By resource.", "Bps",
         {"{{resource}}": "sum by (resource) (rate(apiserver_response_sizes_sum{}[]))"}),
    ]),
    ("Load", [
        ("Requests in flight", "Without watches and tunnels.", "short",
         {"{{request_kind}}": "sum by (request_kind) (apiserver_current_inflight_requests{})"}),
        ("Seats", "Of each priority level: taken, and how many it may have now.", "short",
         {"{{priority_level}} taken": "sum by (priority_level) (apiserver_flowcontrol_current_executing_seats{})",
          "{{priority_level}} limit": "sum by (priority_level) (apiserver_flowcontrol_current_limit_seats{})"}),
        ("Waiting requests", "In the queues of priority levels.", "short",
         {"{{priority_level}}": "sum by (priority_level) (apiserver_flowcontrol_current_inqueue_requests{})"}),
        ("Wait for a seat, 99th percentile", "Of requests that were served.", "s",
         {"{{priority_level}}": "histogram_quantile(0.99, sum by (priority_level, le) "
                                '(rate(apiserver_flowcontrol_request_wait_duration_seconds_bucket{,execute="true"}[])))'}),
        ("Refused for load a second", "429 by priority and fairness.", "reqps",
         {"{{priority_level}} {{reason}}": "sum by (priority_level, reason) "
                                           "(rate(apiserver_flowcontrol_rejected_requests_total{}[]))"}),
        ("Users", "Requests a second of each user.", "reqps",
         {"{{username}}": "topk(10, sum by (username) (rate(authenticated_user_requests{}[])))"}),
    ]),
    ("Objects and watches", [
        ("Objects", "Stored, by resource.", "short",
         {"{{resource}}.{{group}}": "sum by (group, resource) (apiserver_resource_objects{})"}),
        ("Bytes of objects", "As they are stored.", "bytes",
         {"{{resource}}.{{group}}": "sum by (group, resource) (apiserver_resource_size_estimate_bytes{})"}),
        ("Watches", "Open now, by resource.", "short",
         {"{{resource}}": 'sum by (resource) (apiserver_longrunning_requests{,verb="WATCH"})'}),
        ("Events a second", "Sent to watches, by resource.", "short",
         {"{{resource}}": "sum by (resource) (rate(apiserver_watch_events_total{}[]))"}),
        ("Watches closed for slowness", "Clients that did not read.", "short",
         {"{{resource}}": "sum by (resource) (increase(apiserver_terminated_watchers_total{}[]))"}),
        ("Warm-up of watch caches", "Objects read, and to read.", "short",
         {"{{resource}} read": "sum by (resource) (apiserver_watch_cache_loaded_objects{})",
          "{{resource}} to read": "sum by (resource) (apiserver_watch_cache_objects_to_load{})"}),
    ]),
    ("Controllers", [
        ("Waiting keys", "In work queues.", "short", {"{{name}}": "sum by (name) (workqueue_depth{})"}),
        ("Keys a second", "Added to work queues.", "short", {"{{name}}": "sum by (name) (rate(workqueue_adds_total{}[]))"}),
        ("Wait of keys, 99th percentile", "In a work queue, until a worker takes them.", "s",
         {"{{name}}": "histogram_quantile(0.99, sum by (name, le) (rate(workqueue_queue_duration_seconds_bucket{}[])))"}),
        ("Reconciliations a second", "By result.", "short",
         {"{{controller}} {{result}}": "sum by (controller, result) (rate(controller_runtime_reconcile_total{}[]))"}),
        ("Reconciliation, 99th percentile", "", "s",
         {"{{controller}}": "histogram_quantile(0.99, sum by (controller, le) "
                            "(rate(controller_runtime_reconcile_time_seconds_bucket{}[])))"}),
        ("Unfinished work", "Grows by one a second for each worker that is stuck.", "s",
         {"{{name}}": "sum by (name) (workqueue_unfinished_work_seconds{})"}),
    ]),
    ("Calls to others", [
        ("Calls a second", "To webhooks, clusters, identity providers and collectors.", "reqps",
         {"{{host}} {{code}}": "sum by (host, code) (rate(rest_client_requests_total{}[]))"}),
        ("Admission webhooks, 99th percentile", "", "s",
         {"{{name}}": "histogram_quantile(0.99, sum by (name, le) "
                      "(rate(apiserver_admission_webhook_admission_duration_seconds_bucket{}[])))"}),
        ("Admission webhooks passed over a second", "They have failed, and their failurePolicy is Ignore.", "reqps",
         {"{{name}}": "sum by (name) (rate(apiserver_admission_webhook_fail_open_count{}[]))"}),
        ("Spans a second", "Of traces, that the collector has taken.", "short",
         {"{{instance}}": "rate(apiserver_tracing_exported_spans_total{}[])"}),
    ]),
    ("Process", [
        ("CPU", "Cores.", "short", {"{{instance}}": "rate(process_cpu_seconds_total{}[])"}),
        ("Memory", "Resident.", "bytes", {"{{instance}}": "process_resident_memory_bytes{}"}),
        ("Memory by share", "What the server counts against its memory budget.", "bytes",
         {"{{share}}": "sum by (share) (apiserver_memory_share_bytes{})"}),
        ("Open files", "Of those allowed.", "percentunit",
         {"{{instance}}": "process_open_fds{} / process_max_fds{}"}),
        ("Threads", "", "short", {"{{instance}}": "process_threads{}"}),
        ("Time since the start", "", "s", {"{{instance}}": "time() - process_start_time_seconds{}"}),
    ]),
    ("Security", [
        ("Authentication a second", "By result.", "reqps",
         {"{{result}}": "sum by (result) (rate(authentication_attempts{}[]))"}),
        ("Authorization a second", "By result.", "reqps",
         {"{{result}}": "sum by (result) (rate(authorization_attempts_total{}[]))"}),
        ("First client certificate to expire", "One of a hundred requests has one that lasts shorter.", "s",
         {"": "histogram_quantile(0.01, sum by (le) (rate(apiserver_client_certificate_expiration_seconds_bucket{}[])))"}),
        ("Serving certificates", "The time until they expire, of those in files.", "s",
         {"{{file}}": "min by (file) (apiserver_serving_certificate_expiration_timestamp_seconds{}) - time()"}),
        ("Audited requests a second", "By the level that the policy gives them.", "reqps",
         {"{{level}}": "sum by (level) (rate(apiserver_audit_level_total{}[]))"}),
        ("Failed TLS handshakes a second", "", "short",
         {"{{instance}}": "rate(apiserver_tls_handshake_errors_total{}[])"}),
    ]),
    ("Engine", [
        ("Calls of the engine a second", "By what they are for; of etcd or the embedded store.", "ops",
         {"{{operation}}": "sum by (operation) (rate(etcd_requests_total{}[]))"}),
        ("Calls of the engine, 99th percentile", "From the call to the engine's answer.", "s",
         {"{{operation}}": "histogram_quantile(0.99, sum by (operation, le) "
                           "(rate(etcd_request_duration_seconds_bucket{}[])))"}),
        ("Failed calls of the engine a second", "Those without an answer; a conflict is an answer.", "ops",
         {"{{operation}}": "sum by (operation) (rate(etcd_request_errors_total{}[])) or "
                           "0 * sum by (operation) (rate(etcd_requests_total{}[]))"}),
        ("Size of the store", "The bytes of its files; of etcd's, the largest member's.", "bytes",
         {"{{storage_cluster_id}}": "max by (storage_cluster_id) (apiserver_storage_size_bytes{})"}),
    ]),
]


def expression(text):
    labels = 'job="$job",instance=~"$instance"'
    return text.replace("{}", "{%s}" % labels).replace("{,", "{%s," % labels).replace("[]", "[$__rate_interval]")


def panel(number, top, place, row):
    title, description, unit, series = row
    return {
        "id": number, "type": "timeseries", "title": title, "description": description,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"x": place % 3 * 8, "y": top + place // 3 * 7, "w": 8, "h": 7},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [{"refId": chr(ord("A") + i), "legendFormat": legend, "expr": expression(text)}
                    for i, (legend, text) in enumerate(series.items())],
    }


def variable(name, query, many):
    return {"name": name, "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"},
            "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1, "multi": many, "includeAll": many,
            "allValue": ".+" if many else None, "current": {"text": "All", "value": "$__all"} if many else {}}


def dashboard():
    panels, top = [], 0
    for title, row in ROWS:
        panels.append({"id": len(panels) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": top, "w": 24, "h": 1}})
        panels += [panel(len(panels) + 1 + i, top + 1, i, each) for i, each in enumerate(row)]
        top += 1 + (len(row) + 2) // 3 * 7
    return {
        "title": "API server", "uid": "libapiserver", "schemaVersion": 39, "tags": ["kubernetes", "apiserver"],
        "editable": True, "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
        "templating": {"list": [
            {"name": "datasource", "type": "datasource", "query": "prometheus", "current": {}},
            variable("job", "label_values(apiserver_request_total, job)", False),
            variable("instance", 'label_values(process_start_time_seconds{job="$job"}, instance)', True),
        ]},
        "panels": panels,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--root", default=ROOT)
    args = parser.parse_args()
    path, text = os.path.join(args.root, FILE), json.dumps(dashboard(), indent=1) + "\n"
    if args.write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(FILE + ": written")
        return 0
    with open(path, encoding="utf-8") as file:
        if file.read() != text:
            print("FAILED: %s is not what docs/dashboard.py --write makes" % FILE)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
