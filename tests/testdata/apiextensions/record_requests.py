#!/usr/bin/env python3
"""Asks a kube-apiserver what it answers to odd requests about CustomResourceDefinitions and their
objects, and writes requests and answers as lines of JSON.

usage: record_requests.py https://HOST:PORT TOKEN FOLDER [PART…]
"""

import http.client
import json
import os
import re
import ssl
import sys
import time
import urllib.error
import urllib.request

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/example.com/v1/namespaces/default/foos"
ONE = FOOS + "/one"
JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
MERGE, PATCH, APPLY = "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"
DRY = "dryRun=All"

TEXT = {"type": "string"}
# A definition whose objects have what the requests below ask for. Version v2 has a field that v1, in
# which objects are stored, lacks, and the other way round; v3 is not served.
FOO_SPEC = {
    "color": TEXT,
    "number": {"type": "integer"},
    "replicas": {"type": "integer"},
    "flags": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "sizes": {"type": "array", "items": {"type": "object", "properties": {"w": {"type": "integer"}, "h": {"type": "integer", "default": 1}}}},
    "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {
        "known": {"type": "object", "properties": {"a": TEXT}}}},
    "anyList": {"type": "array", "x-kubernetes-preserve-unknown-fields": True,
                "items": {"type": "object", "properties": {"a": TEXT}}},
    "template": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    "part": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {
        "metadata": {"type": "object"}, "spec": {"type": "object", "properties": {"a": TEXT}}}},
}


def version(name, properties, served=True, storage=False, scale=True):
    subresources = {"status": {}}
    if scale:
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                                 "labelSelectorPath": ".status.selector"}
    return {"name": name, "served": served, "storage": storage, "subresources": subresources,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": properties},
                "status": {"type": "object", "properties": {
                    "replicas": {"type": "integer"}, "selector": TEXT, "phase": TEXT}}}}}}


def definition(group, kind, scope, versions):
    plural = kind.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": plural + "." + group},
            "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": versions}}


def changed(value, path, new):
    """A copy of `value` in which `path` leads to `new`."""
    value = json.loads(json.dumps(value))
    at = value
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = new
    return value


