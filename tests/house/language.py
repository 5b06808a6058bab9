"""The figures of the comments: how they open, how many there are, and which public declarations have one."""

import functools
import re
from collections import namedtuple

from figures import Figure
from functions import Declaration, tokens

# `line` is where it opens; `text` is its words in one line, without the slashes.
# `behind` says that code stands before it on its line.
Block = namedtuple("Block", "path line text behind")
# `name` is a class's or function's; `first_line` has its first word, "template" perhaps, `last_line` its '{' or ';'.
Public = namedtuple("Public", "name kind first_line last_line")

COMMENT = re.compile(r"\s*//[/!]?(?:<)?\s?(.*)")
# What stands in quotes is no comment; the group is the first that is one.
BEHIND = re.compile(r"""\"(?:\\.|[^"\\])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\])*'|(//.*)""")
LICENCE = re.compile(r"copyright|spdx-license|licen[cs]ed under", re.IGNORECASE)
# What is no sentence and needs to be none: the end of a namespace, a tool's mark, a rule between sections.
NO_PROSE = re.compile(r"(?:namespace\b|NOLINT|clang-format |\W*$|=+|-+)")

# Openings without a head. A clause of this kind names a thing without a noun, whatever follows it.
FREE_RELATIVE = re.compile(
    r"(?:(?:of|from|for|with|by|in|on|to|at|as|under|behind|beside|against|about|among|between) )?"
    r"(?:what|whatever|who|whoever|whom|whomever|whose|whether|which|whichever|where|wherever|why|how|"
    r"nobody|somebody|anybody|everybody|no one|someone|anyone|everyone)\b", re.IGNORECASE)
# Good English after all: a measure ("How long a request may wait."), and a clause in front of a sentence
# ("Where the two differ, the client decides.").
MEASURE = re.compile(r"how (?:long|many|much|often|far|large|deep|old)\b", re.IGNORECASE)
BEFORE_SENTENCE = re.compile(r"(?:where|wherever|whatever|whether|however)\b[^.:;,]*, ", re.IGNORECASE)
# A phrase of this kind is a head's tail, unless a subject and a verb follow it.
PREPOSITION = re.compile(r"(?:of|from|for|with|by|in|on|to|at|as|under|behind|beside|against|about|among|between)\b",
                         re.IGNORECASE)
# What may open with a preposition all the same: the upstream function or the program that is followed, an example,
# a source, a unit.
EXEMPT = re.compile(
    r"as (?:in |of |for |with )?(?:[\w./:-]*[./:][\w./:()-]*\w|(?:Go|Kubernetes|RFC|etcd|client-go|upstream|kube)\b)|"
    r"(?:for example|from k8s|in bytes|in order|at most|at least)\b", re.IGNORECASE)
SUBORDINATE = re.compile(
    r"\b(?:(?<!, )that|which|who|whom|whose|what|whoever|whatever|whether|where|when|while|if|unless|because|since|"
    r"until|before|after|as|than|how|why|so that)\b[^,:;]*", re.IGNORECASE)
# Verbs that stand behind a subject. A plural looks like a verb in -s, so these are named.
VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|must|may|might|can|cannot|could|will|would|should|shall|needs?|"
    r"[a-z]+n't|stays?|goes|go|keeps?|gets?|gives?|makes?|takes?|comes?|stands?|holds|means?|returns|becomes?|"
    r"belongs?|carries|carry|follows|remains?|serves|wants?|fails?|knows?|costs|adds?|drops|removes?|decides?|"
    r"passes|decodes?|encodes?|prints|parses?|skips?|closes?|opens|expects?|requires?|yields?|applies|apply|"
    r"replaces?|repeats?|wins?|loses?|lets?|says?|tells?|sees?|finds?|asks?|refuses?|rejects?|ignores?|accepts?|"
    r"allows?)\b|"
    # These are nouns too: "the names". Behind a pronoun or a noun with its article they are verbs.
    r"\b(?:it|they|this|one|nothing|none|all|both|each|(?:the|an?|each|every) [a-z]+) (?:answer|name|list|call|read|"
    r"write|end|start|stop|use|work|match|set|wait|live|leave|lead|count|run|begin|sort|send)(?:s|es)?\b")


