#!/usr/bin/env python3
"""Asks the oracle again about the expressions of ../data/functions.jsonl, which are our own, and
writes the file anew: after an expression was added (with "go": {}), or with a newer oracle.

    python3 functions.py ../data/functions.jsonl ORACLE
"""

import json
import subprocess
import sys


def answers(oracle, group):
    """Returns Go's answers to the rows of a group."""
    lines = [{"declare": {**group["env"], "name": "e"}}]
    for number, row in enumerate(group["rows"]):
        lines.append({"id": number, "env": "e", "expr": row["expr"], "values": group["values"]})
    text = "\n".join(json.dumps(line) for line in lines)
    run = subprocess.run([oracle], input=text, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    return [{key: value for key, value in one.items() if key != "id"} for one in found]


def main():
    path, oracle = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        groups = [json.loads(line) for line in file]
    for group in groups[1:]:
        for row, go in zip(group["rows"], answers(oracle, group), strict=True):
            row["go"] = go
    with open(path, "w", encoding="utf-8") as file:
        for group in groups:
            file.write(json.dumps(group, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
