"""Requests from a server's OpenAPI documents.

Most are nearly right: a request that is refused at its first mistake tests little. A generator belongs
to one thread; what it makes depends on its seed and on what the pool has learnt.
"""

import base64
import gzip
import json
import random
import re
import urllib.parse

import attacks
import bodies
import rights
from bodies import TEXTS
from wire import DROP, HTTP2, HTTP2_RESET, PLAIN, STREAM, UNFINISHED, WEBSOCKET, Request
from words import (ACCEPTS, BODIES, BOOLEANS, FORGED, GROUPS_KEPT, HOSTILE, IDENTITIES, NAMESPACES, NUMBERS,
                   ODD_ACCEPTS, ODD_METHODS, ODD_TYPES, PATCHES, STREAMS, VALUES, VERSIONS)

# What HTTP/2 lets through before windows are asked about.
HTTP2_BODY_MAX = 60000
DRY_RUN = re.compile(r"[?&]dryRun=All(&|$)")


def quoted(text):
    return urllib.parse.quote(text.encode("utf-8", "replace"), safe="")


class Generator:
    def __init__(self, seed, worker, surface, pool, identities, without=()):
        self.rng = random.Random("%s/%s" % (seed, worker))
        self.worker, self.surface, self.pool = worker, surface, pool
        self.identities, self.made = identities, 0
        self.schemas = bodies.Schemas(self.rng, surface.definitions)
        self.names, self.weights = zip(*(each for each in IDENTITIES if each[0] in identities))
        shapes = [(self.operation, 800), (self.other_path, 30), (self.odd_method, 20), (self.websocket, 15),
                  (self.unfinished, 6)] + [(shape, weight) for shape, weight in attacks.SHAPES
                                           if shape.__name__ not in without]
        self.shapes = shapes
        self.seldom = [each for each in attacks.SELDOM if each[0].__name__ not in without]

    def chance(self, part):
        return self.rng.random() < part

    def identity(self):
        return self.rng.choices(self.names, self.weights)[0]

    def next(self):
        self.made += 1
        shapes, weights = zip(*self.shapes)
        shape = self.rng.choices(shapes, weights)[0]
        for seldom, period in self.seldom:
            if self.worker == 0 and self.made % (10 * period) == period:
                shape = seldom
        request = shape() if hasattr(shape, "__self__") else shape(self)
        request.about.setdefault("shape", shape.__name__)
        path, _, query = request.target.partition("?")
        if request.method == "GET" and request.mode in (PLAIN, HTTP2) and ("/watch/" in path or "watch" in query):
            request.mode = STREAM
        return request

    def new_name(self):
        """Nobody else's, so that an object of that name can be looked for."""
        return "fz-%s-%d" % (self.worker, self.made)

    # Operations of the documents.

    def pick(self):
        """An operation; those that create come more often, so that there is something to read."""
        operation = self.rng.choice(self.surface.operations)
        if operation.method == "DELETE" and self.chance(0.5):
            operation = self.rng.choice(self.surface.operations)
        return operation

    def pick_for(self, identity):
        """As a rule what they may do: that somebody is refused is soon known."""
        may = self.identities[identity].may
        for _ in range(8):
            operation = self.pick()
            place = Place(self, operation)
            if may(operation.method, rights.segments(place.path)) or self.chance(0.05):
                break
        return operation, place

    def operation(self):
        identity = self.identity()
        operation, place = self.pick_for(identity)
        query, streams = self.query(operation, place)
        headers, body = self.content(operation, place)
        headers += self.accept(operation, streams)
        request = Request(identity, operation.method, place.path + query, headers, body,
                          self.mode(operation, streams, body))
        request.about.update(shape="operation", action=operation.action, gvk=operation.gvk,
                             collection=place.collection,
                             name=place.name, namespace=place.namespace, unique=place.unique,
                             dry_run=DRY_RUN.search(query) is not None)
        if operation.action == "deletecollection":
            self.leave_room(request, operation, place)
        return request

    def mode(self, operation, streams, body):
        turn = self.rng.random()
        if streams:
            return STREAM if turn < 0.9 else DROP
        if turn < 0.06 and len(body or b"") <= HTTP2_BODY_MAX:
            return HTTP2
        if turn < 0.07:
            return HTTP2_RESET
        if turn < 0.08:
            return DROP
        return PLAIN

    def leave_room(self, request, operation, place):
        """A delete of a collection takes what others made, and what the world stands on: seldom, and there never."""
        if operation.group() in GROUPS_KEPT:
            request.target = place.path + "?labelSelector=fuzz%3Dyes"
        elif "labelSelector" not in request.target and self.chance(0.8):
            request.target += ("&" if "?" in request.target else "?") + "labelSelector=fuzz%3Dno"

    # Query parameters.

    def query(self, operation, place):
        """The text with its question mark, and whether the answer is a stream."""
        known = operation.queries
        chosen = []
        if known and self.chance(0.5):
            for name, kind in self.rng.sample(known, min(len(known), self.rng.randrange(1, 4))):
                chosen.append((name, self.parameter(name, kind)))
        if operation.action == "list" and self.chance(0.15):
            chosen.append(("watch", self.rng.choice(("true", "1", "true", "yes"))))
        if operation.method != "GET" and self.chance(0.06):
            chosen.append(("dryRun", "All"))
        if self.chance(0.03):
            chosen.append((self.rng.choice(("unknown", "watch", "resourceVersion", "pretty", "é", "a" * 3000)),
                           self.rng.choice(TEXTS)))
        streams = any(name == "watch" for name, _ in chosen) or "/watch/" in place.path
        if streams and not any(name == "timeoutSeconds" for name, _ in chosen):
            chosen.append(("timeoutSeconds", "1"))
        if not chosen:
            return "", streams
        text = "&".join("%s=%s" % (quoted(name), quoted(value)) for name, value in chosen)
        if self.chance(0.02):
            text = self.rng.choice((text + "&" + text, text + "&%", text.replace("=", "%3d"), text + ";a=b",
                                    "&" + text + "&&"))
        return "?" + text, streams

    def parameter(self, name, kind):
        if self.chance(0.03):
            return self.rng.choice(TEXTS)
        if name == "resourceVersion":
            near = self.pool.version + self.rng.choice((0, 0, 0, -1, -5, -50))
            return str(max(near, 0)) if self.chance(0.6) else self.rng.choice(VERSIONS)
        if name == "continue":
            return self.token()
        if name in VALUES:
            return self.rng.choice(VALUES[name])
        if kind == "boolean" or name in ("watch", "force"):
            return self.rng.choice(BOOLEANS)
        if kind == "integer":
            return self.rng.choice(NUMBERS)
        return self.rng.choice(TEXTS)

    def token(self):
        token = self.pool.any_token(self.rng)
        if token and self.chance(0.6):
            return token
        if token and self.chance(0.5):
            at = self.rng.randrange(len(token))
            return token[:at] + self.rng.choice("Az09-_=%") + token[at + 1:]
        if self.chance(0.8):
            return base64.urlsafe_b64encode(self.rng.choice(FORGED).encode()).rstrip(b"=").decode()
        return self.rng.choice(TEXTS)

    # Headers and bodies.

    def accept(self, operation, streams):
        headers = []
        turn = self.rng.random()
        if turn < 0.35:
            headers.append(("Accept", self.rng.choice(ACCEPTS)))
        elif turn < 0.4:
            headers.append(("Accept", self.rng.choice(ODD_ACCEPTS)))
        elif streams and turn < 0.6:
            headers.append(("Accept", self.rng.choice(STREAMS)))
        if self.chance(0.1):
            headers.append(("Accept-Encoding",
                            self.rng.choice(("gzip", "gzip", "gzip;q=0", "br", "*", "identity;q=0"))))
        if self.chance(0.02):
            headers.append(self.rng.choice((("X-Long", "x" * 5000), ("Expect", "100-continue"),
                                            ("If-None-Match", '"x"'),
                                            ("Origin", "https://evil"), ("Range", "bytes=0-1"),
                                            ("Audit-Id", "x" * 200),
                                            ("traceparent", "00-" + "1" * 32 + "-" + "2" * 16 + "-01"),
                                            ("X-HTTP-Method-Override", "DELETE"), ("X-Forwarded-For", "1.2.3.4, é"))))
        return headers

    def content(self, operation, place):
        if operation.method in ("GET", "HEAD", "OPTIONS") or operation.method == "DELETE" and self.chance(0.6):
            return [], None
        if operation.method == "PATCH":
            form, data = self.patch(operation, place)
        else:
            form = "application/json" if self.chance(0.6) else self.rng.choice(BODIES)
            data = self.document(operation, place, form)
        if self.chance(0.04):
            form = self.rng.choice(ODD_TYPES)
        if self.chance(0.05):
            place.unique, data = False, bodies.damage(self.rng, data)
        headers = [("Content-Type", form)] if self.chance(0.98) else []
        if self.chance(0.03):
            data = gzip.compress(data, mtime=0) if self.chance(0.8) else data
            headers.append(("Content-Encoding", self.rng.choice(("gzip", "gzip", "deflate", "identity", "garbage"))))
        if self.chance(0.05):
            headers.append(("Transfer-Encoding", "chunked"))
        return headers, data

    def document(self, operation, place, form):
        if "protobuf" in form:
            found = self.pool.any_bytes(self.rng, place.collection)
            if found:
                place.unique = False  # The name in it is another's.
                return bodies.damage(self.rng, found) if self.chance(0.4) else found
        value = self.object(operation, place)
        return bodies.encode(value, form)

    def object(self, operation, place):
        if operation.method == "DELETE":
            value = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": self.rng.choice((0, 1, -1)),
                     "preconditions": {"uid": self.rng.choice(("", "x", None))}}
            return value if self.chance(0.3) else bodies.spoil(self.rng, value) if self.chance(0.5) else {}
        turn = self.rng.random()
        known = self.pool.any_object(self.rng, place.collection)
        if operation.method == "PUT" and known and place.known and turn < 0.6:
            value = dict(place.known)
            if self.chance(0.5):
                value["metadata"] = {key: each for key, each in value["metadata"].items()
                                     if key not in ("resourceVersion", "uid", "managedFields")}
        elif turn < 0.7 and operation.gvk:
            value = bodies.valid(self.rng, operation.gvk, place.name or self.new_name(), place.namespace)
        else:
            value = self.schemas.value(operation.schema)
            if isinstance(value, dict) and self.chance(0.8):
                group, version, kind = operation.gvk or ("", "v1", "Nothing")
                value.update(apiVersion=group + "/" + version if group else version, kind=kind)
                value["metadata"] = bodies.meta(place.name or self.new_name(), place.namespace)
            place.unique = False
        if self.chance(0.35):
            place.unique = False
            value = bodies.spoil(self.rng, value)
        return value

    def patch(self, operation, place):
        form = self.rng.choice(PATCHES)
        if "json-patch" in form:
            paths = ("/metadata/labels/a", "/metadata/labels", "/spec", "/data/a", "/metadata/name", "", "/",
                     "/metadata/annotations/x~1y",
                     "/spec/cargo/0", "/spec/cargo/-", "/a/b/c", "/metadata/finalizers/-", "/metadata/managedFields",
                     "/kind", "~", "/spec/~2")
            value = [{"op": self.rng.choice(("add", "replace", "remove", "test", "copy", "move", "garbage")),
                      "path": self.rng.choice(paths), "from": self.rng.choice(paths),
                      "value": self.rng.choice(("a", {"a": "b"}, [], None, 1))} for _ in range(self.rng.randrange(1,
                                                                                                                  5))]
        elif "apply" in form and operation.gvk:
            value = bodies.valid(self.rng, operation.gvk, place.name, place.namespace)
            if self.chance(0.4):
                value = bodies.spoil(self.rng, value)
        else:
            value = self.rng.choice(({"metadata": {"labels": {"turn": str(self.made)}}}, {"spec": {"replicas": 3}},
                                     {"data": {"a": None, "b": "c"}}, {"metadata": {"finalizers": ["a/b"]}},
                                     {"metadata": {"finalizers": None}},
                                     {"spec": {"cargo": [{"name": "tea", "$patch": "delete"}]}},
                                     {"$patch": "replace"},
                                     {"spec": {"$setElementOrder/cargo": [{"name": "tea"}],
                                               "cargo": [{"name": "a", "tons": 1}]}},
                                     {"$deleteFromPrimitiveList/flags": ["red"]}, {"$retainKeys": ["a"]},
                                     {"status": {"replicas": 1}},
                                     self.schemas.value(operation.schema)))
            if self.chance(0.3):
                value = bodies.spoil(self.rng, value)
        return form, bodies.encode(value, form)

    # Everything else.

    def other_path(self):
        """Paths of the index, and what belongs to no operation."""
        paths = [each for each in self.surface.index if each not in ("/debug/pprof/profile", "/debug/flags/v")]
        path = self.rng.choice(paths + ["/", "/apis", "/api", "/openapi/v2", "/openapi/v3", "/nothing", "/apis/x",
                                        "/apis/x/v1",
                                        "/api/v2", "/apis//v1", "/healthz/nothing", "/openapi/v3/nothing", "*"])
        query = self.rng.choice(("", "", "?verbose", "?exclude=ping", "?timeout=1s", "?x=%", "?hash=0"))
        accept = self.rng.choice(ACCEPTS + ODD_ACCEPTS + (
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
            "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/openmetrics-text"))
        return Request(self.identity(), self.rng.choice(("GET", "GET", "GET", "HEAD", "POST")), path + query,
                       [("Accept", accept)])

    def odd_method(self):
        operation = self.pick()
        place = Place(self, operation)
        method = self.rng.choice(ODD_METHODS)
        if operation.group() in GROUPS_KEPT and method in ("PUT", "PATCH", "DELETE", "POST"):
            method = "TRACE"
        body = b"{}" if method in ("PUT", "POST", "PATCH") else None
        return Request(self.identity(), method, place.path, [], body, collection=place.collection, name=place.name)

    def websocket(self):
        operation = self.rng.choice([each for each in self.surface.operations if each.action == "list"])
        place = Place(self, operation)
        headers = [("Connection", "Upgrade"), ("Upgrade", "websocket"),
                   ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
                   ("Sec-WebSocket-Version", self.rng.choice(("13", "13", "13", "8", "")))]
        if self.chance(0.3):
            headers.append(("Sec-WebSocket-Protocol",
                            self.rng.choice(("base64.binary.k8s.io", "garbage", "binary.k8s.io, x"))))
        return Request(self.identity(), "GET", place.path + "?watch=true&timeoutSeconds=1", headers, None, WEBSOCKET)

    def unfinished(self):
        """A body that is announced and does not come."""
        operation = self.rng.choice([each for each in self.surface.operations if each.method in ("POST", "PUT",
                                                                                                 "PATCH")])
        place = Place(self, operation)
        return Request(self.identity(), operation.method, place.path, [("Content-Type", "application/json")],
                       b"{" + b" " * 60000, UNFINISHED)


