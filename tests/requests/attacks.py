"""Shapes of requests that once were holes, or are like them: each is a function of a generator.

Their weights are against the 800 of ordinary operations. `--without=NAME` leaves one out.
"""

import json

import bodies
from wire import EARLY, PLAIN, STREAM, UNFINISHED, Request

JSON = [("Content-Type", "application/json")]
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def operation_of(generator, *methods):
    return generator.rng.choice([each for each in generator.surface.operations
                                 if not methods or each.method in methods])


def filled(generator, operation):
    """A path of an operation in a namespace that roles are bound in."""
    path = operation.path.replace("{namespace}", generator.rng.choice(("default", "fz")))
    return path.replace("{name}", "fz-%d" % generator.rng.randrange(3)).replace("{path}", "x")


def behind_version(path, word):
    """/apis/group/version/<word>/rest: None, if the path is not that deep."""
    parts = path.split("/")
    depth = 3 if parts[1] == "api" else 4
    if parts[1] not in ("api", "apis") or len(parts) <= depth:
        return None
    return "/".join(parts[:depth] + [word] + parts[depth:])


def object_of(generator, operation):
    if not operation.gvk:
        return b"{}"
    namespace = "default" if "{namespace}" in operation.path else None
    return bodies.to_json(bodies.valid(generator.rng, operation.gvk, generator.new_name(), namespace))


def proxy(generator):
    """The verb `proxy`, which stands in the path, is all that one of them has."""
    operation = operation_of(generator)
    path = behind_version(filled(generator, operation), "proxy") or operation.path
    identity = generator.rng.choice(("proxier", "proxier", "proxier", "nobody", "anonymous"))
    writes = operation.method in ("POST", "PUT", "PATCH")
    headers = [("Content-Type",
                "application/merge-patch+json")] if operation.method == "PATCH" else JSON if writes else []
    return Request(identity, operation.method, path, headers, object_of(generator, operation) if writes else None)


def watch_paths(generator):
    """All methods below /watch/: what is a watch is read until nothing comes, all else has an answer."""
    operation = operation_of(generator)
    path = behind_version(filled(generator, operation), "watch") or operation.path
    identity = generator.rng.choice(("admin", "writer", "reader", "nobody"))
    if operation.method == "GET":
        return Request(identity, "GET", path + "?timeoutSeconds=1", [], None, STREAM)
    body = object_of(generator, operation) if operation.method in ("POST", "PUT", "PATCH") else None
    return Request(identity, operation.method, path, JSON if body else [], body, refused=True)


def other_paths_to_objects(generator):
    """Twists of a path that must not lead to the object by another name."""
    operation = operation_of(generator, "GET", "DELETE", "PATCH")
    path = filled(generator, operation)
    rng = generator.rng
    twisted = rng.choice((
        "/" + path, path + "/", path.replace("/", "//", rng.randrange(1, 4)), path.replace("/v1", "/./v1"),
        path + "/..",
        path.replace("s/", "s%2f", 1), path.upper(), path + ";a=b", path + "%00", path + "/status/status",
        path + "/x/y/z",
        path + "?" * 3, path + "#x", path.replace("namespaces/", "namespaces/%2e%2e/"), "https://localhost" + path,
        path.replace("namespaces", "namespaces/x/namespaces"), path.replace("/apis/", "/apis/../apis/"),
        path + "\\x"))
    identity = rng.choice(("reader", "nobody", "anonymous", "proxier", "escalator"))
    if operation.method == "DELETE" and operation.group().startswith("rbac."):
        return Request(identity, "GET", twisted)  # Some may, and would take what others are known by.
    headers = [("Content-Type", "application/merge-patch+json")] if operation.method == "PATCH" else []
    return Request(identity, operation.method, twisted, headers, b"{}" if operation.method == "PATCH" else None)


def far_versions(generator):
    """Watches and lists from versions at the ends of what a number holds."""
    operation = generator.rng.choice([each for each in generator.surface.operations if each.action == "list"])
    version = generator.rng.choice(("9223372036854775807", "9223372036854775806", "18446744073709551615",
                                    "18446744073709551614"))
    query = generator.rng.choice((
        "?watch=1&timeoutSeconds=1&resourceVersion=",
        "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=",
        "?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        "&resourceVersion=",
        "?limit=1&resourceVersionMatch=Exact&resourceVersion="))
    return Request("admin", "GET", filled(generator, operation) + query + version, [], None,
                   STREAM if "watch" in query else PLAIN)


