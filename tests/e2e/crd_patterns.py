"""Makes texts that match a regular expression, for the patterns in schemas."""

import re

try:
    from re import _constants as constants, _parser as parser
except ImportError:  # Before Python 3.11.
    import sre_constants as constants
    import sre_parse as parser

CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z", "space": r"\s",
           "word": r"\w", "xdigit": "0-9a-fA-F", "punct": "!-/:-@[-`{-~"}
LIKED = "abcxyz019ABCXYZ-_./: @"


def as_python(pattern):
    """What RE2 reads, as Python's module reads it."""
    pattern = re.sub(r"\[:(\w+):\]", lambda found: CLASSES.get(found.group(1), "a-z"), pattern)
    return pattern.replace(r"\z", r"\Z").replace(r"\pL", "a-zA-Z")


class Writer:
    """Walks a parsed expression and writes a text that it matches."""

    def __init__(self, choices, longer):
        self.choices, self.longer = choices, longer

    def sequence(self, parts):
        return "".join(self.part(kind, what) for kind, what in parts)

    def part(self, kind, what):
        if kind is constants.LITERAL:
            return chr(what)
        if kind is constants.NOT_LITERAL:
            return next(one for one in LIKED if one != chr(what))
        if kind is constants.ANY:
            return "x"
        if kind is constants.IN:
            return self.one_of(what)
        if kind is constants.BRANCH:
            return self.sequence(self.choices.pick(what[1]))
        if kind is constants.SUBPATTERN:
            return self.sequence(what[-1])
        if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            low, high, inner = what
            count = min(high, low + (self.choices.below(2) if not self.longer else self.longer))
            return "".join(self.sequence(inner) for _ in range(count))
        return ""  # Anchors and lookarounds.

    def one_of(self, what):
        """A character of a set, of those that people write if there is one."""
        negated = any(kind is constants.NEGATE for kind, _ in what)
        start = self.choices.below(len(LIKED))
        for one in LIKED[start:] + LIKED[:start]:
            if any(self.contains(kind, value, one) for kind, value in what) != negated:
                return one
        for kind, value in what:
            if kind is constants.LITERAL:
                return chr(value)
            if kind is constants.RANGE:
                return chr(value[0])
        return "a"

    @staticmethod
    def contains(kind, value, one):
        if kind is constants.LITERAL:
            return ord(one) == value
        if kind is constants.RANGE:
            return value[0] <= ord(one) <= value[1]
        if kind is constants.CATEGORY:
            return {constants.CATEGORY_DIGIT: one.isdigit(), constants.CATEGORY_SPACE: one.isspace(),
                    constants.CATEGORY_WORD: one.isalnum() or one == "_",
                    constants.CATEGORY_NOT_DIGIT: not one.isdigit(),
                    constants.CATEGORY_NOT_SPACE: not one.isspace()}.get(value, False)
        return False


def matching(pattern, choices, least=0, most=200):
    """A text that `pattern` matches and that is as long as asked; None if none was found."""
    try:
        parsed, compiled = parser.parse(as_python(pattern)), re.compile(as_python(pattern))
    except (re.error, OverflowError, RecursionError):
        return None
    for longer in (0, 0, 0, 1, 2, 4, 8, 0, 0, least):
        text = Writer(choices, longer).sequence(parsed)
        if least <= len(text) <= most and compiled.search(text):
            return text
    return None
