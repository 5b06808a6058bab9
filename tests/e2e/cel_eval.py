#!/usr/bin/env python3
"""What cel-eval prints of expressions, and its exit codes.

usage: cel_eval.py --program CEL_EVAL

Exits 1 and names each failed check.
"""

import argparse
import os
import subprocess
import sys
import tempfile

from checker import Checker

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - {name: a, image: "registry.local/a:1"}
      - {name: b, image: "docker.io/b:2"}
"""

CRD = """\
apiVersion: v1
kind: List
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}}}}}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              min-size: {type: integer}
              size: {type: integer}
              note: {type: string, nullable: true}
              ports:
                type: array
                maxItems: 10
                items: {type: object, properties: {port: {x-kubernetes-int-or-string: true}, open: {type: boolean}}}
"""

WIDGET = """\
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {min-size: 2, size: 5, note: null, ports: [{port: 80, open: true}, {port: http}]}
"""


class Program:
    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder

    def run(self, *args, given=""):
        """The exit code, and the lines of standard output and error."""
        got = subprocess.run([self.binary, *args], input=given.encode(), cwd=self.folder, capture_output=True,
                             timeout=60)
        return got.returncode, got.stdout.decode().splitlines(), got.stderr.decode().splitlines()


def results(t, p):
    for args, lines in (
            (["1 + 2"], ["result:   3", "type:     int", "estimate: 1", "cost:     1"]),
            (["-q", "{'a': [1.0, 2.0][0], 'b': 2.5}"], ['{"a": 1.0, "b": 2.5}']),
            (["--object", "web.yaml", "object.spec.replicas <= 5"],
             ["result:   true", "type:     bool", "estimate: 2", "cost:     4"]),
            (["-q", "--object", "web.yaml", "object.spec.template.spec.containers.map(c, c.name)"], ['["a", "b"]']),
            (["--check", "--var", "n:int", "n > 1"], ["type:     bool", "estimate: 2"]),
            (["-q", "--var", "n:int=5", "--var", "m:map(string, double)={a: 1}", "m.a + double(n)"], ["6.0"]),
            (["-q", "--var", "t:timestamp=2024-02-29T12:00:00Z", "--var", "d=@web.yaml",
              "t > timestamp('2024-02-28T00:00:00Z') && d.kind == 'Deployment'"], ["true"]),
            (["-q", "--version", "1.30", "--mode", "stored", "[1].all(i, v, v > i)"], ["true"]),
            (["-q", "--result-type", "string,null_type", "null"], ["null"]),
            (["-q", "--", "-1 + 1"], ["0"])):
        code, out, err = p.run(*args)
        t.check(code == 0 and out == lines and not err, "cel-eval " + " ".join(args), (code, out, err))
    code, out, err = p.run("-q", "--object", "-", "--file", "rule.cel", given=DEPLOYMENT)
    t.check(code == 0 and out == ["false"] and not err, "an object from standard input", (code, out, err))


def schemas(t, p):
    rule = "self.size >= self.min__dash__size && !has(self.note)"
    crd = ["--schema", "crd.yaml", "--self", "widget.yaml"]
    for args, lines in (
            (["--at", "spec", rule], ["true"]),
            (["--at", "spec.ports.1", "self.port"], ['"http"']),
            (["--at", "spec.ports.1", "has(self.open)"], ["false"]),
            (["--old-self", "widget.yaml", "self == oldSelf && self.metadata.name == 'w'"], ["true"])):
        code, out, err = p.run("-q", *crd, *args)
        t.check(code == 0 and out == lines and not err, "cel-eval " + " ".join(args), (code, out, err))
    code, out, err = p.run(*crd, "--at", "spec", "self.ports.all(p, p.open)")
    t.check(code == 1 and err == ["error:    no such key: open"] and out[0] == "type:     bool", "a missing property",
            (code, out, err))
    code, out, err = p.run(*crd, "--crd-version", "v1alpha1", "--at", "spec", "self.size > 1")
    t.check(code == 2 and "found no matching overload for '_>_' applied to '(string, int)'" in err[0],
            "another version has other types", (code, out, err))
    code, out, err = p.run(*crd, "--at", "spec", "oldSelf.size > 1")
    t.check(code == 1 and err == ["error:    no such attribute(s): oldSelf"], "a value that is not given",
            (code, out, err))


def failures(t, p):
    code, out, err = p.run("--var", "n:int", "n + x.y == 1")
    t.check(code == 2 and not out and err == [
        "compilation failed: ERROR: <input>:1:5: undeclared reference to 'x' (in container '')",
        " | n + x.y == 1",
        " | ....^"], "an undeclared variable is marked", (code, out, err))
    for args, code, said in (
            (["--result-type", "bool", "1"], 2, "must evaluate to bool but got int"),
            (["--version", "1.30", "[1].all(i, v, v > i)"], 2, "compilation failed: ERROR"),
            (["1 / 0"], 1, "error:    division by zero"),
            (["--limit", "10", "[1, 2, 3, 4, 5, 6, 7, 8].all(x, x > 0)"], 1,
             "error:    operation cancelled: actual cost limit exceeded"),
            (["-e", "1 > 2"], 4, ""),
            ([], 3, "error: there is no expression; --help shows how to give one"),
            (["--version", "two", "1"], 3, 'error: --version: "two" is no version; give one like 1.36'),
            (["--var", "n:number=1", "1"], 3, "error: unknown type number; there are dyn, bool, int"),
            (["--var", "1n=1", "1"], 3, 'error: "1n" cannot be the name of a variable'),
            (["--object", "missing.yaml", "1"], 3, "error: missing.yaml: cannot be read"),
            (["--var", "n={", "n"], 3, "error: --var n: "),
            (["--schema", "crd.yaml", "--at", "spec.sise", "1"], 3, 'error: --at: the schema has no "sise"'),
            (["--unknown", "1"], 3, "error: ")):
        got, out, err = p.run(*args)
        t.check(got == code and (err[0] if err else "").startswith(said), "cel-eval " + " ".join(args), (got, out, err))
    code, out, err = p.run("--help")
    t.check(code == 0 and "Exit codes:" in "\n".join(out) and not err, "--help", (code, out, err))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("web.yaml", DEPLOYMENT), ("crd.yaml", CRD), ("widget.yaml", WIDGET),
                           ("rule.cel", "object.spec.template.spec.containers.all(c,\n"
                                        "  c.image.startsWith('registry.local/'))\n")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        program = Program(args.program, folder)
        results(t, program)
        schemas(t, program)
        failures(t, program)
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
