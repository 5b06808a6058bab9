"""What may not be in an answer, whatever was asked: judge() names each thing that is wrong.

It knows the request, who sent it and what they may do, and nothing of how a server comes to its answer.
"""

import re

import rights
from formats import Malformed, from_cbor, from_protobuf, strict_json, yaml_head
from wire import DROP, HTTP2_RESET, STREAM, UNFINISHED, WEBSOCKET

ERROR_BYTES_MAX = 1 << 20
# The codes that each reason has, as apimachinery's constructors of errors pair them.
REASONS = {
    "Unauthorized": (401,), "Forbidden": (403,), "NotFound": (404,), "AlreadyExists": (409,), "Conflict": (409,),
    "Gone": (410,), "Invalid": (422,), "ServerTimeout": (500, 504), "StorageReadError": (500,), "Timeout": (504,),
    "TooManyRequests": (429,), "BadRequest": (400,), "MethodNotAllowed": (405,), "NotAcceptable": (406,),
    "RequestEntityTooLarge": (413,), "UnsupportedMediaType": (415,), "InternalError": (500,), "Expired": (410,),
    "ServiceUnavailable": (503,), "": (400, 404, 500, 503),
}
# What upstream says in so many words instead of a Status: code, text.
PLAIN_TEXTS = (
    # Of the HTTP layer, which knows of no Kubernetes.
    (400, r"400 Bad Request"), (431, r"431 Request Header Fields Too Large"), (414, r"414 .*"), (501, r"501 .*"),
    (505, r"505 .*"), (400, r"missing or bad WebSocket Version\n"),
    (404, r"404 page not found\n"),
    (406, r"unsupported http method"),
    (429, r"Too many requests, please try again later\.\n"),
)
# The few answers of 500 that upstream gives too, by their texts, each with the reason.
SERVER_ERRORS = (
    # RequestInfo: /watch and /proxy with nothing behind them; upstream's filter says it as plain text.
    r"unable to determine kind and namespace from url",
    # Impersonation headers without a user.
    r"without impersonating a user",
    # Rights that a binding would give are compared before its roleRef is validated.
    r"unsupported role reference kind",
    # A resourceVersion in an object to be created.
    r"resourceVersion should not be set on objects to be created",
    # The storage refuses the key of a collection in the namespace "..": upstream's prepareKey does it too.
    r"invalid key: [^ ]*\.\./",
)
# Errors of patches that upstream passes on without a reason, and so without a code; of a few others it
# makes a 400 or 422.
# Also of an object that was taken without apply and has, say, two items without their key, and of a
# scalar that the types of apply allow and decoding does not: true as a quantity.
APPLY_ERRORS = (r"failed to create typed patch object", r"failed to create manager for existing fields:",
                r"failed to convert new (typed )?object")
PATCH_ERRORS = {
    "application/strategic-merge-patch+json": (
        r"unknown patch type:", r"does not contain declared merge key", r"expected a [^,]+, but received a",
        r"list element types are not identical", r"no elements in any of the given slices",
        r"cannot merge lists without merge key", r"merging lists cannot yet be specified in the patch",
        r"value for key \d+ is not a map", r"The order in patch list:", r"unexpected patch strategy",
        r"unable to find api field in struct", r"unexpected slice of slice",
        r"merging an object in json but data type is not struct", r"expected slice or array type, but got"),
    "application/apply-patch+yaml": APPLY_ERRORS,
    "application/apply-patch+cbor": APPLY_ERRORS,
}
# Lists of discovery, which have no version.
KINDS_WITHOUT_VERSION = ("APIResourceList", "APIGroupList", "APIVersions", "APIGroupDiscoveryList")


def judge(request, answer, identity):
    """Texts, one for each thing that is wrong."""
    if request.mode in (DROP, UNFINISHED, HTTP2_RESET):
        return [answer.error] if answer.error else []
    if answer.error:
        # A deadline that the client asks for ends an answer of megabytes in its middle, as upstream's does.
        asked_to_end = answer.error.startswith("IncompleteRead") and re.search(r"[?&]timeout=\d", request.target)
        return [] if asked_to_end else ["no answer: " + answer.error]
    found = of_rights(request, answer, identity)
    if answer.code >= 500:
        found += of_server_error(request, answer)
    if request.method.upper() == "HEAD" or answer.code in (101, 204, 304):
        return found + (["a body where none may be"] if answer.body and answer.code != 101 else [])
    if answer.code >= 400:
        return found + of_error(request, answer)
    return found + of_success(request, answer)


