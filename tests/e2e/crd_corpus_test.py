#!/usr/bin/env python3
"""The fixture of CRDs has what crd_corpus.py is to choose."""

import json
import os
import unittest

import crd_corpus

FIXTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata", "crds")


class Fixture(unittest.TestCase):
    def test_crds(self):
        found = crd_corpus.read(FIXTURE)
        crds = [crd for some in found.values() for crd in some]
        self.assertEqual((9, 150), (len(found), len(crds)))
        self.assertEqual(150, len({crd["metadata"]["name"] for crd in crds}))
        words = set().union(*map(crd_corpus.features, crds))
        for word in ("array x-kubernetes-list-map-keys", "subresource scale", "x-kubernetes-list-type set",
                     "rule has", "scope Cluster",
                     "object x-kubernetes-preserve-unknown-fields", "typeless x-kubernetes-int-or-string"):
            self.assertIn(word, words)

    def test_compacting(self):
        deep = {"type": "object", "properties": {"a": {"type": "string", "description": "deep"}}}
        schema = {"type": "object", "description": "long " * 100, "properties": {"spec": deep}}
        crd = {"apiVersion": "v1", "kind": "C", "status": {},
               "metadata": {"name": "shirts.example.com", "annotations": {"a": "b"}},
               "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
        small = crd_corpus.compacted(crd)
        text = json.dumps(small)
        self.assertNotIn("deep", text)
        self.assertLess(len(schema["description"]), 61)
        self.assertEqual({"name": "shirts.example.com"}, small["metadata"])


if __name__ == "__main__":
    unittest.main()
