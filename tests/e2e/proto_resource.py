#!/usr/bin/env python3
"""Drives examples/proto-resource: the kind that a .proto file describes, in JSON and in protobuf.

usage: proto_resource.py --server BINARY [--kubectl KUBECTL]

curl with protobuf of our own; and kubectl, where there is one. Exits 1 and names each failed check.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from checker import Checker
from examples import PATIENCE, Example

ORDERS = "/apis/shop.example.com/v1/namespaces/default/orders"
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
MANIFEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/proto-resource/order.yaml")


def varint(value):
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def message(*fields):
    """Of pairs of a number and an int, a str or bytes: the bytes of a message that has them."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def fields(data):
    """The fields of a message by number, each a list of ints and bytes; there are no others here."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        value = number()
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        elif tag & 7:
            raise ValueError("wire type %d" % (tag & 7))
        found.setdefault(tag >> 3, []).append(value)
    return found


def envelope(kind, raw):
    """What Kubernetes' protobuf is sent in: runtime.Unknown behind four bytes."""
    return MAGIC + message((1, message((1, "shop.example.com/v1"), (2, kind))), (2, raw))


def opened(body):
    """The kind, and the fields of the message in the envelope."""
    if not body.startswith(MAGIC):
        raise ValueError("not an envelope: %r" % body[:40])
    unknown = fields(body[len(MAGIC) :])
    return fields(unknown[1][0])[2][0].decode(), fields(unknown[2][0])


def order(name, *lines):
    spec = [(1, "Bob")] + [(2, message((1, item), (2, count))) for item, count in lines]
    return envelope("Order", message((1, message((1, name))), (2, message(*spec))))


def json_order(name, *lines, **spec):
    spec.update(customer="Ada", lines=[{"item": item, "count": count} for item, count in lines])
    return json.dumps({"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": name},
                       "spec": spec}).encode()


def send(server, path, accept, *args, body=None, content_type=JSON):
    """The status code and the body of an answer."""
    args += ("--header", "Accept: " + accept, "--write-out", "%{stderr}%{http_code}")
    if body is not None:
        args += ("--header", "Content-Type: " + content_type, "--data-binary", "@-")
    done = subprocess.run(server.curl(path, *args), input=body, capture_output=True, timeout=PATIENCE)
    return int(done.stderr or 0), done.stdout


def creates(t, server):
    code, body = send(server, ORDERS, JSON, body=json_order("json", ("gears", 12), ("cards", 300)))
    t.check(code == 201, "an order is created in JSON", body)
    made = json.loads(body)
    t.check(made["status"] == {"pieces": 312}, "the strategy counts the pieces", made)
    t.check(made["spec"]["parcels"] == 1, "the file's default is filled in", made)
    code, body = send(server, ORDERS, PROTOBUF, body=order("protobuf", ("nuts", 3), ("bolts", 4)),
                      content_type=PROTOBUF)
    t.check(code == 201, "an order is created in protobuf", body)
    t.check(body.startswith(MAGIC), "what is created in protobuf is answered in it", body)


def reads(t, server):
    code, body = send(server, ORDERS + "/json", PROTOBUF)
    t.check(code == 200 and body.startswith(b"k8s\0"), "what came in JSON is read in protobuf", body)
    kind, got = opened(body)
    spec = fields(got[2][0])
    lines = [fields(line) for line in spec[2]]
    t.check(kind == "Order" and fields(got[1][0])[1] == [b"json"], "the protobuf has kind and name", body)
    t.check(spec[1] == [b"Ada"] and spec[3] == [1], "the protobuf has the spec", spec)
    t.check([(line[1], line[2]) for line in lines] == [([b"gears"], [12]), ([b"cards"], [300])],
            "the protobuf has the lines", lines)
    t.check(fields(got[3][0])[1] == [312], "the protobuf has the status", got)
    code, body = send(server, ORDERS + "/protobuf", JSON)
    got = json.loads(body)
    t.check(code == 200 and got["spec"]["customer"] == "Bob", "what came in protobuf is read in JSON", body)
    t.check([line["item"] for line in got["spec"]["lines"]] == ["nuts", "bolts"] and got["status"]["pieces"] == 7,
            "the lines that came in protobuf count", body)
    code, body = send(server, ORDERS, PROTOBUF)
    kind, got = opened(body)
    t.check(code == 200 and kind == "OrderList" and len(got[2]) == 2, "orders are listed in protobuf", body)


