#!/usr/bin/env python3
"""Checks a folder of HTML pages: every link leads to a file and an anchor, and nothing comes from another host.

usage: check.py FOLDER
"""

import html
import os
import re
import sys
from urllib.parse import unquote

# What makes a browser fetch; a link that a reader may follow (a href) leads where it wants.
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("object", "data"),
          ("source", "src"), ("video", "src"), ("audio", "src"), ("embed", "src"), ("image", "href"),
          ("use", "href"), ("form", "action")}
FOREIGN = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.I)
FROM_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
# Code that fetches by itself.
FETCHES = re.compile(r"\bfetch\(\s*['\"](?:https?:)?//|\bimportScripts\(|\.open\(\s*['\"](?:GET|POST)['\"]\s*,\s*['\"]https?:")


TAG = re.compile(r"<([a-zA-Z][\w:-]*)((?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?)+)\s*/?>")
ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


class Reader:
    """The anchors and links of a page, and what it loads."""

    def __init__(self, text):
        self.anchors, self.links, self.loaded = set(), set(), []
        for tag in TAG.finditer(text):
            name = tag[1].lower()
            for match in ATTRIBUTE.finditer(tag[2]):
                self.take(name, match[1].lower(), html.unescape(match[2] or match[3] or match[4] or ""))

    def take(self, tag, name, value):
        if name == "id" or (tag == "a" and name == "name"):
            self.anchors.add(value)
        elif (tag, name) in LOADED:
            self.loaded.append(value)
        elif name == "href":
            self.links.add(value)
        elif name == "style":
            self.loaded += [a or b for a, b in FROM_CSS.findall(value)]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def leads(folder, page, link, anchors):
    """What is wrong with a link within the site; None: it leads somewhere."""
    path, _, fragment = unquote(link).partition("#")
    path = path.partition("?")[0]
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if target not in anchors and not os.path.isfile(os.path.join(folder, target)):
        return "there is no %s" % target
    if fragment and target in anchors and fragment not in anchors[target]:
        return "%s has no anchor #%s" % (target, fragment)
    return None


def faults(folder):
    """The faults of all pages below a folder, one line each."""
    readers, found, broken = {}, [], {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(base, name), folder)
            text = read(os.path.join(folder, path)) if name.endswith((".html", ".svg", ".css", ".js")) else ""
            if name.endswith((".html", ".svg")):
                readers[path] = Reader(text)
            elif name.endswith(".css"):
                readers[path] = Reader("")
                readers[path].loaded += [a or b for a, b in FROM_CSS.findall(text)]
            elif name.endswith(".js") and FETCHES.search(text):
                found.append("%s: fetches from another host" % path)
    anchors = {path: reader.anchors for path, reader in readers.items()}
    for page, reader in sorted(readers.items()):
        found += ["%s: loads %s from another host" % (page, link) for link in reader.loaded if FOREIGN.match(link)]
        for link in sorted(reader.links.union(reader.loaded)):
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link, re.I):
                if re.match(r"(?:header|file):", link):
                    found.append("%s: (%s): leads nowhere" % (page, link))
                continue
            fault = leads(folder, page, link, anchors)
            if fault:
                broken.setdefault((link, fault), []).append(page)
    # What every page has, as the navigation, is told once.
    return found + ["%s%s: (%s): %s" % (of[0], " and %d more" % (len(of) - 1) if of[1:] else "", link, fault)
                    for (link, fault), of in broken.items()]


def main():
    found = faults(sys.argv[1])
    for fault in found:
        print("FAILED: " + fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
