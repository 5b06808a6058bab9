#!/usr/bin/env python3
"""Runs apiserver-gen as a build and as a person would.

usage: program_test.py APISERVER_GEN
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %(plural)s.zoo.example.com}
spec:
  group: zoo.example.com
  scope: Namespaced
  names: {kind: %(kind)s, plural: %(plural)s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: %(type)s}}}}
"""


NOWHERE = """{"swagger": "2.0", "definitions": {"a.Foo": {"type": "object", "properties": {
"metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
"spec": {"$ref": "#/definitions/a.None"}},
"x-kubernetes-group-version-kind": [{"group": "a.example", "version": "v1", "kind": "Foo"}]}}}"""


def run(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def refused(words, message, code_of=1):
    code, out, error = run(*words)
    assert code == code_of and out == "" and message in error, (words, code, out, error)


def misused(words, message):
    refused(words, message, code_of=2)


def project(folder):
    """A project is written whole, told, and not written over."""
    out = os.path.join(folder, "new", "zoo")
    words = ["project", "zoo-apiserver", "--group", "zoo.example.com", "--kind", "Pet"]
    code, told, error = run(*words, "--out", out)
    assert (code, error) == (0, ""), error
    written = sorted(os.path.join(at, name) for at, _, names in os.walk(out) for name in names)
    assert sorted(told.splitlines()) == written and len(written) == 8, told
    with open(os.path.join(out, "main.cc"), encoding="utf-8") as file:
        assert len(file.readlines()) <= 60
    with open(os.path.join(out, "main.cc"), "w", encoding="utf-8") as file:
        file.write("mine")
    refused([*words, "--out", out], out + "/main.cc")
    with open(os.path.join(out, "main.cc"), encoding="utf-8") as file:
        assert file.read() == "mine"
    assert run(*words, "--out", out, "--force")[0] == 0
    with open(os.path.join(out, "main.cc"), encoding="utf-8") as file:
        assert "zoo_apiserver::InstallPet(" in file.read()
    refused([*words, "--out", os.path.join(out, "main.cc")], "main.cc")

    misused(["project", *words[2:]], "the name is missing")
    misused([*words, "other"], "there are two names, zoo-apiserver and other")
    misused(words[:4], "--kind is missing")
    misused([*words[:2], *words[4:]], "--group is missing")
    misused([*words, "--version"], "--version needs a value")
    misused([*words, "--fast"], "there is no flag --fast")
    misused([*words, "--plural", "Pets"], '--plural: "Pets": a DNS-1035 label')


def main():
    with tempfile.TemporaryDirectory() as folder:
        def path(name, text=None):
            file = os.path.join(folder, name)
            if text is not None:
                with open(file, "w", encoding="utf-8") as to:
                    to.write(text)
            return file

        pets = CRD % {"kind": "Pet", "plural": "pets", "type": "string"}
        owners = CRD % {"kind": "Owner", "plural": "owners", "type": "string"}
        both = path("both.yaml", pets + "---\n" + owners)
        code, out, error = run("types", "--namespace", "zoo", both)
        assert (code, error) == (0, ""), error
        assert "struct Pet {" in out and "struct Owner {" in out, out
        assert out.startswith("// Made by apiserver-gen from both.yaml;"), out

        one = run("types", "--namespace", "zoo", "--kind", "Pet", both)[1]
        assert "struct Pet {" in one and "struct Owner {" not in one, one
        served = os.path.join(HERE, "served.json")
        code, out_served, error = run("types", "--namespace", "zoo", "--kind", "Mouse.zoo.example.com", served)
        assert (code, error) == (0, ""), error
        assert "struct Mouse {" in out_served and "struct Bowl {" in out_served, out_served
        assert "struct Cage" not in out_served, out_served

        header = path("zoo.h")
        assert run("types", "--namespace", "zoo", "--out", header, both) == (0, "", "")
        with open(header, encoding="utf-8") as file:
            assert file.read() == out
        os.utime(header, (1, 1))
        assert run("types", "--out", header, "--namespace", "zoo", both)[0] == 0
        assert os.stat(header).st_mtime == 1, "what did not change was written again"

        usage = run("--help")[1]
        assert usage.startswith("usage: apiserver-gen")
        assert run("types", "--help") == (0, usage, "")
        with open(os.path.join(HERE, "..", "..", "packaging", "debian", "apiserver-gen.1"), encoding="utf-8") as file:
            page = file.read().replace("\\-", "-")
        flags = set(re.findall(r"--\w+", usage))
        assert "--kind" in flags and set(re.findall(r"^\.BI? (--\w+)", page, re.M)) == flags, flags
        types = ["types", "--namespace", "zoo"]
        misused([], "the first word has to be types or project")
        misused(["types", both], "--namespace is missing")
        misused(types, "no file is named")
        misused(["types", "--namespace"], "--namespace needs a value")
        misused([*types, "--fast", both], "there is no flag --fast")
        refused(["types", "--namespace", "class", both], '"class" is no name of a namespace')
        refused([*types, path("none.yaml")], "none.yaml")
        refused([*types, "--kind", "Dog", both, served], "no file has the kind Dog")
        refused([*types, path("v4.json", '{"openapi": "4.0.0"}')], "v4.json: ")
        refused([*types, path("nowhere.json", NOWHERE)], 'nowhere.json: a.Foo: spec: the $ref')
        refused([*types, both, both], "there are two kinds Pet in version v1")
        refused([*types, "--out", os.path.join(folder, "no", "zoo.h"), both], "cannot write")
        bad = path("bad.yaml", CRD % {"kind": "Pet", "plural": "pets", "type": "number!"})
        refused([*types, bad], "bad.yaml: ")
        refused([*types, path("text.yaml", "{")], "text.yaml: ")
        project(folder)


main()
