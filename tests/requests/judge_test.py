#!/usr/bin/env python3
"""The judge and the generator are judged: each planted mistake is found, and nothing else is."""

import json
import os
import random
import socket
import ssl
import sys
import tempfile
import threading
import unittest
from email.message import Message

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import attacks  # noqa: E402
import bodies  # noqa: E402
import formats  # noqa: E402
import fuzz  # noqa: E402
import generate  # noqa: E402
import rights  # noqa: E402
import surface  # noqa: E402
from certificates import Authority  # noqa: E402
from judge import judge  # noqa: E402
from pool import Pool  # noqa: E402
from wire import HTTP2, STREAM, WEBSOCKET, Answer, Request, Wire  # noqa: E402
from world import Identity  # noqa: E402

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
ADMIN = Identity("admin", rights.everything)
READER = Identity("reader", rights.reader)
GARBAGE = Identity("garbage", rights.nothing, answer=401)
CONFIGMAP = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}


def answer(code, said, media="application/json", **headers):
    message = Message()
    message["Content-Type"] = media
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    return Answer(code, message, said if isinstance(said, bytes) else json.dumps(said).encode())


def status(code, reason, **other):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "no",
            "reason": reason, "code": code, **other}


def asked(method="GET", target=CONFIGMAPS + "/a", headers=(), body=None, mode="plain", **about):
    return Request("admin", method, target, headers, body, mode, **about)


def got(action="get"):
    return asked(gvk=["", "v1", "ConfigMap"], action=action)


class RightAnswers(unittest.TestCase):
    def clean(self, request, reply, identity=ADMIN):
        self.assertEqual(judge(request, reply, identity), [])

    def test_an_object_a_list_a_table_and_errors_are_right(self):
        self.clean(got(), answer(200, CONFIGMAP))
        self.clean(got("list"), answer(200, {"kind": "ConfigMapList", "apiVersion": "v1", "items": [],
                                             "metadata": {"resourceVersion": "7"}}))
        table = asked(headers=[("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")],
                      gvk=["", "v1", "ConfigMap"],
                      action="get")
        self.clean(table, answer(200, {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {},
                                       "columnDefinitions": [{}], "rows": [{"cells": [1]}]}))
        self.clean(got(), answer(404, status(404, "NotFound")))
        self.clean(got(), answer(429, status(429, "TooManyRequests"), Retry_After="1"))
        self.clean(got(), answer(401, status(401, "Unauthorized")), GARBAGE)
        self.clean(got(), answer(403, status(403, "Forbidden")), READER)
        self.clean(asked(target="/explorer/"), answer(200, b"<!doctype html>", "text/html"), GARBAGE)

    def test_an_error_in_protobuf_and_in_cbor_is_right(self):
        message = b"\x12\x07Failure\x1a\x02no\x22\x08NotFound\x30\x94\x03"
        kind = b"\x0a\x02v1\x12\x06Status"
        unknown = b"\x0a" + bytes((len(kind),)) + kind + b"\x12" + bytes((len(message),)) + message
        self.clean(got(), answer(404, b"k8s\0" + unknown, "application/vnd.kubernetes.protobuf"))
        cbor = formats.CBOR_TAG + formats.to_cbor(status(404, "NotFound"))
        self.clean(got(), answer(404, cbor, "application/cbor"))

    def test_events_are_right(self):
        line = json.dumps({"type": "ADDED", "object": CONFIGMAP}).encode() + b"\n"
        self.clean(asked(mode=STREAM), answer(200, line * 2 + line[:5], Transfer_Encoding="chunked"))


