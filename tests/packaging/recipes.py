#!/usr/bin/env python3
"""Checks that the recipes of package managers say what the build says: version, components, rooms.

usage: recipes.py [--root DIR]

The build is CMakeLists.txt and cmake/ApiserverRooms.cmake. The recipes are packaging/, the chart of the
sample-apiserver and the table of docs/packages.md. Prints what differs, and then exits 1.
"""

import argparse
import ast
import json
import os
import re
import sys

PORT = "packaging/vcpkg/ports/libapiserver/"
CHART = "examples/sample-apiserver/chart/Chart.yaml"
MANIFESTS = ["examples/sample-apiserver/chart/templates/deployment.yaml", "examples/sample-apiserver/deploy/server.yaml"]
# vcpkg has no cpprestsdk.
NOT_IN_VCPKG = {"http-client"}


class Build:
    """What CMake says."""

    def __init__(self, root):
        self.root = root
        rooms = self.read("cmake/ApiserverRooms.cmake")
        self.version = self.found(r"project\(apiserver VERSION ([\d.]+)", self.read("CMakeLists.txt"))
        self.components = self.found(r"set\(APISERVER_COMPONENTS ([^)]*)\)", rooms).split()
        leaves = self.found(r"set\(APISERVER_LEAVES\n([^)]*)\)", rooms).split()
        self.rooms = {name: words.split() for name, words in
                      re.findall(r"set\(APISERVER_COMPONENT_([\w-]+) ([^)]*)\)", rooms)}
        self.about = dict(re.findall(r'set\(APISERVER_ABOUT_([\w-]+) "([^"]*)"\)', rooms))
        # A component of leaves can be left out, any other is always there.
        self.optional = {name: words for name, words in self.rooms.items() if set(words) <= set(leaves)}

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def found(pattern, text):
        match = re.search(pattern, text, re.M)
        if not match:
            raise ValueError("nothing matches %r" % pattern)
        return match[1]


def same(what, got, wanted):
    return [] if got == wanted else ["%s: %r, the build says %r" % (what, got, wanted)]


def vcpkg(build):
    port = json.loads(build.read(PORT + "vcpkg.json"))
    optional = {name: rooms for name, rooms in build.optional.items() if name not in NOT_IN_VCPKG}
    yield from same("vcpkg.json: version", port["version"], build.version)
    yield from same("vcpkg.json: features", {name: feature["description"] for name, feature in port["features"].items()},
                    {name: build.about.get(name) for name in optional})
    text = build.read(PORT + "portfile.cmake")
    rooms = {name: words.split() for name, words in re.findall(r"set\(rooms_of_([\w-]+) ([^)]*)\)", text)}
    yield from same("portfile.cmake: rooms", rooms, optional)
    yield from same("portfile.cmake: features", sorted(build.found(r"foreach\(feature IN ITEMS ([^)]*)\)", text).split()),
                    sorted(optional))
    yield from same("portfile.cmake: leaves_off", build.found(r"set\(leaves_off ([^)]*)\)", text).split(),
                    [room for name in sorted(NOT_IN_VCPKG) for room in build.rooms[name]])


def conan(build):
    text = build.read("packaging/conan/conanfile.py")
    yield from same("conanfile.py: version", build.found(r'^    version = "([^"]*)"', text), build.version)
    yield from same("conanfile.py: OPTIONAL", ast.literal_eval(build.found(r"^OPTIONAL = (\{[^}]*\})", text)),
                    build.optional)


def debian(build):
    yield from same("debian/changelog: version",
                    build.found(r"\Alibapiserver \(([^)]*)\)", build.read("packaging/debian/changelog")), build.version)
    apart = build.found(r"set\(APISERVER_PACKAGED_APART ([^)]*)\)", build.read("cmake/ApiserverRooms.cmake")).split()
    page = set(re.findall(r"`(libapiserver-[\w-]*dev|apiserver-gen)`", build.read("docs/packages.md")))
    names = {"apiserver-gen" if name == "generator" else "libapiserver-%s-dev" % name for name in apart}
    yield from same("docs/packages.md: Debian packages", sorted(page), sorted(names | {"libapiserver-dev"}))


def chart(build):
    text = build.read(CHART)
    for field in ("version", "appVersion"):
        yield from same("Chart.yaml: " + field, build.found(r"^%s: (\S+)$" % field, text), build.version)


def image(build):
    """The image runs as the user that the manifests name, and starts what they call."""
    text = build.read("packaging/docker/Dockerfile")
    user = build.found(r"^USER (\d+):\d+$", text)
    for path in MANIFESTS:
        yield from same("Dockerfile: USER, for " + path, user, build.found(r"runAsUser: (\d+)", build.read(path)))
    yield from same("Dockerfile: ENTRYPOINT", build.found(r'^ENTRYPOINT \["([^"]*)"\]$', text),
                    build.found(r"exec deploy/apiserver -- (\S+) doctor", build.read("docs/aggregator.md")))


def page(build):
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| `apiserver::([\w-]+)` \| `apiserver-([\w-]+)`", build.read("docs/packages.md"), re.M)
    yield from same("docs/packages.md: components", rows, [(name,) * 3 for name in build.components])
    yield from same("ApiserverRooms.cmake: lines about components", sorted(build.about), sorted(build.components))
    for name, about in build.about.items():
        if len(about) > 50:
            yield "ApiserverRooms.cmake: the line about %s is longer than 50 characters" % name


def differences(root):
    build = Build(root)
    return [line for check in (vcpkg, conan, debian, chart, image, page) for line in check(build)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    found = differences(parser.parse_args().root)
    for line in found:
        print("FAILED: " + line)
    print("recipes: %d differences" % len(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
