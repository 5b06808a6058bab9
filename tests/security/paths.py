#!/usr/bin/env python3
"""Paths, names, scopes and labels: what is asked for is what is judged and what is read.

usage: paths.py --server BINARY [ROW...]
"""

import json
import sys

from h2 import HEADERS, Connection, field, frame, request
from victim import CONFIGMAPS, FLUNDERS, MEBIBYTE, main, row

JSON = {"Content-Type": "application/json"}
GROUP = "/apis/wardle.example.com/v1alpha1"


@row(11, "CVE-2020-8552: metric labels that a stranger chooses")
def metric_labels(victim, check):
    def size():
        return len(victim.call("GET", "/metrics")[2])

    connection = Connection(victim)
    for path in ("/x", "/apis/x/y/z", FLUNDERS + "/x", CONFIGMAPS):
        connection.send(frame(HEADERS, 5, 1, request(path)))
        connection.close()
        connection = Connection(victim)
    before = size()
    for start in range(0, 4):
        connection = Connection(victim)
        for each in range(500):
            stream, name = 2 * each + 1, "n%d-%d" % (start, each)
            paths = ("/" + name, "/apis/%s/v1/%s" % (name, name), FLUNDERS + "/" + name,
                     "/api/v1/namespaces/%s/configmaps/x/%s" % (name, name))
            block = request(paths[start], method=("GET", "PURGE" + name, "GET", "OPTIONS")[start],
                            extra=field("user-agent", name), authority=name)
            connection.send(frame(HEADERS, 5, stream, block))
        connection.send(frame(6, 0, 0, b"the last"))
        answers = 0
        while answers < 500 and (one := connection.read()) is not None:
            answers += one[0] == HEADERS
        check(answers > 400, "answers", answers)
        connection.close()
    check(size() < before * 1.05 + 8192, "/metrics grows", (before, size()))


@row(12, "CVE-2019-11247: a resource through the URL of the other scope")
def scopes(victim, check):
    for verb in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        for path in (GROUP + "/namespaces/default/fischers", GROUP + "/namespaces/default/fischers/x",
                     GROUP + "/namespaces/default/fischers/x/status", GROUP + "/flunders/x",
                     "/api/v1/configmaps/canary", GROUP + "/flunders/x/status"):
            headers = {"Content-Type": "application/merge-patch+json" if verb == "PATCH" else "application/json"}
            code, _, body = victim.call(verb, path, b"{}" if verb in ("POST", "PUT", "PATCH") else None, headers)
            check(code in (404, 405), "%s %s" % (verb, path), (code, body[:200]))
    for path in ("/api/v1/configmaps", GROUP + "/flunders"):
        code, _, body = victim.call("POST", path, b'{"metadata":{"name":"x"}}', JSON)
        check(code in (400, 404, 405), "a create in no namespace at %s" % path, (code, body[:200]))
    code, _, body = victim.call("POST", CONFIGMAPS, b'{"metadata":{"name":"x","namespace":"other"}}', JSON)
    check(code == 400, "another namespace in the body", (code, body[:200]))


# "%2f" alone is a slash at the end, which RequestInfo trims: a list, judged as a list.
TRAVERSING = ("..", ".", "%2e%2e", "%2E.", "a%2fb", "%2f..", "..%2f..%2fsecrets", "a%00b", "%c0%ae%c0%ae",
              "%25", "%252e%252e", "a%0ab", "%ff", "a;b", "a%5cb")


@row(13, "CVE-2022-3162: names that leave their place")
def traversal(victim, check):
    for name in TRAVERSING:
        for path in ("%s/%s" % (CONFIGMAPS, name), "/api/v1/namespaces/%s/configmaps" % name,
                     "/api/v1/namespaces/%s/configmaps/canary" % name, "%s/%s" % (GROUP, name),
                     GROUP + "/namespaces/default/%s/x" % name, "/api/v1/namespaces/default/configmaps/../canary"):
            code, _, body = victim.call("GET", path)
            data = json.loads(body) if code == 200 else {}
            check(code in (400, 404) or not data.get("items") and not data.get("data"), "GET " + path,
                  (code, body[:200]))
        plain = {"%2e%2e": "..", "a%2fb": "a/b", "%25": "%"}.get(name, name)
        code, _, body = victim.call("POST", CONFIGMAPS, json.dumps({"metadata": {"name": plain}}), JSON)
        if plain in ("..", ".", "a/b", "%") or "%" in plain:
            check(code == 422, "the name %r" % plain, (code, body[:200]))
    for token in ("..", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi9zZWNyZXRzIn0",
                  "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIvYS8uLi9iIn0"):
        code, _, body = victim.call("GET", CONFIGMAPS + "?limit=1&continue=" + token)
        check(code == 400, "the continue token " + token, (code, body[:200]))
    for name in ("../canary", "..", "a/b"):
        code, _, body = victim.call("GET", CONFIGMAPS + "?fieldSelector=metadata.name%3D" + name.replace("/", "%2F"))
        check(code in (200, 400) and b"song" not in body, "the field selector " + name, (code, body[:200]))


