"""Sends requests about custom resources to a server, and keeps of its answers what does not change
from run to run."""

import base64
import hashlib
import http.client
import json
import re
import ssl
import tempfile
import time
import urllib.parse

from policy_answers import warning_text
from servers import Failure

MANAGER = "crd-differential"
VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "lastTransitionTime", "time",
            "selfLink", "continue")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LINES = re.compile(r"\n *(uid|resourceVersion|creationTimestamp): .*|\n  managedFields:(\n  (- |  ).*)*")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
GENERATED = re.compile(r"(?<=Not-Valid-)[a-z0-9]{5}\b")
REVISION = re.compile(r"""(resourceVersion[\\": ]*|in record \()\d+""")
# Longer texts are recorded by their beginning and a hash.
LONG = 400
AGE = re.compile(r"(\d+[smhd])+|<invalid>")


class Request:
    """A request, and the object that the answer should be like: only differences from it are kept."""

    def __init__(self, name, method, path, body=None, like=None, **headers):
        self.name, self.method, self.path, self.like = name, method, path, like
        self.body = body if body is None or isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        self.headers = {key.replace("_", "-"): value for key, value in headers.items()}
        if self.body is not None:
            self.headers.setdefault("Content-Type", "application/json")

    def __str__(self):
        headers = "".join(" %s: %s" % pair for pair in self.headers.items()
                          if pair != ("Content-Type", "application/json"))
        return "%s %s%s %s" % (self.method, self.path, headers, self.body or "")


class Peer:
    """A server, asked over one connection as the user of a kubeconfig with a token."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()

        def member(key):
            found = re.search(r"\b" + key + r"\"?: *\"?([^\s\",}]+)", text)
            return found and found.group(1)
        parts = urllib.parse.urlsplit(member("server"))
        if data := member("certificate-authority-data"):
            context = ssl.create_default_context(cadata=base64.b64decode(data).decode())
        else:
            context = ssl.create_default_context(cafile=member("certificate-authority"))
        context.check_hostname = False
        certificate, key = member("client-certificate-data"), member("client-key-data")
        if certificate and key:
            with tempfile.NamedTemporaryFile() as file:
                file.write(base64.b64decode(certificate) + b"\n" + base64.b64decode(key))
                file.flush()
                context.load_cert_chain(file.name)
        self.connection = http.client.HTTPSConnection(parts.hostname, parts.port, context=context, timeout=120)
        self.token, self.revisions = member("token"), {}

    def once(self, method, path, body=None, headers=None):
        """Code, headers and body of the answer; once more if the server had closed the connection."""
        more = {"Authorization": "Bearer " + self.token} if self.token else {}
        for last in (False, True):
            try:
                self.connection.request(method, path, body.encode() if body is not None else None,
                                        {"User-Agent": MANAGER, "Accept": "application/json", **more, **(headers or {})})
                response = self.connection.getresponse()
                return response.status, response.headers, response.read().decode(errors="backslashreplace")
            except (http.client.HTTPException, ConnectionError, TimeoutError):
                self.connection.close()
                if last:
                    raise
        return None

    def send(self, request):
        """The answer to `request`, repeated for as long as the server says to retry later."""
        body = request.body
        if body and "$REVISION" in body:
            body = body.replace("$REVISION", self.revision(request.path))
        deadline = time.monotonic() + 60
        while True:
            code, headers, text = self.once(request.method, request.path, body, request.headers)
            if code not in (429, 503) or time.monotonic() > deadline:
                return code, headers, text
            time.sleep(0.2)

    def revision(self, path):
        """The resourceVersion of the object at `path`, whose subresource and query are left out."""
        plain = re.sub(r"/(status|scale)$", "", path.split("?")[0])
        code, _, text = self.once("GET", plain)
        return json.loads(text)["metadata"]["resourceVersion"] if code == 200 else "1"

    def json(self, path, **headers):
        deadline = time.monotonic() + 300
        code, _, text = self.once("GET", path, headers=headers)
        while code in (429, 503, 504) and time.monotonic() < deadline:
            time.sleep(1)
            code, _, text = self.once("GET", path, headers=headers)
        if code != 200:
            raise Failure("GET %s: %d %s" % (path, code, text[:300]))
        return json.loads(text)

    def answer(self, request):
        return reduced(request, *self.send(request))


def differences(want, got, at=""):
    """Paths at which two values differ, with both; `...` is none."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted({**want, **got}):
            yield from differences(want.get(key, ...), got.get(key, ...), at + "/" + key)
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, pair in enumerate(zip(want, got)):
            yield from differences(*pair, "%s/%d" % (at, index))
    elif want != got or type(want) is not type(got):
        yield at, want, got


