"""Renews the part of a page that a script makes, or tells that it is out of date."""

import os
import sys


def renew(root, page, begin, end, text, write):
    """Puts the text between the marks; without `write` only looks. Returns the exit code."""
    path = os.path.join(root, page)
    with open(path, encoding="utf-8") as file:
        old = file.read()
    before, rest = old.split(begin, 1)
    new = before + begin + "\n\n" + text + "\n\n" + end + rest.split(end, 1)[1]
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
        print("%s: written" % page)
    elif old != new:
        print("FAILED: %s is not what %s --write makes" % (page, os.path.basename(sys.argv[0])))
        return 1
    return 0
