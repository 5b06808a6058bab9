#!/usr/bin/env python3
"""Asks a kube-apiserver what it answers to sequences of changes of a schema and of an object.

usage: record_sequences.py https://HOST:PORT TOKEN < QUESTIONS > sequences.jsonl

A question is a line with a name and steps: {"schema"}, {"patch"} (a merge patch of the schema), or
{"name", "apply"}. Each is asked of whole objects and, unless it has skipStatus, of their status.
"""

import json
import ssl
import sys
import time
import urllib.error
import urllib.request

GROUP, PLURAL, KIND = "mygroup.example.com", "mycrds", "MyCoolCRD"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECTS = "/apis/%s/v1beta1/namespaces/default/%s" % (GROUP, PLURAL)
SENTINEL = "__sentinel__"


def merged(value, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), change)
    return result


class Server:
    def __init__(self, url, token):
        self.url, self.token = url, token
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def call(self, method, path, body=None, kind="application/json"):
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": kind}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self.tls) as answer:
                return answer.status, json.load(answer), answer.headers.get_all("Warning") or []
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else {}, error.headers.get_all("Warning") or []

    def define(self):
        schema = {"type": "object"}
        spec = {"group": GROUP, "scope": "Namespaced", "names": {"plural": PLURAL, "kind": KIND, "listKind": KIND + "List"},
                "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                              "subresources": {"status": {}}}]}
        code, answer, _ = self.call("POST", DEFINITION, {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                                                         "metadata": {"name": PLURAL + "." + GROUP}, "spec": spec})
        assert code == 201, answer
        while self.call("GET", OBJECTS)[0] != 200:
            time.sleep(0.1)

    def use(self, schema):
        """Changes the schema, and waits until a kube-apiserver serves by it."""
        mark = "m%d" % time.monotonic_ns()
        properties = {**schema.get("properties", {}), SENTINEL: {"type": "string", "enum": [mark]}}
        value = {**schema, "properties": properties}
        code, answer, _ = self.call("PATCH", DEFINITION + "/" + PLURAL + "." + GROUP,
                                    [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": value}],
                                    "application/json-patch+json")
        assert code == 200, answer
        probe = {"apiVersion": GROUP + "/v1beta1", "kind": KIND, "metadata": {"name": "probe"}, SENTINEL: "x"}
        while mark not in json.dumps(self.call("POST", OBJECTS + "?dryRun=All", probe)[1]):
            time.sleep(0.05)


def causes(answer):
    """What is wrong, in an order of its own."""
    details = answer.get("details", {}).get("causes", [])
    return sorted("%s: %s" % (cause.get("field"), cause.get("message")) for cause in details)


def play(server, question, status):
    schema, steps = None, []
    for step in question["steps"]:
        if "apply" not in step:
            schema = step["schema"] if "schema" in step else merged(schema, step["patch"])
            used = {"type": "object", "properties": {"status": schema}} if status else schema
            server.use(used)
            steps.append({"schema": used})
            continue
        content = {"status": step["apply"]} if status else step["apply"]
        body = {**content, "apiVersion": GROUP + "/v1beta1", "kind": KIND, "metadata": {"name": step["name"], "namespace": "default"}}
        item = OBJECTS + "/" + step["name"]
        if status and server.call("GET", item)[0] == 404:
            assert server.call("POST", OBJECTS, body)[0] == 201
        code, answer, warnings = server.call("PATCH", item + ("/status" if status else "") + "?fieldManager=manager", body,
                                             "application/apply-patch+yaml")
        assert (code >= 400) == bool(step.get("fails")), (question["name"], step, answer)
        row = {"say": step["say"], "name": step["name"], "apply": content, "code": code, "causes": causes(answer)}
        if code >= 400 and not row["causes"]:
            row["message"] = answer["message"]
        if warnings:
            row["warnings"] = sorted(warnings)
        steps.append(row)
    server.call("DELETE", OBJECTS)
    return {"name": question["name"], "status": status, "steps": steps}


def main():
    server = Server(*sys.argv[1:3])
    server.define()
    for line in sys.stdin:
        question = json.loads(line)
        if question.get("disabled"):
            continue
        for status in (False, True)[:1 if question.get("skipStatus") else 2]:
            print(json.dumps(play(server, question, status), ensure_ascii=False, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
