"""The figures of the house: each is a function of a Tree that gives a value and what stands behind it."""

import functools
import math
import os
import re
import shutil
import subprocess
from collections import defaultdict, namedtuple

from tree import code_count, folder_of, line_count

# `behind` has a line for each thing that was counted: where to look.
Figure = namedtuple("Figure", "value behind")

# The steps that runtime::Settle takes in their order.
STEPS = r"(?:Normalize|Prune|SetDefaults)"
# The share of a file's functions that ctags has to find.
FOUND_MIN = 0.9


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
    """Sets of folders that include each other, perhaps by way of others. Public headers, which include public
    headers alone, stand in folders of their own, as they do on disk."""
    edges = defaultdict(lambda: defaultdict(list))
    for include in tree.includes():
        public = include.name.startswith("apiserver/")
        here, there = map(os.path.dirname, (include.path, ("include/" if public else "lib/") + include.name))
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


# Laws that have one place.


def settling_places(tree):
    """Functions that take a step of runtime::Settle themselves, Settle included; the steps may call each other."""
    places = defaultdict(list)
    for path in tree.library:
        found = tree.functions(path)
        own = {function.name for function in found}
        for number, line in enumerate(tree.code(path).split("\n"), 1):
            for scope, step in re.findall(r"(?<![\w.:>])((?:::)?(?:\w+::)*)(%s)\(" % STEPS, line):
                if not (scope.endswith("runtime::") or (not scope and step not in own)):
                    continue
                for function in found:
                    inside = function.body_line <= number <= function.end_line
                    if inside and not re.fullmatch(STEPS, function.name):
                        places[f"{path}:{function.name_line}: {function.name}"].append(step)
    return counted(f"{place}: {', '.join(steps)}" for place, steps in places.items())


@functools.cache
def classes(tree):
    """name -> [(path, the text between its name and '{', its body)] for each class that is defined."""
    found = defaultdict(list)
    for path in tree.library:
        code = tree.code(path)
        for match in re.finditer(r"(?<!enum )\b(?:class|struct)\s+([\w:]+)(?:\s+final)?\s*(:[^{;()]*)?\{", code):
            depth, end = 1, match.end()
            while depth and end < len(code):
                depth += {"{": 1, "}": -1}.get(code[end], 0)
                end += 1
            bases = re.findall(r"([\w:]+)(?:<[^,]*>)?\s*(?:,|$)", (match.group(2) or "")[1:].strip())
            found[match.group(1).split("::")[-1]].append((path, bases, code[match.end():end - 1]))
    return found


def nearest(definitions, path):
    """The classes of one name that a file means: its own, or else its folder's, or else all."""
    return ([row for row in definitions if row[0] == path] or
            [row for row in definitions if folder_of(row[0]) == folder_of(path)] or definitions)


def is_public_interface(tree, name, path):
    """A class that a host may implement: in a public header, with pure virtual methods and no data."""
    return any(where.startswith("include/") and re.search(r"\)[\w\s]*= 0;", body) and
               not re.search(r"\b\w+_(?:\s*=[^;]*|\{[^}]*\})?;", body)
               for where, _, body in nearest(classes(tree).get(name.split("::")[-1], []), path))


def downcasts(tree):
    """(where, the bases of the class) of each static_cast to a class that has a base."""
    pattern = r"static_(?:pointer_)?cast<\s*(?:const\s+)?([\w:]+)(?:\s+const)?\s*[&*]*\s*>\((?!nullptr)"
    for path in tree.library:
        code = tree.code(path)
        for match in re.finditer(pattern, code):
            name = match.group(1).split("::")[-1]
            bases = [base for _, bases, _ in nearest(classes(tree).get(name, []), path) for base in bases]
            if bases:
                yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {name}", bases, path


def unchecked_downcasts(tree):
    """Casts that are wrong if a host has implemented the public interface itself."""
    return counted(where for where, bases, path in downcasts(tree)
                   if any(is_public_interface(tree, base, path) for base in bases))


def all_downcasts(tree):
    return counted(where for where, _, _ in downcasts(tree))


# Navigation.


def ctags_lines(tree):
    """path -> the lines on which ctags, without options of anybody's, finds a function that has a name."""
    command = ["ctags", "--options=NONE", "--quiet", "--language-force=C++", "--kinds-C++=f", "-x",
               "--_xformat=%{line} %{name} %{input}", "-L", "-"]
    if shutil.which("ctags") is None:
        raise SystemExit("error: the tool 'ctags' is missing: install universal-ctags")
    # --quiet does not silence the notice of --options.
    done = subprocess.run(command, cwd=tree.root, input="\n".join(tree.library), text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = defaultdict(set)
    for row in done.stdout.splitlines():
        # A name may hold blanks: operator bool.
        line, name = row.split(" ", 1)
        if not name.startswith("__anon"):
            lines[name.rsplit(" ", 1)[1]].add(int(line))
    return lines


@functools.cache
def symbols(tree):
    """(path, functions that ctags finds, all its functions) of each file that defines any."""
    lines = ctags_lines(tree)
    found = []
    for path in tree.library:
        all_of_it = tree.functions(path)
        hits = sum(1 for function in all_of_it
                   if any(function.name_line <= line <= function.body_line for line in lines[path]))
        if all_of_it:
            found.append((path, hits, len(all_of_it)))
    return found


def open_files(tree, ending):
    """Percent of the files with functions in which ctags finds enough of them."""
    rows = [row for row in symbols(tree) if row[0].endswith(ending)]
    hidden = [f"{path}: {hits} of {count}" for path, hits, count in rows if hits < FOUND_MIN * count]
    return Figure(100.0 * (len(rows) - len(hidden)) / max(len(rows), 1), hidden)


def open_sources(tree):
    return open_files(tree, ".cc")


def open_headers(tree):
    return open_files(tree, ".h")


def symbols_found(tree):
    """Percent of all functions."""
    count = sum(count for _, _, count in symbols(tree))
    return Figure(100.0 * sum(hits for _, hits, _ in symbols(tree)) / max(count, 1), [])


# Tests.


def is_test(path):
    """Benchmarks stand among the tests and are none."""
    return path.startswith("tests/") and not path.startswith("tests/bench/")


def is_cpp(path):
    return path.endswith((".h", ".cc"))


def ratio(tests, library):
    tests, library = list(tests), list(library)
    return Figure(sum(tests) / max(sum(library), 1), [f"{sum(tests)} / {sum(library)}"])


def test_lines(tree):
    """C++ to C++, as the project and others were measured before."""
    return ratio((line_count(text) for path, text in tree.tests.items() if is_test(path) and is_cpp(path)),
                 (line_count(text) for text in tree.library.values()))


def test_code(tree):
    return ratio((code_count(text) for path, text in tree.tests.items() if is_test(path) and is_cpp(path)),
                 (code_count(text) for text in tree.library.values()))


def is_suite(path):
    """A suite that judges a host's engine or storage is tests, though it is installed."""
    return path.startswith("lib/testing/storage/")


def test_lines_of_all(tree):
    """Tests in every language and the installed suites, to the rest of the library."""
    suites = {path: text for path, text in tree.library.items() if is_suite(path)}
    rest = (line_count(text) for path, text in tree.library.items() if path not in suites)
    tests = [line_count(text) for path, text in tree.tests.items() if is_test(path)]
    return ratio(tests + [line_count(text) for text in suites.values()], rest)
