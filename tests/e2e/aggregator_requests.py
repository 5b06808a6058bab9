"""The requests of aggregator_differential.py: about APIServices, and through them."""

import base64
import time

from crd_answers import Request
from extension_server import BASE, GROUP, Handler
from servers import Failure

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
NAME = "v1." + GROUP
PEER = SERVICES + "/" + NAME
LOCAL = "v1.local.example.com"
# Groups that both servers have; whatever else is listed is not compared.
GROUPS = ("apiregistration.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io",
          "authorization.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "rbac.authorization.k8s.io", GROUP,
          "peer2.example.com", "local.example.com", "crds.example.com")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
V2 = "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList"


def service(name, **spec):
    """An APIService, by its name."""
    version, group = name.split(".", 1)
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name},
            "spec": {"group": group, "version": version, "groupPriorityMinimum": 2000, "versionPriority": 10, **spec}}


def changed(value, path, to):
    """A copy of `value` with another member; ... removes it."""
    key, _, rest = path.partition("/")
    copy = dict(value)
    if rest:
        copy[key] = changed(copy.get(key) or {}, rest, to)
    elif to is ...:
        copy.pop(key, None)
    else:
        copy[key] = to
    return copy


class Asker:
    """Sends the requests of one part to every server."""

    def __init__(self, judge, part):
        self.judge, self.part = judge, part

    def __call__(self, name, method, path, body=None, **headers):
        like = body if isinstance(body, dict) else None
        return self.judge.ask(Request(self.part + "/" + name, method, path, body, like, **headers))

    def silently(self, method, path, body=None, **headers):
        """Does what is not compared."""
        for peer in self.judge.peers():
            request = Request("", method, path, body, **headers)
            code, _, text = peer.once(method, path, request.body, request.headers)
            if code >= 300 and code not in (404, 409):
                raise Failure("%s %s: %d %s" % (method, path, code, text))

    def until(self, path, ready, seconds=40, poke=None):
        """Waits until each server's answer is as wanted; `poke` is an APIService that is touched meanwhile."""
        for peer in self.judge.peers():
            end, turn = time.monotonic() + seconds, 0
            while not ready(*peer.once("GET", path)):
                if time.monotonic() > end:
                    self.judge.report.compare(self.part + "/waits", path, {}, {"last": peer.once("GET", path)[2]})
                    break
                turn += 1
                if poke and turn % 20 == 0:
                    peer.once("PATCH", poke, '{"metadata":{"annotations":{"turn":"%d"}}}' % turn,
                              {"Content-Type": "application/merge-patch+json"})
                time.sleep(0.05)
            if poke:
                peer.once("PATCH", poke, '{"metadata":{"annotations":null}}', {"Content-Type": "application/merge-patch+json"})

    def becomes(self, path, reason):
        self.until(path, lambda code, _, text: '"reason":"%s"' % reason in text.replace(": ", ":"), poke=path)