def is_comment(line):
    return line.lstrip().startswith("//")


def column_behind(line):
    """The column of the comment behind a line's code; -1: there is none."""
    return next((match.start(1) for match in BEHIND.finditer(line) if match.group(1)), -1)


def blocks_of(path, text, code):
    """The comments of a text: lines that follow each other at one column are one block."""
    found, open_column = [], None
    for number, (line, bare) in enumerate(zip(text.split("\n"), code.split("\n")), 1):
        column = len(line) - len(line.lstrip()) if is_comment(line) else column_behind(line) if bare.strip() else -1
        if column < 0:
            open_column = None
            continue
        words = COMMENT.match(line[column:]).group(1).strip()
        if is_comment(line) and column == open_column:
            found[-1] = found[-1]._replace(text=(found[-1].text + " " + words).strip())
        else:
            found.append(Block(path, number, words, not is_comment(line)))
        open_column = column
    return [block for block in found if not NO_PROSE.match(block.text) and not LICENCE.search(block.text)]


@functools.cache
def blocks(tree):
    return [block for path, text in tree.library.items() for block in blocks_of(path, text, tree.code(path))]


def has_verb(words):
    """Whether there is one outside of the words' subordinate clauses."""
    return VERB.search(SUBORDINATE.sub("", words)) is not None


def is_headless(text, behind=False):
    """Whether a comment opens with a clause or phrase that has no head: no noun it is about, no verb for what is
    done. Behind code, which is the head there, a phrase may stand alone unless it opens with "Of"."""
    sentence = re.split(r"[.;](?:\s|$)", text, maxsplit=1)[0]
    if FREE_RELATIVE.match(text):
        clause = BEFORE_SENTENCE.match(sentence)
        return not (MEASURE.match(text) or (clause and has_verb(sentence[clause.end():])))
    if not PREPOSITION.match(text) or EXEMPT.match(text):
        return False
    if behind and not re.match(r"of\b", text, re.IGNORECASE):
        return False
    return not has_verb(sentence.split(" ", 1)[-1])


def headless(tree):
    """Percent of the comment blocks."""
    found = [block for block in blocks(tree) if is_headless(block.text, block.behind)]
    return Figure(100.0 * len(found) / max(len(blocks(tree)), 1),
                  [f"{block.path}:{block.line}: {block.text[:100]}" for block in found])


# How much is commented.


def comment_lines(text):
    """(lines that are only a comment, these and the lines of code), the licence left out."""
    lines = [line.strip() for line in text.splitlines()]
    head = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    if any(LICENCE.search(line) for line in lines[:head]):
        lines = lines[head:]
    comments = sum(1 for line in lines if line.startswith("//"))
    return comments, sum(1 for line in lines if line)


def comment_share(tree, wanted):
    """Percent of comment lines in all files that are wanted; behind it each longer file without any."""
    counts = {path: comment_lines(text) for path, text in tree.library.items() if wanted(path)}
    comments, lines = (sum(column) for column in zip(*counts.values())) if counts else (0, 0)
    bare = [f"{path}: none in {size} lines" for path, (own, size) in counts.items() if own == 0 and size > 80]
    return Figure(100.0 * comments / max(lines, 1), bare)


def source_comments(tree):
    return comment_share(tree, lambda path: path.endswith(".cc"))


def header_comments(tree):
    return comment_share(tree, lambda path: path.startswith("include/"))


# Which public declarations have a comment.

ACCESS = ("public", "protected", "private")
GETTER = re.compile(r"[a-z]+[a-z0-9]*")


