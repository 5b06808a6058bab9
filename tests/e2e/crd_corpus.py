#!/usr/bin/env python3
"""Collects published CustomResourceDefinitions, and makes the fixture in ../testdata/crds of them.

usage: crd_corpus.py unpack OUT NAME=GIT_DIR:PATTERN... NAME=FOLDER:PATTERN...
       crd_corpus.py fixture CORPUS OUT

`unpack` writes every CRD that matches into OUT/NAME, a JSON file for each. GIT_DIR is a bare
repository, of which the newest commit is read; FOLDER is a module of Go. `fixture` chooses about 150
for what their schemas use, cuts descriptions and writes a file of JSON lines for each source. Only
these two need PyYAML: the fixture itself is JSON.
"""

import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

FIXTURE_CRDS = 150
FIXTURE_BYTES = 1_900_000
# A CRD that is larger without its descriptions is left out, except one for each source.
LARGE = 120_000


def yaml_loader():
    """A loader that reads as sigs.k8s.io/yaml does: YAML 1.1's booleans, no timestamps, `=` is text."""
    import yaml
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs
                if pair[0] not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value",
                                   "tag:yaml.org,2002:bool")]
        for first, pairs in base.yaml_implicit_resolvers.items()}
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool",
        re.compile(r"^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"),
        list("yYnNtTfFoO"))
    Loader.add_constructor("tag:yaml.org,2002:bool", lambda loader, node: node.value[0] in "yYtT" or
                           node.value.lower() == "on")
    return Loader


def as_json(value):
    """`value` as JSON has it: keys are strings."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


def documents(text):
    """The CRDs of version v1 in a file of YAML or JSON."""
    import yaml
    for value in yaml.load_all(text, Loader=yaml_loader()):
        if isinstance(value, dict) and value.get("kind") == "CustomResourceDefinition" \
                and value.get("apiVersion") == "apiextensions.k8s.io/v1":
            yield as_json(value)


def git(folder, *args):
    return subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True, text=True).stdout


def texts(place, pattern):
    """The files of a bare repository or a folder that match."""
    if os.path.exists(os.path.join(place, "HEAD")):
        for path in git(place, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
            if fnmatch.fnmatchcase(path, pattern):
                yield git(place, "show", "HEAD:" + path)
        return
    for folder, _, names in sorted(os.walk(place)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if fnmatch.fnmatchcase(os.path.relpath(path, place), pattern):
                with open(path, encoding="utf-8") as file:
                    yield file.read()


def unpack(out, sources):
    seen = set()
    for source in sources:
        name, place, pattern = re.fullmatch(r"([^=]+)=([^:]+):(.+)", source).groups()
        os.makedirs(os.path.join(out, name), exist_ok=True)
        count = 0
        for text in texts(place, pattern):
            for crd in documents(text):
                full = crd["metadata"]["name"]
                if full in seen:
                    continue
                seen.add(full)
                count += 1
                with open(os.path.join(out, name, full + ".json"), "w", encoding="utf-8") as file:
                    json.dump(crd, file, ensure_ascii=False)
        print("%s: %d" % (name, count))


def read(folder):
    """The CRDs below a folder by their source's name: files of JSON, or of JSON lines."""
    found = collections.defaultdict(list)
    for inside, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(inside, name)
            if name.endswith(".json"):
                with open(path, encoding="utf-8") as file:
                    found[os.path.basename(inside)].append(json.load(file))
            elif name.endswith(".jsonl"):
                with open(path, encoding="utf-8") as lines:
                    found[name[:-len(".jsonl")]] += [json.loads(line) for line in lines]
    crds = {name: [one for one in rows if one.get("kind") == "CustomResourceDefinition"] for name, rows in found.items()}
    return {name: rows for name, rows in crds.items() if rows}


def schemas_of(crd):
    return [version["schema"]["openAPIV3Schema"] for version in crd["spec"]["versions"] if "schema" in version]


def children(schema):
    """The schemas right below a schema, with the word that leads there."""
    for key in ("properties", "patternProperties"):
        for name, child in schema.get(key, {}).items():
            yield key, child
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), dict):
            yield key, schema[key]
    for key in ("allOf", "anyOf", "oneOf"):
        for child in schema.get(key, []):
            yield key, child


