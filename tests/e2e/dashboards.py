#!/usr/bin/env python3
"""What Headlamp and k9s ask a kube-apiserver, asked of ours: the answers are those of Go's.

usage: dashboards.py --server KUBE_APISERVER [--calls FILE]

The requests are in ../testdata/dashboards, whose README says what their fields mean. Exits 1 and names each failed check.
"""

import argparse
import base64
import http.client
import json
import os
import re
import signal
import ssl
import struct
import sys
import tempfile

from checker import Checker
from servers import Server

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = os.path.join(HERE, "..", "testdata", "dashboards", "calls.json")
PATIENCE = 30


class Users:
    """Connections of the administrator and of jane, who knows a token."""

    def __init__(self, kubeconfig):
        text = open(kubeconfig).read()
        find = lambda key: re.search(key + r': "?([^"\n]+)', text).group(1)
        self.host = find("server").removeprefix("https://")
        self.trust = ssl.create_default_context(
            cadata=base64.b64decode(find("certificate-authority-data")).decode())
        self.tokens = {"admin": find("token"), "jane": "of-jane"}

    def send(self, call):
        """The response, not read yet, and its connection."""
        connection = http.client.HTTPSConnection(self.host, context=self.trust, timeout=PATIENCE)
        headers = {"Authorization": "Bearer " + self.tokens[call.get("as", "admin")]}
        if "accept" in call:
            headers["Accept"] = call["accept"]
        body = json.dumps(call["body"]) if "body" in call else None
        if body or "type" in call:
            headers["Content-Type"] = call.get("type", "application/json")
        if "websocket" in call:
            headers.update({"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                            "Sec-WebSocket-Key": base64.b64encode(b"0123456789abcdef").decode(),
                            "Sec-WebSocket-Protocol": call["websocket"]})
        connection.request(call["method"], call["path"], body, headers)
        return connection.getresponse(), connection


def frame(stream):
    """The payload of a server's first WebSocket frame that has one of text or bytes."""
    while True:
        first, second = stream.read(2)
        length = second & 127
        if length == 126:
            length, = struct.unpack(">H", stream.read(2))
        elif length == 127:
            length, = struct.unpack(">Q", stream.read(8))
        payload = stream.read(length)
        if first & 15 in (1, 2):
            return payload


def at(value, path):
    """The value at "items.0.metadata"; None: there is none."""
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def filled(call, kept):
    """The call with what earlier answers had in place of ${names}."""
    text = json.dumps(call)
    for name, value in kept.items():
        text = text.replace("${%s}" % name, value)
    return json.loads(text)


def check_event(t, call, line, what):
    event = json.loads(line)
    got = {"type": event["type"], "kind": event["object"].get("kind")}
    t.check(got == call["stream"], what + ": the first event", event)


def check_body(t, call, text, what, kept):
    if "text" in call:
        t.check(text == call["text"], what + ": its text", text)
        return
    answer = json.loads(text)
    if "kind" in call:
        t.check(answer.get("kind") == call["kind"], what + ": its kind", text)
    for path, value in call.get("has", {}).items():
        got = at(answer, path)
        t.check(got == value if value is not None else got is not None, "%s: %s" % (what, path), (got, text))
    for name, path in call.get("keep", {}).items():
        kept[name] = at(answer, path) or ""


def ask(t, users, call, kept):
    call = filled(call, kept)
    what = "%s (%s), %s %s%s" % (call["client"], call["where"], call["method"], call["path"],
                                 " as " + call["as"] if "as" in call else "")
    response, connection = users.send(call)
    try:
        t.check(response.status == call["code"], what + ": %d" % call["code"], response.status)
        if response.status != call["code"]:
            return
        if "websocket" in call:
            t.check(response.headers["Sec-WebSocket-Protocol"] == call["websocket"], what + ": the subprotocol",
                    response.headers)
            check_event(t, call, frame(response.fp), what)
        elif "stream" in call:
            check_event(t, call, response.readline(), what)
        else:
            check_body(t, call, response.read().decode(), what, kept)
    finally:
        connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--calls", default=CALLS)
    args = parser.parse_args()
    t, kept = Checker(), {}
    with open(args.calls, encoding="utf-8") as file:
        calls = json.load(file)["calls"]
    with tempfile.TemporaryDirectory() as folder:
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w") as file:
            file.write("of-jane,jane,1\n")
        server = Server(args.server, "memory", folder, flags=("--token-auth-file=" + tokens,))
        server.start()
        try:
            users = Users(server.kubeconfig)
            for call in calls:
                ask(t, users, call, kept)
        finally:
            server.stop(signal.SIGTERM)
    print("%d requests, %d checks, %d failed" % (len(calls), t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
