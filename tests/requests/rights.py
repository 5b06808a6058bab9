"""Who may do what on the server of world.py: what the judge compares answers with.

It is written a second time here, by hand and for few paths, so that the server's own reading of a path
is not what its answers are judged by. A right is a function of a method and a path's segments.
"""

import re
import urllib.parse

SELF_REVIEWS = ("selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews")
READING = ("GET", "HEAD")
# What a role's seven verbs, which are all but `proxy`, stand for.
WRITING = READING + ("POST", "PUT", "PATCH", "DELETE")


def segments(target):
    """Of a path, as leniently as may be: what is right for one reading of it is right."""
    path = re.sub(r"^[a-z]+://[^/?]*", "", target).partition("?")[0]
    return [each for each in urllib.parse.unquote(path).split("/") if each]


def nothing(method, parts):
    return False


def public(method, parts):
    """The page of the Explorer, which is served before anybody is known."""
    return method in READING and parts == ["explorer"]


def everything(method, parts):
    return True


def anonymous(method, parts):
    """The role system:public-info-viewer, and --authorization-always-allow-paths' default."""
    if len(parts) == 1 and parts[0] in ("healthz", "livez", "readyz"):
        return True
    return method in READING and parts == ["version"]


def known(method, parts):
    """What system:discovery and system:basic-user give whoever has said who they are."""
    if anonymous(method, parts):
        return True
    if method == "GET" and parts and parts[0] == "openapi":
        return True
    if method == "GET" and parts and (parts[0] == "api" and len(parts) <= 2
                                      or parts[0] == "apis" and len(parts) <= 3):
        return True
    return method == "POST" and len(parts) == 4 and parts[0] == "apis" and parts[3] in SELF_REVIEWS


def service_account(method, parts):
    return known(method, parts) or method == "GET" and parts in (
        [".well-known", "openid-configuration"], ["openid", "v1", "jwks"])


def resource_of(method, parts):
    """(group, namespace, resource) of a path; the deprecated /watch/ is a way to read too."""
    if len(parts) > 2 and parts[0] == "api":
        group, rest = "", parts[2:]
    elif len(parts) > 3 and parts[0] == "apis":
        group, rest = parts[1], parts[3:]
    else:
        return None
    if rest[0] == "watch" and method in READING:
        rest = rest[1:]
    if len(rest) < 3 or rest[0] != "namespaces":
        return group, "", rest[0] if rest else ""
    return group, rest[1], rest[2]


def within(*allowed, methods=READING):
    """What roles in namespaces give: (group, namespace, resource) each, None for any resource."""

    def may(method, parts):
        if known(method, parts):
            return True
        found = resource_of(method, parts)
        return found is not None and method in methods and any(
            found[:2] == each[:2] and each[2] in (None, found[2]) for each in allowed)

    return may


WARDLE, HARBOR, RBAC = "wardle.example.com", "harbor.example.com", "rbac.authorization.k8s.io"
reader = within((WARDLE, "default", "flunders"), ("", "default", "configmaps"))
writer = within(*((group, namespace, resource) for namespace in ("default", "fz") for group, resource in (
    (WARDLE, None), (HARBOR, None), ("apps", None), ("", "configmaps"))), methods=WRITING)
escalator = within((RBAC, "default", "roles"), (RBAC, "default", "rolebindings"), methods=WRITING)