def cut(schema, depth=0):
    """Takes descriptions off a schema; of the outer ones a short beginning stays."""
    if isinstance(schema.get("description"), str):
        text = schema.pop("description").split("\n")[0]
        if depth < 2 and text:
            schema["description"] = text[:60].rstrip()
    schema.pop("externalDocs", None)
    for key, child in children(schema):
        cut(child, depth + (key != "items"))


def compacted(crd):
    """`crd` without what is not its own: annotations of the tools that made it, long descriptions."""
    metadata = {"name": crd["metadata"]["name"]}
    kept = {key: value for key, value in crd["metadata"].get("annotations", {}).items()
            if key == "api-approved.kubernetes.io"}
    if kept:
        metadata["annotations"] = kept
    if labels := crd["metadata"].get("labels"):
        metadata["labels"] = labels
    crd = {"apiVersion": crd["apiVersion"], "kind": crd["kind"], "metadata": metadata, "spec": crd["spec"]}
    for schema in schemas_of(crd):
        cut(schema)
    return crd


def features(crd):
    """What is special in a CRD, as words: the fixture wants each of them a few times."""
    spec = crd["spec"]
    found = {"scope " + spec["scope"], "versions %d" % min(len(spec["versions"]), 4),
             "conversion " + spec.get("conversion", {}).get("strategy", "None")}
    found.update("names " + key for key in spec["names"])
    for version in spec["versions"]:
        found.update("version " + key for key, value in version.items() if value not in (None, False, {}, []))
        found.update("subresource " + key for key in version.get("subresources") or {})
        found.update("column %s %s" % (column["type"], column.get("format", ""))
                     for column in version.get("additionalPrinterColumns", []))
        found.update("column path " + re.sub(r"[\w-]+", "a", column["jsonPath"])
                     for column in version.get("additionalPrinterColumns", []))
    todo = [("root", schema, 0) for schema in schemas_of(crd)]
    while todo:
        where, schema, depth = todo.pop()
        kind = schema.get("type", "typeless")
        for key, value in schema.items():
            if key not in ("description", "properties", "items", "type"):
                found.add("%s %s" % (kind, key))
            if key in ("format", "x-kubernetes-list-type", "x-kubernetes-map-type"):
                found.add("%s %s" % (key, value))
            if key == "default":
                found.add("default of %s: %s" % (kind, type(value).__name__))
            if key == "x-kubernetes-validations":
                found.update("rule " + word for rule in value for word in re.findall(r"[a-zA-Z]+(?=\()", rule["rule"]))
                found.update("rule " + word for rule in value for word in rule)
        if where in ("allOf", "anyOf", "oneOf", "not"):
            found.update("in %s: %s" % (where, key) for key in schema)
        todo += [(key, child, depth + 1) for key, child in children(schema)]
    return found


def choose(corpus):
    """CRDs that have all features between them, then some of each source, small ones first."""
    rows = [(source, crd, features(crd), len(json.dumps(crd))) for source, crds in sorted(corpus.items())
            for crd in map(compacted, crds)]
    wanted = collections.Counter({word: min(3, count) for word, count in collections.Counter(
        word for row in rows for word in row[2]).items()})
    chosen, size = [], 0
    while len(chosen) < FIXTURE_CRDS and rows:
        def worth(row):
            large = row[3] > LARGE and any(one[0] == row[0] for one in chosen)
            news = sum(1 for word in row[2] if wanted[word] > 0)
            return (not large and size + row[3] < FIXTURE_BYTES, news / (1 + row[3] / 8000), -row[3])
        best = max(rows, key=worth)
        if not worth(best)[0]:
            break
        rows.remove(best)
        chosen.append(best)
        size += best[3]
        wanted.subtract(best[2])
    return chosen


def fixture(corpus, out):
    chosen = collections.defaultdict(list)
    for source, crd, _, _ in choose(read(corpus)):
        chosen[source].append(crd)
    os.makedirs(out, exist_ok=True)
    for source, crds in sorted(chosen.items()):
        with open(os.path.join(out, source + ".jsonl"), "w", encoding="utf-8") as file:
            for crd in sorted(crds, key=lambda one: one["metadata"]["name"]):
                file.write(json.dumps(crd, ensure_ascii=False, separators=(",", ":")) + "\n")
        print("%s: %d" % (source, len(crds)))


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "unpack":
        unpack(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) == 4 and sys.argv[1] == "fixture":
        fixture(sys.argv[2], sys.argv[3])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
