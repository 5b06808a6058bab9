#!/usr/bin/env python3
"""Writes questions about rules of schemas for tests/oracle/rules, and keeps what Go answers.

    python3 tests/cel/convert/rule_questions.py ORACLE > tests/cel/data/rule_answers.jsonl

The questions are the rows of crd_walks.jsonl, each run and each schema checked, and those below.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WALKS = os.path.join(HERE, "..", "data", "crd_walks.jsonl")
MAX = 2**63 - 1
RULES = "x-kubernetes-validations"


def rule(text, **more):
    return {"x-kubernetes-validations": [{"rule": text, **more}]}


def rules(*all_rules):
    return {"x-kubernetes-validations": list(all_rules)}


def struct(more=None, **properties):
    return {"type": "object", "properties": properties, **(more or {})}


def array(items, **more):
    return {"type": "array", "items": items, **more}


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
LISTMAP = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}


def with_optional(schema):
    schema = json.loads(json.dumps(schema))
    for each in schema.get("x-kubernetes-validations", []):
        each["optionalOldSelf"] = True
    return schema


def walks():
    """Yields (schema, object, old, options) of upstream's rows."""
    for line in open(WALKS, encoding="utf-8"):
        entry = json.loads(line)
        row, table = entry.get("row"), entry.get("table")
        if row is None or table in ("TestValidateFieldPath",):
            continue
        if table == "TestMessageExpression":
            the_rule = {"rule": "false", "messageExpression": row["messageExpression"]}
            if row.get("message"):
                the_rule["message"] = row["message"]
            options = {"budget": row["costBudget"]}
            if "perCallLimit" in row:
                options["per_call"] = row["perCallLimit"]
            yield struct(rules(the_rule), str=STRING), {"str": "a string"}, None, options
            continue
        schema = row["schema"]["$schema"]
        if table == "TestRatcheting":
            options = {"ratchet": True, "budget": row.get("runtimeCostBudget") or 10_000_000}
            yield schema, row["newObj"], row["oldObj"], options
        elif table.startswith("TestOptionalOldSelf"):
            old = row["obj"] if table == "TestOptionalOldSelfIsOptionalType" else row.get("oldObj")
            yield with_optional(schema), row["obj"], old, {"budget": MAX}
            if old is not None:
                yield with_optional(schema), row["obj"], None, {"budget": MAX}
        else:
            yield schema, row["obj"], row.get("oldObj"), {"budget": MAX, "resource": True}


def has_junctors(schema):
    return any('"' + key + '"' in json.dumps(schema) for key in ("allOf", "anyOf", "oneOf", "not"))


