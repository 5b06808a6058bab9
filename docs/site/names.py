"""Lets names lead to their place in the reference: `client::NewInformer` in a page or comment, and header:PATH."""

import html
import os
import re
import xml.etree.ElementTree as tree

import headers

CODE = re.compile(r"<code>([A-Za-z_][\w:]*)(\(\))?</code>")
HEADER = re.compile(r'href="header:([^"]+)"')
SUMMARY = re.compile(r"<div class=\"summary\">.*?</div>", re.S)
NAVIGATION = re.compile(r"(<nav.*?</nav>)", re.S)
# One word leads somewhere if it can only be ours: UpperCamelCase of two words, and only one thing has that name.
ONE_WORD = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")
MACRO = re.compile(r"APISERVER_[A-Z_]+[A-Z]")


class Places:
    """The addresses of names and headers, as Doxygen's tag file has them."""

    def __init__(self, tags, folder):
        self.names, self.files, self.bases, last = {}, {}, {}, {}
        for compound in tree.parse(tags).getroot().findall("compound"):
            kind, name = compound.get("kind"), compound.findtext("name")
            address = compound.findtext("filename")
            if kind == "file":
                self.files[os.path.relpath(compound.findtext("path") + name, folder)] = address
                scope = None
            elif kind in ("class", "struct", "union", "namespace", "concept"):
                scope = name
                self.names.setdefault(self.short(name), address)
                self.bases[self.short(name)] = [self.short(base.text) for base in compound.findall("base")]
            else:
                continue
            for member in compound.findall("member"):
                said = member.findtext("name")
                full = said if scope is None else scope + "::" + said
                if scope is None and not MACRO.fullmatch(said):
                    continue
                self.names.setdefault(self.short(full), "%s#%s" % (
                    member.findtext("anchorfile"), member.findtext("anchor")))
                for value in member.findall("enumvalue") if scope else ():
                    where = "%s#%s" % (value.get("file"), value.get("anchor"))
                    self.names.setdefault(self.short(full + "::" + value.text), where)
        for name, address in self.names.items():
            last.setdefault(name.rpartition("::")[2], set()).add(address)
        self.unique = {name: next(iter(found)) for name, found in last.items()
                       if len(found) == 1 and ONE_WORD.fullmatch(name)}

        self.endings = {"::".join(parts[i:]) for parts in (name.split("::") for name in self.names)
                        for i in range(len(parts))}

    @staticmethod
    def short(name):
        return re.sub(r"<.*>", "", name).strip().removeprefix("apiserver::")

    def exists(self, name):
        """Whether something has that name, or a base of its class has it."""
        scope, _, last = name.removeprefix("apiserver::").rpartition("::")
        if not scope:
            return last in self.endings
        return (scope + "::" + last in self.endings or scope + "::" + last.removesuffix("s") in self.endings or
                any(self.exists(base + "::" + last) for known, bases in self.bases.items()
                    if ("::" + known).endswith("::" + scope) for base in bases))

    def find(self, name):
        """The address of a name as people write it; None: it is none of ours, or not one alone."""
        name = name.removeprefix("apiserver::")
        if "::" in name:
            if name in self.names:
                return self.names[name]
            ending = {address for known, address in self.names.items() if known.endswith("::" + name)}
            return next(iter(ending)) if len(ending) == 1 else None
        if MACRO.fullmatch(name) or (name in self.names and ONE_WORD.fullmatch(name)):
            return self.names.get(name)
        return self.unique.get(name)


def unknown(text, places):
    """The names in the comments of a header for Doxygen that nothing has: `Config::Complete`."""
    text = re.sub(r"\\code.*?\\endcode", "", shown_text(text), flags=re.S)
    namespaces = {name.split("::")[0] for name in places.names}
    for comment in re.findall(r"///<? (.*)", text):
        for name in re.findall(r"(?<![\w:.])(?:\w+::)+~?\w+", comment):
            first = name.split("::")[0]
            if (first[0].isupper() or first in namespaces) and not places.exists(name):
                yield name


def shown_text(text):
    return html.unescape(headers.shown(text))


def linked(text, places, known):
    """A page with its names as links."""

    def code(match):
        if match[1] not in known:
            known[match[1]] = places.find(match[1])
        address = known[match[1]]
        return '<a class="name" href="%s">%s</a>' % (address, match[0]) if address else match[0]

    def header(match):
        address = places.files.get(html.unescape(match[1]))
        return 'href="%s"' % address if address else match[0]

    # What is a link already stays as it is.
    parts = re.split(r"(<a .*?</a>|<nav.*?</nav>|<h1.*?</h1>)", text, flags=re.S)
    parts[::2] = [CODE.sub(code, part) for part in parts[::2]]
    # The summary of a page's parts, which Doxygen writes, names parts that it leaves out.
    return SUMMARY.sub("", HEADER.sub(header, "".join(parts)))


def current(text, page):
    """Marks the page's own entry of the navigation."""
    return NAVIGATION.sub(lambda match: match[0].replace(
        'href="%s"' % page, 'href="%s" aria-current="page"' % page), text, count=1)


def resolve(folder, places):
    """Rewrites all pages of a folder."""
    known = {}
    for base, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(base, name)
            if name.endswith((".html", ".js")):
                with open(path, encoding="utf-8") as file:
                    text = headers.shown(file.read())
                if name.endswith(".html"):
                    text = current(linked(text, places, known), name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
