#!/usr/bin/env python3
"""Lists the flags of the example programs in docs/flags.md, from what they say to --help.

usage: flags.py [--write] [--root DIR] --server NAME=PROGRAM...

Without --write, fails if the page's tables are not what would be written.
"""

import argparse
import os
import re
import subprocess
import sys

from renew import renew

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join("docs", "flags.md")
BEGIN, END = "<!-- flags: written by docs/flags.py -->", "<!-- /flags -->"
HOME = "/home/you"
# "  --name TYPE:RANGE=DEFAULT ...  text": the text may begin in the next line.
FLAG = re.compile(r"^  (?:-\w,)?(--\S+)(?: ([A-Z]+)(?::[A-Z]+ in (\[[^\]]*\]))?(=\S*)?)?(?: \.\.\.)?(?:\s+(\S.*))?$")
DEFAULT = re.compile(r" ?\(default: (.*)\)$")


def help_of(program):
    done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, check=True,
                          env={"HOME": HOME, "PATH": os.environ["PATH"]})
    return done.stdout.replace(HOME, "~")


def flags_of(text):
    """Groups in their order, each with its flags: {group: {name: [value, text]}}."""
    groups, flags, last = {}, None, None
    for line in text.splitlines():
        if re.match(r"^\w.*:$", line):
            flags = None if line == "Commands:" else groups.setdefault(line[:-1], {})
        elif flags is None or not line.strip():
            continue
        elif line.startswith("  -"):
            match = FLAG.match(line)
            if not match:
                raise ValueError("no flag: %s" % line)
            name, kind, limits, default, told = match.groups()
            value = (kind or "").lower() + (" " + limits if limits else "")
            last = flags[name.split(",")[0].split("{")[0]] = [value, default[1:] if default else "", told or ""]
        else:
            last[2] += (" " if last[2] else "") + line.strip()
    for flags in groups.values():
        for row in flags.values():
            said = DEFAULT.search(row[2])
            if said:
                row[1:] = [said[1], row[2][:said.start()]]
    return groups


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def tables(programs):
    merged, having = {}, {}
    for name, program in programs:
        for group, flags in flags_of(help_of(program)).items():
            for flag, row in flags.items():
                value, default, told = row
                known = merged.setdefault(group, {}).setdefault(flag, (value, [], told))
                if default not in known[1]:
                    known[1].append(default)
                having.setdefault(flag, []).append(name)
    lines = []
    for group, flags in merged.items():
        lines += ["## " + group, "", "| flag | value | default | says | of |", "|---|---|---|---|---|"]
        for flag, (value, defaults, told) in flags.items():
            of = "all" if len(having[flag]) == len(programs) else ", ".join(having[flag])
            lines.append("| `%s` | %s | %s | %s | %s |" % (flag, cell(value), cell(" or ".join(defaults)), cell(told), of))
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--server", action="append", required=True)
    args = parser.parse_args()
    programs = [tuple(each.split("=", 1)) for each in args.server]
    return renew(args.root, PAGE, BEGIN, END, tables(programs).rstrip("\n"), args.write)


if __name__ == "__main__":
    sys.exit(main())
