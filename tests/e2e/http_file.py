"""Requests written in the format of .http files, as editors have it, with two directives of our own.

    @name = text                 replaces {{name}} from here on, also in later definitions
    ### what this request shows  begins a request; the name is unique in all files of a run
    # @settle                    sent once the server has seen everything that was written before
    # @until TEXT                repeated until the answer's body contains TEXT
    POST /path/{{name}}
    Header: value

    the body, YAML unless a Content-Type says otherwise

Other lines that begin with # before the request line are comments.
"""

import re

REQUEST = re.compile(r"^(GET|POST|PUT|PATCH|DELETE) (\S+)$")


class Request:
    def __init__(self, name):
        self.name, self.settle, self.until = name, False, None
        self.method = self.target = None
        self.headers, self.body = {}, ""

    def repeatable(self):
        """Sending it again changes nothing on the server."""
        return self.method == "GET" or "dryRun=All" in self.target


def _directive(request, line):
    word, _, rest = line[1:].strip().partition(" ")
    if word == "@settle":
        request.settle = True
    elif word == "@until":
        request.until = rest.strip()


def _expanded(text, variables):
    def value(match):
        return variables[match.group(1)]
    while "{{" in text:
        text = re.sub(r"\{\{(\w+)\}\}", value, text)
    return text


def _read_request(name, lines, variables):
    request = Request(name)
    at = 0
    while at < len(lines) and not REQUEST.match(lines[at]):
        if lines[at].startswith("#"):
            _directive(request, lines[at])
        elif variable := re.match(r"^@(\w+) *= *(.*)$", lines[at]):
            variables[variable.group(1)] = variable.group(2)
        elif lines[at]:
            raise ValueError("%s: unexpected line: %s" % (name, lines[at]))
        at += 1
    if at == len(lines):
        if name:
            raise ValueError(name + ": has no request line")
        return None
    request.method, target = REQUEST.match(lines[at]).groups()
    request.target = _expanded(target, variables)
    at += 1
    while at < len(lines) and lines[at]:
        header, _, text = lines[at].partition(":")
        request.headers[header] = _expanded(text.strip(), variables)
        at += 1
    request.body = _expanded("\n".join(lines[at + 1:]).strip("\n"), variables)
    if request.body:
        request.body += "\n"
        request.headers.setdefault("Content-Type", "application/yaml")
    return request


def read(text, variables):
    """The requests of a file. `variables` gets its definitions."""
    requests, name, lines = [], "", []
    for line in text.splitlines() + ["### "]:
        if not line.startswith("### "):
            lines.append(line.rstrip())
            continue
        request = _read_request(name, lines, variables)
        if request:
            requests.append(request)
        name, lines = line[4:].strip(), []
    return requests
