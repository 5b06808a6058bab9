"""Makes the comments of a header Doxygen's: `// Text.` becomes `/// Text.` where it documents something."""

import html
import re

COMMENT = re.compile(r"^(\s*)//(?!/)\s?(.*)$")
# A comment behind code. A text that contains slashes is none: the quotes before it are paired.
BEHIND = re.compile(r"""^((?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|'|/(?!/))*?\S)\s*//\s?(.*)$""")
# Marks of tools, and ends of namespaces: nothing for a reader.
NO_TEXT = re.compile(r"NOLINT|clang-format |namespace\b|Library-internal")
# `namespace a::inline v0::b` is more than Doxygen reads, and v0 is not what a program writes.
INLINE = re.compile(r"::inline v0\b")
# A friend is declared elsewhere too, or private to the class.
FRIEND = re.compile(r"^ *friend [^;{}]*(?:;|\{[^{}]*\})", re.M)
SPAN = re.compile(r"`([^`]+)`")
ITEM = re.compile(r"(?:- |\d+\. )")
# Letters that Doxygen, HTML or Markdown would read. Each is one of Unicode's private ones until names.py puts
# it back into the pages: no way of escaping works everywhere.
LETTERS = "\\@<>&#%*|~_-+=:."
HIDDEN = {ord(letter): 0xE000 + i for i, letter in enumerate(LETTERS)}
SPECIAL = re.compile(r"[\\@<>&#%*|~]|(?<!\w)_|_(?!\w)|^[+=-](?! )|^[+]|---?")


def escaped(text):
    """Prose that is what it looks like, with Doxygen's links of names left possible."""
    return SPECIAL.sub(lambda match: match[0].translate(HIDDEN), text)


def shown(text):
    """The text of a page with its letters back."""
    return text.translate({0xE000 + i: html.escape(letter) for i, letter in enumerate(LETTERS)})


def code(text):
    """What stands in backquotes, as HTML."""
    return "<code>%s</code>" % " ".join(text.split()).translate(HIDDEN)


def prose(text):
    """A paragraph, perhaps of several lines, with its `code`."""
    parts = SPAN.split(text)
    parts[::2] = ["\n".join(escaped(line) for line in part.split("\n")) for part in parts[::2]]
    parts[1::2] = [code(part) for part in parts[1::2]]
    return "".join(parts)


def blocks(texts):
    """The paragraphs, items and pieces of code of a comment, each with whether it is code."""
    found, blank = [], True
    for text in texts:
        indented = text.startswith("  ")
        code = indented and (blank or found[-1][0])
        if not text.strip():
            blank = True
            continue
        if not found or code != found[-1][0] or (not code and (blank or ITEM.match(text))):
            found.append((code, []))
        elif blank:
            found[-1][1].append("")
        found[-1][1].append(text)
        blank = False
    return found


def paragraphs(texts):
    """The lines of a comment as Doxygen's Markdown; text that is indented behind a blank line is code."""
    out, before = [], None
    for code, lines in blocks(texts):
        item = ITEM.match(lines[0])
        if before is not None and not (before and item):
            out.append("")
        if code:
            out += ["\\code{.cpp}"] + [line[2:] for line in lines] + ["\\endcode"]
        else:
            mark = item[0] if item else ""
            out += (mark + prose("\n".join(lines)[len(mark):])).split("\n")
        before = bool(item)
    return out


class Scopes:
    """Follows the braces of a header, to tell declarations from what stands in functions."""

    OPENS = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:namespace|class|struct|union|enum|extern)\b", re.S)

    ACCESS = re.compile(r"\s*(public|protected|private)\s*$")

    def __init__(self):
        # What is open: whether it holds declarations, and whether those that follow are hidden.
        self.open, self.statement, self.directive = [], "", False

    def declares(self):
        return all(declares for declares, _ in self.open)

    def hidden(self):
        """Whether what follows is private."""
        return any(hidden for _, hidden in self.open)

    def between(self):
        """Whether no declaration has been begun and not ended."""
        return not self.statement.strip()

    def read(self, code):
        directive, self.directive = self.directive or code.startswith("#"), False
        if directive:
            self.directive = code.endswith("\\")
            return
        code = re.sub(r'"(?:\\.|[^"\\])*"' + r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\])'", "", code)
        for letter in code:
            if letter == "{":
                begins_private = re.match(r"\s*(?:template\s*<.*>\s*)?class\b", self.statement, re.S)
                self.open.append((self.OPENS.match(self.statement) is not None, bool(begins_private)))
                self.statement = ""
            elif letter == "}":
                if self.open:
                    self.open.pop()
                self.statement = ""
            elif letter == ";":
                self.statement = ""
            elif letter == ":" and self.ACCESS.match(self.statement):
                if self.open:
                    self.open[-1] = (self.open[-1][0], self.statement.strip() == "private")
                self.statement = ""
            else:
                self.statement += letter
        self.statement += " "


def documents(line):
    """Whether a comment before this line is about it."""
    return bool(line.strip()) and not re.match(r"\s*(?:\}|#(?!define)|public:|protected:|private:)", line)


def converted(text):
    """A header as Doxygen reads it."""
    text = FRIEND.sub(lambda match: "\n" * match[0].count("\n"), INLINE.sub("", text))
    lines, out, scopes, i = text.split("\n"), [], Scopes(), 0
    while i < len(lines):
        comment = COMMENT.match(lines[i])
        if comment:
            first = i
            while i < len(lines) and COMMENT.match(lines[i]):
                i += 1
            texts = [COMMENT.match(line)[2] for line in lines[first:i]]
            texts = [said for said in texts if not NO_TEXT.match(said)]
            after = lines[i] if i < len(lines) else ""
            if texts and documents(after) and scopes.declares() and scopes.between() and not scopes.hidden():
                whole = re.match(r"namespace \w", after)
                said = (["\\file", ""] if whole else []) + paragraphs(texts)
                out += [comment[1] + "///" + (" " + line if line else "") for line in said]
                if whole:
                    out.append("")
            continue
        line, i = lines[i], i + 1
        behind = BEHIND.match(line) if scopes.declares() and "//" in line else None
        if not behind:
            scopes.read(re.sub(r"\s*//.*$", "", line) if BEHIND.match(line) else line)
            out.append(line)
            continue
        scopes.read(behind[1])
        said, column = [behind[2]], line.index("//", len(behind[1]))
        while i < len(lines) and COMMENT.match(lines[i]) and lines[i].index("//") == column and column > 8:
            said.append(COMMENT.match(lines[i])[2])
            i += 1
        if NO_TEXT.match(said[0]) or not scopes.declares() or scopes.hidden() or re.match(r"\s*(?:\}|#|public:)", line):
            out.append(behind[1])
        elif behind[1].endswith("{") or re.search(r"\b(?:enum|struct)\b.*\{.*\};$", behind[1]):
            # A comment behind a brace is about the whole.
            out += [re.match(r"\s*", line)[0] + "/// " + prose(" ".join(said)), behind[1]]
        else:
            out.append(behind[1] + "  ///< " + prose(" ".join(said)))
    # A header that says nothing of itself is in the reference all the same.
    return "/// \\file\n" + "\n".join(out)
