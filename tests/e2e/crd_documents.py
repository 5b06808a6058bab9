"""What a server publishes about CustomResourceDefinitions: discovery and OpenAPI, cut into parts so
that a difference says where it is."""

import json
import time

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def group_versions(crds):
    """{(group, version): its kinds}, of what is served."""
    found = {}
    for crd in crds:
        for version in crd["spec"]["versions"]:
            if version["served"]:
                found.setdefault((crd["spec"]["group"], version["name"]), set()).add(crd["spec"]["names"]["kind"])
    return found


def sorted_resources(items, key):
    return sorted(items, key=lambda one: one[key])


def discovery(peer, crds):
    """{name: answer} for each group and version, in the old form and in the aggregated one."""
    groups = {group for group, _ in group_versions(crds)}
    found = {}
    for group in sorted(groups):
        found["discovery/" + group] = {"parts": {"": peer.json("/apis/" + group)}}
    for group, version in sorted(group_versions(crds)):
        value = peer.json("/apis/%s/%s" % (group, version))
        value["resources"] = sorted_resources(value["resources"], "name")
        found["discovery/%s/%s" % (group, version)] = {"parts": {
            one["name"]: one for one in value.pop("resources")} | {"": value}}
    for item in peer.json("/apis", Accept=AGGREGATED)["items"]:
        if item["metadata"]["name"] in groups:
            item["metadata"] = {"name": item["metadata"]["name"]}
            for version in item["versions"]:
                version["resources"] = sorted_resources(version["resources"], "resource")
            found["aggregated/" + item["metadata"]["name"]] = {"parts": {
                one["version"]: one for one in item.pop("versions")} | {"": item}}
    order = [one["name"] for one in peer.json("/apis")["groups"] if one["name"] in groups]
    found["discovery, order of groups"] = {"parts": {"": order}}
    return found


def kinds_in(document):
    return {one["kind"] for schema in document["components"]["schemas"].values()
            for one in schema.get("x-kubernetes-group-version-kind", ())}


def by_resource(paths, prefix):
    """Paths by the resource that they are of: {"paths PLURAL": {PATH: VALUE}}."""
    found = {}
    for path, value in paths.items():
        resource = path[len(prefix):].replace("namespaces/{namespace}/", "").split("/")[0]
        found.setdefault("paths " + resource, {})[path] = value
    return found


def parts_of(document, prefix):
    """A document of OpenAPI v3 by resource, schema and the rest."""
    schemas, paths = document["components"].pop("schemas"), document.pop("paths")
    return {"": document, **by_resource(paths, prefix),
            **{"schema " + name: value for name, value in schemas.items()}}


def openapi_v3(peer, crds, seconds=300):
    """{name: answer} for each document, when it has all kinds: they are built some time later."""
    found, deadline = {}, time.monotonic() + seconds
    for (group, version), kinds in sorted(group_versions(crds).items()):
        path = "apis/%s/%s" % (group, version)
        while True:
            entry = peer.json("/openapi/v3")["paths"].get(path)
            document = entry and peer.json(entry["serverRelativeURL"])
            if document and kinds <= kinds_in(document) or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        found["openapi/v3/" + path] = {"parts": parts_of(document, "/%s/" % path) if document else {}}
    return found


def openapi_v2(peer, crds, seconds=300):
    """The definitions and paths of the CRDs' groups in the one document of OpenAPI v2."""
    wanted = group_versions(crds)
    kinds = {(group, version, kind) for (group, version), names in wanted.items() for kind in names}
    deadline = time.monotonic() + seconds
    while True:
        code, _, text = peer.once("GET", "/openapi/v2")
        document = json.loads(text) if code == 200 else {"definitions": {}, "paths": {}}
        there = {(one["group"], one["version"], one["kind"]) for schema in document["definitions"].values()
                 for one in schema.get("x-kubernetes-group-version-kind", ())}
        if kinds <= there or time.monotonic() > deadline:
            break
        time.sleep(2)
    found = {}
    for group, version in sorted(wanted):
        prefix = "/apis/%s/%s/" % (group, version)
        paths = {path: value for path, value in document["paths"].items() if path.startswith(prefix)}
        name = ".".join(reversed(group.split("."))) + "." + version + "."
        found["openapi/v2" + prefix] = {"parts": by_resource(paths, prefix) | {
            "definition " + key: value for key, value in document["definitions"].items() if key.startswith(name)}}
    used = json.dumps(found)
    found["openapi/v2 parameters"] = {"parts": {name: value for name, value in document.get("parameters", {}).items()
                                                if '"#/parameters/%s"' % name in used}}
    return found


def documents(peer, crds):
    return {**discovery(peer, crds), **openapi_v3(peer, crds), **openapi_v2(peer, crds)}