def runs():
    """Objects and rules that upstream's tables leave out."""
    scalar = struct(
        {}, b={"type": "boolean", **rule("false")}, i={**INTEGER, **rule("false")},
        n={"type": "number", **rule("false")}, s={**STRING, **rule("false")},
        p={"x-kubernetes-int-or-string": True, **rule("false")},
        l=array(STRING, **rule("false")), o=struct(rule("false"), a=STRING))
    for obj in ({"b": True, "i": -3, "n": 1000000.0, "s": "a\"b\u00e9", "p": 5, "l": [], "o": {}},
                {"n": 0.00001, "p": "x%"}, {"n": 1.5e21}, {"n": 3}, {"n": 123456.789}, {"i": 3.5}, {"i": "3"}, {"s": 3},
                {"o": "text"}, {"l": {"a": 1}}, {"b": None}):
        yield scalar, obj, None, {}
    yield (struct(rules({"rule": "self.p > 1"}, {"rule": "1 / self.p == 1", "message": " told "},
                        {"rule": "self.q.a == 1"}, {"rule": "self.l[3] == 'a'"}),
                  p={"x-kubernetes-int-or-string": True}, l=array(STRING),
                  q=struct(a=INTEGER)), {"p": "abc", "l": ["a"]}, None, {})
    yield (struct(rules({"rule": "1 / self.p == 1", "message": " told "}),
                  p={"x-kubernetes-int-or-string": True}), {"p": 0}, None, {})
    items = array({**INTEGER, **rule("self > 0")})
    for budget in (0, 1, 2, 5, 6, 7):
        yield items, [1, 2, 3], None, {"budget": budget}
    yield items, [0, 0], None, {"per_call": 1}
    yield items, [1, None, 0], None, {}
    yield (array({**STRING, **rule("self.matches('a+')")}), ["aa", "bb"], None, {"per_call": 3})
    embedded = struct(rule("self.kind == 'Pod' && self.metadata.name == 'p' && self.a > 1"),
                      a=INTEGER)
    embedded["x-kubernetes-embedded-resource"] = True
    yield (struct(rule("self.metadata.name == 'n' && self.kind == 'K'"), child=embedded),
           {"apiVersion": "v1", "kind": "K", "metadata": {"name": "m", "labels": {"a": "b"}},
            "child": {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "a": 1}}, None,
           {"resource": True})
    yield (struct(rule("has(self.metadata.labels)")), {"metadata": {"name": "n"}}, None,
           {"resource": True})
    yield (struct(a={"x-kubernetes-preserve-unknown-fields": True, **rule("false")}),
           {"a": {"b": 1}}, None, {})
    yield ({"x-kubernetes-preserve-unknown-fields": True, **rule("false")}, {"b": 1}, None, {})
    yield (struct({}, **{"a@b": {**STRING, **rule("self == 'x'")}}), {"a@b": "y"}, None, {})
    keep = {"type": "object", "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"s": {**STRING, **rule("self == 'a'")}}, **rule("self == oldSelf")}
    yield keep, {"s": "b", "x": 1}, {"s": "b", "x": 2}, {"ratchet": True}
    yield keep, {"s": "b", "x": 1}, {"s": "b", "x": 1}, {"ratchet": True}
    inner = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, **rule("false")}
    for new, old in (({"x": 1}, {"x": 1}), ({}, {}), ({"x": 1}, {"x": 2})):
        yield struct(o=inner), {"o": new}, {"o": old}, {"ratchet": True}
    keyed = array(struct({**rule("self.v == oldSelf.v")}, k=STRING, v=INTEGER), **LISTMAP)
    yield (keyed, [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c", "v": 3}, {"v": 4}],
           [{"k": "b", "v": 2}, {"k": "a", "v": 0}, {"k": "a", "v": 1}, {"v": 5}], {})
    plain = array(struct({**rule("false")}, k=STRING, v=INTEGER), **LISTMAP)
    yield (plain, [{"k": "a", "v": 1}, {"k": "b", "v": 2}], [{"k": "b", "v": 2}, {"k": "a", "v": 1}],
           {"ratchet": True})
    yield (struct(l=plain), {"l": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]},
           {"l": [{"k": "a", "v": 1}]}, {"ratchet": True})
    two = array(struct({**rule("self.v == oldSelf.v")}, k=INTEGER, j=STRING, v=INTEGER))
    two.update({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "j"]})
    yield (two, [{"k": 1, "j": "a", "v": 1}, {"k": 1, "j": "b", "v": 2}, {"k": 2, "v": 2}],
           [{"k": 1, "j": "b", "v": 3}, {"k": 1, "j": "a", "v": 3}, {"k": 2, "v": 3}], {})
    yield (struct(m={"type": "object", "additionalProperties": {**STRING, **rule("self == oldSelf")}}),
           {"m": {"a": "x", "b": "y", "c": "z"}}, {"m": {"a": "x", "b": "z"}}, {})
    yield (struct(m={"type": "object", "x-kubernetes-map-type": "atomic",
                     "additionalProperties": {**STRING, **rule("self == oldSelf")}}),
           {"m": {"a": "x"}}, {"m": {"a": "y"}}, {})
    for texts in ({"messageExpression": "'was ' + oldSelf"},
                  {"messageExpression": "1 + ", "message": "m"},
                  {"messageExpression": "' x '", "fieldPath": ".a"},
                  {"messageExpression": "self + '\\n'"},
                  {"messageExpression": "self.size() > 1 ? 'long' : ''"},
                  {"reason": "FieldValueDuplicate"}, {"reason": "FieldValueRequired"},
                  {"reason": "FieldValueForbidden"}, {"reason": "FieldValueInvalid"}):
        for text in ("false", "self == oldSelf", "oldSelf == self && self == 'x'"):
            yield {**STRING, **rule(text, **texts)}, "b", "a", {"ratchet": True}
            yield {**STRING, **rule(text, **texts)}, "b", "b", {"ratchet": True}
    yield ({**STRING, **rule("self == oldSelf.orValue('')", optionalOldSelf=True, message="m",
                             messageExpression="oldSelf.hasValue() ? 'had' : 'had none'")}, "b", "a", {})
    yield ({**STRING, **rule("self == oldSelf.orValue('')", optionalOldSelf=True, message="m",
                             messageExpression="oldSelf.hasValue() ? 'had' : 'had none'")}, "b", None, {})
    yield ({**STRING, **rules({"rule": "self == oldSelf.orValue('')", "optionalOldSelf": True},
                              {"rule": "self == oldSelf"}, {"rule": "oldSelf == 'c'", "message": "n"})},
           "b", "a", {})
    yield (struct(rules({"rule": "false", "fieldPath": ".m['a.b'].c"}, {"rule": "false", "fieldPath": ".m.x"},
                        {"rule": "false", "fieldPath": ".none"}, {"rule": " "},
                        {"rule": "false\n", "message": "two\nlines"}),
                  m={"type": "object", "additionalProperties": struct(c=STRING)}), {}, None, {})
    dated = struct(rules({"rule": "self.t > timestamp('2020-01-01T00:00:00Z')"}, {"rule": "self.d > duration('1h')"},
                         {"rule": "self.b == b'abc'"}),
                   t={"type": "string", "format": "date-time"}, d={"type": "string", "format": "duration"},
                   b={"type": "string", "format": "byte"})
    yield dated, {"t": "2019-01-01T00:00:00Z", "d": "30m", "b": "YWJj"}, None, {}
    yield dated, {"t": "2021-01-01T00:00:00Z", "d": "2h", "b": "eA=="}, None, {}
    sets = struct(rules({"rule": "self.s == oldSelf.s"}, {"rule": "self.l == oldSelf.l"}),
                  s=array(STRING, **{"x-kubernetes-list-type": "set"}), l=array(STRING))
    yield sets, {"s": ["a", "b"], "l": ["a", "b"]}, {"s": ["b", "a"], "l": ["b", "a"]}, {}
    nullable = struct(rule("!has(self.n) || self.n == 'a'"), n={**STRING, "nullable": True, **rule("false")})
    yield nullable, {"n": None}, None, {}
    yield nullable, {"n": "b"}, {"n": None}, {"ratchet": True}


