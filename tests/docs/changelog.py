#!/usr/bin/env python3
"""Checks that every entry of CHANGELOG.md stands in a section, and that there is no heading but those below.

usage: changelog.py [--root DIR]

Ends with "N entries stand in sections".
"""

import argparse
import re
import sys

import pages

# The sections of a version, in their order, and the subjects that a long one is divided by, in theirs.
SUBJECTS = ["Programs and commands", "Servers and HTTP", "Kinds, schemas and objects", "Built-in groups",
            "Custom resources and aggregation", "Users, permissions and audit", "Admission and CEL", "Storage",
            "Clients, controllers and tests", "Operation", "Packages, building and documentation",
            "Speed and memory"]
SECTIONS = {"What breaks": ["Source", "Flags and deployments", "Stored data"],
            "Added": SUBJECTS, "Changed": SUBJECTS, "Deprecated": SUBJECTS, "Removed": SUBJECTS,
            "Fixed": SUBJECTS, "Security": SUBJECTS}
# A section with more entries has subjects.
WHOLE_MAX = 12
VERSION = re.compile(r"Unreleased|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)")


class Reader:
    """Reads the lines of a changelog from top to bottom."""

    def __init__(self):
        self.faults = []
        self.entries = 0
        self.number = 0
        self.version = self.section = self.subject = None
        # How many entries stand below the last heading of each level.
        self.in_section = self.in_subject = 0

    def fault(self, words):
        self.faults.append("CHANGELOG.md:%d: %s" % (self.number, words))

    def end_subject(self):
        if self.subject and not self.in_subject:
            self.fault('"%s" has no entry' % self.subject)
        self.subject, self.in_subject = None, 0

    def end_section(self):
        self.end_subject()
        if self.section and not self.in_section:
            self.fault('"%s" has no entry' % self.section)
        self.section, self.in_section = None, 0

    def step(self, name, known, before, what):
        """Whether `name` is a known heading that may follow `before`."""
        if name not in known:
            self.fault('"%s" is no %s, only: %s' % (name, what, ", ".join(known)))
        elif before in known and known.index(name) <= known.index(before):
            self.fault('"%s" stands in front of "%s"' % (name, before))

    def heading(self, level, name):
        if level == 1:
            return
        if level == 2:
            self.end_section()
            self.version = name
            if not VERSION.fullmatch(name):
                self.fault('"%s" is no version, only: Unreleased, or 0.1.0 (2026-12-31)' % name)
        elif level == 3:
            before = self.section
            self.end_section()
            self.step(name, list(SECTIONS), before, "section")
            self.section = name
        else:
            before = self.subject
            if not before and self.in_section:
                self.fault("entries of the section stand in front of its first subject")
            self.end_subject()
            self.step(name, SECTIONS.get(self.section, []), before, "subject of this section")
            self.subject = name

    def entry(self):
        self.entries += 1
        self.in_section += 1
        self.in_subject += 1
        if not self.section:
            self.fault("the entry stands in no section")
        elif not self.subject and self.in_section == WHOLE_MAX + 1:
            self.fault('"%s" has more than %d entries and no subjects' % (self.section, WHOLE_MAX))

    def line(self, text):
        self.number += 1
        found = re.match(r"(#+) +(.*)$", text)
        if found:
            self.heading(len(found[1]), found[2])
        elif re.match(r"- \S", text):
            self.entry()
        elif text and self.section and not (text.startswith("  ") and self.in_subject):
            self.fault("the line is no entry, nor a part of one")

    def end(self):
        self.end_section()
        if not self.entries:
            self.fault("there is no entry")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pages.ROOT, help="the checkout")
    reader = Reader()
    for text in pages.read("CHANGELOG.md", parser.parse_args().root).splitlines():
        reader.line(text)
    reader.end()
    for fault in reader.faults:
        print("FAILED: %s" % fault)
    print("%d entries stand in sections" % (reader.entries - len(reader.faults)))
    return 1 if reader.faults else 0


if __name__ == "__main__":
    sys.exit(main())
