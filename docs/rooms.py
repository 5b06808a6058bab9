#!/usr/bin/env python3
"""Draws the rooms of the library (docs/rooms.svg) and lists them in lib/README.md.

usage: rooms.py [--write] [--root DIR]

Rooms, their order, floors and components come from cmake/ApiserverRooms.cmake, third-party libraries
from each room's CMakeLists.txt. What a room is comes from the heading of its README
("# codec: JSON, YAML, protobuf and CBOR"); where it has none of its own, from its row in a README
above it, and where it has no folder yet, from its row in docs/design.md ("| `cel` | ... |").

Without --write, fails if docs/rooms.svg or the table in lib/README.md is not what would be written.
"""

import argparse
import os
import re
import sys
import textwrap
from xml.sax.saxutils import escape

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PICTURE = os.path.join("docs", "rooms.svg")
TABLE = os.path.join("lib", "README.md")
BEGIN, END = "<!-- rooms: written by docs/rooms.py -->", "<!-- /rooms -->"

# The way of a request, as lib/README.md numbers it.
WAY = {"http": "1", "server": "2–3", "endpoints": "4", "admission": "5", "registry": "6",
       "storage": "7", "response": "8"}
# Targets and folders of headers, in the names people know.
LIBRARIES = {"ZLIB": "zlib", "OpenSSL": "OpenSSL", "yaml-0.1": "libyaml", "protobuf": "protobuf",
             "Boost": "Boost", "libnghttp2": "nghttp2", "re2": "RE2", "RocksDB": "RocksDB",
             "grpc++": "gRPC", "cpprestsdk": "cpprestsdk", "libsodium": "libsodium",
             "IPSec_MB": "libipsec-mb"}
HEADERS = {"rapidjson": "RapidJSON"}
TEXT_MAX = 64  # Of a description, in characters: three lines of a box hold it.


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


class House:
    """The rooms as the checkout has them."""

    def __init__(self, root):
        self.root = root
        text = read(root, os.path.join("cmake", "ApiserverRooms.cmake"))
        self.floors = floors(re.search(r"set\(APISERVER_ROOMS\n(.*?)\)", text, re.S)[1])
        leaves = re.search(r"set\(APISERVER_LEAVES\n(.*?)\)", text, re.S)[1].split()
        self.floors.append(("Leaves, linked by programs only", leaves))
        self.component = {}
        for name, rooms in re.findall(r"set\(APISERVER_COMPONENT_([\w-]+) ([^)]*)\)", text):
            self.component.update({room: name for room in rooms.split()})

    def rooms(self):
        return [room for _, rooms in self.floors for room in rooms]

    def folder(self, room):
        return os.path.join("lib", *room.split("."))

    def exists(self, room):
        return os.path.isdir(os.path.join(self.root, self.folder(room)))

    def page(self, room):
        """The README that is about a room: its own, or the nearest above it."""
        folder = self.folder(room)
        while folder:
            path = os.path.join(folder, "README.md")
            if os.path.isfile(os.path.join(self.root, path)):
                return path
            folder = os.path.dirname(folder)
        return None

    def text(self, room):
        """What a room is, in a few words. ValueError: no page says it."""
        page = self.page(room) if self.exists(room) else os.path.join("docs", "design.md")
        text = read(self.root, page)
        said = (re.match(r"# %s: (.*)\n" % re.escape(room), text) or
                re.search(r"^\| `%s` \| (.*?) \|" % re.escape(room), text, re.M))
        if not said:
            raise ValueError("%s does not say what the room %s is" % (page, room))
        if len(said[1]) > TEXT_MAX:
            raise ValueError("%s: more than %d characters about %s" % (page, TEXT_MAX, room))
        return said[1]

    def libraries(self, room):
        """The third-party libraries that a room's sources use."""
        folder = os.path.join(self.root, self.folder(room))
        if not os.path.isfile(os.path.join(folder, "CMakeLists.txt")):
            return []
        text = re.sub(r"#.*", "", read(folder, "CMakeLists.txt"))
        links = re.search(r"LINKS([^)]*)\)", text)
        values = dict(re.findall(r"set\((\w+) ([\w:]+)\)", text))
        names = links[1].split() if links else []
        names = [re.sub(r"\$\{(\w+)\}", lambda name: values[name[1]], name) for name in names]
        names = [name[len("PkgConfig::"):] if name.startswith("PkgConfig::") else
                 name.split("::")[0] for name in names if name != "Threads::Threads"]
        found = [LIBRARIES.get(name, name) for name in names]
        for name in sorted(os.listdir(folder)):
            if name.endswith((".h", ".cc")):
                for header in re.findall(r"#include <(\w+)/", read(folder, name)):
                    found += [HEADERS[header]] if header in HEADERS else []
        return list(dict.fromkeys(found))


def floors(text):
    """[(floor, rooms)] of a list in which a comment begins each floor."""
    found = []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("#"):
            found.append((line.lstrip("# ").rstrip("."), []))
        else:
            found[-1][1].extend(line.split())
    return found


