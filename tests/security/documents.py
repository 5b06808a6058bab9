#!/usr/bin/env python3
"""Bodies, patches and selectors that cost more than they weigh.

usage: documents.py --server BINARY [ROW...]
"""

import json
import sys
import time

from victim import CONFIGMAPS, MEBIBYTE, main, row

JSON = {"Content-Type": "application/json"}
YAML = {"Content-Type": "application/yaml"}
PROTOBUF = {"Content-Type": "application/vnd.kubernetes.protobuf"}
LIMIT = 3 * MEBIBYTE - 1024


def patch_of(kind):
    return {"Content-Type": "application/%s+json" % kind}


def refused(victim, check, what, code, method, path, body, headers, cpu_max=3.0, memory_max=96):
    """An answer with one of the codes, for bounded time and memory."""
    codes = code if isinstance(code, tuple) else (code,)
    victim.forget_peak()
    before, begun = victim.status("VmHWM"), victim.cpu()
    got = victim.call(method, path, body, headers)
    check(got[0] in codes, what, (got[0], got[2][:300]))
    if got[0] >= 400:
        status = json.loads(got[2])
        check(status.get("kind") == "Status" and status.get("code") == got[0], what + ": a Status", got[2])
    check(victim.cpu() - begun < cpu_max, what + ": time", victim.cpu() - begun)
    grown = victim.status("VmHWM") - before
    check(grown < memory_max * MEBIBYTE, what + ": memory", grown)
    return got


def configmap(name, **fields):
    return json.dumps({"metadata": {"name": name}, **fields}).encode()


@row(8, "CVE-2019-1002100: JSON patches that copy")
def copying_patches(victim, check):
    victim.call("POST", CONFIGMAPS, configmap("copied", data={"a": "1"}), JSON)
    target, headers = CONFIGMAPS + "/copied", patch_of("json-patch")
    test = {"op": "test", "path": "/data/a", "value": "1"}
    refused(victim, check, "10,001 operations", 413, "PATCH", target, json.dumps([test] * 10_001), headers)
    refused(victim, check, "10,000 tests", 200, "PATCH", target, json.dumps([test] * 10_000), headers)
    copies = [{"op": "add", "path": "/data/b", "value": ["x" * 1000]}]
    copies += [{"op": "copy", "from": "/data", "path": "/data/c%d" % each} for each in range(40)]
    refused(victim, check, "copies of what grows", (400, 413, 422), "PATCH", target, json.dumps(copies),
            headers, memory_max=64)


