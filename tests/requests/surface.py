"""What a server says that it serves: operations of its OpenAPI documents, paths of its index."""

import json

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class Contradiction(Exception):
    """The server's documents disagree."""


class Operation:
    def __init__(self, method, path, described, shared, definitions):
        self.method, self.path, self.definitions = method.upper(), path, definitions
        self.action = described.get("x-kubernetes-action", "")
        kind = described.get("x-kubernetes-group-version-kind")
        self.gvk = (kind["group"], kind["version"], kind["kind"]) if kind else None
        self.parameters = [(each["name"], each["in"], each.get("schema", {}).get("type", "string"))
                           for each in [*shared, *described.get("parameters", [])]]
        content = described.get("requestBody", {}).get("content", {})
        self.consumes = sorted(content)
        self.schema = next(iter(content.values()), {}).get("schema", {})
        answers = described.get("responses", {})
        self.produces = sorted({form for answer in answers.values() for form in answer.get("content", {})})

    @property
    def queries(self):
        return [(name, kind) for name, where, kind in self.parameters if where == "query"]

    @property
    def resource(self):
        """The last fixed segment before a name: what an operation is about."""
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return parts[-1] if parts else ""

    def group(self):
        parts = self.path.split("/")
        return parts[2] if parts[1] == "apis" and len(parts) > 2 else ""


class Surface:
    """Read with `get(path)`, which gives the JSON of a path."""

    def __init__(self, get):
        self.operations, self.definitions = [], {}
        served = get("/openapi/v3")["paths"]
        for name in sorted(served):
            self.add(get(served[name]["serverRelativeURL"]))
        if not self.operations:
            raise Contradiction("/openapi/v3 describes nothing")
        self.check_version_2(get("/openapi/v2"))
        self.check_discovery(get)
        self.index = sorted(get("/")["paths"])

    def add(self, document):
        definitions = document.get("components", {}).get("schemas", {})
        self.definitions.update(definitions)
        for path in sorted(document["paths"]):
            item = document["paths"][path]
            for method in METHODS:
                if method in item:
                    self.operations.append(Operation(method, path, item[method], item.get("parameters", []),
                                                     definitions))

    def check_version_2(self, document):
        three = {(each.method, each.path.rstrip("/")) for each in self.operations}
        two = {(method.upper(), path.rstrip("/")) for path, item in document["paths"].items()
               for method in item if method in METHODS}
        if three != two:
            raise Contradiction("OpenAPI v2 and v3 differ: %s" % sorted(three ^ two)[:5])

    def check_discovery(self, get):
        """Each resource of discovery has its verbs in OpenAPI."""
        described = {}
        for each in self.operations:
            described.setdefault(each.path, set()).add(each.action)
        roots = ["/api/v1"] + ["/apis/" + version["groupVersion"] for group in get("/apis")["groups"]
                               for version in group["versions"]]
        for root in roots:
            for resource in get(root)["resources"]:
                self.check_resource(root, resource, described)

    @staticmethod
    def check_resource(root, resource, described):
        name, _, sub = resource["name"].partition("/")
        where = root + ("/namespaces/{namespace}/" if resource["namespaced"] else "/") + name
        one = where + "/{name}" + ("/" + sub if sub else "")
        found = described.get(where, set()) | described.get(one, set())
        actions = {"create": "post", "update": "put", "delete": "delete", "patch": "patch", "get": "get",
                   "list": "list", "watch": "list", "deletecollection": "deletecollection"}
        missing = [verb for verb in resource["verbs"] if actions.get(verb, "connect") not in found]
        if missing:
            raise Contradiction("discovery says %s of %s, OpenAPI does not" % (missing, where))


def load(world):
    def get(path):
        code, text = world.call("GET", path)
        if code != 200:
            raise Contradiction("GET %s: %d %s" % (path, code, text[:300]))
        return json.loads(text)

    return Surface(get)