# The picture, in pixels.
WIDTH, MARGIN, LABEL, GAP = 1180, 16, 132, 8
COLUMNS, HEIGHT, PAD = 5, 72, 10
BOX = (WIDTH - 2 * MARGIN - LABEL - PAD - (COLUMNS - 1) * GAP) / COLUMNS
STYLE = """
  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; } .floor { fill: #f3f5f7; }
  .box { fill: #ffffff; stroke: #8c959f; } .planned { stroke-dasharray: 4 3; }
  .name { font-weight: 600; font-size: 13px; } .what { font-size: 11px; }
  .with { font-size: 10px; fill: #656d76; } .label { font-size: 12px; font-weight: 600; }
  .step { fill: #0969da; } .number { fill: #ffffff; font-size: 10px; font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .page { fill: #0d1117; } .floor { fill: #161b22; }
    .box { fill: #0d1117; stroke: #6e7681; } .with { fill: #8b949e; } .step { fill: #1f6feb; }
  }
"""


def words(kind, x, y, text):
    return '<text class="%s" x="%g" y="%g">%s</text>' % (kind, x, y, escape(text))


def box(house, room, x, y):
    planned = "" if house.exists(room) else " planned"
    out = ['<rect class="box%s" x="%g" y="%g" width="%g" height="%d" rx="4"/>' %
           (planned, x, y, BOX, HEIGHT), words("name", x + 8, y + 17, room)]
    lines = textwrap.wrap(house.text(room), 29)
    out += [words("what", x + 8, y + 32 + 12 * i, line) for i, line in enumerate(lines)]
    if planned:
        note = "planned"
    else:
        note = ", ".join(house.libraries(room))
    if note:
        out.append(words("with", x + 8, y + HEIGHT - 6, note))
    if room in WAY:
        width = 10 + 6 * len(WAY[room])
        out += ['<rect class="step" x="%g" y="%g" width="%d" height="14" rx="7"/>' %
                (x + BOX - width - 6, y + 6, width),
                words("number", x + BOX - width - 1, y + 16.5, WAY[room])]
    return out


def draw(house):
    """The picture: a band for each floor, the first one at the bottom."""
    out, y = [], MARGIN + 26
    for name, rooms in reversed(house.floors):
        rows = -(-len(rooms) // COLUMNS)
        height = rows * HEIGHT + (rows - 1) * GAP + 2 * PAD
        out.append('<rect class="floor" x="%d" y="%g" width="%d" height="%g" rx="6"/>' %
                   (MARGIN, y, WIDTH - 2 * MARGIN, height))
        for i, line in enumerate(textwrap.wrap(name, 15)):
            out.append(words("label", MARGIN + PAD, y + PAD + 14 + 15 * i, line))
        for i, room in enumerate(rooms):
            out += box(house, room, MARGIN + LABEL + (i % COLUMNS) * (BOX + GAP),
                       y + PAD + (i // COLUMNS) * (HEIGHT + GAP))
        y += height + GAP
    title = ("An include or a link points to an earlier room only: downwards, or to the left in a "
             "floor. Numbers: the way of a request. Grey: third-party libraries.")
    head = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %g" role="img" '
            'aria-label="The rooms of libapiserver, a floor on the next">' % (WIDTH, y + MARGIN - GAP),
            "<!-- Written by docs/rooms.py. -->", "<style>%s</style>" % STYLE,
            '<rect class="page" width="100%" height="100%"/>', words("what", MARGIN, MARGIN + 10, title)]
    return "\n".join(head + out + ["</svg>", ""])


def table(house):
    """The rows of lib/README.md, in the order of the list."""
    out = ["| room | what it is | component |", "|---|---|---|"]
    for room in house.rooms():
        name = "`%s`" % room
        if not house.exists(room):
            out.append("| %s | %s (planned) | |" % (name, house.text(room)))
            continue
        link = os.path.relpath(house.page(room), "lib")
        out.append("| [%s](%s) | %s | `%s` |" %
                   (name, link, house.text(room), house.component.get(room, "core")))
    return "\n".join(out)


def outputs(house):
    """{path: text} of everything that is written."""
    page = read(house.root, TABLE)
    begin, end = page.find(BEGIN), page.find(END)
    if begin < 0 or end < begin:
        raise ValueError("%s lacks the lines %s and %s" % (TABLE, BEGIN, END))
    page = page[:begin] + BEGIN + "\n\n" + table(house) + "\n\n" + page[end:]
    return {PICTURE: draw(house), TABLE: page}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the picture and the table")
    parser.add_argument("--root", default=ROOT, help="the checkout")
    options = parser.parse_args()
    try:
        wanted = outputs(House(options.root))
    except (ValueError, OSError) as error:
        print("FAILED: %s" % error)
        return 1
    failed = False
    for path, text in wanted.items():
        full = os.path.join(options.root, path)
        if os.path.isfile(full) and read(options.root, path) == text:
            continue
        if options.write:
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
            print("%s: written" % path)
        else:
            failed = True
            print("FAILED: %s is not what docs/rooms.py --write makes" % path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
