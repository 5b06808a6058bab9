"""The figures of the house: each is a function of a Tree that gives a value and what stands behind it."""

import functools
import math
from collections import defaultdict, namedtuple

from tree import folder_of

# `behind` has a line for each thing that was counted: where to look.
Figure = namedtuple("Figure", "value behind")


def counted(behind):
    behind = list(behind)
    return Figure(len(behind), behind)


# Functions.


@functools.cache
def function_lengths(tree):
    """(lines, where) of each function of the library, the shortest first."""
    return sorted((found.end_line - found.name_line + 1, f"{path}:{found.name_line}: {found.name}")
                  for path in tree.library for found in tree.functions(path))


def function_p95(tree):
    lengths = function_lengths(tree)
    value = lengths[math.ceil(len(lengths) * 0.95) - 1][0] if lengths else 0
    return Figure(value, [f"{where}: {lines} lines" for lines, where in lengths[::-1] if lines > value])


def function_max(tree):
    lengths = function_lengths(tree)
    value = lengths[-1][0] if lengths else 0
    return Figure(value, [where for lines, where in lengths if lines == value])


# Includes.


@functools.cache
def cross_room(tree):
    """(include, its room, the included file's room) of each include that points to another room."""
    found = [(i, tree.room(i.path), tree.room(i.name)) for i in tree.includes()]
    return [row for row in found if row[1] != row[2]]


def said(include):
    return f"{include.path}:{include.line}: {include.name}"


def cross_room_includes(tree):
    return counted(said(i) for i, _, _ in cross_room(tree))


def upward_includes(tree):
    return counted(said(i) for i, here, there in cross_room(tree)
                   if here is None or tree.rank(there) > tree.rank(here))


def private_includes(tree):
    return [i for i, _, _ in cross_room(tree) if not i.name.startswith("apiserver/")]


def private_outside(tree):
    """Cross-room includes of headers that do not say that they are for other rooms."""
    return counted(said(i) for i in private_includes(tree) if not tree.is_internal(i.name))


def private_inside(tree):
    return counted(said(i) for i in private_includes(tree) if tree.is_internal(i.name))


def internal_headers(tree):
    return counted(path for path in tree.library if path.startswith("lib/") and tree.is_internal(path[4:]))


def internal_idle(tree):
    """Library-internal headers that no other room includes."""
    used = {"lib/" + i.name for i in private_includes(tree)}
    return counted(path for path in internal_headers(tree).behind if path not in used)


def reachable(edges, start):
    seen, todo = set(), [start]
    while todo:
        new = set(edges.get(todo.pop(), ())) - seen
        seen |= new
        todo += new
    return seen


def folder_knots(tree):
    """Sets of folders that include each other, perhaps by way of others."""
    edges = defaultdict(lambda: defaultdict(list))
    for include in tree.includes():
        here, there = folder_of(include.path), folder_of(include.name)
        if here != there:
            edges[here][there].append(said(include))
    reach = {folder: reachable(edges, folder) for folder in edges}
    knots = {tuple(sorted(other for other in reach[folder] if folder in reach.get(other, ())))
             for folder in reach if folder in reach[folder]}
    behind = []
    for knot in sorted(knots):
        behind.append("knot of " + ", ".join(knot))
        behind += [f"  {here} -> {there}: {len(ways)}, the first {ways[0]}"
                   for here in knot for there, ways in sorted(edges[here].items()) if there in knot]
    return Figure(len(knots), behind)
