#!/usr/bin/python3
"""The steps of client-steps.txt with the Python client (Debian's python3-kubernetes).

usage: KUBECONFIG=FILE python_client.py [STEP...]

Each step stands alone and checks what it received. Exits 1 and names each failed check.
"""

import json
import sys
import threading
import traceback

try:
    import kubernetes
except ImportError:
    sys.exit("this python3 has no package 'kubernetes': install python3-kubernetes")
from kubernetes import client, dynamic, watch
from kubernetes.client.rest import ApiException

GROUP, VERSION = "wardle.example.com", "v1beta1"
API = GROUP + "/" + VERSION
FLEET_API = "harbor.example.com/v1"
STEPS = {}
LACKING = {"protobuf": "it speaks JSON only"}
# A watch that says nothing ends then; nothing waits for it where the server is right.
WATCH_SECONDS = 20


def step(function):
    STEPS[function.__name__.strip("_").replace("_", "-")] = function
    return function


class Client:
    """One server as both interfaces of the package see it, and the checks done so far."""

    def __init__(self):
        kubernetes.config.load_kube_config()
        self.api = client.ApiClient()
        self.dynamic = dynamic.DynamicClient(self.api)
        self.custom = client.CustomObjectsApi(self.api)
        self.flunders = self.dynamic.resources.get(api_version=API, kind="Flunder")
        self.fleets = self.dynamic.resources.get(api_version=FLEET_API, kind="Fleet")
        self.checks = self.failed = 0

    def check(self, condition, what, got=""):
        self.checks += 1
        if not condition:
            self.failed += 1
            print("FAILED: %s\n  got: %s" % (what, got), flush=True)

    def equal(self, got, want, what):
        self.check(got == want, "%s: %r" % (what, want), repr(got))

    def refused(self, call, code, reason, *texts):
        """`call` fails with a Status of `code` and `reason` whose message has `texts`; returns it."""
        try:
            answer = call()
        except ApiException as error:
            status = json.loads(error.body)
            self.equal((error.status, status.get("code"), status.get("reason")), (code, code, reason), "a refusal")
            self.equal(status.get("kind"), "Status", "a refusal's kind")
            for text in texts:
                self.check(text in status.get("message", ""), "a refusal says %r" % text, status.get("message"))
            return status
        self.check(False, "refused with %d %s" % (code, reason), answer)
        return {}

    def create(self, name, reference="other", namespace="default", **labels):
        answer = self.flunders.create(body=flunder(name, reference, **labels), namespace=namespace)
        return answer.to_dict()

    def get(self, name, namespace="default"):
        return self.flunders.get(name=name, namespace=namespace).to_dict()

    def patch(self, name, body, kind, **options):
        return self.flunders.patch(name=name, namespace="default", body=body, content_type=kind, **options).to_dict()

    def apply(self, name, manager, force=None, **content):
        """Applies `content` (members of the object) as `manager`."""
        body = {"apiVersion": API, "kind": "Flunder", **content}
        body.setdefault("metadata", {})["name"] = name
        return self.flunders.server_side_apply(
            name=name, namespace="default", body=json.dumps(body), field_manager=manager, force_conflicts=force,
            # Of this version only: it has a default without which the answer would be no JSON.
            header_params={"Accept": "application/json"}).to_dict()


def flunder(name, reference="other", **labels):
    return {"apiVersion": API, "kind": "Flunder", "metadata": {"name": name, "labels": labels},
            "spec": {"flunderReference": reference, "referenceType": "Flunder"}}


def fleet(name, **spec):
    return {"apiVersion": FLEET_API, "kind": "Fleet", "metadata": {"name": name}, "spec": spec}


def names(objects):
    return [one["metadata"]["name"] for one in objects]


