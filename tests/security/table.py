#!/usr/bin/env python3
"""Checks docs/security.md: its rows are numbered, and each names tests that exist and name the row, or says why not.

usage: table.py

Ends with "N rows tested, M do not apply".
"""

import os
import re
import sys

# So many there were when it was last looked at; none is given up.
ROWS_MIN = 77
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def names_row(path, row):
    """A Python attack registers its row; a test case, or a comment above it, says "row N"."""
    text = open(os.path.join(ROOT, path)).read()
    if path.endswith(".py"):
        return re.search(r"@row\(%d,|[Rr]ow %d\b" % (row, row), text)
    return re.search(r"\b[Rr]ows?\b[^\n]*\b%d\b" % row, text)


def main():
    problems, tested, inapplicable, seen = [], 0, 0, []
    for line in open(os.path.join(ROOT, "docs", "security.md")):
        match = re.match(r"\| (\d+) \| (.*) \| (.*) \|$", line)
        if not match:
            continue
        row, tests = int(match.group(1)), match.group(3)
        seen.append(row)
        if tests.startswith("none: "):
            inapplicable += 1
            continue
        paths = re.findall(r"`([^`]+)`", tests)
        missing = [path for path in paths
                   if not os.path.exists(os.path.join(ROOT, path)) or not names_row(path, row)]
        if not paths or missing:
            problems.append("row %d: %s" % (row, ", ".join(missing) or "names no test"))
        tested += 1
    if len(seen) < ROWS_MIN or seen != list(range(1, len(seen) + 1)):
        problems.append("the rows are not numbered from 1 on, or some are lost: %s" % seen)
    for problem in problems:
        print("FAILED: " + problem)
    print("%d rows tested, %d do not apply" % (tested - len(problems), inapplicable))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
