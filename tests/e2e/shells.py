#!/usr/bin/env python3
"""Shells read the completions of a program, and mandoc its manual page.

usage: shells.py --server BINARY
"""

import argparse
import os
import subprocess
import sys
import tempfile

from servers import Failure


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expect(true, what):
    if not true:
        raise Failure(str(what))


def written(folder, name, *words):
    code, text, error = run(*words)
    expect(code == 0 and error == "", error)
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def check(program, folder):
    name = os.path.basename(program)
    for shell in ("bash", "zsh", "fish"):
        path = written(folder, shell, program, "completion", shell)
        expect(run(shell, "-n", path) == (0, "", ""), (shell, run(shell, "-n", path)))
    asked = "source %s; complete -C '%s --secure-po'" % (os.path.join(folder, "fish"), name)
    code, answer, error = run("fish", "--no-config", "-c", asked)
    expect(answer.startswith("--secure-port"), answer + error)
    asked = "source %s; complete -C '%s doc'" % (os.path.join(folder, "fish"), name)
    code, answer, error = run("fish", "--no-config", "-c", asked)
    expect(answer.startswith("doctor\t"), answer + error)
    page = written(folder, "page.8", program, "man")
    # A page without a date, as a program has none, is a warning.
    expect(run("mandoc", "-T", "lint", "-W", "error", page) == (0, "", ""), run("mandoc", "-T", "lint", page))
    expect("doctor" in run("mandoc", "-T", "utf8", page)[1], "the page cannot be shown")
    refused = run(program, "completion", "tcsh")
    expect(refused[0] == 1 and "bash, zsh and fish" in refused[2], refused)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(options.server, folder)
        except Failure as failure:
            sys.exit("failed: %s" % failure)
    print("shells: ok")


if __name__ == "__main__":
    main()