def steady(value, key=""):
    """`value` without what differs from run to run."""
    if isinstance(value, dict):
        return {name: steady(item, name) for name, item in value.items() if name not in VOLATILE}
    if isinstance(value, list):
        return [steady(item, key) for item in value]
    if isinstance(value, str):
        return "<age>" if key == "cells" and AGE.fullmatch(value) else steady_text(value)
    return value


def steady_text(text):
    if TIME.fullmatch(text):
        return text
    return TIME.sub("<time>", REVISION.sub(r"\1<revision>", UUID.sub("<uid>", GENERATED.sub("<random>", text))))


def reduced_status(status):
    """An error: its causes in one order, its message only if that says more than they do."""
    details = dict(status.get("details") or {})
    causes = sorted(([one.get("reason", ""), one.get("field", ""), one.get("message", "")]
                     for one in details.pop("causes", ())), key=json.dumps)
    kept = {"reason": status.get("reason", ""), "details": details, "causes": causes}
    listed = 'is invalid: %s: %s' % tuple(causes[0][1:]) if causes else None
    if len(causes) < 2 and not (listed and status.get("message", "").endswith(listed)):
        kept["message"] = status.get("message", "")
    return kept


def without_time(entry):
    return {key: value for key, value in entry.items() if key != "time"}


def reduced_object(value, like):
    """An object: who manages what, and in what the rest differs from `like`."""
    # They are sorted by time first, of which only seconds are kept.
    managed = sorted((without_time(one) for one in value.get("metadata", {}).pop("managedFields", ())),
                     key=lambda one: [one.get(key, "") for key in ("manager", "operation", "subresource", "apiVersion")])
    value, like = steady(value), steady(like or {})
    if isinstance(conditions := (value.get("status") or {}).get("conditions"), list) \
            and value.get("kind") == "CustomResourceDefinition":
        conditions.sort(key=lambda one: one["type"])
    changes = [[at] if got is ... else [at, got] for at, _, got in differences(like, value)]
    return {"changes": changes, "managed": managed}


def reduced_table(table):
    """A Table: a text for each column, and of a row's object only its name."""
    columns = ["%(name)s %(type)s %(format)s %(priority)d" % one for one in table.get("columnDefinitions", ())]
    about = [one["description"] for one in table.get("columnDefinitions", ())]
    rows = [[one["cells"], one.get("object", {}).get("metadata", {}).get("name")] for one in table["rows"]]
    return {"columns": columns, "parts": {"descriptions": about}, "rows": rows}


def reduced(request, code, headers, text):
    """What is kept of an answer."""
    kept = {"code": code}
    kind = headers.get("Content-Type", "").split(";")[0]
    if kind not in ("application/json", ""):
        kept["type"] = kind
    if warnings := headers.get_all("Warning"):
        kept["warnings"] = sorted(steady_text(warning_text(one)) for one in warnings)
    try:
        value = json.loads(text)
    except ValueError:
        return {**kept, "text": LINES.sub("", text)} if text else kept
    what = value.get("kind", "") if isinstance(value, dict) else ""
    if what == "Status":
        kept["status"] = reduced_status(steady(value))
    elif what.endswith("List") and "items" in value:
        kept["list"] = {"kind": what, "apiVersion": value["apiVersion"],
                        "items": [reduced_object(one, request.like) for one in value["items"]]}
    elif what == "Table":
        kept["table"] = reduced_table(steady(value))
    elif "metadata" in value:
        kept["object"] = reduced_object(value, request.like)
    else:
        kept["value"] = steady(value)
    return kept


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


def shortened_member(key, value):
    if key == "managed":
        return digest(value)
    if key == "parts" and isinstance(value, dict):
        return {name: digest(part) for name, part in value.items()}
    return shortened(value)


def shortened(answer):
    """What is recorded of an answer: of large parts only a hash."""
    if isinstance(answer, dict):
        return {key: shortened_member(key, value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [shortened(one) for one in answer]
    if isinstance(answer, str) and len(answer) > LONG:
        return answer[:100] + "... " + digest(answer)
    return answer