def nested(opening, times):
    return (opening * (times // len(opening))).encode()


@row(9, "CVE-2019-11253: aliases that multiply, nesting without end")
def bombs(victim, check):
    lines = ["a: &a [%s]" % ",".join(["lol"] * 9)]
    for before, name in zip("abcdefgh", "bcdefghi"):
        lines.append("%s: &%s [%s]" % (name, name, ",".join(["*" + before] * 9)))
    refused(victim, check, "nine levels of nine aliases", 400, "POST", CONFIGMAPS,
            "\n".join(["metadata: {name: bomb}"] + lines).encode(), YAML, memory_max=64)
    for what, body, headers in (("arrays", nested("[", LIMIT), JSON), ("objects", nested('{"a":', LIMIT), JSON),
                                ("flow sequences", nested("[", LIMIT), YAML),
                                ("flow maps", nested("{a: ", LIMIT), YAML),
                                ("block sequences", nested("- ", LIMIT), YAML)):
        refused(victim, check, what, (400, 413), "POST", CONFIGMAPS, body, headers)
    inside = b'{"metadata":{"name":"deep"},"data":' + nested('{"a":', LIMIT - 64)
    refused(victim, check, "a map that goes on", 400, "POST", CONFIGMAPS, inside, JSON)
    for kind in ("json-patch", "merge-patch", "strategic-merge-patch"):
        refused(victim, check, "a deep " + kind, (400, 404, 413), "PATCH", CONFIGMAPS + "/canary",
                b'{"data":' + nested('{"a":', LIMIT - 64), patch_of(kind))
    refused(victim, check, "a deep apply", (400, 404, 413), "PATCH", CONFIGMAPS + "/x?fieldManager=m",
            b"data: " + nested("{a: ", LIMIT - 64), {"Content-Type": "application/apply-patch+yaml"})
    groups = b"k8s\0" + b"\x0b" * 1_000_000
    refused(victim, check, "nested groups", 400, "POST", CONFIGMAPS, groups, PROTOBUF)


def ratio(victim, check, what, make, path, method, headers):
    """Twice the size takes about twice the time."""
    seconds = []
    for size in (LIMIT // 4, LIMIT // 2):
        begun = victim.cpu()
        for _ in range(3):
            victim.call(method, path, make(size), headers)
        seconds.append(victim.cpu() - begun)
    # Below a tenth of a second the clock's ticks decide.
    check(seconds[1] < 0.3 or seconds[1] < 3.5 * seconds[0], what + " is linear", seconds)
    check(seconds[1] < 9, what + " is quick", seconds)


@row(10, "CVE-2019-11254: YAML that takes quadratic time")
def quadratic_yaml(victim, check):
    unit = {"document starts": "---\n", "a long scalar": "word ", "keys": "? a\n", "flow starts": "[]\n---\n",
            "anchors": "- &a b\n", "comments": "# c\n", "empty lines": "\n", "tags": "- !!str a\n",
            "quotes": '- "a\\\n  b"\n', "indentation": "a:\n "}
    for what, piece in unit.items():
        ratio(victim, check, what, lambda size, piece=piece: (piece * (size // len(piece))).encode(),
              CONFIGMAPS, "POST", YAML)


@row(61, "CVE-2021-3121, CVE-2023-24535, CVE-2024-24786: protobuf with bad lengths")
def bad_protobuf(victim, check):
    def message(number, payload):
        return bytes((number << 3 | 2, len(payload))) + payload

    meta = message(1, message(1, b"v1") + message(2, b"ConfigMap"))
    objects = {
        "nothing": b"", "a length beyond the end": b"\x0a\x7f", "a negative length": b"\x0a" + b"\xff" * 9 + b"\x01",
        "an overflowing length": b"\x0a" + b"\xff" * 10, "an endless varint": b"\x08" + b"\x80" * 100,
        "wire type 6": b"\x0e", "wire type 7": b"\x0f", "field 0": b"\x02\x00", "an open group": b"\x0b",
        "a closed group": b"\x0c", "ten bytes of varint": b"\x08" + b"\xff" * 9 + b"\x7f",
        "name as a number": message(1, b"\x08\x01"),
        "twice the metadata": message(1, message(1, b"a/b")) * 2,
    }
    for what, raw in objects.items():
        body = b"k8s\0" + meta + message(2, raw)
        refused(victim, check, what, (400, 422), "POST", CONFIGMAPS, body, PROTOBUF)
    for what, body in (("no envelope", meta), ("a cut prefix", b"k8s"), ("another prefix", b"k8s\1" + meta),
                       ("an envelope of nothing", b"k8s\0"), ("a cut envelope", b"k8s\0" + meta[:-1])):
        refused(victim, check, what, (400, 422), "POST", CONFIGMAPS, body, PROTOBUF)


@row(62, "CVE-2024-7254, CVE-2026-0994, CVE-2022-1941: protobuf nested without end")
def nested_protobuf(victim, check):
    refused(victim, check, "a million groups", 400, "POST", CONFIGMAPS,
            b"k8s\0\x12\xc0\x84\x3d" + b"\x0b" * 1_000_000, PROTOBUF)
    body = b""
    while len(body) < 200_000:
        size, length = len(body), b""
        while size >= 128:
            length, size = length + bytes((size & 127 | 128,)), size >> 7
        body = b"\x0a" + length + bytes((size,)) + body
    refused(victim, check, "messages in messages", (400, 422), "POST", CONFIGMAPS, b"k8s\0" + body, PROTOBUF)


@row(63, "CVE-2022-3064, CVE-2021-4235, CVE-2022-28948: YAML that is none")
def broken_yaml(victim, check):
    for what, text in (("a key that is a map", "? {a: b}\n: c"), ("an alias of itself", "a: &a [*a]"),
                       ("an alias of nothing", "a: *b"), ("a bad tag", "!<tag:> a: b"), ("only a tag", "!"),
                       ("a NUL", "a: \0"), ("bad UTF-8", "a: \udcff"), ("a merge of a scalar", "<<: 1"),
                       ("0: [:!00 \xef", "0: [:!00 \xef"), ("two documents", "a: b\n---\nc: d")):
        refused(victim, check, what, (400, 422), "POST", CONFIGMAPS,
                text.encode("utf-8", "surrogateescape"), YAML)


@row(64, "CVE-2018-14632: JSON patch paths")
def patch_paths(victim, check):
    victim.call("POST", CONFIGMAPS, configmap("paths", data={"a": "1"}), JSON)
    target, headers = CONFIGMAPS + "/paths", patch_of("json-patch")
    paths = ["/metadata/finalizers/-1", "/metadata/finalizers/+1", "/metadata/finalizers/01", "~2", "",
             "/metadata/finalizers/99999999999999999999", "/metadata/finalizers/9"]
    for path in paths:
        for op in ({"op": "add", "value": 1}, {"op": "remove"}, {"op": "replace", "value": 1},
                   {"op": "copy", "from": "/data"}, {"op": "move", "from": "/data"}):
            got = victim.call("PATCH", target, json.dumps([{**op, "path": path}]), headers)
            check(400 <= got[0] < 500, "%s %r" % (op["op"], path), (got[0], got[2][:200]))
    got = victim.call("PATCH", target, b'[{"op":"move","from":"/data","path":"/data/child"}]', headers)
    check(400 <= got[0] < 500, "a move into its own child", got)
    got = victim.call("GET", target)
    check(json.loads(got[2])["data"] == {"a": "1"}, "nothing has changed", got)


@row(66, "CVE-2024-38517, CVE-2024-39684: numbers")
def numbers(victim, check):
    digits = "1" * 100_000
    for number in (digits, "-" + digits, "0." + digits, digits + "e5", "1e" + digits, "1e-" + digits, "1e400",
                   "-1e400", "1E+99999999999", "0e99999999999", "01", "+1", ".5", "1.", "0x1", "1e", "--1",
                   "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" * 2_000_000):
        for field in ("data", "metadata"):
            value = {"data": '{"a":%s}', "metadata": '{"name":"n","generation":%s}'}[field] % number
            other = '"metadata":{"name":"n"},' if field == "data" else ""
            got = victim.call("POST", CONFIGMAPS + "?dryRun=All", '{%s"%s":%s}' % (other, field, value), JSON)
            check(got[0] in (201, 400, 413, 422), "%.40s in %s" % (number, field), (got[0], got[2][:200]))


@row(67, "libstdc++'s std::regex: patterns and long texts")
def regular_expressions(victim, check):
    long = "a" * 200_000
    for selector in ("metadata.name=" + long, "metadata.name=" + "(a|b)*" * 1000):
        begun = victim.cpu()
        got = victim.call("POST", CONFIGMAPS, configmap("x", labels={long: "b"}), JSON)
        check(got[0] in (201, 409, 422), "a long key", got[0])
        got = victim.call("GET", CONFIGMAPS + "?fieldSelector=" + selector[:60_000])
        check(got[0] in (200, 400), "a long selector", got[0])
        got = victim.call("POST", CONFIGMAPS, configmap(long), JSON)
        check(got[0] in (201, 409, 413, 422), "a long name", got[0])
        check(victim.cpu() - begun < 1, "is quick", victim.cpu() - begun)


@row(68, "deep documents: nothing recurses on a stranger's depth")
def depth(victim, check):
    for levels in (5_000, 9_990, 10_001, 100_000):
        value = '{"a":' * levels + "1" + "}" * levels
        annotated = '{"metadata":{"name":"deep"},"data":%s}' % value
        got = victim.call("POST", CONFIGMAPS, annotated, JSON)
        check(got[0] == 400, "%d levels in a ConfigMap" % levels, (got[0], got[2][:200]))
        managed = json.dumps({"metadata": {"name": "deep-%d" % levels, "managedFields": [
            {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
             "fieldsV1": "HERE"}]}}).replace('"HERE"', '{"f:a":' * levels + "{}" + "}" * levels)
        got = victim.call("POST", CONFIGMAPS, managed, JSON)
        check(got[0] in (201, 400), "%d levels of fieldsV1" % levels, (got[0], got[2][:200]))
        if got[0] == 201:
            check(victim.call("DELETE", CONFIGMAPS + "/deep-%d" % levels)[0] == 200, "is deleted")


@row(72, "hash flooding: keys that collide")
def colliding_keys(victim, check):
    def keys(size):
        # The same length and the same end: what a weak hash confuses.
        return {"k%07d.aaaaaaaa" % each: "" for each in range(size // 24)}

    path = CONFIGMAPS + "?dryRun=All"
    ratio(victim, check, "many keys", lambda size: configmap("many", data=keys(size)), path, "POST", JSON)
    ratio(victim, check, "many labels", lambda size: json.dumps(
        {"metadata": {"name": "many", "labels": keys(size)}}), path, "POST", JSON)


if __name__ == "__main__":
    sys.exit(main())