@row(25, "CVE-2019-11248: what answers to nobody in particular")
def nobody(victim, check):
    index = json.loads(victim.call("GET", "/")[2])["paths"]
    check(len(index) > 10, "paths", index)
    public = ("/healthz", "/livez", "/readyz", "/version", "/explorer/")
    # A page of constant files: nobody is told more than another.
    check(victim.call("GET", "/explorer/", identified=False)[2] == victim.call("GET", "/explorer/")[2], "/explorer/")
    check(victim.call("GET", "/explorer/../apis", identified=False)[0] == 404, "/explorer/../apis")
    extra = ["/debug/pprof", "/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/heap", "/debug/flags/v",
             "/logs/", "/statusz", "/flagz", "/configz", CONFIGMAPS, FLUNDERS,
             "/debug/api_priority_and_fairness/dump_requests"]
    for path in sorted(set(index + extra)):
        code, _, body = victim.call("GET", path, identified=False)
        check(code in (401, 403, 404) or code == 200 and path.startswith(public), path, (code, body[:100]))


@row(57, "CVE-2026-33186: paths that are judged as one thing and served as another")
def paths(victim, check):
    for path in (b"api/v1/configmaps", b"*", b"", b"//api/v1/namespaces/default/configmaps", b"/api//v1/configmaps",
                 b"/api/../apis", b"/%2e%2e/api/v1/configmaps", b"/API/v1/namespaces/default/configmaps",
                 b"https://localhost/readyz/../apis", b"/readyz/../api/v1/namespaces/default/configmaps",
                 b"/readyz%2f..%2fapi", b"/api/v1/namespaces/default/configmaps/./canary", b"/\x00", b"/ api",
                 b"/api/v1/namespaces/default/configmaps#", b"\\api\\v1", b"/readyz;/../api/v1"):
        connection = Connection(victim)
        connection.send(frame(HEADERS, 5, 1, request(path)))
        code = connection.answer(1)
        check(code in (None, 301, 400, 404, 405) or code == 200 and path in (b"*",), "h2 %r" % path, code)
        connection.close()
        if b"\0" in path or not path:
            continue
        said = victim.raw(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        check(b"song" not in said and said[9:12] in (b"", b"301", b"400", b"404", b"405"), "%r" % path, said[:200])


@row(78, "a verb in the path, a name in a field selector: judged as one thing, served as another")
def judged_otherwise(victim, check):
    flunder = b'{"metadata":{"name":"proxied"}}'
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PURGE"):
        for path in (GROUP + "/proxy/namespaces/default/flunders", GROUP + "/proxy/namespaces/default/flunders/x",
                     GROUP + "/proxy/namespaces/default/flunders/x/status", GROUP + "/proxy/fischers",
                     "/api/v1/proxy/namespaces/default/configmaps/canary",
                     FLUNDERS + "//status?fieldSelector=metadata.name%3Dx", FLUNDERS + "//status?watch=1"):
            headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
            body = flunder if method in ("POST", "PUT", "PATCH") else None
            code, _, said = victim.call(method, path, body, headers)
            check(code == 404, "%s %s" % (method, path), (code, said[:200]))
    check(victim.call("GET", FLUNDERS + "/proxied")[0] == 404, "nothing was created")
    code, _, said = victim.call("GET", CONFIGMAPS + "/canary")
    check(code == 200, "nothing was deleted", (code, said[:200]))


@row(79, "slow bodies that nobody will read")
def unread_bodies(victim, check):
    """The body never comes: whoever waits for it does not answer."""
    head = "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 1000000\r\n%s\r\n{"
    json_type, png = "Content-Type: application/json\r\n", "Content-Type: image/png\r\n"
    for method, path, fields, code in (
            ("POST", GROUP + "/watch/namespaces/default/flunders", json_type, b"405"),
            ("DELETE", GROUP + "/watch/flunders", json_type, b"405"),
            ("POST", FLUNDERS + "/x", json_type, b"405"),
            ("POST", GROUP + "/proxy/namespaces/default/flunders", json_type, b"404"),
            ("POST", "/apis/x/y/z", json_type, b"404"), ("PUT", "/nowhere", json_type, b"404"),
            ("POST", "/apis", json_type, b"405"), ("POST", GROUP, json_type, b"405"),
            ("POST", FLUNDERS, png, b"415"), ("PUT", FLUNDERS + "/x", png, b"415"),
            ("PATCH", FLUNDERS + "/x", json_type, b"415"), ("DELETE", FLUNDERS + "/x", png, b"415"),
            ("POST", FLUNDERS, json_type + "Accept: image/png\r\n", b"406")):
        connection = victim.tls(("http/1.1",))
        connection.settimeout(20)
        connection.sendall((head % (method, path, victim.token, fields)).encode())
        try:
            said = connection.recv(65536)
        except OSError as error:
            said = str(error).encode()
        check(said.startswith(b"HTTP/1.1 " + code), "%s %s is %s at once" % (method, path, code.decode()), said[:200])
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