class Events:
    """A watch's events, taken one by one; the stream ends with it."""

    def __init__(self, resource, **options):
        self.watch = watch.Watch()
        self.stream = self.watch.stream(
            resource.get, namespace="default", serialize=False, timeout_seconds=WATCH_SECONDS, **options)

    def next(self):
        event = next(self.stream, None)
        if event is None:
            raise RuntimeError("the watch ended early")
        return event["type"], event["raw_object"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()


@step
def discovery(t):
    version = client.VersionApi(t.api).get_code()
    t.equal((version.major, version.minor.rstrip("+").isdigit()), ("1", True), "the version")
    groups = {group.name: group for group in client.ApisApi(t.api).get_api_versions().groups}
    t.check(GROUP in groups, "the group is listed", list(groups))
    t.equal([v.version for v in groups[GROUP].versions], ["v1beta1", "v1alpha1"], "the versions by priority")
    t.equal(groups[GROUP].preferred_version.group_version, API, "the preferred version")
    one = t.flunders
    t.equal((one.kind, one.name, one.namespaced), ("Flunder", "flunders", True), "a resource")
    for verb in "create delete deletecollection get list patch update watch".split():
        t.check(verb in one.verbs, "flunders have the verb " + verb, one.verbs)


@step
def create(t):
    one = t.create("create-1", app="a")
    t.equal((one["apiVersion"], one["kind"]), (API, "Flunder"), "a created object's type")
    for member in ("uid", "resourceVersion", "creationTimestamp"):
        t.check(one["metadata"].get(member), "metadata.%s is set" % member, one["metadata"])
    t.equal(one["metadata"]["namespace"], "default", "the namespace")
    t.equal(one["metadata"]["labels"], {"app": "a"}, "the labels")
    t.equal(one["spec"], {"flunderReference": "other", "referenceType": "Flunder"}, "the spec")
    status = t.refused(lambda: t.create("create-1"), 409, "AlreadyExists",
                       'flunders.wardle.example.com "create-1" already exists')
    t.equal(status.get("details"), {"name": "create-1", "group": GROUP, "kind": "flunders"}, "the details")
    body = flunder("")
    body["metadata"] = {"generateName": "create-gen-"}
    made = t.custom.create_namespaced_custom_object(GROUP, VERSION, "default", "flunders", body)
    t.check(made["metadata"]["name"].startswith("create-gen-"), "a generated name", made["metadata"])
    both = flunder("create-2")
    both["spec"]["fischerReference"] = "b"
    status = t.refused(lambda: t.flunders.create(body=both, namespace="default"), 422, "Invalid",
                       'Flunder.wardle.example.com "create-2" is invalid: spec.fischerReference: Invalid value: "b"')
    causes = status.get("details", {}).get("causes", [{}])
    t.equal((causes[0].get("reason"), causes[0].get("field")), ("FieldValueInvalid", "spec.fischerReference"), "a cause")


@step
def get(t):
    created = t.create("get-1", "target")
    t.equal(t.get("get-1"), created, "what was created is read")
    t.equal(t.custom.get_namespaced_custom_object(GROUP, VERSION, "default", "flunders", "get-1"), created,
            "both interfaces read the same")
    old = t.custom.get_namespaced_custom_object(GROUP, "v1alpha1", "default", "flunders", "get-1")
    t.equal((old["apiVersion"], old["spec"]), (GROUP + "/v1alpha1", {"reference": "target", "referenceType": "Flunder"}),
            "the other version")
    t.refused(lambda: t.get("get-none"), 404, "NotFound", 'flunders.wardle.example.com "get-none" not found')


@step
def list_(t):
    created = [t.create("list-%d" % i, set="list", even=str(i % 2 == 0)) for i in range(4)]
    listed = t.flunders.get(namespace="default", label_selector="set=list").to_dict()
    t.equal((listed["apiVersion"], listed["kind"]), (API, "FlunderList"), "a list's type")
    t.check(int(listed["metadata"]["resourceVersion"]) >= int(created[-1]["metadata"]["resourceVersion"]),
            "a list is as new as what it holds", listed["metadata"])
    t.equal(names(listed["items"]), ["list-0", "list-1", "list-2", "list-3"], "the items by name")
    t.equal(listed["items"][0]["spec"], created[0]["spec"], "an item's spec")
    listed = t.flunders.get(namespace="default", label_selector="set=list,even in (True)").to_dict()
    t.equal(names(listed["items"]), ["list-0", "list-2"], "a label selector")
    listed = t.flunders.get(namespace="default", field_selector="metadata.name=list-3").to_dict()
    t.equal(names(listed["items"]), ["list-3"], "a field selector")
    everywhere = t.custom.list_cluster_custom_object(GROUP, VERSION, "flunders", label_selector="set=list")
    t.equal(len(everywhere["items"]), 4, "every namespace")


@step
def list_pages(t):
    for i in range(5):
        t.create("page-%d" % i, namespace="pages")
    seen, rest, revisions, more = [], [], set(), None
    while True:
        page = t.flunders.get(namespace="pages", limit=2, _continue=more).to_dict()
        seen += names(page["items"])
        rest.append(page["metadata"].get("remainingItemCount"))
        revisions.add(page["metadata"]["resourceVersion"])
        if len(seen) == 2:
            t.create("page-0-late", namespace="pages")
            t.create("page-9-late", namespace="pages")
        more = page["metadata"].get("continue")
        if not more:
            break
    t.equal(seen, ["page-%d" % i for i in range(5)], "pages show one moment")
    t.equal(rest, [3, 1, None], "what remains")
    t.equal(len(revisions), 1, "resource versions over the pages")


@step
def watch_(t):
    listed = t.flunders.get(namespace="default").to_dict()
    with Events(t.flunders, resource_version=listed["metadata"]["resourceVersion"], label_selector="set=watch") as events:
        created = t.create("watch-1", set="watch")
        t.equal(events.next(), ("ADDED", created), "the first event")
        t.create("watch-other", set="other")
        changed = t.patch("watch-1", {"spec": {"flunderReference": "new"}}, "application/merge-patch+json")
        t.equal(events.next(), ("MODIFIED", changed), "the second event")
        t.patch("watch-1", {"metadata": {"labels": {"set": None}}}, "application/merge-patch+json")
        kind, gone = events.next()
        t.equal((kind, gone["metadata"]["name"]), ("DELETED", "watch-1"), "it leaves the selector")
        back = t.patch("watch-1", {"metadata": {"labels": {"set": "watch"}}}, "application/merge-patch+json")
        t.equal(events.next(), ("ADDED", back), "it comes back")
        t.flunders.delete(name="watch-1", namespace="default")
        kind, deleted = events.next()
        t.equal((kind, deleted["spec"]), ("DELETED", back["spec"]), "the last event")
        t.check(int(deleted["metadata"]["resourceVersion"]) > int(back["metadata"]["resourceVersion"]),
                "a deletion has a revision of its own", deleted["metadata"])
    with Events(t.flunders, resource_version=created["metadata"]["resourceVersion"], field_selector="metadata.name=watch-1") as events:
        t.equal([events.next()[0] for _ in range(4)], ["MODIFIED", "MODIFIED", "MODIFIED", "DELETED"], "a watch resumes")


@step
def watch_list(t):
    for i in range(3):
        t.create("initial-%d" % i, set="initial")
    query = [("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"), ("allowWatchBookmarks", "True")]
    with Events(t.flunders, query_params=query, label_selector="set=initial") as events:
        initial = [events.next() for _ in range(3)]
        t.equal([kind for kind, _ in initial], ["ADDED"] * 3, "initial events")
        t.equal(sorted(names(one for _, one in initial)), ["initial-0", "initial-1", "initial-2"], "what they show")
        kind, mark = events.next()
        t.equal(kind, "BOOKMARK", "the end of the initial events")
        t.equal(mark["metadata"].get("annotations"), {"k8s.io/initial-events-end": "true"}, "its annotation")
        t.equal(mark["kind"], "Flunder", "its kind")
        newest = max(int(one["metadata"]["resourceVersion"]) for _, one in initial)
        t.check(int(mark["metadata"]["resourceVersion"]) >= newest, "its revision", mark["metadata"])
        late = t.create("initial-late", set="initial")
        t.equal(events.next(), ("ADDED", late), "an event after it")


@step
def informer(t):
    """The package has none: a list, then watches that go on where the last ended, as its users write."""
    t.create("informer-1", set="informer")
    store, done = {}, threading.Event()
    listed = t.flunders.get(namespace="default", label_selector="set=informer").to_dict()
    store.update({one["metadata"]["name"]: one for one in listed["items"]})

    def follow():
        watcher = watch.Watch()
        # It resumes by itself: no timeout of ours.
        for event in watcher.stream(t.custom.list_namespaced_custom_object, GROUP, VERSION, "default", "flunders",
                                    label_selector="set=informer", resource_version=listed["metadata"]["resourceVersion"]):
            one = event["raw_object"]
            if event["type"] == "DELETED":
                store.pop(one["metadata"]["name"])
            else:
                store[one["metadata"]["name"]] = one
            if one["metadata"]["name"] == "informer-end":
                done.set()
                watcher.stop()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    t.create("informer-2", set="informer")
    t.create("informer-3", set="informer")
    t.patch("informer-2", {"spec": {"flunderReference": "changed"}}, "application/merge-patch+json")
    t.flunders.delete(name="informer-1", namespace="default")
    t.create("informer-end", set="informer")
    t.check(done.wait(WATCH_SECONDS), "the last change is seen", sorted(store))
    listed = t.flunders.get(namespace="default", label_selector="set=informer").to_dict()["items"]
    t.equal(sorted(store), names(listed), "what is followed is what is listed")
    t.equal(store["informer-2"]["spec"]["flunderReference"], "changed", "a change is followed")
    thread.join(WATCH_SECONDS)


@step
def update(t):
    first = t.create("update-1")
    changed = {**first, "spec": {**first["spec"], "flunderReference": "changed"}}
    second = t.flunders.replace(body=changed, namespace="default").to_dict()
    t.equal(second["spec"]["flunderReference"], "changed", "an update")
    t.equal(second["metadata"]["uid"], first["metadata"]["uid"], "an update keeps the uid")
    t.check(int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"]),
            "an update has a new revision", second["metadata"])
    same = t.custom.replace_namespaced_custom_object(GROUP, VERSION, "default", "flunders", "update-1", second)
    t.equal(same["metadata"]["resourceVersion"], second["metadata"]["resourceVersion"], "no change writes nothing")
    t.refused(lambda: t.flunders.replace(body=changed, namespace="default"), 409, "Conflict",
              "the object has been modified; please apply your changes to the latest version and try again")
    renamed = json.loads(json.dumps(second))
    renamed["metadata"]["name"] = "update-2"
    t.refused(lambda: t.flunders.replace(body=renamed, name="update-1", namespace="default"), 400, "BadRequest",
              "the name of the object (update-2) does not match the name on the URL (update-1)")


@step
def json_patch(t):
    t.create("json-1")
    patch = [{"op": "test", "path": "/spec/flunderReference", "value": "other"},
             {"op": "replace", "path": "/spec/flunderReference", "value": "json"},
             {"op": "add", "path": "/metadata/annotations", "value": {"a/b": "1"}}]
    one = t.patch("json-1", patch, "application/json-patch+json")
    t.equal((one["spec"]["flunderReference"], one["metadata"]["annotations"]), ("json", {"a/b": "1"}), "a JSON patch")
    t.refused(lambda: t.patch("json-1", patch, "application/json-patch+json"), 422, "Invalid",
              "the server rejected our request due to an error in our request")
    one = t.patch("json-1", [{"op": "remove", "path": "/metadata/annotations/a~1b"}], "application/json-patch+json")
    t.equal(one["metadata"].get("annotations"), None, "an annotation is removed")
    t.equal(t.get("json-1"), one, "what was answered is stored")


@step
def merge_patch(t):
    t.create("merge-1", a="1", b="2")
    one = t.patch("merge-1", {"metadata": {"labels": {"a": None, "c": "3"}}, "spec": {"flunderReference": "merged"}},
                  "application/merge-patch+json")
    t.equal((one["metadata"]["labels"], one["spec"]["flunderReference"]), ({"b": "2", "c": "3"}, "merged"), "a merge patch")
    again = t.custom.patch_namespaced_custom_object(
        GROUP, VERSION, "default", "flunders", "merge-1", {"spec": {"flunderReference": "merged"}})
    t.equal(again["metadata"]["resourceVersion"], one["metadata"]["resourceVersion"], "no change writes nothing")
    stale = {"metadata": {"resourceVersion": "1"}, "spec": {"flunderReference": "stale"}}
    t.refused(lambda: t.patch("merge-1", stale, "application/merge-patch+json"), 409, "Conflict")
    t.refused(lambda: t.patch("merge-none", {}, "application/merge-patch+json"), 404, "NotFound")


@step
def strategic_patch(t):
    t.fleets.create(body=fleet("strategic-1", cargo=[{"name": "rum", "tons": 3}, {"name": "tea", "tons": 1}], flags=["red"]),
                    namespace="default")
    # What the package sends of itself is a strategic merge patch.
    change = lambda spec: t.fleets.patch(name="strategic-1", namespace="default", body={"spec": spec}).to_dict()["spec"]
    one = change({"cargo": [{"name": "tea", "tons": 5}, {"name": "oil", "tons": 9}], "flags": ["blue"]})
    t.equal(sorted((each["name"], each["tons"]) for each in one["cargo"]), [("oil", 9), ("rum", 3), ("tea", 5)], "a list by its key")
    t.equal(sorted(one["flags"]), ["blue", "red"], "a set")
    one = change({"cargo": [{"name": "rum", "$patch": "delete"}], "$deleteFromPrimitiveList/flags": ["red"]})
    t.equal((sorted(each["name"] for each in one["cargo"]), one["flags"]), (["oil", "tea"], ["blue"]), "directives")
    one = change({"cargo": [{"$patch": "replace"}, {"name": "hay"}], "limits": {"wind": "1500m"}, "$retainKeys": ["cargo", "limits"]})
    t.equal((one["cargo"], one.get("flags")), ([{"name": "hay"}], None), "replace and retainKeys")
    t.refused(lambda: change({"cargo": [{"tons": 1}]}), 500, None, "does not contain declared merge key: name")


@step
def apply(t):
    cargo = lambda name, tons: {"cargo": [{"name": name, "tons": tons}]}
    send = lambda manager, spec, force=None: t.fleets.server_side_apply(
        name="apply-1", namespace="default", body=json.dumps(fleet("apply-1", **spec)), field_manager=manager,
        force_conflicts=force).to_dict()
    one = send("alice", {"replicas": 2, **cargo("rum", 3)})
    t.check(one["metadata"].get("uid"), "an apply creates", one)
    entry = one["metadata"]["managedFields"][0]
    t.equal((entry["manager"], entry["operation"], entry["apiVersion"], entry["fieldsType"]),
            ("alice", "Apply", FLEET_API, "FieldsV1"), "who owns it")
    t.equal(entry["fieldsV1"]["f:spec"],
            {"f:cargo": {'k:{"name":"rum"}': {".": {}, "f:name": {}, "f:tons": {}}}, "f:replicas": {}}, "what she owns")
    again = send("alice", {"replicas": 2, **cargo("rum", 3)})
    t.equal(again["metadata"]["resourceVersion"], one["metadata"]["resourceVersion"], "the same again writes nothing")
    both = send("bob", cargo("tea", 1))
    t.equal(both["spec"]["cargo"], [{"name": "rum", "tons": 3}, {"name": "tea", "tons": 1}], "two managers share a list")
    t.equal([each["manager"] for each in both["metadata"]["managedFields"]], ["alice", "bob"], "its managers")
    status = t.refused(lambda: send("bob", {"replicas": 5}), 409, "Conflict",
                       'Apply failed with 1 conflict: conflict with "alice": .spec.replicas')
    t.equal(status["details"]["causes"], [{"reason": "FieldManagerConflict", "message": 'conflict with "alice"',
                                           "field": ".spec.replicas"}], "its cause")
    taken = send("bob", {"replicas": 5}, force=True)
    t.equal((taken["spec"]["replicas"], taken["spec"]["cargo"]), (5, [{"name": "rum", "tons": 3}]), "force takes it, and tea is given up")
    left = send("alice", {})
    t.equal((left["spec"].get("cargo"), left["spec"]["replicas"]), (None, 5), "what nobody applies is gone")
    t.refused(lambda: t.fleets.server_side_apply(name="apply-1", namespace="default", body=json.dumps(fleet("apply-1"))),
              422, "Invalid", "fieldManager: Required value: is required for apply patch")
    flunder_ = t.apply("apply-2", "alice", spec={"flunderReference": "x", "referenceType": "Flunder"})
    t.equal(flunder_["metadata"]["managedFields"][0]["fieldsV1"], {"f:spec": {"f:flunderReference": {}, "f:referenceType": {}}},
            "a kind of the other group")


@step
def dry_run(t):
    t.refused(lambda: t.flunders.create(body=flunder("dry-1"), namespace="default", dry_run="some"), 422, "Invalid",
              "dryRun: Unsupported value")
    made = t.flunders.create(body=flunder("dry-1"), namespace="default", dry_run="All").to_dict()
    t.check(made["metadata"].get("uid"), "a dry create answers as a create", made)
    t.refused(lambda: t.get("dry-1"), 404, "NotFound")
    before = t.create("dry-2")
    changed = t.patch("dry-2", {"spec": {"flunderReference": "dry"}}, "application/merge-patch+json", dry_run="All")
    t.equal(changed["spec"]["flunderReference"], "dry", "a dry patch answers as a patch")
    t.flunders.delete(name="dry-2", namespace="default", body={"dryRun": ["All"]})
    t.equal(t.get("dry-2"), before, "nothing was written")


@step
def field_validation(t):
    typo = flunder("strict-1")
    typo["spec"]["typo"] = 1
    make = lambda how: t.api.call_api(
        t.flunders.path(namespace="default"), "POST", query_params=[("fieldValidation", how)], body=typo,
        header_params={"Content-Type": "application/json", "Accept": "application/json"}, response_type="object",
        auth_settings=["BearerToken"])
    t.refused(lambda: make("Strict"), 400, "BadRequest", 'strict decoding error: unknown field "spec.typo"')
    made, code, headers = make("Warn")
    t.equal((code, "typo" in made["spec"]), (201, False), "what is unknown is dropped")
    t.equal(headers.get("Warning"), '299 - "unknown field \\"spec.typo\\""', "the warning")
    typo["metadata"]["name"] = "strict-2"
    made, code, headers = make("Ignore")
    t.equal((code, headers.get("Warning")), (201, None), "no warning if not asked for")


@step
def status(t):
    one = t.fleets.create(body={**fleet("status-1", replicas=3), "status": {"replicas": 9}}, namespace="default").to_dict()
    t.equal((one["status"], one["metadata"]["generation"]), ({}, 1), "a status does not come with its object")
    one["status"], one["spec"]["replicas"] = {"replicas": 2}, 7
    told = t.fleets.status.replace(body=one, namespace="default").to_dict()
    t.equal((told["status"], told["spec"]["replicas"], told["metadata"]["generation"]), ({"replicas": 2}, 3, 1),
            "it is changed alone")
    told["status"], told["spec"]["replicas"] = {"replicas": 9}, 7
    wanted = t.fleets.replace(body=told, namespace="default").to_dict()
    t.equal((wanted["status"], wanted["spec"]["replicas"], wanted["metadata"]["generation"]), ({"replicas": 2}, 7, 2),
            "nor with an update")
    condition = {"type": "Ready", "status": "True", "reason": "Afloat", "message": "", "lastTransitionTime": "2030-01-02T03:04:05Z"}
    told = t.fleets.status.patch(name="status-1", namespace="default", body={"status": {"conditions": [condition]}},
                                 content_type="application/merge-patch+json").to_dict()
    t.equal(told["status"], {"replicas": 2, "conditions": [condition]}, "a patch")
    t.equal(t.fleets.status.get(name="status-1", namespace="default").to_dict(), told, "what is read")


@step
def scale(t):
    t.fleets.create(body=fleet("scale-1", replicas=3, selector={"matchLabels": {"a": "b"}}), namespace="default")
    one = t.fleets.scale.get(name="scale-1", namespace="default").to_dict()
    t.equal((one["apiVersion"], one["kind"]), ("autoscaling/v1", "Scale"), "a scale's type")
    t.equal((one["spec"], one["status"]), ({"replicas": 3}, {"replicas": 0, "selector": "a=b"}), "what it says")
    one["spec"]["replicas"] = 5
    more = t.fleets.scale.replace(body=one, namespace="default").to_dict()
    t.equal(more["spec"], {"replicas": 5}, "an update")
    t.refused(lambda: t.fleets.scale.replace(body=one, namespace="default"), 409, "Conflict")
    less = t.fleets.scale.patch(name="scale-1", namespace="default", body={"spec": {"replicas": 1}},
                                content_type="application/merge-patch+json").to_dict()
    t.equal(less["spec"], {"replicas": 1}, "a patch")
    stored = t.fleets.get(name="scale-1", namespace="default").to_dict()
    t.equal((stored["spec"]["replicas"], stored["metadata"]["generation"]), (1, 3), "the object itself")
    less["spec"]["replicas"] = -1
    t.refused(lambda: t.fleets.scale.replace(body=less, namespace="default"), 422, "Invalid",
              "spec.replicas: Invalid value: -1: must be greater than or equal to 0")


@step
def access_review(t):
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
        resource_attributes=client.V1ResourceAttributes(verb="create", group="harbor.example.com", resource="fleets")))
    answer = client.AuthorizationV1Api(t.api).create_self_subject_access_review(review)
    t.equal((answer.status.allowed, answer.spec.resource_attributes.verb), (True, "create"), "everything is allowed")


