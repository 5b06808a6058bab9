"""Which of Doxygen's warnings count.

A comment also covers the declarations below it, up to a blank line ("Return the sum and the mean."), and
the comment of an interface with one method covers that. Names that say everything need none: fields,
aliases, getters (`size()`), constructors and operators.
"""

import re

UNDOCUMENTED = re.compile(r"(?P<path>\S+?):(?P<line>\d+): warning: Member (?P<member>.*) "
                          r"\((?P<kind>\w+)\) of \w+ (?P<owner>.*?) is not documented\.")
NAME = re.compile(r"(operator\b|~?\w+)(?=[^(]*\()")
GETTER = re.compile(r"[a-z][a-z0-9_]*")
LABEL = re.compile(r"\s*(?:public|protected|private):")


def speaks_for_itself(kind, member, owner):
    if kind in ("variable", "typedef"):
        return True
    found = NAME.match(member)
    if kind != "function" or not found:
        return False
    return bool(GETTER.fullmatch(found[1])) or found[1] == re.sub(r"<.*", "", owner).split("::")[-1]


def one_method(lines, label):
    """Whether the class whose part begins with a label has one method besides its destructor."""
    methods = 0
    for line in lines[label + 1:]:
        if line.strip() == "};":
            return methods == 1
        methods += line.rstrip().endswith(";") and "~" not in line
    return False


def covered(lines, number):
    """Whether a comment above covers the declaration in the line of that number."""
    for above in range(number - 2, -1, -1):
        line = lines[above]
        if "///" in line:
            return True
        if not line.strip() or LABEL.match(line) and not one_method(lines, above):
            return False
    return False


def counting(warnings, read):
    """The warnings that count; `read` gives the lines of a file."""
    kept = []
    for warning in warnings:
        match = UNDOCUMENTED.match(warning)
        if match and (speaks_for_itself(match["kind"], match["member"], match["owner"]) or
                      covered(read(match["path"]), int(match["line"]))):
            continue
        kept.append(warning)
    return kept
