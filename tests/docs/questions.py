#!/usr/bin/env python3
"""Checks docs/questions.md: each question's files exist, and can be found from the README without a search.

usage: questions.py [--root DIR]

The way is README.md -> lib/README.md -> the page in the last column. Each page links to the next, and
the last one names every file. Ends with "N questions answered".
"""

import argparse
import os
import re
import sys

import pages

QUESTIONS_MIN = 20
ROW = re.compile(r"^\| ([^|]*\?) \| (.+) \| (`.*`) \| `(.*)` \|$")


def links(page, root):
    """What a page links to, relative to the checkout."""
    return {os.path.normpath(os.path.join(os.path.dirname(page), link.partition("#")[0]))
            for link in re.findall(r"\]\(([^()\s]+)\)", pages.read(page, root))}


def problems_of(files, last, root):
    """What is wrong with a question's files and its way."""
    way = ["README.md", "lib/README.md"] + ([last] if last != "lib/README.md" else [])
    for page in way:
        if not os.path.isfile(os.path.join(root, page)):
            return ["there is no %s" % page]
    found = ["%s does not link to %s" % (page, after) for page, after in zip(way, way[1:])
             if after not in links(page, root)]
    text = pages.read(last, root)
    for file in files:
        if not os.path.isfile(os.path.join(root, file)):
            found.append("there is no %s" % file)
        elif os.path.basename(file) not in text:
            found.append("%s does not name %s" % (last, os.path.basename(file)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pages.ROOT, help="the checkout")
    root = parser.parse_args().root
    failed = count = 0
    for line in pages.read("docs/questions.md", root).splitlines():
        row = ROW.match(line)
        if not row:
            continue
        count += 1
        problems = problems_of(re.findall(r"`([^`]+)`", row[3]), row[4], root)
        failed += bool(problems)
        for problem in problems:
            print("FAILED: %s %s" % (row[1], problem))
    if count < QUESTIONS_MIN:
        failed += 1
        print("FAILED: %d questions are left of %d" % (count, QUESTIONS_MIN))
    print("%d questions answered" % (count - failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
