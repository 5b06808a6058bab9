"""Makes the Markdown of the checkout Doxygen's.

Every page that the navigation names, and every file that a page links to, becomes a page of the site:
Markdown as it reads, any other file as its text, a folder as the list of its files. A header becomes a
link to its part of the reference, `header:PATH`, which names.py resolves.
"""

import html
import os
import re
from urllib.parse import unquote

import headers

FENCE = re.compile(r"(```+|~~~+)\s*(\w*)")
HEADING = re.compile(r"(#{1,6}) +(.*?) *#*$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
SUMMARY = re.compile(r"<details><summary>(.*)</summary>$")
TAG = re.compile(r"&(?!#?\w+;)|</?(?!(?:a|img|code|br|sub|sup|p)\b)|[@%]|(?<!\w)#(?=\w)|---?")
LANGUAGES = {"cc": "cpp", "h": "cpp", "cpp": "cpp", "py": "py", "proto": "cpp"}
DELIMITER = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
TOC_MIN = 3  # Headings; a page with fewer has no table of contents.


def anchor(heading):
    """The name that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def label(path):
    """The name of the page of a file, without .html."""
    if path == "README.md":
        return "index"
    return re.sub(r"[^\w-]", "_", path[:-3] if path.endswith(".md") else "file_" + path)


class Site:
    """The pages of a checkout, made one after the other as they are found."""

    def __init__(self, root, navigation):
        self.root = root
        self.queue = list(navigation)
        self.made = {}  # Path -> the text for Doxygen.
        self.pictures = set()

    def make(self):
        while self.queue:
            path = self.queue.pop(0)
            if path not in self.made:
                self.made[path] = self.page(path)
        return self.made

    def page(self, path):
        where = os.path.join(self.root, path)
        if os.path.isdir(where):
            return self.folder(path)
        with open(where, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".md"):
            return Page(self, path, text).converted()
        language = LANGUAGES.get(path.rpartition(".")[2], "")
        begin, end = ("~~~~~~{.%s}" % language, "~~~~~~") if language else ("\\verbatim", "\\endverbatim")
        return "# %s {#%s}\n\n%s\n%s\n%s\n" % (path, label(path), begin, text.rstrip("\n"), end)

    def folder(self, path):
        names = sorted(os.listdir(os.path.join(self.root, path)))
        items = ["- " + self.link(path, name, html.escape(name)) for name in names
                 if os.path.isfile(os.path.join(self.root, path, name))]
        return "# %s {#%s}\n\n%s\n" % (path, label(path), "\n".join(items))

    def link(self, page, target, text):
        """A link of a page, or of what is in a folder, as HTML."""
        return '<a href="%s">%s</a>' % (self.address(page, target), text)

    def address(self, page, target):
        if re.match(r"[a-z]+:", target):
            return target
        file, _, fragment = unquote(target).partition("#")
        folder = page if os.path.isdir(os.path.join(self.root, page)) else os.path.dirname(page)
        path = os.path.normpath(os.path.join(folder, file)) if file else page
        if os.path.isfile(os.path.join(self.root, path, "README.md")):
            path = os.path.join(path, "README.md")
        if path == ".":
            path = "README.md"
        if path.startswith("include/") and path.endswith(".h"):
            return "header:" + path[len("include/"):]
        if not os.path.exists(os.path.join(self.root, path)):
            raise ValueError("%s: there is no %s" % (page, path))
        self.queue.append(path)
        name = label(path)
        return "%s.html%s" % (name, "#%s-%s" % (name, fragment) if fragment else "")


class Page:
    """One page of Markdown, read line by line."""

    def __init__(self, site, path, text):
        self.site, self.path = site, path
        text = re.sub(r"(?m)^<!--.*?-->\n", "", text, flags=re.S)
        self.lines = text.split("\n")
        self.headings, self.titled = set(), False
        self.out, self.paragraph = [], []

    def converted(self):
        fence = end = None
        for line in self.lines:
            opening = FENCE.match(line)
            if fence:
                closes = line.startswith(fence)
                self.out.append(end if closes else line)
                fence = None if closes else fence
            elif opening:
                self.flush()
                fence = opening[1]
                # In what is no code of ours no word leads to the reference.
                begin, end = ("~~~~~~{.%s}" % LANGUAGES[opening[2]], "~~~~~~") if opening[2] in LANGUAGES else \
                    ("\\verbatim", "\\endverbatim")
                self.out.append(begin)
            else:
                self.read(line)
        self.flush()
        return "\n".join(self.out) + "\n"

    def read(self, line):
        """Takes a line outside of code."""
        heading, summary = HEADING.match(line), SUMMARY.match(line)
        if heading:
            self.flush()
            self.heading(len(heading[1]), heading[2])
        elif summary or line == "</details>":
            self.flush()
            shown = "<details><summary>%s</summary>" % html.escape(summary[1]) if summary else line
            self.out += ["", "\\htmlonly%s\\endhtmlonly" % shown, ""]
        elif not line.strip() or line.startswith("|"):
            self.flush()
            self.out.append(line if DELIMITER.fullmatch(line) else self.prose(line))
        else:
            self.paragraph.append(line)

    def flush(self):
        if self.paragraph:
            self.out += self.prose("\n".join(self.paragraph)).split("\n")
        self.paragraph = []

    def heading(self, level, text):
        name = label(self.path)
        if level > 1 or self.titled:
            name += "-" + anchor(text)
            # GitHub numbers those that come again.
            count, first = 1, name
            while name in self.headings:
                name, count = "%s-%d" % (first, count), count + 1
            self.headings.add(name)
        else:
            self.titled = True
            name = "mainpage" if name == "index" else name
        self.out.append("%s %s {#%s}" % ("#" * level, self.prose(text).replace("{", "\\{"), name))
        if name in (label(self.path), "mainpage") and sum(bool(re.match("## ", line)) for line in self.lines) >= TOC_MIN:
            self.out += ["", "[TOC]", ""]

    def prose(self, text):
        """Text with its links and `code`."""
        kept = []

        def keep(made):
            kept.append(made)
            return "\0%d\0" % (len(kept) - 1)

        def code(match):
            return keep(headers.code(match[1].replace("\\|", "|")))

        def link(match):
            if match[1]:
                self.site.pictures.add(os.path.normpath(os.path.join(os.path.dirname(self.path), match[3])))
                return keep('<img src="%s" alt="%s">' % (os.path.basename(match[3]), html.escape(match[2])))
            return keep('<a href="%s">' % self.site.address(self.path, match[3])) + match[2] + keep("</a>")

        text = LINK.sub(link, headers.SPAN.sub(code, text))
        text = TAG.sub(lambda match: match[0].translate(headers.HIDDEN), text)
        while "\0" in text:
            text = re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)
        return text