class WrongAnswers(unittest.TestCase):
    def found(self, what, request, reply, identity=ADMIN):
        wrong = judge(request, reply, identity)
        self.assertTrue(any(what in each for each in wrong), "%r is not in %r" % (what, wrong))

    def test_no_answer_is_found(self):
        self.found("no answer", got(), Answer(error="the connection ended without an answer"))
        cut = Answer(error="IncompleteRead: IncompleteRead(2 bytes read, 3 more expected)")
        self.found("no answer", asked(target="/metrics"), cut)
        self.assertEqual(judge(asked(target="/metrics?timeout=1s"), cut, ADMIN), [])

    def test_a_500_is_found_unless_upstream_has_it(self):
        self.found("500", got(), answer(500, status(500, "InternalError")))
        self.found("503", got(), answer(503, status(503, "ServiceUnavailable")))
        self.found("504", got(), answer(504, status(504, "Timeout")))
        text = b'Internal Server Error: "/": requested [{x}] without impersonating a user\n'
        self.assertEqual(judge(got(), answer(500, text, "text/plain"), ADMIN), [])
        order = answer(500, status(500, "", message="The order in patch list:"))
        patch = asked("PATCH", headers=[("Content-Type", "application/strategic-merge-patch+json")])
        self.assertEqual(judge(patch, order, ADMIN), [])
        live = "failed to create manager for existing fields: failed to convert new object"
        applied = asked("PATCH", headers=[("Content-Type", "application/apply-patch+cbor")])
        self.assertEqual(judge(applied, answer(500, status(500, "", message=live)), ADMIN), [])
        scalar = "failed to convert new typed object (default/a; apps/v1, Kind=Deployment) to object: no"
        self.assertEqual(judge(applied, answer(500, status(500, "", message=scalar)), ADMIN), [])
        self.found("500", patch, answer(500, status(500, "", message=scalar)))
        text = "expected a map[string]interface {}, but received a []interface {}"
        self.assertEqual(judge(patch, answer(500, status(500, "", message=text)), ADMIN), [])
        self.found("500", asked("PATCH", headers=[("Content-Type", "application/merge-patch+json")]), order)

    def test_errors_that_are_no_status_of_theirs_are_found(self):
        self.found("code 404", got(), answer(409, status(404, "Conflict")))
        self.found("for the reason", got(), answer(404, status(404, "Conflict")))
        self.found("for the reason", got(), answer(404, status(404, "Whatever")))
        self.found("says 'Success'", got(), answer(404, status(404, "NotFound", status="Success")))
        self.found("says nothing", got(), answer(404, status(404, "NotFound", message="")))
        self.found("no Status", got(), answer(404, {"error": "no"}))
        self.found("plain text", got(), answer(404, b"nothing here", "text/plain"))
        self.found("without a Status", got(), answer(404, b"<html>", "text/html"))
        self.found("without Retry-After", got(), answer(429, status(429, "TooManyRequests")))
        self.found("no Status", asked(mode=HTTP2), Answer(404, None, b"over HTTP/2"))

    def test_an_error_without_end_is_found(self):
        self.found("an error of", got(), answer(422, status(422, "Invalid", message="x" * (1 << 20))))

    def test_json_that_is_none_is_found(self):
        for text in (b"{", b'{"kind":"ConfigMap","kind":"Secret"}', b'{"kind":NaN}', b"\xff"):
            self.found("does not parse", got(), answer(200, text))

    def test_another_kind_than_what_was_asked_for_is_found(self):
        self.found("instead of", got(), answer(200, {**CONFIGMAP, "kind": "Secret"}))
        self.found("instead of", got(), answer(200, {**CONFIGMAP, "apiVersion": "v2"}))
        table = asked(headers=[("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")],
                      gvk=["", "v1", "ConfigMap"],
                      action="get")
        self.found("instead of", table, answer(200, CONFIGMAP))

    def test_lists_without_version_or_items_are_found(self):
        self.found("without a resourceVersion", got("list"), answer(200, {
            "kind": "ConfigMapList", "apiVersion": "v1", "items": [], "metadata": {}}))
        self.found("items are None", got("list"), answer(200, {
            "kind": "ConfigMapList", "apiVersion": "v1", "items": None, "metadata": {"resourceVersion": "1"}}))
        self.found("as wide", got("list"), answer(200, {
            "kind": "Table", "metadata": {}, "columnDefinitions": [{}], "rows": [{"cells": [1, 2]}]}))

    def test_events_that_are_none_are_found(self):
        for what, line in (("does not parse", b"{\n"), ("no event", b'{"type":"ELSE"}\n'),
                           ("without an object", b'{"type":"ADDED"}\n'),
                           ("without a Status", b'{"type":"ERROR","object":{"kind":"A","apiVersion":"v1"}}\n'),
                           ("server's own",
                            b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":500}}\n')):
            self.found(what, asked(mode=STREAM), answer(200, line, Transfer_Encoding="chunked"))

    def test_who_gets_more_than_they_may_is_found(self):
        self.found("may not", asked("DELETE"), answer(200, CONFIGMAP), READER)
        self.found("may not", asked(target="/api/v1/namespaces/kept/configmaps/a"), answer(200, CONFIGMAP), READER)
        self.found("may not", asked(target="/api/v1/proxy/namespaces/default/configmaps/a"), answer(200, CONFIGMAP),
                   READER)
        self.found("may not", asked(mode=WEBSOCKET), answer(101, b""), GARBAGE)
        self.found("may not", asked("POST", "/explorer/"), answer(200, b"{}"), GARBAGE)
        self.found("may not", asked(target="/explorer/x/y"), answer(200, b"{}"), GARBAGE)
        self.found("should be refused", asked("POST", refused=True), answer(201, CONFIGMAP))
        self.found("known as somebody", got(), answer(403, status(403, "Forbidden")), GARBAGE)
        self.found("for a body of type", asked("POST", CONFIGMAPS, [("Content-Type", "garbage")], b"{}"),
                   answer(201, CONFIGMAP))


class Rights(unittest.TestCase):
    def test_what_each_may_is_what_roles_say(self):
        for may, method, target, expected in (
                (rights.anonymous, "GET", "/healthz", True), (rights.anonymous, "GET", "/version", True),
                (rights.anonymous, "GET", "/metrics", False), (rights.anonymous, "GET", "/api", False),
                (rights.known, "GET", "/apis/apps/v1", True),
            (rights.known, "GET", "/apis/apps/v1/deployments", False),
                (rights.known, "HEAD", "/apis", False), (rights.known, "GET", CONFIGMAPS, False),
                (rights.known, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", True),
                (rights.known, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", False),
                (rights.reader, "GET", CONFIGMAPS, True), (rights.reader, "POST", CONFIGMAPS, False),
                (rights.reader, "GET", "/api/v1/watch/namespaces/default/configmaps", True),
                (rights.reader, "POST", "/api/v1/watch/namespaces/default/configmaps", False),
                (rights.writer, "POST", "/apis/apps/v1/namespaces/fz/deployments", True),
                (rights.writer, "POST", "/apis/apps/v1/namespaces/kept/deployments", False),
                (rights.writer, "POST", "/apis/apps/v1/proxy/namespaces/fz/deployments", False)):
            self.assertEqual(may(method, rights.segments(target)), expected, (method, target))


class StubServer:
    """Says the same to every connection, whatever it is asked, and closes it."""

    def __init__(self, folder, said):
        self.said = said
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority = Authority(folder, "stub")
        context.load_cert_chain(*self.authority.sign("stub", names=("IP:127.0.0.1",)))
        self.listener = context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.recv(65536)
            connection.sendall(self.said)
            connection.close()

    # What Wire asks of a world.
    def context(self, pair, alpn=()):
        return ssl.create_default_context(cafile=self.authority.certificate)

    @property
    def identities(self):
        return {"admin": ADMIN}


class OnTheWire(unittest.TestCase):
    def judged(self, said):
        with tempfile.TemporaryDirectory() as folder:
            stub = StubServer(folder, said)
            wire = Wire(stub, patience=20)
            reply = wire.send(got())
            wire.end()
            stub.listener.close()
            return judge(got(), reply, ADMIN)

    def test_a_server_that_answers_well_is_let_be(self):
        body = json.dumps(CONFIGMAP).encode()
        self.assertEqual(self.judged(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                                     % (len(body), body)), [])

    def test_a_server_that_closes_cuts_or_babbles_is_found_out(self):
        for said in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", b"garbage\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}"):
            self.assertRegex(" ".join(self.judged(said)), "^no answer", said)

    def test_bad_gzip_is_found_out(self):
        found = self.judged(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}")
        self.assertRegex(" ".join(found), "bad gzip")


def described():
    """A surface of two resources, as documents would give it."""
    found = surface.Surface.__new__(surface.Surface)
    found.operations, found.definitions, found.index = [], {}, ["/", "/api"]
    schema = {"schema": {"type": "object", "properties": {"data": {"type": "object"}, "count": {"type": "integer"}}}}
    kind = {"x-kubernetes-group-version-kind": {"group": "", "version": "v1", "kind": "ConfigMap"}}
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}}
                  for name in ("resourceVersion", "continue", "limit", "dryRun", "labelSelector")]
    one = {"get": "get", "put": "put", "patch": "patch", "delete": "delete"}
    all_ = {"get": "list", "post": "post", "delete": "deletecollection"}
    for path, methods in (("/api/v1/namespaces/{namespace}/configmaps", all_),
                          ("/api/v1/namespaces/{namespace}/configmaps/{name}", one)):
        found.add({"paths": {path: {method: {**kind, "x-kubernetes-action": action, "parameters": parameters,
                                            "requestBody": {"content": {"application/json": schema}}}
                                    for method, action in methods.items()}}})
    return found


