"""The pages of the documentation, and what the checks of them share."""

import os
import re

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# Written by tools or by others, or no page that a user reads.
SKIPPED = re.compile(r"(^|/)(build|testdata|node_modules)/")


def pages(root=ROOT):
    """The paths of all Markdown files of the checkout, relative to its root."""
    found = []
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if name != ".git" and
                      not SKIPPED.search(os.path.normpath(os.path.join(relative, name)) + "/")]
        found += [os.path.normpath(os.path.join(relative, name))
                  for name in names if name.endswith(".md")]
    return sorted(found)


def read(path, root=ROOT):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def write(path, text, root=ROOT):
    with open(os.path.join(root, path), "w", encoding="utf-8") as file:
        file.write(text)