# What is wrong many times over: a field of metadata, a rule, a patch. Each is a function of a number.
MANY = {
    "owners": lambda count: {"metadata": {"name": "fz-many", "ownerReferences": [{}] * count}},
    "labels": lambda count: {"metadata": {"name": "fz-many", "labels": {"-%d" % each: "-" for each in range(count)}}},
    "annotations": lambda count: {"metadata": {"name": "fz-many",
                                               "annotations": {"-%d" % each: "" for each in range(count)}}},
    "finalizers": lambda count: {"metadata": {"name": "fz-many", "finalizers": ["-"] * count}},
    "managers": lambda count: {"metadata": {"name": "fz-many", "managedFields": [{}] * count}},
    "keys": lambda count: {"metadata": {"name": "fz-many"}, "data": {"/%d" % each: "" for each in range(count)}},
    "unknown": lambda count: {"metadata": {"name": "fz-many"}, **{"u%d" % each: 0 for each in range(count)}},
    "types": lambda count: {"metadata": {"name": "fz-many", "finalizers": list(range(count))}},
}


def many_mistakes(generator):
    """Thousands of mistakes of one kind: the answer must stay short."""
    shape = generator.rng.choice(sorted(MANY))
    body = json.dumps(MANY[shape](generator.rng.choice((10, 2000, 20000)))).encode()
    query = generator.rng.choice(("", "?dryRun=All", "?fieldValidation=Strict", "?fieldValidation=Warn"))
    return Request("admin", "POST", "/api/v1/namespaces/default/configmaps" + query, JSON, body)


def many_rules(generator):
    """A role that multiplies out, by somebody whose rights are then compared with it."""
    count = generator.rng.choice((2, 10, 40))
    names = lambda word: ["%s%d" % (word, each) for each in range(count)]
    rule = {"apiGroups": names("g"), "resources": names("r"), "verbs": names("v")}
    body = {"metadata": bodies.meta(generator.new_name()), "rules": [rule] * generator.rng.choice((1, 2, 5))}
    return Request("escalator", "POST", RBAC + "/namespaces/default/roles", JSON, json.dumps(body).encode())


def escalate(generator):
    """Rights that they do not have themselves, given by whoever may write roles and bindings."""
    rng = generator.rng
    if rng.random() < 0.5:
        body = {"metadata": bodies.meta(generator.new_name()),
                "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": rng.choice((["*"], ["get"], ["proxy"]))}]}
        return Request("escalator", "POST", RBAC + "/namespaces/default/roles", JSON, json.dumps(body).encode(),
                       refused=True)
    body = {"metadata": bodies.meta(generator.new_name()), "subjects": [{"kind": "User", "name": "escalator"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": rng.choice(("cluster-admin", "fuzz-reader", "nothing"))}}
    return Request("escalator", "POST", RBAC + "/namespaces/default/rolebindings", JSON, json.dumps(body).encode(),
                   refused=True)


def large_bodies(generator):
    """Megabytes by somebody who may do nothing, and by tenants: nobody else's requests may suffer."""
    body = json.dumps({"spec": {"extra": "x" * generator.rng.choice((1 << 16, 1 << 20, 3 << 20))}}).encode()
    path = generator.rng.choice(("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                 "/api/v1/namespaces/default/configmaps"))
    return Request(generator.rng.choice(("nobody", "writer")), "POST", path, JSON, body)


def unfinished_reviews(generator):
    """Bodies that almost end, of requests that anybody may send who is known: 270 MB that are held."""
    body = b'{"spec":{"extra":"' + b"x" * 2900000
    return Request("nobody", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", JSON, body,
                   UNFINISHED, times=110)


def refused_early(generator):
    """No body can make these good, so none is waited for."""
    operation = operation_of(generator, "POST", "PUT", "PATCH")
    path, rng = filled(generator, operation), generator.rng
    headers, method = JSON, operation.method
    turn = rng.randrange(3)
    if turn == 0:
        path = behind_version(path, "watch") or path + "/x/y/z/"
    elif turn == 1:
        path += "/nothing/nothing/nothing"
    else:
        headers = [("Content-Type", "garbage/garbage")]
    return Request("admin", method, path, headers, b"{" + b" " * 1000, EARLY, refused=True)


SHAPES = ((proxy, 25), (watch_paths, 20), (other_paths_to_objects, 25), (far_versions, 4), (many_mistakes, 8),
          (many_rules, 2), (escalate, 4), (large_bodies, 2), (refused_early, 6))
# Too large to be left to chance: the first thread sends it after so many requests, and again.
SELDOM = ((unfinished_reviews, 40),)
