#!/usr/bin/env python3
"""crd_differential.py tells a planted difference from an equal answer, and makes the objects that its
recorded answers are about."""

import contextlib
import http.client
import io
import json
import unittest

from crd_answers import Request, differences, digest, reduced, shortened
from crd_differential import Judge, Known, Report, kind_of, masked, short
from crd_objects_test import CRD, VERSION
from crd_requests import Requests, Used


class Answers(unittest.TestCase):
    def test_objects_differ_from_what_was_sent(self):
        headers = http.client.HTTPMessage()
        headers["Content-Type"] = "application/json"
        headers["Warning"] = '299 - "unknown field \\"a\\""'
        sent = {"kind": "A", "metadata": {"name": "x"}, "spec": {"typo": 1, "b": 1}}
        got = {"kind": "A", "metadata": {"name": "x", "uid": "1", "managedFields": [{"time": "t", "manager": "m"}]},
               "spec": {"b": 1, "size": "M"}}
        answer = reduced(Request("a", "POST", "/", sent, sent), 201, headers, json.dumps(got))
        self.assertEqual({"code": 201, "warnings": ['unknown field "a"'], "object": {
            "changes": [["/spec/size", "M"], ["/spec/typo"]], "managed": [{"manager": "m"}]}}, answer)
        self.assertEqual(digest([{"manager": "m"}]), shortened(answer)["object"]["managed"])

    def test_causes_are_a_set(self):
        causes = [{"reason": "R", "field": "b", "message": "m"}, {"reason": "R", "field": "a", "message": "m"}]
        answers = [reduced(Request("a", "GET", "/"), 422, http.client.HTTPMessage(), json.dumps(
            {"kind": "Status", "reason": "Invalid", "message": str(order), "details": {"name": "x", "causes": order}}))
                   for order in (causes, causes[::-1])]
        self.assertEqual(*answers)
        self.assertEqual([["R", "a", "m"], ["R", "b", "m"]], answers[0]["status"]["causes"])

    def test_differences(self):
        self.assertEqual([("/a", 1, 1.0), ("/b", ..., 2), ("/c/1", 1, 2)],
                         list(differences({"a": 1, "c": [0, 1]}, {"a": 1.0, "b": 2, "c": [0, 2]})))

    def test_kinds(self):
        self.assertEqual(masked('"a" is 5, not b.c.d[3]'), masked('"x" is 66, not q.r'))
        self.assertEqual(kind_of("x/v1/7 create: enum at /spec/a", "/status/causes/0/2"),
                         kind_of("y/v2/9 create: enum at /b", "/status/causes/1/2"))


class Server:
    """Answers every request alike, but for those that have `word` in their name."""

    def __init__(self, word=None):
        self.word = word

    def answer(self, request):
        return {"code": 201, "value": "planted"} if self.word and self.word in request.name else {"code": 201}


class Comparison(unittest.TestCase):
    @staticmethod
    def compared(server, known=()):
        report = Report(Known("/no/such/file"))
        report.known.entries = list(known)
        judge = Judge(Server(), server, None, report)
        Requests(CRD, VERSION, 1, Used(), judge.ask).run(30, True)
        return report

    def test_equal(self):
        report = self.compared(Server())
        self.assertEqual((0, {}), (report.different, report.groups))
        self.assertGreater(report.asked, 60)

    def test_planted(self):
        report = self.compared(Server("strategic"))
        self.assertEqual((1, 1), (report.different, len(report.groups)))
        known = {"request": "shirts*strategic", "at": "/value", "reason": "planted"}
        self.assertEqual(0, self.compared(Server("strategic"), [known]).different)

    def test_stale(self):
        report = self.compared(Server("strategic"), [
            {"request": "shirts*strategic", "at": "/value", "reason": "planted"},
            {"request": "shirts*strategic", "at": "/status", "reason": "mended"}])
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertTrue(report.ended())
            report.whole = True
            self.assertFalse(report.ended())
        self.assertIn("no difference any more: shirts*strategic at /status: mended", out.getvalue())

    def test_recorded(self):
        asked = {}

        def ask(request):
            asked[short(request.name)] = {"code": 201}
            return 201
        Requests(CRD, VERSION, 1, Used(), ask).run(5, True)
        report = Report(Known("/no/such/file"))
        judge = Judge(None, Server("conflict"), asked, report)
        Requests(CRD, VERSION, 1, Used(), judge.ask).run(5, True)
        self.assertEqual(1, report.different)


if __name__ == "__main__":
    unittest.main()
