#!/usr/bin/env python3
"""Has shells complete the command line of apiserver-gen, with the files of packaging/debian/completions.

usage: completions_test.py APISERVER_GEN

What bash and fish offer is compared with the usage that the program prints; of zsh's file its words are, and
that zsh can read it. A shell that is missing is an error: scripts/test installs all three.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.normpath(os.path.join(HERE, "..", "..", "packaging", "debian", "completions"))
BASH = """source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _apiserver_gen
printf '%s\\n' "${COMPREPLY[@]}" """


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def bash(*words):
    return set(said("bash", "-c", BASH, os.path.join(FILES, "apiserver-gen.bash"), *words).split())


def fish(line):
    script = "source $argv[1]; complete -C $argv[2]"
    offered = said("fish", "--no-config", "-c", script, os.path.join(FILES, "apiserver-gen.fish"), line)
    return {row.split("\t")[0] for row in offered.splitlines()}


def flags_of(usage):
    """The flags of each command: types's lines come first."""
    types, project = usage.split("\n\n")[0].split("apiserver-gen project")
    return {"types": set(re.findall(r"--\w+", types)), "project": set(re.findall(r"--\w+", project))}


def main():
    flags = flags_of(said(sys.argv[1], "--help"))
    assert len(flags["types"]) == 3 and len(flags["project"]) == 6, flags
    assert bash("apiserver-gen", "") == {"types", "project", "--help"}
    assert bash("apiserver-gen", "pr") == {"project"}
    assert {"types", "project"} <= fish("apiserver-gen ")
    assert fish("apiserver-gen pr") == {"project"}
    for command, expected in flags.items():
        assert bash("apiserver-gen", command, "--") == expected, bash("apiserver-gen", command, "--")
        assert fish("apiserver-gen %s --" % command) == expected, fish("apiserver-gen %s --" % command)
    assert bash("apiserver-gen", "project", "zoo", "--kind", "") == set(), "a kind is not known"
    here = os.path.join(HERE, "completions_test.p")
    assert bash("apiserver-gen", "types", here) == {here + "y"}, "files are offered"
    zsh = os.path.join(FILES, "apiserver-gen.zsh")
    said("zsh", "-n", zsh)
    with open(zsh, encoding="utf-8") as file:
        types, project = file.read().split("    project)")
    for part, expected in ((types.split("    types)")[1], flags["types"]), (project, flags["project"])):
        assert set(re.findall(r"'\*?(--\w+)\[", part)) == expected, part


main()
