"""The checkout as the figures see it: its files by room, and which file includes which."""

import functools
import os
import re
from collections import namedtuple

from functions import functions, hide

Include = namedtuple("Include", "path line name")  # name: as it stands in the quotes.

# How a private header says that other rooms may include it; see lib/README.md.
INTERNAL = "#pragma once  // Library-internal: "


def rooms_of(cmake):
    """The rooms, bottom first, and the leaves behind them, from the text of ApiserverRooms.cmake."""
    order = []
    for name in ("APISERVER_ROOMS", "APISERVER_LEAVES"):
        words = re.search(r"set\(%s\s(.*?)\)" % name, re.sub(r"#[^\n]*", "", cmake), re.DOTALL)
        order += words.group(1).split()
    return order


class Tree:
    """Reads a checkout once. Paths are relative to its root."""

    def __init__(self, root):
        self.root = root
        self.order = rooms_of(self._read("cmake/ApiserverRooms.cmake"))
        self.library = self._read_all(("include/apiserver", "lib"), (".h", ".cc"))
        self.tests = self._read_all(("tests",), (".h", ".cc", ".py", ".go", ".js"))

    def _read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def _read_all(self, tops, endings):
        paths = []
        for top in tops:
            for folder, _, names in os.walk(os.path.join(self.root, top)):
                paths += [os.path.relpath(os.path.join(folder, name), self.root)
                          for name in names if name.endswith(endings)]
        return {path: self._read(path) for path in sorted(paths)}

    def room(self, path):
        """The longest room that a file lies in, by its path from the root; None: it lies in none."""
        folder = folder_of(path).replace("/", ".")
        while folder and folder not in self.order:
            folder = folder.rpartition(".")[0]
        return folder or None

    @functools.cache
    def code(self, path):
        """A library file's text without comments and what stands in quotes, line by line the same."""
        return hide(self.library[path])

    @functools.cache
    def functions(self, path):
        return functions(self.library[path])

    def rank(self, room):
        return self.order.index(room)

    def includes(self):
        """Each include of a file of ours by a file of the library."""
        for path, text in self.library.items():
            for number, line in enumerate(text.split("\n"), 1):
                match = re.match(r'#include "([^"]+)"', line)
                if match and self.room(match.group(1)):
                    yield Include(path, number, match.group(1))

    def is_internal(self, name):
        """Whether lib/<name> says that other rooms may include it."""
        return any(line.startswith(INTERNAL) for line in self.library.get("lib/" + name, "").split("\n"))


def folder_of(path):
    """storage/kv of lib/storage/kv/a.cc, tests/storage/kv/a.cc, and apiserver/storage/kv/a.h."""
    return os.path.dirname(re.sub(r"^(include/apiserver|lib|tests|apiserver)/", "", path))


def line_count(text):
    return len(text.splitlines())


def code_count(text):
    """The lines that hold more than a comment."""
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith(("//", "#!", "# ")))