# Texts that differ at each run, and what stands for them.
STEADY = [(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"), (r"20\d\d-\d\d-\d\dT[\d:.]+Z", "TIME"),
          (r'(\\*"resourceVersion\\*":\\*")\d+', r"\1REVISION"), (r'"(\d+(m?s|[mhd]))+"', '"AGE"'),
          (r'(resourceVersion: ")\d+', r'\1REVISION'),
          # A patched definition in a message. In a kube-apiserver the status has an owner, too.
          (r'(Invalid value: \\")\{\\\\\\"apiVersion\\\\\\":\\\\\\"apiextensions.k8s.io.*?\}(\\": )', r"\1OBJECT\2")]


def dropped(value, name):
    """`value` without the members of a name."""
    if isinstance(value, dict):
        return {key: dropped(part, name) for key, part in value.items() if key != name}
    return [dropped(part, name) for part in value] if isinstance(value, list) else value


class Recorder:
    """Sends requests, and keeps them with their answers."""

    def __init__(self, url, token):
        self.url, self.token, self.rows = url, token, []
        self.context = ssl._create_unverified_context()

    def send(self, method, path, body=None, **headers):
        asked = urllib.request.Request(self.url + path, data=body.encode("latin-1") if body is not None else None, method=method)
        asked.add_header("Authorization", "Bearer " + self.token)
        for name, value in headers.items():
            asked.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(asked, context=self.context) as answer:
                return answer.status, answer.headers, answer.read().decode("latin-1")
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode("latin-1")

    def ask(self, name, method, path, body=None, **headers):
        """Sends a request. `$REVISION` in the body is the revision of the object at `path`."""
        text = body if body is None or isinstance(body, str) else json.dumps(body, separators=(",", ":"))
        if text is not None and not headers.get("Content_Type"):
            headers["Content_Type"] = JSON
        try:
            code, got, answer = self.send(method, path, self.completed(path, text), **headers)
        except http.client.HTTPException:
            # It panics. There is no answer to give.
            print("no answer: " + name)
            return
        row = {"name": name, "method": method, "path": path}
        row.update({key: value for key, value in {
            "type": headers.get("Content_Type"), "accept": headers.get("Accept"), "body": text}.items() if value is not None})
        row["code"] = code
        row["answers"] = got.get("Content-Type", "")
        if warnings := got.get_all("Warning"):
            row["warnings"] = warnings
        self.rows.append({**row, **self.kept(answer)})

    def completed(self, path, text):
        if not text or "$REVISION" not in text:
            return text
        item = re.sub(r"(/status|/scale)?(\?.*)?$", "", path)
        return text.replace("$REVISION", json.loads(self.send("GET", item)[2])["metadata"]["resourceVersion"])

    @staticmethod
    def kept(answer):
        """The parts of an answer that are the same at each run."""
        for pattern, text in STEADY:
            answer = re.sub(pattern, text, answer)
        try:
            value = json.loads(answer)
        except ValueError:
            return {"text": answer}
        if not isinstance(value, dict):
            return {"text": answer}
        if value.get("kind") == "CustomResourceDefinition":
            return {"object": value["spec"]}
        if value.get("kind") == "Status":
            causes = value.get("details", {}).get("causes", [])
            causes.sort(key=lambda one: (one.get("field", ""), one.get("message", "")))
            if len(causes) > 1:
                value.pop("message")  # Go's order of errors is that of a map.
        return {"object": dropped(value, "managedFields")}

    def define(self, crd):
        self.ask("define " + crd["metadata"]["name"], "POST", DEFINITIONS, crd)
        path = DEFINITIONS + "/" + crd["metadata"]["name"]
        while '"type":"Established","status":"True"' not in self.send("GET", path)[2].replace(" ", ""):
            time.sleep(0.1)
        # A list is refused while the storage of a new definition is made.
        where = "/apis/%s/%s/%s" % (crd["spec"]["group"], crd["spec"]["versions"][0]["name"], crd["spec"]["names"]["plural"])
        while self.send("GET", where)[0] != 200:
            time.sleep(0.1)
        time.sleep(2.5)


BAR = definition("example.com", "Bar", "Namespaced", [version("v1", {"color": TEXT}, storage=True)])
SCHEMA = ("spec", "versions", 0, "schema", "openAPIV3Schema")
SPEC = SCHEMA + ("properties", "spec")
WRONG = [
    (("spec",), "text"), (("spec",), []), (("spec", "group"), 5), (("spec", "names"), []), (("spec", "names"), "x"),
    (("spec", "names", "shortNames"), "a"), (("spec", "names", "shortNames"), [1]), (("spec", "names", "kind"), True),
    (("spec", "scope"), {}), (("spec", "versions"), {}), (("spec", "versions"), "v1"), (("spec", "versions", 0), "v1"),
    (("spec", "versions", 0, "name"), 1), (("spec", "versions", 0, "served"), "yes"), (("spec", "versions", 0, "storage"), 1),
    (("spec", "versions", 0, "deprecationWarning"), 1), (("spec", "versions", 0, "schema"), []),
    (("spec", "versions", 0, "schema"), "x"), (("spec", "versions", 0, "subresources"), []),
    (("spec", "versions", 0, "subresources", "status"), "x"), (("spec", "versions", 0, "subresources", "scale"), []),
    (("spec", "versions", 0, "subresources", "scale", "specReplicasPath"), 1),
    (("spec", "versions", 0, "additionalPrinterColumns"), {}),
    (("spec", "versions", 0, "additionalPrinterColumns"), [{"name": "a", "type": "string", "jsonPath": ".a", "priority": "x"}]),
    (("spec", "versions", 0, "additionalPrinterColumns"), [{"name": "a", "type": "string", "jsonPath": ".a", "priority": 1.5}]),
    (("spec", "versions", 0, "additionalPrinterColumns"), [{"name": "a", "type": "string", "jsonPath": ".a", "priority": 3000000000}]),
    (("spec", "versions", 0, "selectableFields"), "x"), (("spec", "versions", 0, "selectableFields"), [{"jsonPath": 1}]),
    (("spec", "preserveUnknownFields"), "x"), (("spec", "conversion"), 5), (("spec", "conversion"), {"strategy": 5}),
    (("spec", "conversion"), {"strategy": "Webhook", "webhook": []}),
    (("spec", "conversion"), {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "!!", "url": "https://a"}, "conversionReviewVersions": ["v1"]}}),
    (("spec", "conversion"), {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": 1, "url": "https://a"}, "conversionReviewVersions": ["v1"]}}),
    (("spec", "conversion"), {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "a", "namespace": "b", "port": "x"}}, "conversionReviewVersions": ["v1"]}}),
    (("spec", "conversion"), {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": "v1"}}),
    (("status",), "x"), (("status",), {"conditions": {}}), (("status",), {"storedVersions": "v1"}),
    (("metadata", "labels"), {"a": 1}), (("metadata", "annotations"), "x"), (("metadata", "finalizers"), "x"),
    (SCHEMA, []), (SCHEMA, "x"), (SPEC, "x"), (SPEC, []), (SPEC + ("type",), 5), (SPEC + ("type",), ["object"]),
    (SPEC + ("properties",), []), (SPEC + ("properties",), "x"), (SPEC + ("properties", "a"), 1), (SPEC + ("properties", "a"), True),
    (SPEC + ("properties", "a"), {"type": "string", "minLength": "3"}), (SPEC + ("properties", "a"), {"type": "string", "minLength": 1.5}),
    (SPEC + ("properties", "a"), {"type": "string", "maxLength": 99999999999999999999}),
    (SPEC + ("properties", "a"), {"type": "number", "maximum": "x"}), (SPEC + ("properties", "a"), {"type": "number", "exclusiveMaximum": 5}),
    (SPEC + ("properties", "a"), {"type": "string", "pattern": 1}), (SPEC + ("properties", "a"), {"type": "string", "format": {}}),
    (SPEC + ("properties", "a"), {"type": "string", "enum": "a"}), (SPEC + ("properties", "a"), {"type": "string", "enum": {}}),
    (SPEC + ("properties", "a"), {"type": "string", "nullable": "x"}), (SPEC + ("properties", "a"), {"type": "string", "description": 1}),
    (SPEC + ("required",), "a"), (SPEC + ("required",), [1]), (SPEC + ("allOf",), {}), (SPEC + ("anyOf",), [1]), (SPEC + ("not",), []),
    (SPEC + ("properties", "a"), {"type": "array", "items": "x"}), (SPEC + ("properties", "a"), {"type": "array", "items": 1}),
    (SPEC + ("properties", "a"), {"type": "array", "items": {"type": 5}}), (SPEC + ("properties", "a"), {"type": "array", "items": [{"type": 5}]}),
    (SPEC + ("properties", "a"), {"type": "object", "additionalProperties": "x"}),
    (SPEC + ("properties", "a"), {"type": "object", "additionalProperties": 5}),
    (SPEC + ("properties", "a"), {"type": "object", "additionalProperties": []}),
    (SPEC + ("properties", "a"), {"type": "object", "additionalProperties": {"type": 5}}),
    (SPEC + ("properties", "a"), {"type": "object", "additionalProperties": {"properties": {"b": {"minimum": "x"}}}}),
    (SPEC + ("dependencies",), {"a": 5}), (SPEC + ("dependencies",), {"a": "x"}), (SPEC + ("dependencies",), {"a": [1]}),
    (SPEC + ("definitions",), []), (SPEC + ("patternProperties",), "x"), (SPEC + ("externalDocs",), "x"),
    (SPEC + ("x-kubernetes-validations",), {}), (SPEC + ("x-kubernetes-validations",), ["x"]),
    (SPEC + ("x-kubernetes-validations",), [{"rule": 5}]), (SPEC + ("x-kubernetes-validations",), [{"rule": "true", "message": 5}]),
    (SPEC + ("x-kubernetes-validations",), [{"rule": "true", "reason": 5}]),
    (SPEC + ("x-kubernetes-validations",), [{"rule": "true", "optionalOldSelf": "x"}]),
    (SPEC + ("x-kubernetes-list-map-keys",), "a"), (SPEC + ("x-kubernetes-list-type",), 1), (SPEC + ("x-kubernetes-map-type",), []),
    (SPEC + ("x-kubernetes-preserve-unknown-fields",), "true"), (SPEC + ("x-kubernetes-embedded-resource",), 1),
    (SPEC + ("x-kubernetes-int-or-string",), "x"),
]
UNKNOWN = [
    (("extra",), 1), (("spec", "extra"), 1), (("spec", "versions", 0, "extra"), 1), (("spec", "validation"), {"openAPIV3Schema": {"type": "object"}}),
    (("spec", "names", "extra"), 1), (("spec", "versions", 0, "schema", "extra"), 1), (SCHEMA + ("extra",), 1), (SPEC + ("extra",), 1),
    (SPEC + ("properties", "a"), {"type": "string", "extra": 1}), (SPEC + ("properties", "a"), {"type": "array", "items": {"type": "string", "extra": 1}}),
    (SPEC + ("properties", "a"), {"type": "object", "additionalProperties": {"type": "string", "extra": 1}}),
    (SPEC + ("properties", "a"), {"type": "string", "default": "x", "x-kubernetes-extra": 1}),
    (SPEC + ("properties", "a"), {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {"extra": 1}}),
    (SPEC + ("anyOf",), [{"extra": 1}]), (SPEC + ("not",), {"extra": 1, "required": ["x"]}), (SPEC + ("externalDocs",), {"extra": 1}),
    (SPEC + ("x-kubernetes-validations",), [{"rule": "true", "extra": 1}]), (SPEC + ("dependencies",), {"a": {"extra": 1}}),
    (SPEC + ("const",), 1), (SPEC + ("Type",), "object"), (("metadata", "extra"), 1), (("status",), {"extra": 1}),
    (("spec", "conversion"), {"strategy": "None", "extra": 1}),
    (("spec", "conversion"), {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a", "extra": 1}, "conversionReviewVersions": ["v1"]}}),
]


def definitions(rec):
    """Members of a definition of a wrong type, and members that it does not know."""
    for path, new in WRONG:
        where = "/".join(str(part) for part in path).replace("spec/versions/0/schema/openAPIV3Schema", "SCHEMA")
        rec.ask("definition: %s is %s" % (where, json.dumps(new)), "POST", DEFINITIONS + "?" + DRY, changed(with_parents(path), path, new))
    for path, new in UNKNOWN:
        where = "/".join(str(part) for part in path).replace("spec/versions/0/schema/openAPIV3Schema", "SCHEMA")
        for mode in ("Strict", "Warn"):
            rec.ask("definition, %s: %s is %s" % (mode.lower(), where, json.dumps(new)), "POST",
                    DEFINITIONS + "?" + DRY + "&fieldValidation=" + mode, changed(with_parents(path), path, new))
    text = json.dumps(BAR, separators=(",", ":"))
    twice = text.replace('"color":{', '"color":{"type":"integer"},"color":{').replace('"scope":', '"scope":"Cluster","scope":')
    for mode in ("Strict", "Warn", "Ignore"):
        rec.ask("definition, %s: members twice" % mode.lower(), "POST", DEFINITIONS + "?" + DRY + "&fieldValidation=" + mode, twice)
    many = changed(changed(BAR, SPEC + ("zeta",), 1), ("spec", "alpha"), 1)
    many = changed(many, ("metadata", "beta"), 2)
    rec.ask("definition, strict: unknown members at many places", "POST", DEFINITIONS + "?" + DRY + "&fieldValidation=Strict", many)
    item = DEFINITIONS + "/foos.example.com"
    schema = {"spec": {"versions": [{**version("v1", {}, storage=True), "schema": 5}]}}
    rec.ask("definition: patched with a schema that is none", "PATCH", item + "?" + DRY, schema, Content_Type=MERGE)
    rec.ask("definition: JSON patch of a type", "PATCH", item + "?" + DRY,
            [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec", "value": {"type": 5}}], Content_Type=PATCH)
    rec.ask("definition: JSON patch of an unknown member, strict", "PATCH", item + "?" + DRY + "&fieldValidation=Strict",
            [{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/extra", "value": 1}], Content_Type=PATCH)
    rec.ask("definition: applied with a type of another type", "PATCH", DEFINITIONS + "/bars.example.com?" + DRY + "&fieldManager=m",
            changed(BAR, SPEC + ("type",), 5), Content_Type=APPLY)
    rec.ask("definition: applied with an unknown member", "PATCH", DEFINITIONS + "/bars.example.com?" + DRY + "&fieldManager=m",
            changed(BAR, SPEC + ("extra",), 5), Content_Type=APPLY)
    rec.ask("definition: without kind", "POST", DEFINITIONS + "?" + DRY, {key: value for key, value in BAR.items() if key != "kind"})
    rec.ask("definition: v1beta1", "POST", DEFINITIONS + "?" + DRY, {**BAR, "apiVersion": "apiextensions.k8s.io/v1beta1"})


def changes(rec):
    """Updates, patches and applies of a definition with members of a wrong type, and unknown ones."""
    thing = definition("example.com", "Thing", "Cluster", [version("v1", {}, storage=True)])
    thing["metadata"]["resourceVersion"] = "$REVISION"
    item = DEFINITIONS + "/things.example.com?" + DRY
    place = ("spec", "versions", 0, "schema", "openAPIV3Schema")
    wrong = [(("spec", "scope"), 5), (("spec", "versions"), {}), (place, "x"), (place + ("type",), 5), (place + ("properties",), []),
             (place + ("properties", "spec"), 5), (place + ("properties", "spec", "maxLength"), "x"), (place + ("properties", "spec", "enum"), {}),
             (place + ("properties", "spec", "items"), 5), (place + ("properties", "spec", "items"), {"type": 5}),
             (place + ("properties", "spec", "additionalProperties"), "x"), (place + ("properties", "spec", "required"), [5]),
             (place + ("properties", "spec", "x-kubernetes-validations"), [{"rule": 5}]), (place + ("properties", "spec", "externalDocs"), {"url": 5})]
    unknown = [(("spec", "extra"), 1), (place + ("extra",), 1), (place + ("properties", "spec", "extra"), {"a": 1}), (place + ("properties", "spec", "items"), {"extra": 1}),
               (place + ("properties", "spec", "not"), {"extra": 1}), (place + ("properties", "spec", "oneOf"), [{"extra": 1}, {"other": 2}]),
               (place + ("properties", "spec", "x-kubernetes-validations"), [{"rule": "true", "extra": 1}])]
    for count, (path, new) in enumerate(wrong + unknown):
        where = "/".join(str(part) for part in path).replace("spec/versions/0/schema/openAPIV3Schema", "SCHEMA")
        what = "%s is %s" % (where, json.dumps(new))
        whole = changed(thing, path, new)
        patch = {path[0]: {path[1]: whole[path[0]][path[1]]}}
        for mode in ("Strict", "Warn") if (path, new) in unknown else ("Warn",):
            options = "&fieldValidation=" + mode
            rec.ask("update, %s: %s" % (mode.lower(), what), "PUT", item + options, whole)
            if count % 2:
                rec.ask("merge patch, %s: %s" % (mode.lower(), what), "PATCH", item + options, patch, Content_Type=MERGE)
            else:
                rec.ask("JSON patch, %s: %s" % (mode.lower(), what), "PATCH", item + options,
                        [{"op": "add", "path": "/" + "/".join(str(part) for part in path), "value": new}], Content_Type=PATCH)
        rec.ask("apply: " + what, "PATCH", item + "&fieldManager=m&force=true", {**whole, "metadata": {"name": "things.example.com"}}, Content_Type=APPLY)


def with_parents(path):
    """The definition with the members that `path` goes through."""
    crd = json.loads(json.dumps(BAR))
    if path[:1] == ("status",):
        crd["status"] = {}
    return crd


def foo(name="one", spec=None, **more):
    return {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}, "spec": spec if spec is not None else {"color": "red"}, **more}


def without(value, *keys):
    return {key: part for key, part in value.items() if key not in keys}


def bodies(rec):
    """Bodies without a kind, of another one, with metadata that are none."""
    new = foo("new")
    old = foo(metadata={"name": "one", "resourceVersion": "$REVISION"})
    odd = {"no kind": without(new, "kind"), "no apiVersion": without(new, "apiVersion"), "neither": without(new, "kind", "apiVersion"),
           "{}": {}, "null": "null", "[]": "[]", "text": '"x"', "a number": "5", "nothing": "", "kind null": {**new, "kind": None},
           "kind 5": {**new, "kind": 5}, "apiVersion 5": {**new, "apiVersion": 5}, "apiVersion a/b/c": {**new, "apiVersion": "a/b/c"},
           "kind empty": {**new, "kind": ""}, "apiVersion empty": {**new, "apiVersion": ""}, "other kind": {**new, "kind": "Bar"},
           "apiVersion v1": {**new, "apiVersion": "v1"}, "other version": {**new, "apiVersion": "example.com/v2"},
           "version not served": {**new, "apiVersion": "example.com/v3"}, "unknown version": {**new, "apiVersion": "example.com/v9"},
           "the list": {"apiVersion": "example.com/v1", "kind": "FooList", "items": []}, "cut": json.dumps(new)[:-1],
           "after the object": json.dumps(new) + "x", "options": {"apiVersion": "v1", "kind": "DeleteOptions"}}
    for what, body in odd.items():
        rec.ask("create: " + what, "POST", FOOS + "?" + DRY, body)
        if isinstance(body, dict) and "metadata" in body:
            body = {**body, "metadata": old["metadata"]}
        rec.ask("update: " + what, "PUT", ONE + "?" + DRY, body)
        rec.ask("status: " + what, "PUT", ONE + "/status?" + DRY, body)
        if isinstance(body, dict):
            applied = {**body, "metadata": {"name": "one"}} if "metadata" in body else body
            rec.ask("apply: " + what, "PATCH", ONE + "?fieldManager=m&" + DRY, applied, Content_Type=APPLY)
    for what, body in {"no kind": "metadata: {name: new}\nspec: {color: red}\n", "two documents": "a: b\n---\nc: d\n", "text": "text",
                       "no mapping": "a: [\n", "null": "null\n", "empty": ""}.items():
        rec.ask("create in YAML: " + what, "POST", FOOS + "?" + DRY, body, Content_Type=YAML)
    for what, patch in {"kind null": {"kind": None}, "kind other": {"kind": "Bar"}, "kind 5": {"kind": 5}, "apiVersion other": {"apiVersion": "example.com/v2"},
                        "apiVersion unknown": {"apiVersion": "example.com/v9"}, "apiVersion null": {"apiVersion": None}, "apiVersion v1": {"apiVersion": "v1"},
                        "metadata null": {"metadata": None}, "metadata text": {"metadata": "x"}, "labels text": {"metadata": {"labels": {"a": 1}}},
                        "name null": {"metadata": {"name": None}}, "name other": {"metadata": {"name": "x"}}, "namespace other": {"metadata": {"namespace": "x"}},
                        "uid other": {"metadata": {"uid": "x"}}, "spec text": {"spec": "x"}, "spec null": {"spec": None}}.items():
        rec.ask("merge patch: " + what, "PATCH", ONE + "?" + DRY, patch, Content_Type=MERGE)
    for what, patch in {"kind removed": [{"op": "remove", "path": "/kind"}], "metadata removed": [{"op": "remove", "path": "/metadata"}],
                        "all replaced": [{"op": "replace", "path": "", "value": {}}], "all text": [{"op": "replace", "path": "", "value": "x"}]}.items():
        rec.ask("JSON patch: " + what, "PATCH", ONE + "?" + DRY, patch, Content_Type=PATCH)
    for what, patch in {"text": '"x"', "list": "[]", "null": "null", "cut": "{"}.items():
        rec.ask("merge patch is " + what, "PATCH", ONE + "?" + DRY, patch, Content_Type=MERGE)
        rec.ask("JSON patch is " + what, "PATCH", ONE + "?" + DRY, patch, Content_Type=PATCH)
        rec.ask("applied is " + what, "PATCH", ONE + "?fieldManager=m&" + DRY, patch, Content_Type=APPLY)


METADATA = [5, "x", [], None, {"name": 5}, {"name": "new", "labels": []}, {"name": "new", "labels": {"a": 1}}, {"name": "new", "labels": {"a": None}},
            {"name": "new", "labels": "x"}, {"name": "new", "annotations": {"a": {}}}, {"name": "new", "finalizers": "x"}, {"name": "new", "finalizers": [1]},
            {"name": "new", "ownerReferences": {}}, {"name": "new", "ownerReferences": [1]}, {"name": "new", "ownerReferences": [{"controller": "x"}]},
            {"name": "new", "generation": "x"}, {"name": "new", "generation": 1.5}, {"name": "new", "creationTimestamp": "x"},
            {"name": "new", "creationTimestamp": 5}, {"name": "new", "deletionGracePeriodSeconds": "x"}, {"name": "new", "resourceVersion": 5},
            {"name": "new", "managedFields": "x"}, {"name": "new", "managedFields": [{"fieldsV1": 5}]}, {"name": "new", "uid": {}},
            {"name": "new", "extra": 1}, {"name": "new", "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u", "extra": 1}]},
            {"name": "new", "clusterName": "x"}]


def objects(rec):
    """Metadata of wrong types, unknown members, embedded resources."""
    for metadata in METADATA:
        for mode in ("Strict", "Warn"):
            rec.ask("create, %s: metadata %s" % (mode.lower(), json.dumps(metadata)), "POST", FOOS + "?fieldValidation=" + mode + "&" + DRY,
                    {**foo("new"), "metadata": metadata})
        for part in ("template", "part"):
            inner = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
            rec.ask("create, strict: metadata of %s %s" % (part, json.dumps(metadata)), "POST", FOOS + "?fieldValidation=Strict&" + DRY, foo("new", {part: inner}))
    for spec in ({"template": {}}, {"template": None}, {"template": "x"}, {"template": {"kind": "Pod"}}, {"template": {"apiVersion": "v1", "kind": 5}},
                 {"template": {"apiVersion": "a/b/c", "kind": "Pod"}}, {"template": {"apiVersion": "v1", "kind": "not a kind"}},
                 {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Not Valid"}}},
                 {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a b": "c"}}}},
                 {"part": {"apiVersion": "v1", "kind": "Pod", "spec": {"a": "b", "c": "d"}, "x": 1}},
                 {"any": {"known": {"a": "b", "c": "d"}, "free": {"x": [1, None]}}}, {"anyList": [{"a": "b", "c": "d"}]},
                 {"flags": {"a": True, "b": None}}, {"flags": {"a": "x"}}, {"sizes": [{"w": 1, "d": 2}, {}]}, {"sizes": [None]}, {"number": 1.0},
                 {"number": 1.5}, {"number": "x"}, {"extra": 1, "other": {"a": 1}}, {"Color": "x"}, None, "x", []):
        for mode in ("Strict", "Warn", "Ignore"):
            rec.ask("create, %s: spec %s" % (mode.lower(), json.dumps(spec)), "POST", FOOS + "?fieldValidation=" + mode + "&" + DRY, {**foo("new"), "spec": spec})
    text = json.dumps(foo("new"), separators=(",", ":"))
    for mode in ("Strict", "Warn", "Ignore"):
        options = "?fieldValidation=" + mode + "&" + DRY
        rec.ask("create, %s: members twice" % mode.lower(), "POST", FOOS + options,
                text.replace('"color":', '"color":"blue","color":').replace('"name":', '"name":"x","name":').replace('"spec":', '"typo":1,"spec":'))
        rec.ask("create in YAML, %s: members twice" % mode.lower(), "POST", FOOS + options,
                "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: new, extra: 1}\nspec: {color: red, color: blue, typo: 1}\n", Content_Type=YAML)
        rec.ask("update, %s" % mode.lower(), "PUT", ONE + options,
                foo(spec={"color": "red", "typo": 1}, metadata={"name": "one", "resourceVersion": "$REVISION", "extra": 1}))
        rec.ask("merge patch, %s" % mode.lower(), "PATCH", ONE + options, {"spec": {"typo": 1}, "metadata": {"extra": 1}}, Content_Type=MERGE)
        rec.ask("JSON patch, %s" % mode.lower(), "PATCH", ONE + options, [{"op": "add", "path": "/spec/typo", "value": 1}], Content_Type=PATCH)
        rec.ask("apply, %s" % mode.lower(), "PATCH", ONE + options + "&fieldManager=m", foo(spec={"typo": 1}), Content_Type=APPLY)
        rec.ask("status, %s" % mode.lower(), "PUT", ONE + "/status" + options,
                foo(status={"typo": 1}, metadata={"name": "one", "resourceVersion": "$REVISION"}))
    rec.ask("create, validation of another name", "POST", FOOS + "?fieldValidation=Other&" + DRY, foo("new"))
    rec.ask("dry run of another name", "POST", FOOS + "?dryRun=Some", foo("new"))


def versions(rec):
    """Other versions, dry runs through them."""
    v2 = FOOS.replace("/v1/", "/v2/")
    body = {**foo("new", {"color": "red", "shade": "dark", "level": 3}), "apiVersion": "example.com/v2"}
    rec.ask("v2: create dry", "POST", v2 + "?" + DRY, body)
    rec.ask("v2: create", "POST", v2, {**body, "metadata": {"name": "two"}})
    rec.ask("v2: get", "GET", v2 + "/two")
    rec.ask("v1: get", "GET", FOOS + "/two")
    rec.ask("v2: merge patch dry", "PATCH", v2 + "/two?" + DRY, {"spec": {"shade": "light"}}, Content_Type=MERGE)
    rec.ask("v2: merge patch", "PATCH", v2 + "/two", {"spec": {"shade": "light"}}, Content_Type=MERGE)
    rec.ask("v2: update dry", "PUT", v2 + "/two?" + DRY, {**body, "metadata": {"name": "two", "resourceVersion": "$REVISION"}})
    rec.ask("v2: update", "PUT", v2 + "/two", {**body, "metadata": {"name": "two", "resourceVersion": "$REVISION"}})
    rec.ask("v2: apply dry", "PATCH", v2 + "/two?fieldManager=m&" + DRY, {**body, "metadata": {"name": "two"}}, Content_Type=APPLY)
    rec.ask("v2: delete", "DELETE", v2 + "/two")
    for where in (FOOS.replace("/v1/", "/v3/"), FOOS.replace("/v1/", "/v9/"), "/apis/example.com/v9/foos", "/apis/example.com/v1/namespaces/default/nones",
                  "/apis/none.example.com/v1/foos", "/apis/example.com/v1/namespaces/default/foos/one/a/b", "/apis/example.com/v9", "/apis/none.example.com",
                  "/apis/none.example.com/v1", "/apis/example.com/v3", "/none"):
        for method in ("GET", "POST", "DELETE"):
            rec.ask("not found: %s %s" % (method, where), method, where, foo() if method == "POST" else None)
    rec.ask("created in no namespace", "POST", "/apis/example.com/v1/foos", foo("new"))
    rec.ask("read in no namespace", "GET", "/apis/example.com/v1/foos/one")
    rec.ask("not found, accepts YAML", "GET", "/apis/example.com/v9/foos", Accept=YAML)
    rec.ask("a cluster's in a namespace", "GET", "/apis/example.com/v1/namespaces/default/things")


def verbs(rec):
    """Methods that a path does not have; media types."""
    for what, body in {"": foo("new"), " {}": {}, " with revision": foo(metadata={"name": "one", "resourceVersion": "1"})}.items():
        rec.ask("PUT of the collection" + what, "PUT", FOOS, body)
        rec.ask("POST to an object" + what, "POST", ONE + "?" + DRY, body)
        rec.ask("POST to another object" + what, "POST", FOOS + "/new?" + DRY, body)
        rec.ask("PATCH of the collection" + what, "PATCH", FOOS, body, Content_Type=MERGE)
        rec.ask("POST to status" + what, "POST", ONE + "/status", body)
        rec.ask("POST to scale" + what, "POST", ONE + "/scale", body)
    rec.ask("PUT of the collection of no object", "PUT", "/apis/example.com/v1/foos", foo())
    rec.ask("PATCH of the collection over all namespaces", "PATCH", "/apis/example.com/v1/foos", {}, Content_Type=MERGE)
    rec.ask("DELETE of status", "DELETE", ONE + "/status")
    rec.ask("DELETE over all namespaces", "DELETE", "/apis/example.com/v1/foos")
    rec.ask("OPTIONS", "OPTIONS", ONE)
    rec.ask("PURGE", "PURGE", ONE)
    rec.ask("PUT of the collection of definitions", "PUT", DEFINITIONS, BAR)
    rec.ask("POST to a definition", "POST", DEFINITIONS + "/foos.example.com", BAR)
    for kind in (PROTOBUF, "text/plain", "application/xml", "application/cbor", "application/json;charset=utf-8", "application/strategic-merge-patch+json", "x", ""):
        for method, path, body in (("POST", FOOS + "?" + DRY, json.dumps(foo("new"))), ("POST", FOOS + "?" + DRY, "k8s\0\n\x16\n\x0eexample.com/v1\x12\x04Foo2\x1a\0\"\0"),
                                   ("PUT", ONE + "?" + DRY, json.dumps(foo())), ("PUT", ONE + "/scale?" + DRY, "{}"),
                                   ("PATCH", ONE + "?" + DRY, "{}"), ("PATCH", ONE + "/scale?" + DRY, "{}"), ("PATCH", ONE + "/status?" + DRY, "{}"),
                                   ("DELETE", FOOS + "/none", "{}"), ("DELETE", FOOS + "?labelSelector=a%3Db", "{}")):
            rec.ask("%s %s: %s %s" % (kind, "k8s" if body.startswith("k8s") else body[:2], method, path), method, path, body, Content_Type=kind or " ")
    for accept in (PROTOBUF, "text/plain", "application/xml", "application/yaml", "application/cbor", "*/*", "application/*", "text/html,application/json;q=0.9",
                   "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Other;v=v1;g=meta.k8s.io", PROTOBUF + ",application/json"):
        for path in (ONE, FOOS, ONE + "/scale", FOOS + "?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone", FOOS + "/none"):
            rec.ask("accepts %s: GET %s" % (accept, path), "GET", path, Accept=accept)


def scale(rec):
    """Scales that an object does not take."""
    good = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "one", "namespace": "default"}, "spec": {"replicas": 3}}
    rec.ask("scale: get", "GET", ONE + "/scale")
    rec.ask("scale: get none", "GET", FOOS + "/none/scale")
    for what, body in {"good": good, "-1": changed(good, ("spec", "replicas"), -1), "three": changed(good, ("spec", "replicas"), "three"),
                       "1.5": changed(good, ("spec", "replicas"), 1.5), "2^31": changed(good, ("spec", "replicas"), 2147483648),
                       "-2^31": changed(good, ("spec", "replicas"), -2147483648), "no spec": without(good, "spec"), "spec null": {**good, "spec": None},
                       "spec text": {**good, "spec": "x"}, "no kind": without(good, "kind"), "no apiVersion": without(good, "apiVersion"), "{}": {},
                       "other kind": {**good, "kind": "Foo"}, "other group": {**good, "apiVersion": "example.com/v1"}, "the object": foo(),
                       "other name": changed(good, ("metadata", "name"), "two"), "no name": changed(good, ("metadata",), {}),
                       "other namespace": changed(good, ("metadata", "namespace"), "other"), "old revision": changed(good, ("metadata", "resourceVersion"), "1"),
                       "bad revision": changed(good, ("metadata", "resourceVersion"), "x"), "other uid": changed(good, ("metadata", "uid"), "x"),
                       "labels": changed(good, ("metadata", "labels"), {"a": "b"}), "unknown member": changed(good, ("spec", "extra"), 1),
                       "status": {**good, "status": {"replicas": 7, "selector": "a=b"}}}.items():
        rec.ask("scale: put " + what, "PUT", ONE + "/scale?" + DRY, body)
        rec.ask("scale: put strictly " + what, "PUT", ONE + "/scale?fieldValidation=Strict&" + DRY, body)
        rec.ask("scale: apply " + what, "PATCH", ONE + "/scale?fieldManager=m&" + DRY, body, Content_Type=APPLY)
    rec.ask("scale: put of none", "PUT", FOOS + "/none/scale", changed(good, ("metadata", "name"), "none"))
    for what, patch in {"-1": {"spec": {"replicas": -1}}, "three": {"spec": {"replicas": "three"}}, "null": {"spec": {"replicas": None}}, "spec null": {"spec": None},
                        "unknown": {"spec": {"extra": 1}}, "kind": {"kind": "Foo"}, "name": {"metadata": {"name": "two"}}, "good": {"spec": {"replicas": 4}}}.items():
        rec.ask("scale: merge patch " + what, "PATCH", ONE + "/scale?" + DRY, patch, Content_Type=MERGE)
    rec.ask("scale: JSON patch", "PATCH", ONE + "/scale?" + DRY, [{"op": "replace", "path": "/spec/replicas", "value": 5}], Content_Type=PATCH)
    rec.ask("scale: JSON patch of nothing", "PATCH", ONE + "/scale?" + DRY, [{"op": "replace", "path": "/spec/none", "value": 5}], Content_Type=PATCH)
    rec.ask("bare: create", "POST", FOOS, foo("bare", {}))
    rec.ask("bare: scale", "GET", FOOS + "/bare/scale")
    rec.ask("bare: put without replicas", "PUT", FOOS + "/bare/scale?" + DRY, {**good, "metadata": {"name": "bare", "namespace": "default"}, "spec": {}})
    rec.ask("bare: merge patch of labels", "PATCH", FOOS + "/bare/scale?" + DRY, {"metadata": {"labels": {"a": "b"}}}, Content_Type=MERGE)
    rec.ask("bare: merge patch", "PATCH", FOOS + "/bare/scale?" + DRY, {"spec": {"replicas": 2}}, Content_Type=MERGE)
    for value in ("x", -1, 3000000000, 1.5):
        rec.ask("object with replicas %s" % value, "POST", FOOS + "?" + DRY, foo("new", {"replicas": value}))


# Fields that null is applied to.
NULL_SPEC = {
    "text": TEXT, "number": {"type": "integer"}, "defaulted": {**TEXT, "default": "d"}, "nullable": {**TEXT, "nullable": True},
    "both": {**TEXT, "nullable": True, "default": "d"}, "object": {"type": "object", "properties": {"a": TEXT}},
    "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": TEXT}},
    "keys": {"type": "object", "additionalProperties": TEXT}, "list": {"type": "array", "items": TEXT},
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
    "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": TEXT, "v": TEXT}}},
    "port": {"x-kubernetes-int-or-string": True}, "any": {"x-kubernetes-preserve-unknown-fields": True},
    "template": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
}