@step
def typed(t):
    core = client.CoreV1Api(t.api)
    wanted = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="typed-1"), data={"a": "1"}, binary_data={"b": "AP8="})
    made = core.create_namespaced_config_map("default", wanted)
    t.equal((made.data, made.binary_data, bool(made.metadata.uid)), ({"a": "1"}, {"b": "AP8="}, True), "a generated class")
    made.data["a"] = "2"
    t.equal(core.replace_namespaced_config_map("typed-1", "default", made).data, {"a": "2"}, "an update")
    watched = watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=WATCH_SECONDS,
                                   resource_version=made.metadata.resource_version)
    event = next(watched)
    t.equal((event["type"], event["object"].data), ("MODIFIED", {"a": "2"}), "an event")
    watched.close()
    t.equal([one.metadata.name for one in core.list_namespaced_config_map("default").items], ["typed-1"], "a list")
    t.equal(core.delete_namespaced_config_map("typed-1", "default").status, "Success", "a delete")


@step
def delete(t):
    one = t.create("delete-1")
    t.refused(lambda: t.flunders.delete(name="delete-1", namespace="default", body={"preconditions": {"uid": "x"}}),
              409, "Conflict", "the UID in the precondition (x) does not match the UID in record")
    gone = t.flunders.delete(name="delete-1", namespace="default",
                             body={"preconditions": {"uid": one["metadata"]["uid"]}}).to_dict()
    t.equal((gone["kind"], gone.get("status")), ("Status", "Success"), "a delete")
    t.equal(gone["details"], {"name": "delete-1", "group": GROUP, "kind": "flunders", "uid": one["metadata"]["uid"]},
            "its details")
    t.refused(lambda: t.flunders.delete(name="delete-1", namespace="default"), 404, "NotFound")
    held = flunder("delete-2")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    t.flunders.create(body=held, namespace="default")
    kept = t.flunders.delete(name="delete-2", namespace="default").to_dict()
    t.equal(kept["kind"], "Flunder", "a finalizer keeps the object")
    t.check(kept["metadata"].get("deletionTimestamp"), "it is marked", kept["metadata"])
    again = t.flunders.delete(name="delete-2", namespace="default").to_dict()
    t.equal(again["metadata"]["resourceVersion"], kept["metadata"]["resourceVersion"], "marked once")
    t.patch("delete-2", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
    t.refused(lambda: t.get("delete-2"), 404, "NotFound")
    for policy, finalizer in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
        t.create("delete-3")
        t.flunders.delete(name="delete-3", namespace="default", propagation_policy=policy)
        t.equal(t.get("delete-3")["metadata"]["finalizers"], [finalizer], "what the policy leaves to do")
        t.patch("delete-3", [{"op": "remove", "path": "/metadata/finalizers/0"}], "application/json-patch+json")
        t.refused(lambda: t.get("delete-3"), 404, "NotFound")


@step
def delete_collection(t):
    for i in range(3):
        t.create("collection-%d" % i, set="collection")
    t.create("collection-kept", set="kept")
    gone = t.flunders.delete(namespace="default", label_selector="set=collection").to_dict()
    t.equal((gone["kind"], names(gone["items"])), ("FlunderList", ["collection-0", "collection-1", "collection-2"]),
            "what was deleted")
    left = t.flunders.get(namespace="default", label_selector="set in (collection,kept)").to_dict()
    t.equal(names(left["items"]), ["collection-kept"], "what is left")


def main():
    t = Client()
    wanted = sys.argv[1:] or list(STEPS)
    for name in wanted:
        if name in LACKING:
            print("python %s: cannot, %s" % (name, LACKING[name]), flush=True)
            continue
        before = t.checks
        try:
            STEPS[name](t)
        except Exception as error:  # The other steps run all the same.
            t.check(False, "%s: no exception" % name, "".join(traceback.format_exception(error)))
        print("python %s: %d checks" % (name, t.checks - before), flush=True)
    print("python: %d checks, %d failed" % (t.checks, t.failed))
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