def generated(ask):
    """APIServices that a server makes itself."""
    for name in ("v1.", "v1.apiextensions.k8s.io", "v1.rbac.authorization.k8s.io", "v1.coordination.k8s.io",
                 "v1.admissionregistration.k8s.io", "v1.discovery.k8s.io", "v1.authorization.k8s.io"):
        ask("get " + name, "GET", SERVICES + "/" + name)
    ask("get of the group itself", "GET", SERVICES + "/v1.apiregistration.k8s.io")
    ask("get status", "GET", SERVICES + "/v1./status")
    ask("table of one", "GET", SERVICES + "/v1.", Accept=TABLE)
    ask("metadata of one", "GET", SERVICES + "/v1.", Accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    ask("list by name", "GET", SERVICES + "?fieldSelector=metadata.name%3Dv1.coordination.k8s.io")
    ask("table by name", "GET", SERVICES + "?fieldSelector=metadata.name%3Dv1.coordination.k8s.io", Accept=TABLE)
    ask("list by label and name", "GET", SERVICES + "?labelSelector=kube-aggregator.kubernetes.io/automanaged%3Donstart"
        "&fieldSelector=metadata.name%3Dv1.")
    ask("list by another label", "GET", SERVICES + "?labelSelector=kube-aggregator.kubernetes.io/automanaged%3Dtrue")
    ask("list by an unknown field", "GET", SERVICES + "?fieldSelector=spec.group%3Dx")
    ask("list by an ill label", "GET", SERVICES + "?labelSelector=a%3Db%3Dc")
    ask("list of ill limit", "GET", SERVICES + "?limit=x")
    ask("priority patched", "PATCH", SERVICES + "/v1.coordination.k8s.io", '{"spec":{"versionPriority":99}}',
        Content_Type="application/merge-patch+json")
    ask("delete", "DELETE", SERVICES + "/v1.coordination.k8s.io")
    ask("get deleted", "GET", SERVICES + "/v1.coordination.k8s.io")
    ask("its resources are served", "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/none")
    ask("its group version is served", "GET", "/apis/coordination.k8s.io/v1/nonsense")
    again = service("v1.coordination.k8s.io", groupPriorityMinimum=17450, versionPriority=15)
    ask("create again", "POST", SERVICES, again)
    ask("delete the legacy one", "DELETE", SERVICES + "/v1.")
    ask("the legacy API is served", "GET", "/api/v1/namespaces/none")
    ask("create the legacy one", "POST", SERVICES, changed(service("v1."), "spec/group", ...))


def invalid(ask):
    """APIServices that are refused, or nearly."""
    good = service(LOCAL)
    remote = service(LOCAL, service={"name": "api", "namespace": "peers"})
    bundle = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()
    rows = [
        ("another name", good, "metadata/name", "v2.local.example.com"), ("no name", good, "metadata/name", ...),
        ("ill name", good, "metadata/name", "V1/x"), ("no spec", good, "spec", ...), ("no version", good, "spec/version", ...),
        ("no group", good, "spec/group", ...), ("empty group", good, "spec/group", ""),
        ("ill group", good, "spec/group", "Local_example"), ("ill version", good, "spec/version", "V1"),
        ("no group priority", good, "spec/groupPriorityMinimum", ...), ("no version priority", good, "spec/versionPriority", ...),
        ("group priority 0", good, "spec/groupPriorityMinimum", 0), ("group priority -1", good, "spec/groupPriorityMinimum", -1),
        ("group priority 20000", good, "spec/groupPriorityMinimum", 20000),
        ("group priority 20001", good, "spec/groupPriorityMinimum", 20001),
        ("version priority 1000", good, "spec/versionPriority", 1000),
        ("version priority 1001", good, "spec/versionPriority", 1001),
        ("version priority 2^31", good, "spec/versionPriority", 2 ** 31), ("priority as text", good, "spec/versionPriority", "15"),
        ("fractional priority", good, "spec/versionPriority", 1.5),
        ("local with a bundle", good, "spec/caBundle", bundle), ("local and insecure", good, "spec/insecureSkipTLSVerify", True),
        ("no name of the service", remote, "spec/service/name", ...), ("no namespace of it", remote, "spec/service/namespace", ""),
        ("empty service", remote, "spec/service", {}), ("port 0", remote, "spec/service/port", 0),
        ("port 65536", remote, "spec/service/port", 65536), ("port -1", remote, "spec/service/port", -1),
        ("default port", remote, "spec/service/port", ...), ("port as text", remote, "spec/service/port", "https"),
        ("bundle is no base64", remote, "spec/caBundle", "%%%"), ("bundle is no certificate", remote, "spec/caBundle", bundle),
        ("empty bundle", remote, "spec/caBundle", ""),
        ("insecure with a bundle", changed(remote, "spec/caBundle", bundle), "spec/insecureSkipTLSVerify", True),
        ("insecure", remote, "spec/insecureSkipTLSVerify", True), ("insecure as text", remote, "spec/insecureSkipTLSVerify", "yes"),
        ("status is dropped", good, "status", {"conditions": [{"type": "Available", "status": "False"}]}),
        ("unknown field", good, "spec/unheard", 1), ("another kind", good, "kind", "Service"),
        ("another version", good, "apiVersion", "apiregistration.k8s.io/v1beta1"),
        ("another group", good, "apiVersion", "v1"), ("no apiVersion", good, "apiVersion", ...), ("no kind", good, "kind", ...),
        ("namespace", good, "metadata/namespace", "default"), ("ill label", good, "metadata/labels", {"a b": "c"}),
        ("label as number", good, "metadata/labels", {"a": 1}), ("resourceVersion", good, "metadata/resourceVersion", "1"),
        ("spec as text", good, "spec", "x"), ("group as number", good, "spec/group", 5)]
    for name, base, path, to in rows:
        ask(name, "POST", SERVICES + "?dryRun=All", changed(base, path, to))
    ask("strictly unknown", "POST", SERVICES + "?dryRun=All&fieldValidation=Strict", changed(good, "spec/unheard", 1))
    ask("silently unknown", "POST", SERVICES + "?dryRun=All&fieldValidation=Ignore", changed(good, "spec/unheard", 1))
    ask("ill dryRun", "POST", SERVICES + "?dryRun=Some", good)
    ask("no JSON", "POST", SERVICES, "{")
    ask("empty body", "POST", SERVICES, "")
    ask("YAML", "POST", SERVICES + "?dryRun=All", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\n"
        "metadata: {name: v1.local.example.com}\nspec: {group: local.example.com, version: v1, groupPriorityMinimum: 1, "
        "versionPriority: 1}\n", Content_Type="application/yaml")
    ask("unknown media type", "POST", SERVICES, "x", Content_Type="text/plain")
    ask("generated name", "POST", SERVICES + "?dryRun=All", changed(changed(good, "metadata/name", ...), "metadata/generateName", "Not-Valid-"))
    ask("of a namespace", "GET", "/apis/apiregistration.k8s.io/v1/namespaces/default/apiservices")
    ask("post to a name", "POST", SERVICES + "/" + LOCAL, good)
    ask("of v1beta1", "GET", "/apis/apiregistration.k8s.io/v1beta1/apiservices")
    ask("unknown subresource", "GET", SERVICES + "/v1./scale")
    ask("unknown version of a built-in group", "GET", "/apis/rbac.authorization.k8s.io/v9")
    ask("its resource", "GET", "/apis/rbac.authorization.k8s.io/v9/roles")


def local(ask):
    """A local APIService of a group that nobody serves, with every verb."""
    at, merge = SERVICES + "/" + LOCAL, {"Content_Type": "application/merge-patch+json"}
    good = service(LOCAL)
    ask("get none", "GET", at)
    ask("put none", "PUT", at, good)
    ask("patch none", "PATCH", at, "{}", **merge)
    ask("delete none", "DELETE", at)
    ask("create", "POST", SERVICES, good)
    ask("create once more", "POST", SERVICES, good)
    ask("get", "GET", at)
    ask("its group version", "GET", "/apis/local.example.com/v1")
    ask("its resources", "GET", "/apis/local.example.com/v1/things")
    ask.until("/apis", lambda code, _, text: "local.example.com" in text)
    ask("its group", "GET", "/apis/local.example.com")
    ask("its group, with a slash", "GET", "/apis/local.example.com/")
    ask("another of its group", "GET", "/apis/local.example.com/v2")
    current = changed(good, "metadata/resourceVersion", "$REVISION")
    ask("put without revision", "PUT", at, changed(good, "spec/versionPriority", 11))
    ask("put", "PUT", at, changed(current, "spec/versionPriority", 12))
    ask("put the same", "PUT", at, changed(current, "spec/versionPriority", 12))
    ask("put an old revision", "PUT", at, changed(good, "metadata/resourceVersion", "1"))
    ask("put another name", "PUT", at, changed(current, "metadata/name", "v2.local.example.com"))
    ask("put another group", "PUT", at, changed(current, "spec/group", "other.example.com"))
    ask("put another version", "PUT", at, changed(current, "spec/version", "v2"))
    ask("put another uid", "PUT", at, changed(current, "metadata/uid", "00000000-0000-4000-8000-000000000000"))
    ask("put a status", "PUT", at, changed(current, "status", {"conditions": []}))
    ask("merge patch", "PATCH", at, '{"metadata":{"labels":{"a":"b"}},"spec":{"versionPriority":20}}', **merge)
    ask("ill merge patch", "PATCH", at, '{"spec":{"versionPriority":0}}', **merge)
    ask("JSON patch", "PATCH", at, '[{"op":"replace","path":"/spec/versionPriority","value":21}]',
        Content_Type="application/json-patch+json")
    ask("JSON patch of nothing", "PATCH", at, '[{"op":"remove","path":"/spec/none"}]', Content_Type="application/json-patch+json")
    ask("strategic patch", "PATCH", at, '{"spec":{"versionPriority":22}}', Content_Type="application/strategic-merge-patch+json")
    ask("strategic patch of conditions", "PATCH", at + "/status", '{"status":{"conditions":[{"type":"Odd","status":"True"}]}}',
        Content_Type="application/strategic-merge-patch+json")
    ask("status after it", "GET", at + "/status")
    ask("put status", "PUT", at + "/status", changed(changed(current, "spec/versionPriority", 30), "status", {"conditions": [
        {"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available"},
        {"type": "Other", "status": "Unknown", "reason": "R", "message": "m"}]}))
    ask("put ill status", "PUT", at + "/status", changed(current, "status", {"conditions": [{"type": "X", "status": "Maybe"}]}))
    ask("list by label", "GET", SERVICES + "?labelSelector=a%3Db")
    ask("apply", "PATCH", at + "?fieldManager=one", service(LOCAL, versionPriority=40), Content_Type="application/apply-patch+yaml")
    ask("apply by force", "PATCH", at + "?fieldManager=one&force=true", service(LOCAL, versionPriority=40),
        Content_Type="application/apply-patch+yaml")
    ask("apply by another", "PATCH", at + "?fieldManager=two", service(LOCAL, versionPriority=41),
        Content_Type="application/apply-patch+yaml")
    ask("apply without manager", "PATCH", at, service(LOCAL), Content_Type="application/apply-patch+yaml")
    ask("apply a new one", "PATCH", SERVICES + "/v2.local.example.com?fieldManager=one", service("v2.local.example.com"),
        Content_Type="application/apply-patch+yaml")
    ask("apply status", "PATCH", at + "/status?fieldManager=three", {**service(LOCAL), "spec": {}, "status": {"conditions": [
        {"type": "Third", "status": "True"}]}}, Content_Type="application/apply-patch+yaml")
    ask.until("/apis/local.example.com", lambda code, _, text: '"v2"' in text)
    ask("two versions", "GET", "/apis/local.example.com")
    ask("delete of another uid", "DELETE", at, {"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}})
    ask("delete dryly", "DELETE", at + "?dryRun=All")
    ask("delete", "DELETE", at)
    ask("delete by label", "DELETE", SERVICES + "?fieldSelector=metadata.name%3Dv2.local.example.com")
    ask.until("/apis", lambda code, _, text: "local.example.com" not in text)
    ask("its group is gone", "GET", "/apis/local.example.com")


def core(kind, name, **members):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **members}


def ways(ask, port):
    """What is said of services that are not there, or lead nowhere."""
    ask.silently("POST", "/api/v1/namespaces", core("Namespace", "peers"))
    at = PEER
    remote = service(NAME, service={"name": "api", "namespace": "peers", "port": port}, insecureSkipTLSVerify=True)
    ask("create", "POST", SERVICES, remote)
    ask.becomes(at, "ServiceNotFound")
    ask("no service", "GET", at)
    ask("its table", "GET", at, Accept=TABLE)
    ask("discovery", "GET", BASE)
    ask("resource", "GET", BASE + "/echoes")
    ask("post", "POST", BASE + "/namespaces/default/echoes", "{}")
    ask("its group", "GET", "/apis/" + GROUP)
    ask("another version", "GET", "/apis/" + GROUP + "/v2")
    ports = [{"name": "https", "port": 80, "protocol": "TCP"}]
    ask.silently("POST", "/api/v1/namespaces/peers/services", core("Service", "api", spec={"type": "ClusterIP", "ports": ports}))
    ask.becomes(at, "ServicePortError")
    ask("another port", "GET", at)
    ask.silently("PATCH", "/api/v1/namespaces/peers/services/api", '[{"op":"replace","path":"/spec/ports/0/port","value":%d}]' % port,
                 Content_Type="application/json-patch+json")
    ask.becomes(at, "EndpointsNotFound")
    ask("no endpoints", "GET", at)
    ask("no endpoints, asked", "GET", BASE + "/echoes")
    ask.silently("POST", "/apis/discovery.k8s.io/v1/namespaces/peers/endpointslices", {
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": [],
        "metadata": {"name": "api-1", "labels": {"kubernetes.io/service-name": "api"}}, "ports": []})
    ask.becomes(at, "MissingEndpoints")
    ask("no addresses", "GET", at)
    ask.silently("DELETE", "/apis/discovery.k8s.io/v1/namespaces/peers/endpointslices/api-1")
    ask.silently("DELETE", "/api/v1/namespaces/peers/services/api")
    ask.silently("DELETE", at)
    ask.until(BASE, lambda code, *_: code == 404)
    ask("gone", "GET", BASE + "/echoes")
    ask("its group is gone", "GET", "/apis/" + GROUP)


def proxied(ask, ports, pem, wrong):
    """An extension server that is there; then one that is not, or is ill."""
    bundle = base64.b64encode(pem.encode()).decode()
    ask.silently("POST", "/api/v1/namespaces", core("Namespace", "peers"))
    ask.silently("POST", "/api/v1/namespaces/peers/services", core("Service", "api", spec={
        "type": "ExternalName", "externalName": "localhost"}))
    remote = service(NAME, service={"name": "api", "namespace": "peers", "port": ports["up"]}, caBundle=bundle)
    ask("create", "POST", SERVICES, remote)
    ask.becomes(PEER, "Passed")
    ask("available", "GET", PEER)
    ask("its table", "GET", SERVICES + "?fieldSelector=metadata.name%3D" + NAME, Accept=TABLE)
    # A server goes by what it has last read of the APIService.
    ask.until(BASE, lambda code, *_: code == 200)
    in_default = BASE + "/namespaces/default/echoes"
    for name, path in (("discovery", BASE), ("discovery, with a slash", BASE + "/"), ("list", BASE + "/echoes"),
                       ("query", in_default + "?x=%20y+z&a&a=b&a=%2F"), ("escaped", in_default + "/a%2Fb%20c"),
                       ("ill escape", in_default + "/a%zz"), ("double slash", BASE + "//echoes"), ("dots", BASE + "/a/../b"),
                       ("HTML", BASE + "/text"), ("Unicode", in_default + "/%E2%82%AC")):
        ask(name, "GET", path)
    for code in (204, 301, 302, 400, 404, 409, 418, 429, 500, 503):
        ask("answer %d" % code, "GET", BASE + "/%d" % code)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        ask(method, method, in_default + ("" if method == "POST" else "/one"), '{"a": "b"}')
    ask("OPTIONS", "OPTIONS", BASE + "/echoes")
    ask("HEAD", "HEAD", BASE + "/echoes")
    ask("large body", "POST", in_default, "x" * 100000)
    ask("stolen identity", "GET", in_default, X_Remote_User="root", X_Remote_Group="system:masters",
        X_Remote_Extra_Stolen="1", X_Remote_Uid="1", X_Forwarded_For="8.8.8.8", X_Mine="kept")
    ask("hop by hop", "GET", in_default, Connection="X-Mine", X_Mine="dropped", TE="trailers")
    ask("impersonated", "GET", in_default, Impersonate_User="jane", Impersonate_Group="devs", Impersonate_Uid="7",
        **{"Impersonate_Extra_acme.com%2Fproject": "x y", "Impersonate_Extra_team": "a"})
    ask("no upgrade", "GET", in_default, Connection="Upgrade", Upgrade="websocket")
    ask("broken off", "POST", BASE + "/hang-up", "{}")
    ask("table", "GET", in_default, Accept=TABLE)
    ask("unknown group", "GET", "/apis/unknown.example.com/v1/things")
    listed(ask)
    asked = lambda change: '{"spec":%s}' % change
    merge = {"Content_Type": "application/merge-patch+json"}
    ask("another port", "PATCH", PEER, asked('{"service":{"port":%d}}' % ports["closed"]), **merge)
    ask.becomes(PEER, "FailedDiscoveryCheck")
    ask("refused", "GET", PEER)
    ask.until(BASE, lambda code, *_: code == 503)
    ask("refused, asked", "GET", BASE + "/echoes")
    ask("its group, refused", "GET", "/apis/" + GROUP)
    Handler.discovery = 500
    ask.silently("PATCH", PEER, asked('{"service":{"port":%d}}' % ports["up"]), **merge)
    ask.until(PEER, lambda code, _, text: "bad status" in text, poke=PEER)
    ask("ill", "GET", PEER)
    ask("ill, asked", "GET", BASE + "/echoes")
    Handler.discovery = 200
    ask.becomes(PEER, "Passed")
    ask("well again", "GET", PEER)
    ask.silently("PATCH", PEER, asked('{"caBundle":"%s"}' % base64.b64encode(wrong.encode()).decode()), **merge)
    ask.until(BASE, lambda code, *_: code == 503)
    ask("another authority", "GET", BASE + "/echoes")
    ask("another authority, available", "GET", PEER)
    ask("no authority", "PATCH", PEER, asked('{"caBundle":null,"insecureSkipTLSVerify":true}'), **merge)
    ask.until(BASE, lambda code, *_: code == 200)
    ask("insecurely", "GET", BASE + "/echoes")
    ask("becomes local", "PATCH", PEER, asked('{"service":null,"insecureSkipTLSVerify":null}'), **merge)
    ask.becomes(PEER, "Local")
    ask("local", "GET", PEER)
    ask.until(BASE, lambda code, *_: code == 404)
    ask("local, asked", "GET", BASE + "/echoes")
    ask("delete", "DELETE", PEER)
    ask.silently("DELETE", "/api/v1/namespaces/peers/services/api")


def of_groups(listed_groups):
    return [one for one in listed_groups if (one.get("name") or one["metadata"]["name"]) in GROUPS]


def listed(ask):
    """Discovery and documents while an extension server is there."""
    for peer in ask.judge.peers():
        end = time.monotonic() + 90
        while not (peer.lists(BASE[1:]) and peer.shows_resources(GROUP)) and time.monotonic() < end:
            time.sleep(0.2)
    ask.judge.each(lambda peer: {ask.part + "/listed " + name: answer for name, answer in documents_of(peer)})


def documents_of(peer):
    legacy = peer.json("/apis")
    yield "/apis", {**legacy, "groups": of_groups(legacy["groups"])}
    found = peer.json("/apis", Accept=V2 % "v2")
    items = [one for one in of_groups(found["items"]) if one["metadata"]["name"] in (GROUP, "apiregistration.k8s.io")]
    yield "aggregated", {**found, "items": items}
    yield "order of aggregated groups", {"groups": [
        [one["metadata"]["name"], [each["version"] for each in one["versions"]]] for one in of_groups(found["items"])]}
    yield "aggregated v2beta1", {"code": peer.once("GET", "/apis", headers={"Accept": V2 % "v2beta1"})[0]}
    for name in ("apiregistration.k8s.io", GROUP):
        yield "/apis/" + name, peer.json("/apis/" + name)
    yield "resources of the group", peer.json("/apis/apiregistration.k8s.io/v1")
    index = peer.json("/openapi/v3")["paths"]
    for path in ("apis", "apis/" + GROUP, BASE[1:], "apis/apiregistration.k8s.io", "apis/apiregistration.k8s.io/v1", "openapi/v2"):
        yield "document " + path, {"url": (index.get(path) or {}).get("serverRelativeURL", "").split("?")[0]}
    yield "hash of a document", {"url": (index.get(BASE[1:]) or {}).get("serverRelativeURL", "")}
    yield "document", peer.json("/openapi/v3" + BASE)
    swagger = peer.json("/openapi/v2")
    yield "merged path", swagger["paths"].get(BASE + "/echoes")
    yield "merged definition", swagger["definitions"].get("com.example.peer.Echo")


def definitions(ask):
    """APIServices of CustomResourceDefinitions."""
    plural = lambda kind: kind.lower() + "s"
    def crd(kind, *versions):
        schema = {"openAPIV3Schema": {"type": "object"}}
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": plural(kind) + ".crds.example.com"},
                "spec": {"group": "crds.example.com", "scope": "Cluster", "names": {"kind": kind, "plural": plural(kind)},
                         "versions": [{"name": name, "served": served, "storage": index == 0, "schema": schema}
                                      for index, (name, served) in enumerate(versions)]}}
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    merge = {"Content_Type": "application/merge-patch+json"}
    there = lambda code, *_: code == 200
    gone = lambda code, *_: code == 404
    at = SERVICES + "/v1.crds.example.com"
    ask.silently("POST", crds, crd("One", ("v1", True), ("v2", False), ("v3beta1", True)))
    ask.until(at, there)
    ask.until(SERVICES + "/v3beta1.crds.example.com", there)
    ask("made", "GET", at)
    ask("made of another version", "GET", SERVICES + "/v3beta1.crds.example.com")
    ask("not made of one that is not served", "GET", SERVICES + "/v2.crds.example.com")
    ask("list", "GET", SERVICES + "?labelSelector=kube-aggregator.kubernetes.io/automanaged%3Dtrue")
    ask.until("/apis/crds.example.com", lambda code, _, text: "v3beta1" in text)
    ask("group", "GET", "/apis/crds.example.com")
    ask.silently("POST", crds, crd("Two", ("v1", True)))
    ask.silently("DELETE", crds + "/ones.crds.example.com")
    ask.until(SERVICES + "/v3beta1.crds.example.com", gone)
    ask("kept for another definition", "GET", at)
    ask("changed by a user", "PATCH", at, '{"spec":{"versionPriority":7}}', **merge)
    ask.until(at, lambda code, _, text: '"versionPriority":100' in text.replace(": ", ":"))
    ask("put back", "GET", at)
    ask("deleted by a user", "DELETE", at)
    ask.until(at, there)
    ask("back again", "GET", at)
    ask("taken over by a user", "PATCH", at, '{"metadata":{"labels":null},"spec":{"versionPriority":8}}', **merge)
    time.sleep(1)
    ask("left to the user", "GET", at)
    ask.silently("DELETE", crds + "/twos.crds.example.com")
    ask.until("/apis/crds.example.com/v1/twos", gone)
    time.sleep(1)
    ask("left when the definition is gone", "GET", at)
    ask("deleted at last", "DELETE", at)
    ask("gone", "GET", at)
