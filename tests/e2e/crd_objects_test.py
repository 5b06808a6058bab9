#!/usr/bin/env python3
"""The objects that crd_objects.py makes are as their schema says, or have one mistake."""

import collections
import json
import re
import unittest

import crd_objects
from crd_objects import Choices, make, mistakes
from crd_patterns import matching

CRD = {"metadata": {"name": "shirts.example.com"}, "spec": {
    "group": "example.com", "scope": "Namespaced", "names": {"plural": "shirts", "kind": "Shirt"}, "versions": [{
        "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "required": ["spec"], "properties": {"spec": {
                "type": "object", "required": ["color"], "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                "properties": {
                    "color": {"type": "string", "enum": ["blue", "red"]}, "a": {"type": "integer", "minimum": 3},
                    "b": {"type": "boolean"}, "size": {"type": "string", "pattern": "^[SML]$"},
                    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}}}}}]}}
VERSION = CRD["spec"]["versions"][0]


class Patterns(unittest.TestCase):
    def test_texts_match(self):
        for pattern in ("^a+b?$", "^(projects/)?[a-z][-a-z0-9]{4,28}[a-z0-9]$", "^[[:alpha:]]+$", r"^\d{3}$", "[^/]+",
                        "^(S|M|L)$", r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", r"^v\d\.\d{1,3}\z", "x{2,}"):
            for number in range(20):
                text = matching(pattern, Choices(pattern, number))
                self.assertRegex(text, re.compile(pattern.replace("[[:alpha:]]", "[a-zA-Z]").replace(r"\z", r"\Z")))

    def test_lengths(self):
        self.assertEqual(12, len(matching("^[a-z]*$", Choices("a"), 12, 12)))

    def test_none(self):
        self.assertIsNone(matching("^(", Choices("a")))
        self.assertIsNone(matching("^a$", Choices("a"), 5))


class Objects(unittest.TestCase):
    def test_follow_from_words(self):
        one = make(CRD, VERSION, "one", ("a",), True)
        self.assertEqual(one, make(CRD, VERSION, "one", ("a",), True))
        self.assertGreater(len({json.dumps(make(CRD, VERSION, "one", (n,), True)) for n in range(40)}), 8)

    def test_one_branch(self):
        for number in range(20):
            spec = make(CRD, VERSION, "one", (number,), number % 2)["spec"]
            self.assertEqual(1, len({"a", "b"} & set(spec)), spec)
            self.assertIn(spec["color"], ("blue", "red"))

    def test_mistakes(self):
        one = make(CRD, VERSION, "one", ("a",), True)
        found = collections.Counter()
        for name, _, wrong in mistakes(CRD, VERSION, one, Choices("b")):
            self.assertNotEqual((json.dumps(one), name), (json.dumps(wrong), name))
            found[name] += 1
        self.assertLessEqual({"missing", "enum", "pattern", "wrong type of string", "unknown field", "null",
                              "item twice in set", "two of oneOf", "other kind"}, set(found))
        self.assertEqual(one, make(CRD, VERSION, "one", ("a",), True))

    def test_walk_and_put(self):
        thing = {"a": [{"b": 1}]}
        self.assertEqual({"a": [{"b": 2}]}, crd_objects.put(thing, ("a", 0, "b"), 2))
        self.assertEqual({"a": [{}]}, crd_objects.put(thing, ("a", 0, "b"), ...))
        self.assertEqual({"a": [{"b": 1}, 5]}, crd_objects.put(thing, ("a", 1), 5))
        self.assertEqual({"a": [{"b": 1}]}, thing)


if __name__ == "__main__":
    unittest.main()