def requests(seed, count=3000, without=()):
    identities = {"admin": ADMIN, "reader": READER, "garbage": GARBAGE}
    generator = generate.Generator(seed, 0, described(), Pool(), identities, without)
    return [generator.next() for _ in range(count)]


class Generation(unittest.TestCase):
    def test_a_seed_gives_the_same_requests_again_and_another_does_not(self):
        first, again, other = ([each.to_json() for each in requests(seed, 1000)] for seed in (1, 1, 2))
        self.assertTrue(first == again)
        self.assertTrue(first != other)

    def test_requests_are_of_all_shapes_methods_types_and_forms(self):
        made = requests(3, 6000)
        self.assertLessEqual({shape.__name__ for shape, _ in attacks.SHAPES + attacks.SELDOM},
                             {each.about["shape"] for each in made})
        self.assertLessEqual({"GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"},
                             {each.method for each in made})
        self.assertLessEqual(set(generate.PATCHES + generate.BODIES), {each.header("Content-Type") for each in made})
        self.assertLessEqual(set(generate.ACCEPTS), {each.header("Accept") for each in made})
        self.assertLessEqual({"plain", "stream", "drop", "websocket", "unfinished", "early", "http2", "http2-reset"},
                             {each.mode for each in made})

    def test_a_shape_can_be_left_out(self):
        self.assertNotIn("proxy", {each.about["shape"] for each in requests(4, without=("proxy",))})

    def test_a_request_comes_back_from_a_file_as_it_was(self):
        for each in requests(5, 500):
            again = Request.from_json(json.loads(json.dumps(each.to_json())))
            self.assertEqual((again.head(()), again.content()), (each.head(()), each.content()))

    def test_nothing_is_sent_to_where_the_world_keeps_its_own(self):
        for each in requests(6):
            self.assertNotIn("/namespaces/kept/", each.target)

    def test_spoilt_bodies_differ_from_what_they_were(self):
        rng = random.Random(1)
        whole = bodies.valid(rng, ("apps", "v1", "Deployment"), "a", "default")
        spoilt = [bodies.spoil(rng, whole) for _ in range(50)]
        self.assertGreater(sum(each != whole for each in spoilt), 45)


