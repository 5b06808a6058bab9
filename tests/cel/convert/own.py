#!/usr/bin/env python3
"""Asks the oracle about expressions of our own: what upstream's tables leave out.

    python3 own.py ORACLE > ../data/own.jsonl
"""

import json
import subprocess
import sys

OBJECT = {"o": {"json": {"a": 1, "n": None, "l": [1], "m": {}, "s": "x", "d": 1.5}}}
DYN = [{"name": "o", "type": "dyn"}]

# Literals of mutating policies: k8s.io/apiserver/pkg/cel/mutation.
PATCHES = [
    "JSONPatch{op: 'add'}.path",
    "JSONPatch{op: 'add'}.value",
    "has(JSONPatch{op: 'add'}.path)",
    "has(JSONPatch{op: 'add'}.op)",
    "has(JSONPatch{op: 'add'}.value)",
    "JSONPatch{op: 'add'}.?path",
    "JSONPatch{op: dyn(1)}",
    "JSONPatch{op: o.a}",
    "JSONPatch{path: o.d}",
    "JSONPatch{from: o.m}",
    "JSONPatch{op: o.s, path: o.s, value: o.l}",
    "JSONPatch{op: 'a', value: 1} == JSONPatch{op: 'a', value: 1}",
    "JSONPatch{op: 'a', value: 1} == JSONPatch{op: 'a', value: dyn(1.0)}",
    "JSONPatch{op: 'a', value: 1} == JSONPatch{op: 'a'}",
    "dyn(JSONPatch{op: 'add'})['op']",
    "optional.ofNonZeroValue(JSONPatch{}).hasValue()",
    "optional.ofNonZeroValue(Object{}).hasValue()",
    "Object{a: 1} == Object{a: dyn(1.0)}",
    "Object{a: 1} == Object{a: 1}",
    "Object{a: 1} != Object{a: 1}",
    "Object{a: 1} == Object.spec{a: 1}",
    "Object{l: Object.l{a: 1}} == Object{l: Object.l{a: 1}}",
    "Object{a: 1}.b",
    "has(Object{a: 1}.b)",
    "has(Object{a: 1}.a)",
    "Object{a: null}.a",
    "Object{a: o.l}.a[0]",
    "Object{a: Object.a{b: 1}}.a.b",
    "Object{a: Object.a{b: 1}}.a.c",
    "has(Object{a: Object.a{b: 1}}.a.c)",
    "Object{a: o.l, c: o.zz}",
    "Object{?a: optional.of(1), ?b: optional.none()}",
    "Object.spec{a: 1}.a + 1",
    "[Object{a: 1}, Object{}]",
    "[Object{a: 1}, Object.spec{}]",
    "Object",
    "type(Object{a: 1}) == Object",
    "string(Object{a: 1})",
    "size(Object{a: 1})",
    "Object{}['a']",
    "'a' in dyn(Object{a: 1})",
    "dyn(Object{a: 1}).all(x, true)",
    "kubernetes.Namespace{}",
    "kubernetes.UserInfo{username: 'a'}",
]

GROUPS = [
    ("patches", {"patch": True, "admission": True, "variables": DYN}, OBJECT, PATCHES),
]


def ask(oracle, env, values, expressions):
    lines = [{"declare": dict(env, name="e")}, {"inputs": "i", "values": values}]
    lines += [{"id": i, "env": "e", "inputs": "i", "expr": e} for i, e in enumerate(expressions)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([oracle], input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for i, answer in enumerate(answers):
        assert answer.pop("id") == i
    return answers


def main():
    def write(line):
        print(json.dumps(line, separators=(",", ":"), ensure_ascii=False))

    write({"origin": "tests/cel/convert/own.py", "holds": "expressions of our own with Go's answers"})
    for case, env, values, expressions in GROUPS:
        answers = ask(sys.argv[1], env, values, expressions)
        rows = [{"expr": e, "go": a} for e, a in zip(expressions, answers)]
        write({"table": "own", "case": case, "env": env, "values": values, "rows": rows})


main()