def checks():
    """Schemas of CustomResourceDefinitions that upstream's tables leave out."""
    bounded = {"maxLength": 10}
    for text in ("self == ''", "self.contains('x')", "self.a", "1 + 1", "self ==", "int('x') == 1",
                 "self < '&'", "self == oldSelf", "oldSelf.size() > self.size()", " ", ""):
        yield struct(a={**STRING, **rule(text)})
        yield struct(a=array({**STRING, **bounded, **rule(text)}))
        yield struct(a=array({**STRING, **bounded, **rule(text)}, maxItems=10))
        yield struct(a={"type": "object", "additionalProperties": {**STRING, **rule(text)}})
        yield struct(a={"type": "object", "maxProperties": 3,
                        "additionalProperties": {**STRING, **rule(text, message="m", reason="FieldValueInvalid")}})
        yield struct(a=array(struct(rule("self.v == self.k"), k=STRING, v={**STRING, **rule(text)},
                                    ), **LISTMAP) | {"items": {**struct({"required": ["k"]}, k=STRING, v={**STRING, **rule(text)})}})
    for texts in ({"message": " "}, {"message": "a\nb"}, {"message": "a\rb"}, {"messageExpression": " "},
                  {"messageExpression": "self.a"}, {"messageExpression": "1"}, {"messageExpression": "int('x') == 1 ? '' : ''"},
                  {"messageExpression": "self + oldSelf"}, {"messageExpression": "self.contains('x') ? 'a' : 'b'"},
                  {"reason": "Other"}, {"reason": "FieldValueRequired"}, {"fieldPath": " "}, {"fieldPath": ".a\n"},
                  {"fieldPath": ".a"}, {"fieldPath": "a"}, {"optionalOldSelf": True}, {"optionalOldSelf": False}):
        yield struct(s={**STRING, **bounded, **rule("self == 'a'", **texts)})
    yield struct(s={**STRING, **bounded, **rule("self == 'a' ||\n self == 'b'")})
    yield struct(s={**STRING, **bounded, **rule("oldSelf.hasValue() || self == ''", optionalOldSelf=True)})
    yield struct(s=struct(rules({"rule": "true", "fieldPath": ".m['a'].b"}, {"rule": "true", "fieldPath": ".n.b"},
                                {"rule": "true", "fieldPath": ".m['a"}),
                          m={"type": "object", "additionalProperties": struct(b=STRING)}))
    # Costs by factor: below 1.5, below 100, above.
    for length in (10, 1_000, 30_000, 40_000, 50_000, 100_000, 3_000_000):
        yield struct(a=array({**STRING, "maxLength": length, **rule("self.contains('abcde')")}, maxItems=1000))
        yield struct(a=array({**STRING, "maxLength": length}, maxItems=1000,
                             **rule("self.all(x, self.all(y, x == y || x.contains(y)))")))
    yield struct(a=array({**STRING, "maxLength": 10}, **rule("self.all(x, self.all(y, x == y))")))
    # The whole is too dear, no rule is.
    many = {"f%02d" % i: array({**STRING, "maxLength": 40_000, **rule("self.contains('a%d')" % i)}, maxItems=500 + i)
            for i in range(30)}
    yield struct({}, **many)
    yield struct(e={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True,
                    **rule("self.metadata.name != '' && self.kind.size() < 5")})
    yield struct(rule("self.metadata.name.size() < 5 && self.metadata.labels.size() > 0"))
    yield struct(u={"x-kubernetes-preserve-unknown-fields": True, **rule("true")})
    yield struct(l=array({"x-kubernetes-preserve-unknown-fields": True, **rule("true")}))
    yield struct(s=array(array({**STRING, **bounded, **rule("self == oldSelf")}, maxItems=2,
                               **{"x-kubernetes-list-type": "set"}), maxItems=2))
    yield struct({}, **{"a@b": {**STRING, **bounded, **rule("self == 'x'")}})


