#!/usr/bin/env python3
"""Checks that links of the documentation lead to files of the checkout, and to headings in them.

usage: links.py [--root DIR]

Looks at links between pages and files, not at the web. Code blocks and `code` are left out. Ends
with "N links lead somewhere".
"""

import argparse
import os
import re
import sys
from urllib.parse import unquote

import pages

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")


def prose(text):
    """The page without what is code."""
    text = re.sub(r"^(```+|~~~+).*?^\1$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchor(heading):
    """The name that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(path, root):
    text = re.sub(r"^(```+|~~~+).*?^\1$", "", pages.read(path, root), flags=re.M | re.S)
    return {anchor(match[1]) for match in map(HEADING.match, text.splitlines()) if match}


def problem(page, link, root):
    """What is wrong with a link; None: it leads somewhere."""
    path, _, fragment = unquote(link).partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if target.startswith(".."):
        return "leads out of the checkout"
    if not os.path.exists(os.path.join(root, target)):
        return "there is no %s" % target
    if fragment and target.endswith(".md") and fragment not in anchors(target, root):
        return "%s has no heading #%s" % (target, fragment)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pages.ROOT, help="the checkout")
    root = parser.parse_args().root
    failed = count = 0
    for page in pages.pages(root):
        for link in LINK.findall(prose(pages.read(page, root))):
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            found = problem(page, link, root)
            if found:
                failed += 1
                print("FAILED: %s: (%s): %s" % (page, link, found))
    print("%d links lead somewhere" % (count - failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
