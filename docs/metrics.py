#!/usr/bin/env python3
"""Lists the metrics of the library in docs/metrics.md, from where they are registered in lib/.

usage: metrics.py [--write] [--root DIR]

Without --write, fails if the page's table is not what would be written. tests/e2e/prometheus.py
checks that the table has all metrics of a server that runs.
"""

import argparse
import glob
import os
import re
import sys

from renew import renew

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join("docs", "metrics.md")
BEGIN, END = "<!-- metrics: written by docs/metrics.py -->", "<!-- /metrics -->"

# Files whose families share the front of their names, or are registered for several subjects.
PREFIXES = {
    "lib/flowcontrol/metrics.cc": ["apiserver_flowcontrol_"],
    "lib/registry/watch_cache_metrics.cc": ["apiserver_"],
    "lib/auth/config_reloads.cc": ["apiserver_authentication_config_controller_",
                                   "apiserver_authorization_config_controller_"],
    "lib/authz/webhook/metrics.cc": ["apiserver_authorization_match_condition_"],
}
# Files whose families get their labels in one place.
LABELS = {"lib/base/progress_log.cc": ["what"], "lib/controller/work_queue_metrics.cc": ["name"],
          "lib/controlplane/kubelet/connections.cc": ["code"]}
# Families whose names are put together where they are registered.
IMPERSONATION = "lib/server/requests/impersonation.cc"
TOGETHER = {IMPERSONATION: [
    ("apiserver_impersonation_%s_%s" % (each, end), "[ALPHA] %s of %s split by mode and decision." % (
        "Total number" if end == "total" else "Latency in seconds", what), ["mode", "decision"])
    for each, what in (("attempts", "impersonation attempts"),
                       ("authorization_attempts", "authorization checks made by the impersonation handler"))
    for end in ("total", "duration_seconds")]}
FAMILY = re.compile(
    r'(?P<added>\w+ \+ )?(?P<name>(?:"[a-z0-9_]+"\s*)+),\s*(?:\.help\s*=\s*)?(?:ObservedOverTime\()?'
    r'(?P<help>(?:"(?:[^"\\]|\\.)*"\s*(?:\+ of \+\s*)?)+)'
    r'(?:,\s*(?:\.labels\s*=\s*)?(?:\{(?P<labels>[^{}]*)\}|labels))?')
MAKES = ("Counters(", "Gauges(", "Histograms(")


def joined(text):
    """The text of literals that stand beside each other."""
    return re.sub(r'"\s*(?:\+ of \+\s*)?"', "", text.strip()).strip('"').replace('\\"', '"').strip()


def with_constants(text):
    """Puts the texts of constants in their places."""
    for name, value in re.findall(r'const char\* const (k\w+) =\s*((?:"[^"]*"\s*)+);', text):
        text = text.replace("std::string(%s) +" % name, value).replace(", %s," % name, ", %s," % value)
    return text


def families_of(path, text):
    text = with_constants(text)
    for match in FAMILY.finditer(text):
        name, told = joined(match["name"]), joined(match["help"])
        if "_" not in name or (told and " " not in told and told != "[ALPHA]"):
            continue
        labels = re.findall(r'"(\w+)"', match["labels"] or "")
        prefixes = [""]
        if path in PREFIXES and not name.startswith("apiserver_"):
            prefixes = PREFIXES[path]
            if path.startswith("lib/flowcontrol"):
                labels.insert(0, "priority_level")
            elif path.startswith("lib/registry"):
                labels = ["group", "resource"]
            elif path.startswith("lib/auth/"):
                labels = labels or ["status", "apiserver_id_hash"]
        labels = labels or LABELS.get(path, [])
        for prefix in prefixes:
            subject = re.search("authentication|authorization", prefix)
            yield prefix + name, told.replace("of  ", "of %s " % subject[0] if subject else "of "), labels


def families(root):
    found = {}
    for file in sorted(glob.glob(os.path.join(root, "lib", "**", "*.cc"), recursive=True)):
        path = os.path.relpath(file, root)
        with open(file, encoding="utf-8") as source:
            text = source.read()
        if any(make in text for make in MAKES) or path in PREFIXES:
            for name, told, labels in TOGETHER.get(path) or families_of(path, text):
                found.setdefault(name, (told, labels, path))
    return found


def table(root):
    lines = ["| metric | labels | says | from |", "|---|---|---|---|"]
    for name, (told, labels, path) in sorted(families(root).items()):
        lines.append("| `%s` | %s | %s | [%s](../%s) |" % (
            name, ", ".join(labels), told.replace("|", "\\|"), os.path.dirname(path)[4:], path))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--root", default=ROOT)
    args = parser.parse_args()
    return renew(args.root, PAGE, BEGIN, END, table(args.root), args.write)


if __name__ == "__main__":
    sys.exit(main())