def nulls(rec):
    """Nulls that are applied: they stay, and are validated, where those of other bodies are dropped."""
    rec.define(definition("example.com", "Null", "Namespaced", [version("v1", NULL_SPEC, storage=True)]))
    pod = {"apiVersion": "v1", "kind": "Pod"}
    specs = [{name: None} for name in NULL_SPEC] + [
        {"object": {"a": None}}, {"atomic": {"a": None}}, {"keys": {"a": None}}, {"list": [None]}, {"list": ["a", None]},
        {"set": ["a", None]}, {"map": [None]}, {"map": [{"k": "a", "v": None}]}, {"map": [{"k": None}]}, {"any": {"a": None}},
        {"any": [None]}, {"template": {**pod, "metadata": None}}, {"template": {**pod, "kind": None}}, {"template": {**pod, "spec": None}},
        {"unknown": None}, None, {"text": None, "number": None, "nullable": None}]
    where = FOOS.replace("foos", "nulls")
    for number, spec in enumerate(specs):
        body = {"apiVersion": "example.com/v1", "kind": "Null", "metadata": {"name": "n%d" % number}, "spec": spec}
        path = "%s/n%d?fieldManager=m" % (where, number)
        rec.ask("null applied dry: " + json.dumps(spec), "PATCH", path + "&" + DRY, body, Content_Type=APPLY)
        rec.ask("null applied: " + json.dumps(spec), "PATCH", path, body, Content_Type=APPLY)
        rec.ask("null applied again: " + json.dumps(spec), "PATCH", path, body, Content_Type=APPLY)
        rec.ask("null created: " + json.dumps(spec), "POST", where, {**body, "metadata": {"name": "c%d" % number}})
        rec.ask("null merged: " + json.dumps(spec), "PATCH", "%s/c%d" % (where, number), {"spec": spec}, Content_Type=MERGE)


