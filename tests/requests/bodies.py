"""Bodies of requests: objects that are taken, objects by schema, and what becomes of both when they
are spoilt."""

import copy
import json

from formats import CBOR_TAG, to_cbor, to_yaml

TEXTS = ("", "a", "fz-1", "default", "kube-system", "Name", "a" * 64, "x" * 300, "é", "\U0001f600", "\u202e",
         "\0", "a\nb", "../..", "a/b", "a%2fb", "-", ".", "..", "fuzz=yes", "true", "null", "1", "1e400",
         "2020-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "0000-00-00T00:00:00Z", "100m", "1Ei", "-1n",
         "0x1F", "<script>", "{\"a\":1}", "example.com/a", "http://127.0.0.1:1/", "$(HOME)", "\ufeff", "\u2028")
NUMBERS = (0, 1, -1, 2, 127, 65536, 2 ** 31 - 1, 2 ** 31, -2 ** 31, 2 ** 53, 2 ** 63 - 1, 2 ** 63, -2 ** 63,
           -2 ** 63 - 1, 2 ** 64 - 1, 10 ** 40, 0.5, -0.0, 1e308, 1e-320)
LABELS = {"fuzz": "yes"}


def meta(name, namespace=None):
    found = {"name": name, "labels": dict(LABELS)}
    if namespace:
        found["namespace"] = namespace
    return found


def role(rng):
    return {"rules": [{"apiGroups": [rng.choice(("", "wardle.example.com", "*"))],
                       "resources": [rng.choice(("configmaps", "flunders", "roles", "*"))],
                       "verbs": rng.sample(("get", "list", "watch", "create", "escalate", "bind", "*"), 2)}]}


def binding(rng, kind):
    return {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "fz-1"},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "fz-user"},
                         {"kind": "ServiceAccount", "name": "fz", "namespace": rng.choice(("default", "fz"))}]}


def deployment(rng):
    return {"spec": {"replicas": rng.randrange(5), "selector": {"matchLabels": {"app": "a"}},
                     "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [
                         {"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}],
                          "resources": {"limits": {"cpu": "100m"}}}]}}}}


def webhooks(rng):
    # Of a group that nobody serves: the rest of the run is not about webhooks.
    return {"webhooks": [{"name": "a.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                          "clientConfig": {"url": "https://127.0.0.1:1/x"}, "failurePolicy": "Ignore",
                          "rules": [{"apiGroups": ["fz.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"],
                                     "resources": ["nothings"]}]}]}


def flow_schema(rng):
    return {"spec": {"priorityLevelConfiguration": {"name": "global-default"}, "matchingPrecedence": 9000,
                     "rules": [{"subjects": [{"kind": "User", "user": {"name": "fz-user"}}],
                                "resourceRules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"],
                                                   "namespaces": ["default"]}]}]}}


def level(rng):
    return {"spec": {"type": "Limited",
                     "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}}}


def access_review(rng):
    return {"spec": {"user": "reader", "resourceAttributes": {"namespace": "default", "verb": "get",
                                                             "resource": "configmaps"}}}


# By kind, what beside metadata a server takes; all other kinds are made by their schemas.
VALID = {
    "Flunder": lambda rng: {"spec": {}},
    "Fischer": lambda rng: {"disallowedFlunders": ["banned"]},
    "Fleet": lambda rng: {"spec": {"replicas": rng.randrange(9), "cargo": [{"name": "tea", "tons": 3}],
                                   "flags": ["blue", "red"], "route": ["a", "b"], "limits": {"speed": "10"}}},
    "ConfigMap": lambda rng: {"data": {"a": "b", "c": "é"}, "binaryData": {"d": "AAEC"}},
    "Secret": lambda rng: {"stringData": {"a": "b"}, "type": "Opaque"},
    "ServiceAccount": lambda rng: {"automountServiceAccountToken": False},
    "Deployment": deployment,
    "Role": role, "ClusterRole": role,
    "RoleBinding": lambda rng: binding(rng, rng.choice(("Role", "ClusterRole"))),
    "ClusterRoleBinding": lambda rng: binding(rng, "ClusterRole"),
    "ValidatingWebhookConfiguration": webhooks, "MutatingWebhookConfiguration": webhooks,
    "FlowSchema": flow_schema, "PriorityLevelConfiguration": level,
    "SubjectAccessReview": access_review, "LocalSubjectAccessReview": access_review,
    "SelfSubjectAccessReview": lambda rng: {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}},
    "SelfSubjectRulesReview": lambda rng: {"spec": {"namespace": "default"}},
    "TokenReview": lambda rng: {"spec": {"token": "token-nobody"}},
    "SelfSubjectReview": lambda rng: {},
    "Scale": lambda rng: {"spec": {"replicas": rng.randrange(9)}},
}


def valid(rng, gvk, name, namespace):
    group, version, kind = gvk
    body = {"apiVersion": group + "/" + version if group else version, "kind": kind,
            "metadata": meta(name, namespace)}
    body.update(VALID[kind](rng) if kind in VALID else {})
    return body


class Schemas:
    """Values by schema: of the right type as a rule, whether they are taken or not."""

    def __init__(self, rng, definitions):
        self.rng, self.definitions = rng, definitions

    def resolve(self, schema):
        while "$ref" in schema or "allOf" in schema:
            if "allOf" in schema:
                schema = schema["allOf"][0]
                continue
            schema = self.definitions.get(schema["$ref"].rsplit("/", 1)[1], {})
        return schema

    def value(self, schema, depth=0):
        schema = self.resolve(schema)
        if self.rng.random() < 0.02:
            return self.anything()
        if "oneOf" in schema or "anyOf" in schema:
            return self.value(self.rng.choice(schema.get("oneOf") or schema["anyOf"]), depth + 1)
        kind = schema.get("type", "object" if "properties" in schema else "")
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1)
                    for _ in range(self.rng.randrange(3) if depth < 8 else 0)]
        return self.scalar(schema, kind)

    def object(self, schema, depth):
        found = {}
        properties = schema.get("properties", {})
        wanted = set(schema.get("required", ()))
        for name in properties:
            if depth < 8 and (name in wanted or self.rng.random() < 0.35):
                found[name] = self.value(properties[name], depth + 1)
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and depth < 8:
            for _ in range(self.rng.randrange(3)):
                found[self.rng.choice(TEXTS)] = self.value(more, depth + 1)
        return found

    def scalar(self, schema, kind):
        if kind == "boolean":
            return self.rng.random() < 0.5
        if kind in ("integer", "number"):
            return self.rng.choice(NUMBERS if self.rng.random() < 0.3 else NUMBERS[:5])
        if kind == "string":
            if schema.get("enum"):
                return self.rng.choice(schema["enum"])
            if schema.get("format") == "date-time":
                return self.rng.choice(("2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000001+14:00", "now"))
            if schema.get("format") == "byte":
                return self.rng.choice(("", "AAEC", "AAE", "*"))
            return self.rng.choice(TEXTS)
        return self.anything()

    def anything(self):
        return self.rng.choice((None, True, [], {}, [None], {"a": None}, [[[]]], self.rng.choice(TEXTS),
                                self.rng.choice(NUMBERS)))


