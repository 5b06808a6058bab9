"""Makes objects of a CustomResourceDefinition from its schema: valid ones, and ones with one mistake.

Everything follows from a seed, with no module `random` in between: the same CRD and seed give the
same objects with every Python.
"""

import copy
import hashlib
import json

from crd_patterns import matching

FORMATS = {
    "date-time": "2026-01-02T03:04:05Z", "date": "2026-01-02", "duration": "1h2m3s", "byte": "aGVsbG8=",
    "uuid": "123e4567-e89b-42d3-a456-426614174000", "uuid3": "123e4567-e89b-32d3-a456-426614174000",
    "uuid4": "123e4567-e89b-42d3-a456-426614174000", "uuid5": "123e4567-e89b-52d3-a456-426614174000",
    "email": "someone@example.com", "hostname": "host.example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
    "cidr": "192.0.2.0/24", "mac": "00:00:5e:00:53:01", "uri": "https://example.com/a", "password": "secret",
    "hexcolor": "#00ff00", "rgbcolor": "rgb(1,2,3)", "ssn": "111-22-3333", "creditcard": "4111111111111111",
    "isbn": "9780306406157", "isbn10": "0306406152", "isbn13": "9780306406157",
    "bsonobjectid": "507f1f77bcf86cd799439011", "k8s-short-name": "short-name", "k8s-long-name": "long.name",
}
# How many values an object of all fields may have, and how deep optional ones go.
MANY, DEEP = 70, 7


class Choices:
    """A stream of choices that follows from `words`."""

    def __init__(self, *words):
        self.words, self.count = "/".join(str(word) for word in words), 0

    def below(self, limit):
        self.count += 1
        digest = hashlib.sha256(("%s#%d" % (self.words, self.count)).encode()).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def pick(self, items):
        return items[self.below(len(items))]


def add_constraints(into, more):
    """Adds what a branch of a junctor says to what is said already."""
    for key, value in more.items():
        if key == "required":
            into[key] = into.get(key, []) + [name for name in value if name not in into.get(key, [])]
        elif key == "properties":
            known = dict(into.get(key, {}))
            for name, child in value.items():
                known[name] = dict(known.get(name, {}))
                add_constraints(known[name], child)
            into[key] = known
        elif key == "items":
            into[key] = {**into.get(key, {}), **value}
        elif key in ("oneOf", "anyOf", "allOf", "not"):
            into.setdefault("more", []).append({key: value})
        else:
            into[key] = value


def refused_names(schema):
    """The properties that a `not` keeps out."""
    if "not" not in schema:
        return set()
    inner, found = schema["not"], set()
    for branch in [inner] + inner.get("anyOf", []):
        found.update(branch.get("required", []))
    return found


def effective(schema, choices):
    """`schema` with one branch of each junctor taken into it, and the names of `forbidden` properties."""
    merged, todo, forbidden = {}, [schema], set(schema.get("forbidden", ()))
    while todo and len(todo) < 100:
        part = todo.pop(0)
        add_constraints(merged, {key: value for key, value in part.items()
                                 if key not in ("oneOf", "anyOf", "allOf", "not", "more")})
        todo += part.get("more", []) + part.get("allOf", [])
        forbidden |= refused_names(part)
        for key in ("oneOf", "anyOf"):
            branches = part.get(key)
            if not branches:
                continue
            chosen = choices.pick(branches)
            todo.append(chosen)
            if key == "oneOf":
                for other in branches:
                    forbidden.update(set(other.get("required", ())) - set(chosen.get("required", ())))
    if "x-kubernetes-int-or-string" in merged and "pattern" in merged:
        merged["type"] = "string"
    merged["forbidden"] = forbidden - set(merged.get("required", ()))
    return merged


