"""Finds the functions that a C++ text defines, by its braces. It reads what clang-format has formatted, not any C++."""

import re
from collections import namedtuple

# Lines count from 1. `name_line` is where the signature begins, below `template <...>`; `body_line` has the '{'.
Function = namedtuple("Function", "name name_line body_line end_line")

HIDDEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/
      | R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'
      | ^[ \t]*\#(?:\\\n|[^\n])*""", re.VERBOSE | re.DOTALL | re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|<=>|<=|>=|==|!=|&&|\|\||\+\+|--|\.\.\.|\d[\w.']*|\S")
KEYS = {"class", "struct", "union"}


def hide(text):
    """The text without comments, directives, and what stands in quotes; each line keeps its number."""
    return HIDDEN.sub(lambda match: '""' * (match.group()[0] in "\"R'") + "\n" * match.group().count("\n"), text)


def tokens(text):
    for number, line in enumerate(hide(text).split("\n"), 1):
        for word in TOKEN.findall(line):
            yield word, number


class Declaration:
    """The words since the last ';', '{' or '}' of a namespace or class, without what stands in ( ), [ ] and < >."""

    def __init__(self):
        self.words = []
        self.line = 0
        self.depth = 0  # Of ( and [.
        self.angles = 0
        self.after_template = False
        self.initializes = False  # Behind the ':' of a constructor.

    def add(self, word, line):
        if not self.words or (self.after_template and self.angles == 0):
            self.line = line
        if self._nests(word):
            return
        self.after_template = word == "template"
        if word == ":" and "(" in self.words:
            self.initializes = True
        self.words.append(word)

    def _nests(self, word):
        """Keeps count of brackets; says whether the word is one that closes, or stands inside."""
        inside = self.depth > 0 or self.angles > 0
        if word in "([":
            self.depth += 1
        elif word in ")]":
            self.depth -= 1
            if self.depth == 0 and self.angles == 0:
                self.words.append(word)
            return True
        elif self.depth > 0 or self.words[-1:] == ["operator"]:
            return inside
        elif word == "<":
            self.angles += 1
            return True
        elif word == ">" and self.angles:
            self.angles -= 1
            return True
        return inside

    def opens(self):
        """Names what a '{' behind these words opens: a namespace, a class, a function, or other."""
        words = [word for word in self.words if word not in ("template", "export", "static", "inline")]
        if not words or self.depth > 0 or self.angles > 0:
            return "other"
        if words[0] == "namespace" or words == ["extern", '"', '"']:
            return "namespace"
        if words[0] in KEYS or words[:2] == ["typedef", "struct"]:
            return "class"
        if words[0] == "enum" or "(" not in words:
            return "other"
        if "operator" not in words and "=" in words:
            return "other"
        if self.initializes:
            return "function" if self.words[-1] in (")", "}", "...") else "other"
        return "function"

    def name(self):
        at = self.words.index("(") if "(" in self.words else len(self.words)
        if at > 0 and self.words[at - 1] == "operator":  # operator()
            return "operator()"
        return self.words[at - 1] if at else ""


def functions(text):
    """The functions defined at namespace or class level, in order; lambdas belong to the function around them."""
    found = []
    scopes = []  # (what, declaration) for each '{' that is open.
    declaration = Declaration()
    for word, line in tokens(text):
        inside = bool(scopes) and scopes[-1][0] in ("function", "other")
        if word == "{":
            what = "other" if inside else declaration.opens()
            scopes.append((what, declaration, line))
            if what in ("namespace", "class"):
                declaration = Declaration()
        elif word == "}":
            if not scopes:
                continue
            what, opened, body_line = scopes.pop()
            if scopes and scopes[-1][0] in ("function", "other"):
                continue
            if what == "function":
                found.append(Function(opened.name(), opened.line, body_line, line))
            if what in ("function", "namespace"):
                declaration = Declaration()
            elif what == "class":
                declaration = opened
            elif declaration.depth == 0:
                declaration.words.append("}")
        elif inside:
            continue
        elif word == ";" and declaration.depth == 0:
            declaration = Declaration()
        elif word == ":" and declaration.words in (["public"], ["protected"], ["private"]):
            declaration = Declaration()
        else:
            declaration.add(word, line)
    return found
