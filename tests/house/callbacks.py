"""The figure of the callbacks: which functions and interfaces that a host hands in say their thread and blocking."""

import re
from collections import namedtuple

from figures import Figure
from functions import hide, tokens
from language import Reader, class_name, column_behind, is_comment

# A callback is a declaration with one of these types: a member, an alias, or a function with such a parameter.
CALLBACK = re.compile(r"\b(?:std::function|UniqueFunction)<")
# Words that tell on which thread a call comes, and whether it may, must not, or does wait.
THREAD = re.compile(r"\b(?:threads?|loops?|pool|executor|thread-safe)\b", re.IGNORECASE)
BLOCKING = re.compile(r"\b(?:block(?:s|ed|ing)?|non-blocking|wait(?:s|ing)?|may_block|kWouldBlock)\b", re.IGNORECASE)

KINDS = {"class", "struct", "enum", "union"}

# `first_line` has its first word, `last_line` its ';' or '{'. `classes` are those around it, outermost first.
Contract = namedtuple("Contract", "name first_line last_line classes")


class Class:
    """A class that is open, or was."""

    def __init__(self, name, first_line, classes, hidden):
        self.name, self.first_line, self.last_line = name, first_line, first_line
        self.classes, self.hidden, self.abstract = classes, hidden, False


class ContractReader(Reader):
    """Collects what is visible: the declarations, and the classes with a pure virtual function."""

    def __init__(self):
        super().__init__()
        self.declarations = []
        self.classes = []
        self.open_classes = []  # A Class for each '{' that opened one, None for the others.

    def around(self):
        return [found for found in self.open_classes if found]

    def open(self, line):
        opened = None
        if not self.inside() and self.declaration.opens() == "class":
            opened = Class(class_name(self.declaration.words), self.first_line, self.around(), self.hidden())
            opened.last_line = line
            self.classes.append(opened)
        super().open(line)
        self.open_classes.append(opened)

    def close(self):
        if self.open_classes:
            self.open_classes.pop()
        super().close()

    def end(self, line):
        words = self.declaration.words
        if self.around() and "virtual" in words and words[-2:] == ["=", "0"]:
            self.around()[-1].abstract = True
        # A class ends with a ';' as well, and has been found where it began.
        if not self.hidden() and not KINDS & set(words[:2]):
            self.add_function(line)

    def add_function(self, line):
        words = self.declaration.words
        name = words[1] if words[:1] == ["using"] and len(words) > 1 else member_name(words)
        self.declarations.append(Contract(name, self.first_line, line, self.around()))


def member_name(words):
    """The name before the parameters, or before the value that a member begins with."""
    stop = next((at for at, word in enumerate(words) if word in ("(", "=", "{", "}")), len(words))
    names = [word for word in words[:stop] if re.fullmatch(r"\w+", word)]
    return names[-1] if names else "(no name)"


def own_comment(lines, first_line, last_line):
    """The comment above these lines and those behind their code."""
    above = first_line - 1
    while above > 0 and is_comment(lines[above - 1]):
        above -= 1
    texts = [line.strip().lstrip("/") for line in lines[above:first_line - 1]]
    for line in lines[first_line - 1:last_line]:
        column = len(line) - len(line.lstrip()) if is_comment(line) else column_behind(line)
        if column >= 0:
            texts.append(line[column:].lstrip("/"))
    return " ".join(texts)


def header_comment(lines):
    """The comment above the header's namespace, if it has a paragraph on threads, which holds for all of it."""
    at = next((number for number, line in enumerate(lines, 1) if line.startswith("namespace ")), 0)
    comment = own_comment(lines, at, at) if at else ""
    return comment if " Threads: " in comment else ""


def contracts(text):
    """(what a host hands in, its comments with those around it), in the order of the lines. A declaration right
    below another one shares its comment: on_add, on_update and on_delete have one. What an interface's functions
    say counts for the interface."""
    reader, lines, code = ContractReader(), text.split("\n"), hide(text).split("\n")
    for word, number in tokens(text):
        reader.read(word, number)
    found, inside, shared, below = [], {}, "", 0
    for one in reader.declarations:
        comment = own_comment(lines, one.first_line, one.last_line)
        if not comment and one.first_line == below:
            comment = shared
        shared, below = comment, one.last_line + 1
        if one.classes:
            inside.setdefault(one.classes[-1], []).append(comment)
        if CALLBACK.search(" ".join(code[one.first_line - 1:one.last_line])):
            found.append((one, comment))
    found += [(one, " ".join([own_comment(lines, one.first_line, one.last_line), *inside.get(one, [])]))
              for one in reader.classes if one.abstract and not one.hidden]
    above = header_comment(lines)

    def around(one):
        return " ".join([above, *(own_comment(lines, c.first_line, c.last_line) for c in one.classes)])

    return sorted(((one, f"{comment} {around(one)}") for one, comment in found), key=lambda pair: pair[0].first_line)


def missing(comment):
    """What a comment does not say."""
    parts = [word for word, pattern in (("its thread", THREAD), ("blocking", BLOCKING)) if not pattern.search(comment)]
    return " and ".join(parts)


def callbacks(tree):
    """Percent of the callbacks and interfaces in public headers whose comments, or those of a class or header around
    them, say on which thread they are called and whether they may block."""
    every = [(path, one, missing(comment)) for path, text in tree.library.items() if path.startswith("include/")
             for one, comment in contracts(text)]
    bare = [f"{path}:{one.first_line}: {one.name} does not say {what}" for path, one, what in every if what]
    return Figure(100.0 * (len(every) - len(bare)) / max(len(every), 1), bare)