class Formats(unittest.TestCase):
    def test_cbor_comes_back(self):
        value = {"a": [1, -1, 1 << 40, 1.5, True, None, "é"], "b": {}}
        self.assertEqual(formats.from_cbor(formats.CBOR_TAG + formats.to_cbor(value)), value)
        for bad in (b"\xa0", formats.CBOR_TAG, formats.CBOR_TAG + b"\xa0\xa0",
                    formats.CBOR_TAG + b"\xa2\x41a\x01\x41a\x02"):
            with self.assertRaises(formats.Malformed):
                formats.from_cbor(bad)

    def test_yaml_of_a_status_is_read(self):
        text = formats.to_yaml(status(404, "NotFound")).encode()
        self.assertEqual(formats.yaml_head(b"apiVersion: v1\ncode: 404\nkind: Status\nreason: NotFound\n")["code"],
                         404)
        self.assertIn(b'"NotFound"', text)
        for message, read in ((b'a "b" is not found', 'a "b" is not found'), (b"'a: b''s'", "a: b's"),
                              (b'"a: b"', "a: b"), (b"|-\n  a\n  b", "  a\n  b"), (b"a\n  b", "a\n  b")):
            document = b"metadata: {}\nmessage: " + message + b"\ncode: 404\n"
            self.assertEqual(formats.yaml_head(document)["message"], read)
            self.assertEqual(formats.yaml_head(document)["code"], 404)


