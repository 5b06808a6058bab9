#!/usr/bin/env python3
"""Makes the site of the documentation from docs/, the READMEs and the public headers, with Doxygen.

usage: build.py [--root DIR] [--out DIR]

The site is OUT/html, by default build/site/html: open its index.html, no server is needed. Fails, with
a line for each fault, if a public name has no comment, a comment names something that is not there,
Doxygen warns, a page of docs/ is not in the navigation, a link leads nowhere, or a page would load
something from another host.
"""

import argparse
import functools
import html
import os
import re
import shutil
import subprocess
import sys

import check
import documented
import headers
import markdown
import names

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))


def navigation(root):
    """[(heading, [(path, words)])] as navigation.txt has it."""
    sections = []
    with open(os.path.join(root, "docs", "site", "navigation.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("  "):
                sections[-1][1].append(tuple(line.strip().split(" ", 1)))
            elif line and not line.startswith("#"):
                sections.append((line, []))
    return sections


def missing(root, sections):
    """The pages of docs/ that the navigation does not have."""
    known = {path for _, entries in sections for path, _ in entries}
    return ["FAILED: docs/site/navigation.txt does not have docs/%s" % name
            for name in sorted(os.listdir(os.path.join(root, "docs")))
            if name.endswith(".md") and "docs/" + name not in known]


def namespaces(folder):
    """The namespaces of the headers, as a program writes them."""
    found = set()
    for base, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(base, name), encoding="utf-8") as file:
                found.update(re.findall(r"^namespace (apiserver[\w:]*) \{", file.read(), re.M))
    return sorted(found)


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_headers(root, folder):
    include = os.path.join(root, "include")
    for base, _, files in os.walk(include):
        for name in files:
            if name.endswith(".h"):
                path = os.path.join(base, name)
                with open(path, encoding="utf-8") as file:
                    put(os.path.join(folder, os.path.relpath(path, include)), headers.converted(file.read()))


def write_namespaces(root, folder, found):
    """A page for each namespace says which room it is, in the words of lib/README.md."""
    with open(os.path.join(root, "lib", "README.md"), encoding="utf-8") as file:
        rooms = dict(re.findall(r"^\| \[?`([\w.]+)`(?:\]\([^)]*\))? \| (.*?) \|", file.read(), re.M))
    lines = []
    for name in found:
        room = name.removeprefix("apiserver").removeprefix("::").replace("::", ".") or "base"
        said = rooms.get(room, "A part of the namespace around it")
        said = headers.prose(said[0].upper() + said[1:] + ".")
        lines.append("/** \\namespace %s\n%s\n*/\n" % (name, said))
    put(os.path.join(folder, "namespaces.dox"), "\n".join(lines))


def sidebar(sections, found):
    """The navigation as HTML."""
    out = []
    for heading, entries in sections:
        items = ['<li><a href="%s.html">%s</a></li>' % (markdown.label(path), html.escape(words))
                 for path, words in entries]
        out.append("<h2>%s</h2>\n<ul>\n%s\n</ul>" % (html.escape(heading), "\n".join(items)))
    items = ['<li><a href="annotated.html">All classes</a></li>', '<li><a href="files.html">All headers</a></li>']
    items += ['<li><a href="namespace%s.html"><code>%s</code></a></li>' %
              (name.replace("_", "__").replace("::", "_1_1"), name.removeprefix("apiserver::"))
              for name in found]
    out.append("<h2>Reference</h2>\n<ul>\n%s\n</ul>" % "\n".join(items))
    return "\n".join(out)


def run_doxygen(out, folder, **further):
    """Runs it and returns what it warned of."""
    with open(os.path.join(HERE, "Doxyfile"), encoding="utf-8") as file:
        settings = file.read()
    further.update(INPUT=folder, STRIP_FROM_PATH=folder, STRIP_FROM_INC_PATH=folder, OUTPUT_DIRECTORY=out,
                   WARN_LOGFILE=os.path.join(out, "warnings"))
    settings += "".join("%s = %s\n" % pair for pair in further.items())
    put(os.path.join(out, "Doxyfile"), settings)
    done = subprocess.run(["doxygen", os.path.join(out, "Doxyfile")], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError("doxygen: " + done.stderr)
    with open(os.path.join(out, "warnings"), encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line.strip()]


def warnings_of(out, folder):
    """Doxygen's warnings, first of names without a comment: it has none of them where it shows all names."""
    found = run_doxygen(out, os.path.join(folder, "apiserver"), EXTRACT_ALL="NO", GENERATE_HTML="NO")
    found = [warning for warning in found if warning.endswith("is not documented.")]
    return found + run_doxygen(
        out, folder, HTML_HEADER=os.path.join(out, "header.html"),
        HTML_FOOTER=os.path.join(HERE, "footer.html"), HTML_STYLESHEET=os.path.join(HERE, "style.css"),
        GENERATE_TAGFILE=os.path.join(out, "tags.xml"))


def build(root, out):
    """Makes the site and returns its faults."""
    shutil.rmtree(out, ignore_errors=True)
    folder = os.path.join(out, "input")
    write_headers(root, folder)
    sections, found = navigation(root), namespaces(folder)
    write_namespaces(root, folder, found)
    site = markdown.Site(root, [path for _, entries in sections for path, _ in entries])
    for path, text in site.make().items():
        put(os.path.join(folder, "pages", markdown.label(path) + ".md"), text)
    with open(os.path.join(HERE, "header.html"), encoding="utf-8") as file:
        put(os.path.join(out, "header.html"), file.read().replace("$navigation", sidebar(sections, found)))
    warnings = warnings_of(out, folder)
    for picture in site.pictures:
        shutil.copy(os.path.join(root, picture), os.path.join(out, "html"))
    places = names.Places(os.path.join(out, "tags.xml"), folder)
    names.resolve(os.path.join(out, "html"), places)

    @functools.cache
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")

    counting = documented.counting(warnings, read)
    return (missing(root, sections) +
            ["FAILED: " + warning.replace(folder, "include") for warning in counting] +
            ["FAILED: include/%s: nothing is called %s" % (path, name) for path in sorted(places.files)
             for name in names.unknown("\n".join(read(os.path.join(folder, path))), places)] +
            ["FAILED: " + fault for fault in check.faults(os.path.join(out, "html"))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT, help="the checkout")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "site"), help="a folder, which is emptied")
    options = parser.parse_args()
    try:
        faults = build(options.root, os.path.abspath(options.out))
    except (OSError, ValueError) as error:
        faults = ["FAILED: %s" % error]
    for fault in faults:
        print(fault)
    if not faults:
        print("The site is %s" % os.path.join(options.out, "html", "index.html"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
