#!/usr/bin/env python3
"""policies.py tells a planted difference from an equal answer, and reads what is in .http files."""

import unittest

import http_file
import policies
import policy_answers

FILE = """\
# about the file
@base = /apis/{{group}}
@group = example.com

### first: one
# @settle
# @until "done":true
POST {{base}}/things?dryRun=All
Accept: {{group}}

{kind: Thing, of: {{group}}}

### second
DELETE {{base}}/things/a
"""


class Files(unittest.TestCase):
    def test_requests(self):
        first, second = http_file.read(FILE, {})
        self.assertEqual(("first: one", "POST", "/apis/example.com/things?dryRun=All"),
                         (first.name, first.method, first.target))
        self.assertEqual(("{kind: Thing, of: example.com}\n", '"done":true', True),
                         (first.body, first.until, first.settle))
        self.assertEqual({"Accept": "example.com", "Content-Type": "application/yaml"}, first.headers)
        self.assertEqual((True, False), (first.repeatable(), second.repeatable()))
        self.assertEqual(("", {}, False), (second.body, second.headers, second.settle))

    def test_mistakes(self):
        for text in ("### a\n", "### a\nFETCH /\n", "### a\nword\nGET /\n"):
            with self.assertRaises(ValueError):
                http_file.read(text, {})
        with self.assertRaises(KeyError):
            http_file.read("### a\nGET {{unknown}}\n", {})

    def test_names_are_unique(self):
        variables, names = {}, []
        for file in policies.files():
            names += [request.name for request in policies.requests_of(file, variables)]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 80)


class Answers(unittest.TestCase):
    def test_differences(self):
        self.assertEqual([], list(policies.differences({"a": [1, {"b": None}]}, {"a": [1, {}]})))
        self.assertEqual([("/a/1/b", 2, 3), ("/c", None, 4)],
                         list(policies.differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}], "c": 4})))
        self.assertEqual([("/a", [1], [1, 2])], list(policies.differences({"a": [1]}, {"a": [1, 2]})))

    def test_what_changes_from_run_to_run(self):
        uid = "01234567-89ab-cdef-0123-456789abcdef"
        self.assertEqual({"uid": "<uid>", "message": "of <uid> and b-generated-<uid>", "cells": ["a", "<age>", 3]},
                         policy_answers.normalized({"uid": "x", "message": "of %s and b-generated-x2fz4" % uid,
                                                    "cells": ["a", "2m14s", 3]}))

    def test_the_status_of_policies(self):
        policy = {"metadata": {"managedFields": [{"manager": "me"}, {"manager": policy_answers.STATUS_WRITER}]},
                  "status": {"observedGeneration": 1, "conditions": []}}
        for answer in ({"items": [policy]}, {"rows": [{"object": policy}]}, {"object": policy}, policy):
            self.assertEqual([policy], policy_answers.objects_of(answer))
        policy_answers.without_status(policy)
        self.assertEqual({"metadata": {"managedFields": [{"manager": "me"}]}, "status": {"conditions": []}}, policy)

    def test_warnings(self):
        self.assertEqual('a "b" \\', policy_answers.warning_text('299 - "a \\"b\\" \\\\"'))


class Known(unittest.TestCase):
    def test_entries(self):
        known = policies.Known(exact=True)
        known.entries = [{"requests": ["a*"], "at": "/body/x/*", "got": 1, "reason": "r"},
                         {"requests": ["b"], "at": "/code", "reason": "r"}]
        known.used = [False, False]
        self.assertTrue(known.has("abc", "/body/x/y", 1))
        self.assertFalse(known.has("abc", "/body/x/y", 2))
        self.assertFalse(known.has("b", "/body/x/y", 1))
        self.assertEqual([known.entries[1]], known.unused())

    def test_the_list_gives_reasons(self):
        for entry in policies.Known(exact=False).entries:
            self.assertLessEqual({"requests", "at", "reason"}, set(entry))
            self.assertTrue(entry["reason"])


if __name__ == "__main__":
    unittest.main()