class Documents(unittest.TestCase):
    def test_documents_that_disagree_are_found(self):
        paths = {"/api/v1/configmaps": {"get": {"x-kubernetes-action": "list"}}}
        tell = {"/openapi/v3": {"paths": {"api/v1": {"serverRelativeURL": "/three"}}}, "/three": {"paths": paths},
                "/openapi/v2": {"paths": paths}, "/": {"paths": []}, "/apis": {"groups": []},
                "/api/v1": {"resources": [{"name": "configmaps", "namespaced": False, "verbs": ["list", "watch"]}]}}
        self.assertEqual(len(surface.Surface(tell.get).operations), 1)
        with self.assertRaisesRegex(surface.Contradiction, "v2 and v3 differ"):
            surface.Surface({**tell, "/openapi/v2": {"paths": {}}}.get)
        more = {"resources": [{"name": "configmaps", "namespaced": False, "verbs": ["list", "create"]}]}
        with self.assertRaisesRegex(surface.Contradiction, "create"):
            surface.Surface({**tell, "/api/v1": more}.get)


class EndedWorld:
    """A server that has been stopped, with its exit code and what it logged."""

    def __init__(self, code, log, alive=True):
        self.code, self.text, self.running = code, log, alive
        self.server = self.process = self
        self.returncode = code

    def alive(self):
        return self.running

    def stop(self):
        return self.code

    def log(self):
        return self.text


class Ends(unittest.TestCase):
    def found(self, world, refused=()):
        run = fuzz.Run(None, "memory")
        run.canary = EndedWorld(0, "")
        run.canary.failures = list(refused)
        run.findings.sent(got())
        run.end(world)
        return [what for what, _, _ in run.findings.found]

    def test_a_server_that_ends_well_is_let_be(self):
        self.assertEqual(self.found(EndedWorld(0, "serving\nstopping\n")), [])

    def test_a_bad_end_and_what_sanitizers_say_are_found(self):
        for world, what in ((EndedWorld(-6, "", alive=False), "by itself: exit code -6"),
                            (EndedWorld(1, ""), "SIGTERM ends the server with exit code 1"),
                            (EndedWorld(0, "a.cc:1:2: runtime error: signed integer overflow\n"), "runtime error"),
                            (EndedWorld(0, "==1==ERROR: AddressSanitizer: heap-use-after-free\n"), "AddressSanitizer"),
                            (EndedWorld(0, "==1==ERROR: LeakSanitizer: detected memory leaks\n"), "LeakSanitizer"),
                            (EndedWorld(66, "WARNING: ThreadSanitizer: data race (pid=1)\n"), "ThreadSanitizer")):
            self.assertRegex(" ".join(self.found(world)), what)

    def test_a_canary_that_was_refused_is_found(self):
        self.assertEqual(self.found(EndedWorld(0, ""), ["PUT: 429"]), ["the canary: PUT: 429"])

    def test_requests_that_are_all_refused_are_found(self):
        run = fuzz.Run(None, "memory")
        session = fuzz.Session(EndedWorld(0, ""), described(), Pool(), run.findings)
        run.sessions.append(session)
        session.codes.update({403: 1000})
        run.check_reach()
        self.assertRegex(run.findings.found[0][0], "reach little")


if __name__ == "__main__":
    unittest.main()