def questions():
    checked = set()
    for schema, obj, old, options in list(walks()) + list(runs()):
        if has_junctors(schema):
            continue  # CustomResourceDefinitions with such rules are refused.
        asked = {"schema": schema, "object": obj, **options}
        if old is not None:
            asked["old"] = old
        yield asked
        whole = schema if schema.get("type") == "object" and "additionalProperties" not in schema else struct(x=schema)
        text = json.dumps(whole, sort_keys=True)
        if text not in checked:
            checked.add(text)
            yield {"schema": whole, "check": True}
    for schema in checks():
        yield {"schema": schema, "check": True}


def main():
    asked = [{"id": i, **q} for i, q in enumerate(questions())]
    lines = "".join(json.dumps(q) + "\n" for q in asked)
    answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout
    print(json.dumps({"origin": "k8s.io/apiextensions-apiserver v0.36.0 by tests/oracle/rules",
                      "holds": "what Go answers about the rules of schemas: tests/cel/convert/rule_questions.py"}))
    for question, answer in zip(asked, answers.splitlines()):
        go = json.loads(answer)
        assert go.pop("id") == question.pop("id")
        if question.get("check"):
            # Where the schema is wrong otherwise, Go leaves the expressions out.
            others = [e for e in go["errors"] if RULES not in e and e.startswith("spec.versions[0].schema")]
            if others:
                continue
            # Faults of the oracle's CustomResourceDefinition are none of the schema's.
            go["errors"] = [e for e in go["errors"] if RULES in e]
        print(json.dumps({**question, "go": go}, ensure_ascii=False, separators=(",", ":")))


main()
