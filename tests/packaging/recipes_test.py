#!/usr/bin/env python3
"""The comparison of the recipes tells each planted difference."""

import os
import shutil
import tempfile
import unittest

import recipes

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FILES = ["CMakeLists.txt", "cmake/ApiserverRooms.cmake", recipes.PORT + "vcpkg.json", recipes.PORT + "portfile.cmake",
         "packaging/conan/conanfile.py", "packaging/debian/changelog", recipes.CHART, "docs/packages.md",
         "docs/aggregator.md", "packaging/docker/Dockerfile", *recipes.MANIFESTS]
# (file, what stands there, what is planted, where the difference is found)
PLANTED = [
    ("CMakeLists.txt", "apiserver VERSION 0.1.0", "apiserver VERSION 0.2.0",
     ["vcpkg.json: version", "conanfile.py: version", "debian/changelog: version", "Chart.yaml: version",
      "Chart.yaml: appVersion"]),
    ("cmake/ApiserverRooms.cmake", "set(APISERVER_COMPONENT_rocks storage.rocks)",
     "set(APISERVER_COMPONENT_rocks storage.rocks storage.kms)", ["portfile.cmake: rooms", "conanfile.py: OPTIONAL"]),
    ("cmake/ApiserverRooms.cmake", "testing signals program generator)", "testing signals program generator cellar)",
     ["docs/packages.md: components", "ApiserverRooms.cmake: lines about components"]),
    ("cmake/ApiserverRooms.cmake", "APART rocks etcd", "APART etcd", ["docs/packages.md: Debian packages"]),
    ("cmake/ApiserverRooms.cmake", '"storage on RocksDB"', '"%s"' % ("storage " * 7),
     ["vcpkg.json: features", "ApiserverRooms.cmake: the line about rocks"]),
    (recipes.PORT + "vcpkg.json", '"testing": {', '"tests": {', ["vcpkg.json: features"]),
    (recipes.PORT + "portfile.cmake", "ITEMS etcd explorer", "ITEMS explorer", ["portfile.cmake: features"]),
    (recipes.PORT + "portfile.cmake", "set(leaves_off client.cpprest cpprest)", "set(leaves_off cpprest)",
     ["portfile.cmake: leaves_off"]),
    ("packaging/conan/conanfile.py", '"rocks": ["storage.rocks"],', "", ["conanfile.py: OPTIONAL"]),
    (recipes.CHART, "appVersion: 0.1.0", "appVersion: 0.0.9", ["Chart.yaml: appVersion"]),
    ("packaging/docker/Dockerfile", "USER 65532", "USER 0", ["Dockerfile: USER"] * 2),
    ("packaging/docker/Dockerfile", 'ENTRYPOINT ["/sample-apiserver"]', 'ENTRYPOINT ["/server"]', ["Dockerfile: ENTRYPOINT"]),
    ("docs/packages.md", "| `apiserver::rocks` |", "| `apiserver::rock` |", ["docs/packages.md: components"]),
]


class Recipes(unittest.TestCase):
    def test_the_checkout_has_no_difference(self):
        self.assertEqual(recipes.differences(ROOT), [])

    def test_each_planted_difference_is_found_and_no_other(self):
        for path, old, new, where in PLANTED:
            with self.subTest(path=path, new=new), tempfile.TemporaryDirectory() as folder:
                for name in FILES:
                    os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                    shutil.copy(os.path.join(ROOT, name), os.path.join(folder, name))
                with open(os.path.join(folder, path), encoding="utf-8") as file:
                    text = file.read()
                self.assertIn(old, text)
                with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                    file.write(text.replace(old, new))
                found = recipes.differences(folder)
                self.assertEqual(len(found), len(where), found)
                for line, begin in zip(found, where):
                    self.assertTrue(line.startswith(begin), line)


if __name__ == "__main__":
    unittest.main()