def places(value, found=None, depth=0):
    """Each (container, key) of a value, but few of a large one."""
    found = [] if found is None else found
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        if len(found) > 2000 or depth > 60:
            break
        found.append((value, key))
        places(value[key], found, depth + 1)
    return found


def deep(rng):
    value = "end"
    for _ in range(rng.choice((5, 50, 500))):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def spoil(rng, value):
    """A copy with one to three things wrong."""
    value = copy.deepcopy(value)
    for _ in range(rng.randrange(1, 4)):
        found = places(value)
        if not found:
            return value
        where, key = rng.choice(found)
        turn = rng.randrange(9)
        if turn == 0:
            del where[key]
        elif turn == 1:
            where[key] = rng.choice(TEXTS)
        elif turn == 2:
            where[key] = rng.choice(NUMBERS)
        elif turn == 3:
            where[key] = None
        elif turn == 4:
            where[key] = rng.choice(([], {}, [None], [{}, {}], {"": ""}))
        elif turn == 5:
            where[key] = deep(rng)
        elif turn == 6:
            where[key] = [where[key]] * rng.choice((1, 2, 100))
        elif turn == 7 and isinstance(where, dict):
            where[rng.choice(("unknown", key.upper(), key + " ", "metadata", "é"))] = where[key]
        else:
            where[key] = rng.random() < 0.5
    return value


def damage(rng, data):
    """Bytes that are no document any more, or another."""
    turn = rng.randrange(8)
    if not data or turn == 0:
        return b""
    at = rng.randrange(len(data))
    if turn == 1:
        return data[:at]
    if turn == 2:
        return data[:at] + bytes((rng.randrange(256),)) + data[at + 1:]
    if turn == 3:
        return data + data
    if turn == 4:
        return data[:at] + rng.choice((b"\xff\xfe", b"\0", b"\xed\xa0\x80", b"\\ud800", b"NaN", b"1e99999",
                                       b"//x\n")) + data[at:]
    if turn == 5:
        return data.replace(b"{", b'{"kind":"Twice","metadata":{"name":"twice"},', 1)
    if turn == 6:
        return data[:at] + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 40))) + data[at:]
    return rng.choice((b"null", b"[]", b"0", b'""', b"true", b"{", b"--- \n", b"&a [*a]", b"a: &a b\nc: *a\n",
                       b"k8s\0", b"\xd9\xd9\xf7\xa0",
                       b"\xd9\xd9\xf7\xbf\xff", b"k8s\0\x0a\xff\xff\xff\xff\x0f"))


def to_json(value):
    try:
        return json.dumps(value).encode()
    except (ValueError, RecursionError):
        return b"{}"


def encode(value, form):
    """As a media type has it; of protobuf there is none here: see Pool."""
    try:
        if "yaml" in form:
            return to_yaml(value).encode("utf-8", "replace")
        if "cbor" in form:
            return CBOR_TAG + to_cbor(value)
    except RecursionError:
        pass
    return to_json(value)