def set_up(rec):
    shades = {**FOO_SPEC, "shade": TEXT}
    levels = {**FOO_SPEC, "level": {"type": "integer"}}
    rec.define(definition("example.com", "Foo", "Namespaced", [
        version("v1", levels, storage=True), version("v2", shades), version("v3", {}, served=False)]))
    rec.define(definition("example.com", "Thing", "Cluster", [version("v1", {}, storage=True)]))
    rec.ask("create one", "POST", FOOS, foo(spec={"color": "red", "replicas": 2}))


def main():
    url, token, folder, *wanted = sys.argv[1:]
    rec = Recorder(url, token)
    for name in ("foos.example.com", "things.example.com", "nulls.example.com"):
        rec.send("DELETE", DEFINITIONS + "/" + name)
        while rec.send("GET", DEFINITIONS + "/" + name)[0] != 404:
            time.sleep(0.1)
    for part in (set_up, definitions, changes, bodies, objects, versions, verbs, scale, nulls):
        if wanted and part is not set_up and part.__name__ not in wanted:
            continue
        rec.rows = []
        part(rec)
        if wanted and part is set_up:
            continue
        with open(os.path.join(folder, part.__name__ + ".jsonl"), "w", encoding="utf-8") as out:
            for row in rec.rows:
                out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
        print("%s: %d requests" % (part.__name__, len(rec.rows)))


if __name__ == "__main__":
    main()