class Maker:
    """Makes valid values: `full` objects have optional fields too."""

    def __init__(self, choices, full):
        self.choices, self.full, self.left = choices, full, MANY

    def value(self, schema, depth=0):
        schema = effective(schema, self.choices)
        self.left -= 1
        if "enum" in schema:
            return copy.deepcopy(self.choices.pick([one for one in schema["enum"] if one != ""] or [""]))
        kind = schema.get("type")
        if kind is None:
            if schema.get("x-kubernetes-int-or-string"):
                return self.choices.pick([7, "7"])
            return {"free": "form"}
        return getattr(self, kind)(schema, depth)

    def object(self, schema, depth):
        made, properties = {}, schema.get("properties", {})
        required = schema.get("required", [])
        if schema.get("x-kubernetes-embedded-resource"):
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "embedded"}}
        for name in required:
            if name in properties and (self.full or "default" not in properties[name]):
                made.setdefault(name, self.value(properties[name], depth + 1))
        if self.full:
            for name in properties:
                if name not in made and name not in schema["forbidden"] and self.wanted(depth):
                    made[name] = self.value(properties[name], depth + 1)
        if isinstance(schema.get("additionalProperties"), dict):
            for index in range(schema.get("minProperties", 0) or (self.full and self.left > 0)):
                made["key%d" % index] = self.value(schema["additionalProperties"], depth + 1)
        elif schema.get("minProperties", 0) > len(made):
            for name in [one for one in properties if one not in made][:schema["minProperties"] - len(made)]:
                made[name] = self.value(properties[name], depth + 1)
        if self.full and schema.get("x-kubernetes-preserve-unknown-fields") and not made:
            made["free"] = {"form": [1, None, "text"]}
        return made

    def wanted(self, depth):
        return self.left > 0 and (depth < 2 or depth < DEEP and self.choices.below(3) > 0)

    def array(self, schema, depth):
        least, most = schema.get("minItems", 0), schema.get("maxItems", 2)
        count = max(least, min(most, 1 + self.choices.below(2)) if self.full and self.left > 0 else 0)
        made = []
        for index in range(count):
            item = self.value(schema.get("items", {}), depth + 1)
            self.distinguish(schema, item, index)
            if schema.get("x-kubernetes-list-type") == "set" and item in made:
                continue
            made.append(item)
        return made

    @staticmethod
    def distinguish(schema, item, index):
        """Gives the items of a map different keys."""
        keys = schema.get("x-kubernetes-list-map-keys", [])
        properties = schema.get("items", {}).get("properties", {})
        for key in keys:
            kind = properties.get(key, {})
            if index == 0 or not isinstance(item, dict) or key not in item or "enum" in kind or "pattern" in kind:
                continue
            if kind.get("type") == "string":
                item[key] = "%s%d" % (item[key], index)
            elif kind.get("type") == "integer":
                item[key] += index

    def string(self, schema, _):
        text = FORMATS.get(schema.get("format"))
        if text is None and "pattern" in schema:
            text = matching(schema["pattern"], self.choices, schema.get("minLength", 0), schema.get("maxLength", 200))
        if text is None:
            text = "text" if self.choices.below(4) else "café"
        text += "x" * (schema.get("minLength", 0) - len(text))
        return text[:schema["maxLength"]] if "maxLength" in schema else text

    def integer(self, schema, _):
        step = schema.get("multipleOf", 1)
        low = schema.get("minimum", min(1, schema.get("maximum", 1)))
        low += bool(schema.get("exclusiveMinimum"))
        value = int(-(-low // step) * step)
        room = min(schema.get("maximum", value + 50), value + 50) - bool(schema.get("exclusiveMaximum")) - value
        return value + int(step) * self.choices.below(max(1, int(room // step) + 1)) if self.full else value

    def number(self, schema, depth):
        value = self.integer({**schema, "multipleOf": schema.get("multipleOf", 1)}, depth)
        half = value + 0.5
        fits = half < schema.get("maximum", half + 1) and "multipleOf" not in schema
        return half if fits and self.choices.below(2) else value

    def boolean(self, _, __):
        return self.choices.below(2) == 1


def root_schema(crd, version):
    return version.get("schema", {}).get("openAPIV3Schema", {"type": "object"})


def make(crd, version, name, words, full):
    """A valid object, as far as a schema alone tells."""
    schema = dict(root_schema(crd, version))
    schema["properties"] = {key: value for key, value in schema.get("properties", {}).items()
                            if key not in ("apiVersion", "kind", "metadata")}
    made = Maker(Choices(crd["metadata"]["name"], version["name"], *words), full).object(
        effective(schema, Choices("root", *words)), 0)
    spec = crd["spec"]
    head = {"apiVersion": spec["group"] + "/" + version["name"], "kind": spec["names"]["kind"],
            "metadata": {"name": name}}
    if full:
        head["metadata"]["labels"] = {"made": "full"}
    return {**head, **made}


def walk(schema, value):
    """Every value in an object that the schema knows: (path, schema, value)."""
    todo = [((), schema, value)]
    while todo:
        path, schema, value = todo.pop(0)
        yield path, schema, value
        if isinstance(value, dict):
            properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
            for key, item in value.items():
                child = properties.get(key) or (rest if isinstance(rest, dict) else None)
                if child is not None and not (path == () and key in ("apiVersion", "kind", "metadata")):
                    todo.append((path + (key,), child, item))
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            todo += [(path + (index,), schema["items"], item) for index, item in enumerate(value)]


def put(thing, path, value):
    """A copy of `thing` with another value at `path`; `...` takes it away."""
    changed = copy.deepcopy(thing)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    elif isinstance(inner, list) and path[-1] == len(inner):
        inner.append(value)
    else:
        inner[path[-1]] = value
    return changed


WRONG = {"string": [5, True, {"a": "b"}, ["a"]], "integer": ["5", 1.5, True, {}], "number": ["1", False, []],
         "boolean": ["true", 0, {}], "object": ["text", 1, [{}], False], "array": ["text", {"0": "a"}, 3]}


def scalar_mistakes(schema, value, choices):
    """(name, wrong value) for a string or a number."""
    if "enum" in schema:
        yield "enum", "no such value" if isinstance(value, str) else 4711
        if isinstance(value, str):
            yield "enum: case", value.swapcase()
            yield "enum: empty", ""
    if isinstance(value, str):
        if "pattern" in schema:
            yield "pattern", choices.pick(["!?", " ", "-", "Ü", "a b\n"])
        if schema.get("format"):
            yield "format " + schema["format"], choices.pick(["x", "", "2026-02-30T25:00:00", "1.2.3.4.5", "%zz"])
        if schema.get("minLength"):
            yield "too short", ""
        if 0 < schema.get("maxLength", 0) < 5000:
            yield "too long", "é" * (schema["maxLength"] + 1)
        yield "empty text", ""
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in schema:
            yield "below", schema["minimum"] - (0 if schema.get("exclusiveMinimum") else 1)
        if "maximum" in schema:
            yield "above", schema["maximum"] + (0 if schema.get("exclusiveMaximum") else 1)
        if "multipleOf" in schema:
            yield "not a multiple", schema["multipleOf"] * 1.5
        yield "whole float", float(value)
        yield "large", choices.pick([2**31, -2**31 - 1, 2**53 + 1, 2**63 - 1, 2**63, 1e300])


def list_mistakes(schema, value):
    kind = schema.get("x-kubernetes-list-type", "")
    if value:
        yield "item twice in " + (kind or "list"), value + [copy.deepcopy(value[0])]
        if keys := schema.get("x-kubernetes-list-map-keys"):
            twin = put(value[0], ("twin",), "other") if isinstance(value[0], dict) else value[0]
            yield "keys twice", value + [twin]
            if keys[0] in value[0]:
                yield "item without key", [put(value[0], (keys[0],), ...)] + value[1:]
        if 0 < schema.get("maxItems", 0) < 70:
            yield "too many items", value + [copy.deepcopy(value[0])] * (schema["maxItems"] + 1 - len(value))
    if schema.get("minItems"):
        yield "too few items", []
    yield "null item", value + [None]


def object_mistakes(schema, value, at_root):
    for name in schema.get("required", []):
        if name in value:
            yield "missing", put(value, (name,), ...)
    yield "unknown field", {**value, "unknownField": {"a": 1}}
    for branch in schema.get("oneOf", []):
        for name in branch.get("required", []):
            if name not in value and name in schema.get("properties", {}):
                yield "two of oneOf", {**value, name: Maker(Choices("two", name), False).value(
                    schema["properties"][name])}
    if schema.get("minProperties") and not at_root:
        yield "too few properties", {}
    if "maxProperties" in schema and isinstance(schema.get("additionalProperties"), dict) \
            and schema["maxProperties"] < 100 and value:
        one = next(iter(value.values()))
        yield "too many properties", {**value, **{"k%d" % i: one for i in range(schema["maxProperties"] + 1)}}
    if schema.get("x-kubernetes-embedded-resource"):
        for key, wrong in (("apiVersion", ...), ("kind", "no kind"), ("metadata", {"labels": {"a": 1}}),
                           ("metadata", {"name": "Ü", "unknown": 1})):
            if key in value:
                yield "embedded " + key, put(value, (key,), wrong)
    yield from rule_mistakes(schema, value)


def rule_mistakes(schema, value):
    """Takes away and adds the fields that a rule names, which often breaks it."""
    for rule in schema.get("x-kubernetes-validations", []):
        for name, child in schema.get("properties", {}).items():
            if "." + name not in rule["rule"]:
                continue
            if name in value:
                if name not in schema.get("required", []):
                    yield "rule: without", put(value, (name,), ...)
                yield "rule: other", {**value, name: Maker(Choices("other", name), True).value(child)}
            else:
                yield "rule: with", {**value, name: Maker(Choices("with", name), False).value(child)}


def metadata_mistakes(made):
    head = made["metadata"]
    for name, changed in (("labels are numbers", {**head, "labels": {"a": 1}}),
                          ("unknown in metadata", {**head, "unknown": "x"}),
                          ("annotation null", {**head, "annotations": {"a": None}}),
                          ("bad label", {**head, "labels": {"-a-": "no value!"}}),
                          ("bad finalizer", {**head, "finalizers": ["abc", "a/b/c"]}),
                          ("finalizers", {**head, "finalizers": ["abc", "example.com", "example.com/a"]}),
                          ("metadata is text", "text"), ("no name", {}), ("bad name", {**head, "name": "Ü_"}),
                          ("other owner", {**head, "ownerReferences": [{"apiVersion": "v1", "kind": "Pod"}]})):
        yield name, (), {**made, "metadata": changed}
    for key, value in (("kind", "Other"), ("kind", ...), ("apiVersion", "other.example.com/v1"), ("apiVersion", ...),
                       ("apiVersion", made["apiVersion"].split("/")[0] + "/v9")):
        yield "other " + key, (), put(made, (key,), value)


def mistakes(crd, version, made, choices):
    """Every object that has one mistake, or may have: (name, path of the mistake, object)."""
    yield from metadata_mistakes(made)
    for path, schema, value in list(walk(root_schema(crd, version), made)):
        kind = schema.get("type", "")
        found = []
        if path:
            found.append(("wrong type of " + (kind or "typeless"), choices.pick(WRONG.get(kind, [True, [1], "a"]))))
            found.append(("null" + (" nullable" if schema.get("nullable") else "")
                          + (" with default" if "default" in schema else ""), None))
            if "default" in schema:
                found.append(("default left out", ...))
        if isinstance(value, dict):
            found += object_mistakes(schema, value, not path)
        elif isinstance(value, list):
            found += list_mistakes(schema, value)
        else:
            found += scalar_mistakes(schema, value, choices)
        for name, wrong in found:
            yield name, path, put(made, path, wrong) if path else wrong


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
