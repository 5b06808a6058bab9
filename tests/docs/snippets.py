#!/usr/bin/env python3
"""Checks that C++ in the documentation is the very text of files that are built, and that lines are counted right.

usage: snippets.py [--write] [--root DIR] [PAGE.md...]    all pages if none is named

A quoting block stands behind a marker of its own line, in one of four forms:

    <!-- file: examples/hello-resource/main.cc -->                  the whole file
    <!-- file: examples/hello-resource/main.cc lines 11-19 -->      these lines, counted from 1
    <!-- file: examples/hello-resource/main.cc function main -->    the function, to its last brace
    <!-- file: examples/hello-resource/main.cc region strategy -->  what stands between the comments
                                                                    "[strategy]" and "[/strategy]"

What all quoted lines are indented by is taken away, and so are blank lines at both ends and the
comments of regions. A block of C++ without a marker is refused. The number in front of "lines" in the
line behind

    <!-- lines: examples/tutorial/serve.cc examples/tutorial/step1/pets.h -->

is how many lines the files have together, the comments of regions left out. --write puts the files' text
into the blocks, and the numbers. Ends with "N blocks quote files".
"""

import argparse
import os
import re
import sys

import pages

MARKER = re.compile(r"^<!-- file: (?P<path>\S+)(?: lines (?P<first>\d+)-(?P<last>\d+)"
                    r"| function (?P<function>\w+)| region (?P<region>[\w-]+))? -->$")
LINES = re.compile(r"^<!-- lines: (?P<paths>\S+(?: \S+)*) -->$")
NUMBER = re.compile(r"\d+(?= lines\b)")
REGION = re.compile(r"\s*(?://|#) \[/?[\w-]+\]$")
FENCE = re.compile(r"^(`{3,}|~{3,})[\w+-]*$")


def quoted(match, root):
    """The lines that a marker stands for. ValueError: there are none."""
    path = match["path"]
    if not os.path.isfile(os.path.join(root, path)):
        raise ValueError("there is no file %s" % path)
    lines = pages.read(path, root).splitlines()
    if match["first"]:
        first, last = int(match["first"]), int(match["last"])
        if not 1 <= first <= last <= len(lines):
            raise ValueError("%s has no lines %d-%d" % (path, first, last))
        lines = lines[first - 1:last]
    elif match["function"]:
        lines = function(lines, match["function"], path)
    elif match["region"]:
        lines = region(lines, match["region"], path)
    return trimmed(lines)


def function(lines, name, path):
    """A function that begins in the first column, and ends at the first brace there."""
    begins = [i for i, line in enumerate(lines) if re.match(r"\w.*\b%s\(" % name, line)]
    ends = [i for i, line in enumerate(lines) if begins and i > begins[0] and line == "}"]
    if len(begins) != 1 or not ends:
        raise ValueError("%s has no function %s" % (path, name))
    return lines[begins[0]:ends[0] + 1]


def region(lines, name, path):
    """What stands between the two comments of a region."""
    opened = [i for i, line in enumerate(lines) if re.match(r"\s*(//|#) \[%s\]$" % name, line)]
    closed = [i for i, line in enumerate(lines) if re.match(r"\s*(//|#) \[/%s\]$" % name, line)]
    if len(opened) != 1 or len(closed) != 1 or opened[0] > closed[0]:
        raise ValueError("%s has no region %s" % (path, name))
    return lines[opened[0] + 1:closed[0]]


def trimmed(lines):
    """Without common indentation, and without blank lines at both ends."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    lines = [line for line in lines if not REGION.match(line)]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    indent = min(indents, default=0)
    return [line[indent:] for line in lines]


def block_after(lines, marker):
    """The first line of the block behind a marker, and the line of its closing fence."""
    opening = marker + 1
    while opening < len(lines) and not lines[opening].strip():
        opening += 1
    fence = FENCE.match(lines[opening]) if opening < len(lines) else None
    if not fence:
        raise ValueError("no code block follows the marker")
    for closing in range(opening + 1, len(lines)):
        if lines[closing] == fence[1]:
            return opening + 1, closing
    raise ValueError("the code block has no end")


def counted(line, match, root):
    """The line behind a marker of lines, with their number. ValueError: it cannot be counted, or has none."""
    number = 0
    for path in match["paths"].split():
        if not os.path.isfile(os.path.join(root, path)):
            raise ValueError("there is no file %s" % path)
        number += sum(not REGION.match(each) for each in pages.read(path, root).splitlines())
    if not NUMBER.search(line):
        raise ValueError("the line behind the marker says no number of lines")
    return NUMBER.sub(str(number), line, count=1)


def renewed(text, root):
    """The page with every quoting block as it should be, problems by line, and the blocks' count."""
    lines, out, problems, blocks, fence, i = text.split("\n"), [], [], 0, None, 0
    while i < len(lines):
        line = lines[i]
        out.append(line)
        i += 1
        # A marker inside a code block is an example of a marker.
        if fence:
            fence = None if line == fence else fence
            continue
        opening = FENCE.match(line)
        fence = opening[1] if opening else None
        if re.match(r"[`~]+(?:cpp|c\+\+|cc)$", line):
            problems.append((i, "a block of C++ quotes no file"))
        if LINES.match(line):
            try:
                new = counted(lines[i], LINES.match(line), root)
                if new != lines[i]:
                    problems.append((i + 1, "the files have %s lines: --write puts them in" % NUMBER.search(new)[0]))
                lines[i] = new
            except ValueError as error:
                problems.append((i, str(error)))
        if not line.startswith("<!-- file:"):
            continue
        match, number = MARKER.match(line), i
        try:
            if not match:
                raise ValueError("the marker cannot be read: %s" % line)
            wanted = quoted(match, root)
            first, closing = block_after(lines, i - 1)
        except ValueError as error:
            problems.append((number, str(error)))
            continue
        blocks += 1
        if lines[first:closing] != wanted:
            problems.append((number, "the block is not the text of %s: --write renews it" % match["path"]))
        out += lines[i:first] + wanted + [lines[closing]]
        i = closing + 1
    return "\n".join(out), problems, blocks


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the files' text into the blocks")
    parser.add_argument("--root", default=pages.ROOT, help="the checkout")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    failed, blocks = False, 0
    for page in options.pages or pages.pages(options.root):
        text = pages.read(page, options.root)
        new, problems, count = renewed(text, options.root)
        blocks += count
        if options.write and new != text:
            pages.write(page, new, options.root)
            print("%s: written" % page)
            problems = renewed(new, options.root)[1]
        for line, problem in problems:
            failed = True
            print("FAILED: %s:%d: %s" %
                  (page, line, problem))
    print("%d blocks quote files" % blocks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