class Place:
    """The path of an operation with its holes filled, and what stands there."""

    def __init__(self, generator, operation):
        rng = generator.rng
        resource = [part for part in operation.path.split("/") if part]
        fixed = [part for part in resource if not part.startswith("{")]
        named = "{name}" in operation.path
        # The segment before the name, or the last one.
        self.resource = resource[resource.index("{name}") - 1] if named else fixed[-1] if fixed else ""
        self.collection = operation.group() + "/" + self.resource
        self.kept = operation.group() in GROUPS_KEPT and operation.method in ("PUT", "PATCH", "DELETE")
        self.hostile = generator.chance(0.06) and not self.kept
        self.known, self.name, self.unique = None, "", False
        self.namespace = self.pick_namespace(rng) if "{namespace}" in operation.path else ""
        if named:
            self.pick_name(generator)
        elif operation.method == "POST":
            self.name, self.unique = generator.new_name(), True
        self.path = self.fill(rng, operation)

    def pick_namespace(self, rng):
        namespace = rng.choice(NAMESPACES) if self.hostile else rng.choice(NAMESPACES[:5])
        return namespace

    def pick_name(self, generator):
        rng = generator.rng
        found = generator.pool.any_object(rng, self.collection)
        if self.kept and not (found and found[1].startswith("fz-")):
            # What the world and its canary stand on is left as it is.
            self.name = "fz-%d" % rng.randrange(3)
        elif found and rng.random() < 0.75 and (not self.namespace or found[0] in ("default", "fz")):
            self.namespace = found[0] if self.namespace else ""
            self.name, self.known = found[1], found[2]
        else:
            self.name = rng.choice(HOSTILE) if self.hostile else "fz-%d" % rng.randrange(3)

    def fill(self, rng, operation):
        values = {"{name}": self.name if self.name in HOSTILE else quoted(self.name), "{namespace}": self.namespace}
        parts = [values.get(part, "x" if part.startswith("{") else part) for part in operation.path.split("/")]
        return "/".join(parts)
