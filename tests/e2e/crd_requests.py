"""The requests about one version of one CRD: objects are created, read, changed and deleted, and
objects with one mistake are sent with every verb."""

import collections
import urllib.parse

from crd_answers import Request
from crd_objects import Choices, compact, make, mistakes, root_schema

NAMESPACE = "default"
VALIDATIONS = ("", "&fieldValidation=Strict", "&fieldValidation=Warn", "&fieldValidation=Ignore")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
MERGE, JSON_PATCH, APPLY, STRATEGIC = ("application/merge-patch+json", "application/json-patch+json",
                                       "application/apply-patch+yaml", "application/strategic-merge-patch+json")


def pointer(path):
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def found_at(value, path):
    """The value at `path`, and whether there is one."""
    for part in path:
        if isinstance(value, dict) and part in value or isinstance(value, list) and part < len(value):
            value = value[part]
        else:
            return None, False
    return value, True


class Used(collections.Counter):
    """How often a mistake was made: the rarest is made next."""

    def rarest(self, names, key=lambda name: name):
        name = min(names, key=lambda one: self[key(one)])
        self[key(name)] += 1
        return name


class Requests:
    """Asks about one version of a CRD. `ask` sends a request and returns the code of the server
    whose answers are right."""

    def __init__(self, crd, version, seed, used, ask):
        self.crd, self.version, self.seed, self.used, self.send = crd, version, seed, used, ask
        spec = crd["spec"]
        self.where = "/apis/%s/%s/%s" % (spec["group"], version["name"], spec["names"]["plural"])
        self.all = self.where
        if spec["scope"] == "Namespaced":
            self.where = "/apis/%s/%s/namespaces/%s/%s" % (
                spec["group"], version["name"], NAMESPACE, spec["names"]["plural"])
        self.name = crd["metadata"]["name"] + "/" + version["name"]
        self.count = 0
        self.status = "status" in (version.get("subresources") or {})

    def ask(self, what, method, path, body=None, like=None, **headers):
        self.count += 1
        return self.send(Request("%s/%d %s" % (self.name, self.count, what), method, path, body, like, **headers))

    def run(self, mistakes_wanted, thorough):
        """Sends them; what does not depend on the schema only if `thorough`."""
        base = self.candidates()
        if base:
            self.create(base)
        self.mistaken(base, mistakes_wanted)
        if base:
            other = self.change()
            if thorough:
                self.ask("get", "GET", self.where + "/base", like=other)
                self.scale()
                self.apply(base)
                self.odd(base)
                self.end()
            self.ask("delete all", "DELETE", self.where, like=other)

    def candidates(self):
        """Sends valid objects; the first that is accepted, large ones first."""
        accepted = []
        for words, full in ((("large", self.seed), True), (("other", self.seed), True), (("small", self.seed), False)):
            if accepted and full:
                continue
            made = make(self.crd, self.version, "base", words, full)
            code = self.ask("create valid, " + words[0], "POST", self.where + "?dryRun=All&fieldValidation=Strict",
                            made, made)
            if code == 201:
                accepted.append(made)
        self.made = accepted[0] if accepted else make(self.crd, self.version, "base", ("large", self.seed), True)
        return accepted[0] if accepted else None

    def create(self, base):
        path = self.where + "/base"
        self.ask("create", "POST", self.where, base, base)
        self.ask("list", "GET", self.all + "?limit=500", like=base)
        for one in self.version.get("selectableFields", []):
            value, found = found_at(base, one["jsonPath"].strip(".").split("."))
            if found:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                self.ask("select", "GET", "%s?fieldSelector=%s%%3D%s" % (self.where, one["jsonPath"][1:], urllib.parse.quote(text)),
                         like=base)
        if self.status and "status" in base:
            changed = {**base, "metadata": {**base["metadata"], "resourceVersion": "$REVISION"}}
            self.ask("put status", "PUT", path + "/status", changed, base)
        self.ask("table", "GET", path, Accept=TABLE)

    def mistaken(self, base, wanted):
        choices = Choices(self.name, self.seed, "mistakes")
        found = collections.defaultdict(list)
        for name, path, wrong in mistakes(self.crd, self.version, self.made, choices):
            found[name].append((path, wrong))
        for _ in range(wanted):
            names = [name for name, left in found.items() if left]
            if not names:
                return
            name = self.used.rarest(names)
            path, wrong = found[name].pop(choices.below(len(found[name])))
            self.one_mistake(name, path, wrong, base)

    def verbs_for(self, path, base):
        if not base:
            return ["create", "yaml"]
        if self.status and path[:1] == ("status",):
            return ["status", "status merge"]
        return ["create", "update", "merge", "apply", "yaml"] + (["json", "json"] if path else [])

    def one_mistake(self, name, path, wrong, base):
        verb = self.used.rarest(self.verbs_for(path, base), lambda one: (name, one))
        options = "?dryRun=All" + VALIDATIONS[self.used.rarest(range(4), lambda one: ("validation", name, one))]
        what = "%s: %s at %s" % (verb, name, pointer(path))
        item = self.where + "/base"
        if verb in ("create", "yaml"):
            kind = "application/yaml" if verb == "yaml" else "application/json"
            renamed = self.named(wrong, "new")
            self.ask(what, "POST", self.where + options, renamed, renamed, Content_Type=kind)
        elif verb in ("update", "status"):
            renamed = self.named(wrong, "base", resourceVersion="$REVISION")
            self.ask(what, "PUT", item + ("/status" if verb == "status" else "") + options, renamed, wrong)
        elif verb in ("merge", "status merge"):
            patch = {key: wrong.get(key) for key in {**wrong, **self.made} if wrong.get(key) != self.made.get(key)}
            self.ask(what, "PATCH", item + ("/status" if verb == "status merge" else "") + options, patch, wrong,
                     Content_Type=MERGE)
        elif verb == "apply":
            self.ask(what, "PATCH", item + options + "&fieldManager=other&force=true", wrong, wrong,
                     Content_Type=APPLY)
        else:
            value, there = found_at(wrong, path)
            patch = [{"op": "replace", "path": pointer(path), "value": value} if there else
                     {"op": "remove", "path": pointer(path)}]
            self.ask(what, "PATCH", item + options, patch, wrong, Content_Type=JSON_PATCH)

    @staticmethod
    def named(made, name, **more):
        head = made.get("metadata")
        if isinstance(head, dict) and head.get("name") == "base":
            return {**made, "metadata": {**head, "name": name, **more}}
        return made

    def change(self):
        """Replaces the object by another valid one, and returns that."""
        path = self.where + "/base"
        other = make(self.crd, self.version, "base", ("changed", self.seed), True)
        other["metadata"]["resourceVersion"] = "$REVISION"
        self.ask("put", "PUT", path, other, other)
        return other

    def apply(self, base):
        """Changes the object in ways that need no schema."""
        path = self.where + "/base"
        self.ask("create again", "POST", self.where, base, base)
        self.ask("merge labels", "PATCH", path, {"metadata": {"labels": {"a": "b"}}}, base, Content_Type=MERGE)
        small = {"apiVersion": base["apiVersion"], "kind": base["kind"],
                 "metadata": {"name": "base", "annotations": {"applied": "yes"}}}
        self.ask("apply", "PATCH", path + "?fieldManager=applier", small, base, Content_Type=APPLY)
        self.ask("conflict", "PATCH", path + "?fieldManager=third",
                 {**small, "metadata": {"name": "base", "annotations": {"applied": "no"}}}, base, Content_Type=APPLY)
        self.ask("unknown field applied", "PATCH", path + "?fieldManager=applier",
                 {**small, "spec": {"noSuchField": 1}}, base, Content_Type=APPLY)
        self.ask("stale put", "PUT", path, {**base, "metadata": {"name": "base", "resourceVersion": "1"}}, base)
        self.ask("put without revision", "PUT", path, base, base)
        self.ask("list tables", "GET", self.where, Accept=TABLE)

    def scale(self):
        if "scale" not in (self.version.get("subresources") or {}):
            return
        path = self.where + "/base/scale"
        self.ask("scale", "GET", path)
        for replicas in (3, -1, "three"):
            scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "base"},
                     "spec": {"replicas": replicas}}
            if self.crd["spec"]["scope"] == "Namespaced":
                scale["metadata"]["namespace"] = NAMESPACE
            self.ask("put scale", "PUT", path, scale, scale)
        self.ask("merge scale", "PATCH", path, {"spec": {"replicas": 2}}, Content_Type=MERGE)
        self.ask("scaled", "GET", self.where + "/base", like=self.made)

    def odd(self, base):
        """Requests that a client seldom sends."""
        path, text = self.where + "/base", compact(base)
        self.ask("strategic", "PATCH", path, {"metadata": {}}, Content_Type=STRATEGIC)
        self.ask("text", "POST", self.where, "text", Content_Type="text/plain")
        self.ask("no JSON", "POST", self.where, text[:-1])
        self.ask("empty", "POST", self.where, "")
        self.ask("list of objects", "POST", self.where, "[" + text + "]")
        self.ask("field twice", "POST", self.where + "?dryRun=All&fieldValidation=Strict",
                 text.replace('"name":"base"', '"name":"twice","name":"twice"'), base)
        self.ask("name generated", "POST", self.where + "?dryRun=All",
                 {**base, "metadata": {"generateName": "Not-Valid-"}}, base)
        self.ask("other name", "PUT", self.where + "/other", base, base)
        self.ask("put new", "PUT", self.where + "/new", self.named(base, "new"), base)
        self.ask("put on list", "PUT", self.where, base, base)
        self.ask("post to item", "POST", path, base, base)
        self.ask("no such object", "GET", self.where + "/none")
        self.ask("no such subresource", "GET", path + "/none")
        self.ask("no such version", "GET", self.where.replace("/" + self.version["name"] + "/", "/v0/"))
        self.ask("delete status", "DELETE", path + "/status")
        self.ask("bad selector", "GET", self.where + "?fieldSelector=spec.none%3D1")
        self.ask("selector of name", "GET", self.where + "?fieldSelector=metadata.name%3Dbase", like=base)
        self.ask("label selector", "GET", self.where + "?labelSelector=a%3Db", like=base)
        self.ask("metadata", "GET", path, Accept=METADATA)
        self.ask("protobuf", "GET", path, Accept="application/vnd.kubernetes.protobuf")
        self.ask("yaml", "GET", path, Accept="application/yaml;q=0.1,text/html")
        self.ask("test fails", "PATCH", path, [{"op": "test", "path": "/kind", "value": "x"}], Content_Type=JSON_PATCH)
        self.ask("apply without manager", "PATCH", path, base, base, Content_Type=APPLY)
        self.ask("bad precondition", "DELETE", path,
                 {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"resourceVersion": "1"}})
        self.ask("delete dry", "DELETE", path + "?dryRun=All", like=base)

    def end(self):
        path = self.where + "/base"
        self.ask("add finalizer", "PATCH", path, {"metadata": {"finalizers": ["example.com/held"]}}, self.made,
                 Content_Type=MERGE)
        self.ask("delete held", "DELETE", path, like=self.made)
        self.ask("drop finalizer", "PATCH", path, {"metadata": {"finalizers": None}}, self.made, Content_Type=MERGE)
        self.ask("gone", "GET", path)
        self.ask("empty list", "GET", self.where)