def refusals(t, server):
    def refused(what, message, **request):
        code, body = send(server, ORDERS, JSON, **request)
        said = json.loads(body)
        t.check(code == 422 and said["reason"] == "Invalid" and said["message"] == message, what, body)

    invalid = 'Order.shop.example.com "bad" is invalid: '
    count = invalid + "spec.lines[1].count: Invalid value: 0: must be greater than zero"
    refused("the strategy refuses a line of nothing in JSON", count, body=json_order("bad", ("a", 1), ("b", 0)))
    refused("the strategy refuses a line of nothing in protobuf", count,
            body=order("bad", ("a", 1), ("b", 0)), content_type=PROTOBUF)
    refused("the file's minimum refuses no parcels",
            invalid + "spec.parcels: Invalid value: 0: spec.parcels in body should be greater than or equal to 1",
            body=json_order("bad", ("a", 1), parcels=0))
    code, body = send(server, ORDERS, JSON, body=MAGIC + b"\x0a\xff\xff\xff\xff\xff", content_type=PROTOBUF)
    t.check(code == 400 and json.loads(body)["reason"] == "BadRequest", "broken protobuf is refused", body)
    code, body = send(server, ORDERS + "/bad", JSON)
    t.check(code == 404, "nothing that was refused is stored", body)


def openapi(t, server):
    code, body = send(server, "/openapi/v3/apis/shop.example.com/v1", JSON)
    t.check(code == 200 and "Somebody wants something." in body.decode(), "OpenAPI has the file's comments", body)


def kubectl(t, server, binary):
    base = [binary, "--kubeconfig", server.kubeconfig, "--cache-dir", os.path.join(server.folder, "cache")]

    def run(*args, body=None):
        done = subprocess.run([*base, *args], input=body, capture_output=True, timeout=PATIENCE)
        return done.returncode, (done.stdout + done.stderr).decode()

    got = run("create", "-f", MANIFEST)
    t.check(got == (0, "order.shop.example.com/first created\n"), "kubectl create", got)
    got = run("get", "order", "first", "-o", "jsonpath={.spec.customer} {.status.pieces}")
    t.check(got == (0, "Ada 312"), "kubectl get", got)
    got = run("patch", "order", "first", "--type=strategic", "-p", '{"spec":{"lines":[{"item":"gears","count":13}]}}')
    t.check(got[0] == 0, "kubectl patch", got)
    got = run("get", "order", "first", "-o", "jsonpath={.spec.lines[*].count} {.status.pieces}")
    t.check(got == (0, "13 300 313"), "kubectl patch merges the lines by their item", got)
    got = run("create", "-f", "-", body=json_order("bad", ("gears", 0)))
    t.check(got == (1, 'The Order "bad" is invalid: spec.lines[0].count: Invalid value: 0: '
                       "must be greater than zero\n"), "kubectl create says what is refused", got)
    got = run("explain", "orders")
    t.check(got[0] == 0 and "Somebody wants something." in got[1], "kubectl explain has the message's comment", got)
    got = run("explain", "orders.spec.lines")
    t.check(got[0] == 0 and "The goods; each item stands once." in got[1] and
            re.search(r"count\t<integer> -required-\n +How many\.\n", got[1]),
            "kubectl explain has the fields' comments", got)
    got = run("delete", "order", "first")
    t.check(got[0] == 0 and run("get", "order", "first")[0] == 1, "kubectl delete", got)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    arguments = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        server = Example(arguments.server, folder, "orders.kubeconfig")
        try:
            creates(t, server)
            reads(t, server)
            refusals(t, server)
            openapi(t, server)
            if arguments.kubectl:
                kubectl(t, server, arguments.kubectl)
            else:
                print("no kubectl: its part is left out")
            server.process.send_signal(signal.SIGTERM)
            code = server.process.wait(PATIENCE)
            t.check(code == 0, "SIGTERM ends the server", code)
        finally:
            server.process.kill()
            server.process.wait()
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
