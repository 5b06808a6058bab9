#!/usr/bin/env python3
"""Fails where a script has the name of a Python module: those beside it would then import the script instead.

usage: module_names.py [ROOT]
"""

import os
import subprocess
import sys

# Modules that the tests import, and those that these import, beside Python's own.
PACKAGES = {"certifi", "chardet", "dateutil", "google", "idna", "kubernetes", "oauthlib", "requests", "requests_oauthlib",
            "six", "urllib3", "websocket", "websockets", "yaml"}


def shadowing(paths):
    """Those of the paths whose names are those of modules."""
    taken = PACKAGES | set(sys.stdlib_module_names)
    return [path for path in paths if os.path.splitext(os.path.basename(path))[0] in taken]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.py"], capture_output=True, text=True, check=True)
    paths = listed.stdout.splitlines()
    if not paths:
        sys.exit("error: no script is tracked")
    assert shadowing(["tests/e2e/websocket.py", "tests/e2e/kubectl.py", "docs/json.py"]) == [
        "tests/e2e/websocket.py", "docs/json.py"]
    found = shadowing(paths)
    if found:
        sys.exit("error: these have the names of modules: " + " ".join(found))


main()