def of_rights(request, answer, identity):
    if answer.code >= 400:
        wrong = identity.answer and answer.code in (403, 404, 405) and answer.code != identity.answer
        return ["%s is known as somebody: %d" % (identity.name, answer.code)] if wrong else []
    if answer.code >= 300:
        return []
    if request.about.get("refused"):
        return ["%d, and should be refused" % answer.code]
    if not rights.public(request.method, rights.segments(request.target)) and not identity.may(
            request.method, rights.segments(request.target)):
        return ["%s may not, and has %d" % (identity.name, answer.code)]
    return []


def of_server_error(request, answer):
    text = answer.body.decode("utf-8", "replace")
    if answer.code == 504 and patience_was_short(request):
        return []
    if answer.code == 500 and any(re.search(each, text) for each in known_server_errors(request)):
        return []
    return ["%d: %s" % (answer.code, text[:300])]


def known_server_errors(request):
    return SERVER_ERRORS + PATCH_ERRORS.get(request.header("Content-Type") if request.method == "PATCH" else None, ())


def patience_was_short(request):
    """A timeout that was asked for, or a version that has yet to come, also in a token."""
    return any(each in request.target for each in ("timeout=", "resourceVersion=", "continue="))


def of_error(request, answer):
    found = []
    if len(answer.body) > ERROR_BYTES_MAX:
        found.append("an error of %d bytes" % len(answer.body))
    text = answer.body[:2000].decode("utf-8", "replace")
    if answer.headers is not None and answer.media_type() == "text/plain":
        known = any(answer.code == code and re.fullmatch(form, text) for code, form in PLAIN_TEXTS)
        known = known or answer.code == 500 and any(re.search(each, text) for each in SERVER_ERRORS)
        return found if known else found + ["%d is plain text: %s" % (answer.code, text[:200])]
    try:
        status = decode(answer)
    except Malformed as error:
        if answer.headers is None and any(re.fullmatch(form, text) for code,
                                          form in PLAIN_TEXTS if code == answer.code):
            return found
        return found + ["%d without a Status: %s: %s" % (answer.code, error, text[:200])]
    if answer.code == 404 and isinstance(status, dict) and list(status) == ["paths"]:
        return found  # Whoever may see any path is told which there are, as upstream's index does.
    return found + of_status(answer, status)


def of_status(answer, status):
    if not isinstance(status, dict) or status.get("kind") != "Status" or status.get("apiVersion") != "v1":
        return ["%d is no Status: %s" % (answer.code, str(status)[:200])]
    found = []
    if status.get("status") != "Failure":
        found.append("the Status of an error says %r" % status.get("status"))
    if status.get("code") != answer.code:
        found.append("a Status of code %r has %d" % (status.get("code"), answer.code))
    reason = status.get("reason", "")
    if reason not in REASONS or answer.code not in REASONS[reason]:
        found.append("%d for the reason %r" % (answer.code, reason))
    if not status.get("message"):
        found.append("%d says nothing" % answer.code)
    if answer.code == 429 and answer.headers is not None and not answer.header("Retry-After").isdigit():
        found.append("429 without Retry-After")
    return found


def decode(answer):
    """By the Content-Type; over HTTP/2, whose headers are not read here, by the first bytes."""
    body, media = answer.body, answer.media_type()
    if answer.headers is None:
        media = {b"k8s\0": "protobuf", b"\xd9\xd9\xf7": "cbor"}.get(body[:4] if body[:3] == b"k8s" else body[:3], "")
        media = media or ("json" if body[:1] in (b"{", b"[") else "yaml")
    for form, reader in (("protobuf", from_protobuf), ("cbor", from_cbor), ("yaml", yaml_head),
                         ("json", strict_json)):
        if form in media:
            try:
                return reader(body)
            except UnicodeDecodeError as error:
                raise Malformed(str(error)) from error
    raise Malformed("the Content-Type is %r" % answer.header("Content-Type"))


