#!/usr/bin/env python3
"""Checks that the errors of docs/troubleshooting.md are words that the code says.

usage: errors.py [--root DIR]

Of each row of the tables called "error", the text in backquotes is cut at "…"; every piece must stand in a
string of lib/ or of cmake/. Ends with "N errors are said by the code".
"""

import argparse
import os
import re
import sys

import pages

PAGE = os.path.join("docs", "troubleshooting.md")
ERRORS_MIN = 20
# Neighbouring strings are one: "a " "b".
JOINED = re.compile(r'"\s*\n\s*"')


def code(root):
    """All sources as one text, without the breaks in their strings."""
    texts = []
    for top in ("lib", "cmake"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            texts += [pages.read(os.path.join(folder, name), "/") for name in names
                      if name.endswith((".cc", ".h", ".cmake", ".in"))]
    return re.sub(r"\s+", " ", JOINED.sub("", "\n".join(texts))).replace("\\n", " ")


def errors(text):
    """The texts of the rows below a head that begins with "error"."""
    found, inside = [], False
    for line in text.splitlines():
        inside = line.startswith("| error |") or (inside and line.startswith("|"))
        match = re.match(r"\| `([^`]+)`", line) if inside else None
        if match:
            found.append(match[1])
    return found


def pieces(error):
    """What an error always says."""
    return [piece for piece in (part.strip(" ;:?'") for part in error.split("…")) if len(piece) > 3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.abspath(pages.ROOT), help="the checkout")
    root = os.path.abspath(parser.parse_args().root)
    said, failed = code(root), 0
    listed = errors(pages.read(PAGE, root))
    for error in listed:
        missing = [piece for piece in pieces(error) if piece not in said]
        if missing:
            failed += 1
            print("FAILED: no code says: %s" % " … ".join(missing))
    if len(listed) < ERRORS_MIN:
        failed += 1
        print("FAILED: %d errors are left of %d" % (len(listed), ERRORS_MIN))
    print("%d errors are said by the code" % (len(listed) - failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