class Reader:
    """Collects the declarations of a header that a host may use; see publics()."""

    def __init__(self):
        self.found = []
        self.scopes = []  # [what '{' opened, its Declaration, its first line, whether what follows is hidden]
        self.clear()

    def clear(self):
        self.declaration, self.first_line = Declaration(), 0

    def hidden(self):
        return any(scope[3] for scope in self.scopes)

    def inside(self):
        return bool(self.scopes) and self.scopes[-1][0] in ("function", "other")

    def read(self, word, line):
        if word == "{":
            self.open(line)
        elif word == "}":
            self.close()
        elif self.inside():
            return
        elif word == ":" and self.declaration.words[-1:] and self.declaration.words[-1] in ACCESS and \
                len(self.declaration.words) == 1:
            self.scopes[-1][3] = self.declaration.words[0] == "private"
            self.clear()
        elif word == ";" and self.declaration.depth == 0:
            self.end(line)
            self.clear()
        else:
            self.first_line = self.first_line or line
            self.declaration.add(word, line)

    def open(self, line):
        what = "other" if self.inside() else self.declaration.opens()
        words = self.declaration.words
        if not self.inside() and not self.hidden():
            if what == "class" or words[:1] == ["enum"]:
                self.found.append(Public(class_name(words), "class", self.first_line, line))
            elif what == "function":
                self.add_function(line)
        # A class begins with its private part, a struct with its public one.
        starts_hidden = what == "class" and "class" in words and "struct" not in words
        self.scopes.append([what, self.declaration, self.first_line, starts_hidden])
        if what in ("namespace", "class"):
            self.clear()

    def close(self):
        if not self.scopes:
            return
        what, opened, first_line, _ = self.scopes.pop()
        if self.inside():
            return
        if what in ("function", "namespace"):
            self.clear()
        elif what == "class":
            self.declaration, self.first_line = opened, first_line
        elif self.declaration.depth == 0:
            self.declaration.words.append("}")

    def end(self, line):
        """A ';': the end of a function's declaration, or of what is none."""
        words = self.declaration.words
        at = words.index("(") if "(" in words else -1
        if at <= 0 or self.hidden() or words[0] in ("class", "struct", "enum", "union") or "=" in words[:at]:
            return
        self.add_function(line)

    def add_function(self, line):
        words = self.declaration.words
        name = self.declaration.name()
        special = {"operator", "~", "friend", "using", "typedef", "static_assert", "override", "final", "default",
                   "delete"} & set(words)
        if not special:
            self.found.append(Public(name, "function", self.first_line, line))


def class_name(words):
    names = [word for word in words if re.fullmatch(r"\w+", word) and
             word not in ("class", "struct", "enum", "union", "final", "alignas", "template")]
    return names[0] if names else "(no name)"


def is_copy(name, signature):
    return re.search(r"\b%s\((?:const )?%s&" % (name, name), signature) is not None


def publics(text):
    """The declarations of a public header that need a contract: classes, structs and enums that are defined here,
    functions and methods. Left out: what is private, friends, operators, overrides, what is `= default` or
    `= delete`, destructors, constructors that copy, move or have no parameter, and getters without a parameter of
    one word or with the name of the field that they return."""
    reader = Reader()
    for word, line in tokens(text):
        reader.read(word, line)
    lines = text.split("\n")
    classes = {public.name for public in reader.found if public.kind == "class"}

    def speaks_for_itself(public):
        if public.kind == "class":
            return False
        signature = " ".join(lines[public.first_line - 1:public.last_line])
        bare = re.search(r"\b%s\(\)" % re.escape(public.name), signature) is not None
        if public.name in classes:
            return bare or is_copy(public.name, signature)
        return bare and (GETTER.fullmatch(public.name) is not None or f"{{ return {public.name}_; }}" in signature)

    return [public for public in reader.found if not speaks_for_itself(public)]


def commented(public, previous, lines):
    """A comment stands above a declaration, behind it, or above an overload that it follows without a gap."""
    if public.first_line > 1 and is_comment(lines[public.first_line - 2]):
        return True
    if any(column_behind(line) >= 0 for line in lines[public.first_line - 1:public.last_line]):
        return True
    return previous is not None and previous.name == public.name and public.first_line - previous.last_line <= 1


def uncommented_of(path, text):
    """(how many declarations need a comment, path:line: name of those without)."""
    lines, bare, previous, all_of_it = text.split("\n"), [], None, publics(text)
    for public in all_of_it:
        if commented(public, previous, lines):
            previous = public
        else:
            bare.append(f"{path}:{public.first_line}: {public.name}")
            previous = None
    return len(all_of_it), bare


def uncommented(tree):
    """Percent of the public declarations that need a comment and have none."""
    rows = [uncommented_of(path, text) for path, text in tree.library.items() if path.startswith("include/")]
    bare = [line for _, lines in rows for line in lines]
    return Figure(100.0 * len(bare) / max(sum(count for count, _ in rows), 1), bare)