def of_success(request, answer):
    found = []
    if answer.headers is not None and answer.ended and not answer.media_type() and answer.body:
        found.append("%d without a Content-Type" % answer.code)
    if sent_as_garbage(request):
        found.append("%d for a body of type %r" % (answer.code, request.header("Content-Type")))
    if request.mode in (STREAM, WEBSOCKET) and is_watch(answer):
        return found + of_watch(answer)
    media = answer.media_type()
    if not answer.ended or media.startswith(("text/", "application/com.github", "application/openmetrics",
                                             "application/octet")):
        return found
    if not answer.body and request.target.startswith("/openapi/v3/"):
        return found  # A group that there is not, as upstream.
    if answer.headers is None and not answer.body[:1] in (b"{", b"[", b"k", b"\xd9"):
        return found
    try:
        said = decode(answer)
    except Malformed as error:
        return found + ["%d does not parse: %s" % (answer.code, error)]
    return found + of_object(request, answer, said) if isinstance(said, dict) else found


def sent_as_garbage(request):
    form = request.header("Content-Type")
    if not request.body or form is None or request.method not in ("POST", "PUT", "PATCH"):
        return False
    return form in ("garbage", "text/plain", "multipart/form-data; boundary=x", "application/jsonx")


def is_watch(answer):
    return answer.header("Transfer-Encoding") == "chunked" and b'"items"' not in answer.body[:4000]


def of_watch(answer):
    """Each whole line of JSON is an event."""
    if answer.media_type() != "application/json":
        return []
    lines = answer.body.split(b"\n")
    found = []
    for line in lines[:-1]:
        try:
            event = strict_json(line)
        except Malformed as error:
            return found + ["an event does not parse: %s" % error]
        if not isinstance(event, dict) or event.get("type") not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK",
                                                                    "ERROR"):
            if isinstance(event, dict) and event.get("kind"):
                return found  # An object or a list: no watch was asked for.
            return found + ["no event: %s" % line[:200]]
        said = event.get("object")
        if not isinstance(said, dict) or not said.get("kind") or not said.get("apiVersion"):
            found.append("an event without an object: %s" % line[:200])
        elif event["type"] == "ERROR" and said["kind"] != "Status":
            found.append("an ERROR without a Status: %s" % line[:200])
        elif event["type"] == "ERROR" and said.get("code", 500) >= 500 and said.get("reason") != "Timeout":
            found.append("an ERROR of the server's own: %s" % line[:300])
    return found


def of_object(request, answer, said):
    kind, version = said.get("kind"), said.get("apiVersion")
    found = of_list(said) if isinstance(kind, str) and isinstance(said.get("metadata"), dict) else []
    gvk = request.about.get("gvk")
    if not gvk or not request.about.get("action"):
        return found
    if (kind, version) not in expected(request, tuple(gvk)):
        found.append("%d of %s: %s %s instead of %s" % (
            answer.code, request.about["action"], version, kind, sorted(expected(request, tuple(gvk)))))
    return found


def of_list(said):
    kind = said["kind"]
    if kind == "Table":
        width = len(said.get("columnDefinitions") or ())
        rows = said.get("rows", [])
        wrong = rows is None or any(len(row.get("cells", ())) != width for row in rows)
        return ["a Table whose rows are not as wide as it"] if wrong else []
    if not kind.endswith("List") or kind in KINDS_WITHOUT_VERSION or "items" not in said:
        return []
    found = []
    if not isinstance(said["items"], list):
        found.append("%s whose items are %r" % (kind, said["items"]))
    if not said["metadata"].get("resourceVersion"):
        found.append("%s without a resourceVersion" % kind)
    return found


def expected(request, gvk):
    """(kind, apiVersion) of what may stand in the answer."""
    group, version, kind = gvk
    own = group + "/" + version if group else version
    action, accept = request.about["action"], request.header("Accept") or ""
    kinds = {(kind + "List", own)} if action in ("list", "deletecollection") else {(kind, own)}
    if action in ("delete", "deletecollection"):
        kinds |= {("Status", "v1"), (kind, own), ("DeleteOptions", own)}
    if action == "list":
        # A collection of one: some APIs (reviews) have no list.
        kinds |= {(kind + "List", own)}
    as_kinds = re.findall(r"as=(\w+)", accept)
    for form in as_kinds:
        for each in re.findall(r"v=(v1\w*)", accept):
            kinds.add((form, "meta.k8s.io/" + each))
    if only_as(accept) and action not in ("delete", "deletecollection"):
        kinds = {each for each in kinds if each[1].startswith("meta.k8s.io/")}
    return kinds


def only_as(accept):
    """Whether each form that is asked for is a Table or metadata only."""
    return bool(accept) and all("as=" in each for each in accept.split(","))
