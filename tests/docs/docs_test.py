#!/usr/bin/env python3
"""The checks of the documentation over small made-up checkouts: each tells a planted fault from what is right."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.normpath(os.path.join(HERE, "..", "..", "docs", "site"))
sys.path.insert(0, SITE)
import check  # noqa: E402
import documented  # noqa: E402
import headers  # noqa: E402
import markdown  # noqa: E402

sys.path.insert(0, HERE)
import tutorial  # noqa: E402

ROOMS_TOOL = os.path.join(HERE, "..", "..", "docs", "rooms.py")


class Checkout(unittest.TestCase):
    def checkout(self, files):
        """A folder with these files, path -> text."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, text in files.items():
            self.put(path, text)

    def put(self, path, text):
        where = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "w", encoding="utf-8") as file:
            file.write(text)

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def run_tool(self, tool, *arguments):
        """Exit code and output of a tool over the checkout."""
        ran = subprocess.run([sys.executable, os.path.join(HERE, tool), "--root", self.root,
                              *arguments], capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def passes(self, tool, words):
        code, output = self.run_tool(tool)
        self.assertEqual(code, 0, output)
        self.assertIn(words, output)

    def fails(self, tool, words):
        code, output = self.run_tool(tool)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)


class Snippets(Checkout):
    SOURCE = "// A comment.\nint main() {\n  // [body]\n  Serve();\n\n  Stop();\n  // [/body]\n}\n"
    SHOWN = SOURCE.replace("  // [body]\n", "").replace("  // [/body]\n", "")

    def page(self, marker, block):
        return "# A\n\n<!-- file: %s -->\n```cpp\n%s\n```\n\nEnd.\n" % (marker, block)

    def test_a_block_with_the_text_of_its_file_passes(self):
        self.checkout({"a.cc": self.SOURCE, "README.md": self.page("a.cc", self.SHOWN.rstrip())})
        self.passes("snippets.py", "1 blocks quote files")

    def test_a_block_that_differs_in_one_letter_fails(self):
        self.checkout({"a.cc": self.SOURCE,
                       "README.md": self.page("a.cc", self.SHOWN.rstrip().replace("Stop", "Stqp"))})
        self.fails("snippets.py", "README.md:3: the block is not the text of a.cc")

    def test_lines_and_regions_are_quoted_without_indentation(self):
        self.checkout({"a.cc": self.SOURCE,
                       "a.md": self.page("a.cc lines 2-2", "int main() {"),
                       "b.md": self.page("a.cc region body", "Serve();\n\nStop();")})
        self.passes("snippets.py", "2 blocks quote files")

    def test_a_function_is_quoted_to_its_last_brace(self):
        self.checkout({"a.cc": self.SOURCE + "int after;\n",
                       "a.md": self.page("a.cc function main", self.SHOWN[len("// A comment.\n"):].rstrip())})
        self.passes("snippets.py", "1 blocks quote files")

    def test_write_renews_a_block_and_nothing_else(self):
        self.checkout({"a.cc": self.SOURCE, "a.md": self.page("a.cc region body", "Old();")})
        code, _ = self.run_tool("snippets.py", "--write")
        self.assertEqual(code, 0)
        self.assertEqual(self.text("a.md"), self.page("a.cc region body", "Serve();\n\nStop();"))

    def test_what_a_marker_cannot_mean_fails(self):
        for marker, words in (("none.cc", "there is no file none.cc"),
                              ("a.cc lines 7-99", "a.cc has no lines 7-99"),
                              ("a.cc region tail", "a.cc has no region tail"),
                              ("a.cc function tail", "a.cc has no function tail"),
                              ("a.cc line 3", "the marker cannot be read")):
            self.checkout({"a.cc": self.SOURCE, "a.md": self.page(marker, "x")})
            self.fails("snippets.py", words)

    def test_a_marker_without_a_block_fails(self):
        self.checkout({"a.cc": self.SOURCE, "a.md": "<!-- file: a.cc -->\nText.\n"})
        self.fails("snippets.py", "no code block follows the marker")

    def test_a_block_of_cpp_without_a_marker_fails(self):
        self.checkout({"a.md": "# A\n```cpp\nint a;\n```\n"})
        self.fails("snippets.py", "a.md:2: a block of C++ quotes no file")

    def test_lines_are_counted_without_the_comments_of_regions(self):
        page = "<!-- lines: a.cc b.cc -->\n## A step: %d lines\n"
        self.checkout({"a.cc": self.SOURCE, "b.cc": "int b;\n", "a.md": page % 7})
        self.passes("snippets.py", "0 blocks")
        self.put("a.md", page % 8)
        self.fails("snippets.py", "a.md:2: the files have 7 lines")
        self.run_tool("snippets.py", "--write")
        self.assertEqual(self.text("a.md"), page % 7)

    def test_a_marker_in_a_code_block_is_an_example(self):
        self.checkout({"a.md": "```\n<!-- file: none.cc -->\n```\n"})
        self.passes("snippets.py", "0 blocks quote files")


class Links(Checkout):
    def test_links_to_files_folders_and_headings_pass(self):
        self.checkout({"README.md": "[a](docs/a.md#two-words) [b](docs) [c](#top) [d](https://x.y)\n# Top\n",
                       "docs/a.md": "# A\n\n## Two `words`\n[up](../README.md)\n"})
        self.passes("links.py", "4 links lead somewhere")

    def test_links_that_lead_nowhere_fail(self):
        for link, words in (("b.md", "there is no docs/b.md"),
                            ("../../x.md", "leads out of the checkout"),
                            ("a.md#three", "docs/a.md has no heading #three")):
            self.checkout({"docs/a.md": "# A\n[x](%s)\n" % link})
            self.fails("links.py", words)

    def test_code_has_no_links(self):
        self.checkout({"a.md": "`[x](none)`\n```\n[y](none)\n```\n"})
        self.passes("links.py", "0 links lead somewhere")


class Questions(Checkout):
    ROW = "| What is it? | this | `lib/a/b.cc` | `lib/a/README.md` |\n"

    def answer(self, **files):
        self.checkout({"README.md": "[lib](lib/README.md)", "lib/README.md": "[a](a/README.md)",
                       "lib/a/README.md": "`b.cc`", "lib/a/b.cc": "",
                       "docs/questions.md": self.ROW * 20, **files})

    def test_a_way_from_page_to_page_passes(self):
        self.answer()
        self.passes("questions.py", "20 questions answered")

    def test_a_way_with_a_gap_fails(self):
        for path, text, words in (("README.md", "", "README.md does not link to lib/README.md"),
                                  ("lib/README.md", "", "does not link to lib/a/README.md"),
                                  ("lib/a/README.md", "", "lib/a/README.md does not name b.cc"),
                                  ("docs/questions.md", self.ROW, "1 questions are left of 20")):
            self.answer(**{path: text})
            self.fails("questions.py", words)

    def test_a_file_that_has_gone_fails(self):
        self.answer()
        os.remove(os.path.join(self.root, "lib/a/b.cc"))
        self.fails("questions.py", "there is no lib/a/b.cc")


class Errors(Checkout):
    ROW = "| `the store in … is gone` (500) | a | b |\n"

    def page(self, rows, code):
        self.checkout({"docs/troubleshooting.md": "| error | cause | remedy |\n|---|---|---|\n" + rows,
                       "lib/a.cc": code, "cmake/a.cmake": ""})

    def test_errors_that_the_code_says_pass(self):
        self.page(self.ROW * 20, 'Say("the store in " + path +\n    " is "\n    "gone");')
        self.passes("errors.py", "20 errors are said by the code")

    def test_an_error_that_the_code_no_longer_says_fails(self):
        self.page(self.ROW * 20, 'Say("the store in " + path + " has gone");')
        self.fails("errors.py", "no code says: is gone")

    def test_a_page_that_lost_its_rows_fails(self):
        self.page(self.ROW, 'Say("the store in " + path + " is gone");')
        self.fails("errors.py", "1 errors are left of 20")


class Changelog(Checkout):
    HEAD = "# Changelog\n\nWords.\n\n## Unreleased\n\nWords.\n"
    ENTRY = "\n- An entry\n  of two lines.\n"

    def page(self, text):
        self.checkout({"CHANGELOG.md": self.HEAD + text})

    def test_entries_in_sections_and_subjects_pass(self):
        self.page("\n### What breaks\n\n#### Source\n" + self.ENTRY + "\n#### Stored data\n" + self.ENTRY +
                  "\n### Security\n" + self.ENTRY + "\n## 0.1.0 (2026-12-31)\n\n### Added\n" + self.ENTRY)
        self.passes("changelog.py", "4 entries stand in sections")

    def test_an_entry_outside_a_section_fails(self):
        self.page(self.ENTRY + "\n### Added\n" + self.ENTRY)
        self.fails("changelog.py", "CHANGELOG.md:9: the entry stands in no section")
        self.page("\n### Added\n" + self.ENTRY + "\n#### Storage\n" + self.ENTRY)
        self.fails("changelog.py", "CHANGELOG.md:14: entries of the section stand in front of its first subject")

    def test_a_heading_that_is_unknown_or_out_of_order_fails(self):
        for headings, words in (("### News", '"News" is no section'),
                                ("### Added\n#### Source", '"Source" is no subject of this section'),
                                ("### Fixed\n" + self.ENTRY + "### Added", '"Added" stands in front of "Fixed"'),
                                ("### Added\n" + self.ENTRY + "### Added", '"Added" stands in front of "Added"'),
                                ("## Next\n### Added", '"Next" is no version')):
            self.page(headings + "\n" + self.ENTRY)
            self.fails("changelog.py", words)

    def test_a_heading_without_entries_and_a_line_without_its_entry_fail(self):
        self.page("### Added\n### Fixed\n" + self.ENTRY)
        self.fails("changelog.py", '"Added" has no entry')
        self.page("### Added\n#### Storage\n#### Operation\n" + self.ENTRY)
        self.fails("changelog.py", '"Storage" has no entry')
        self.page("### Added\n" + self.ENTRY + "Words.\n")
        self.fails("changelog.py", "CHANGELOG.md:12: the line is no entry, nor a part of one")

    def test_a_long_section_has_subjects(self):
        self.page("### Added\n" + self.ENTRY * 12)
        self.passes("changelog.py", "12 entries stand in sections")
        self.page("### Added\n" + self.ENTRY * 13)
        self.fails("changelog.py", '"Added" has more than 12 entries and no subjects')


class Tutorial(Checkout):
    PAGE = "```console\n$ a &\n$ b\nNAME   AGE\ntom    3s\n$ kill %1\n```\n```\n$ c\n```\n"

    def test_commands_are_those_of_consoles(self):
        self.assertEqual(tutorial.commands(self.PAGE),
                         [(2, "a &", []), (3, "b", ["NAME   AGE", "tom    3s"]), (6, "kill %1", [])])

    def test_ages_and_widths_may_differ_and_nothing_else(self):
        found = tutorial.commands(self.PAGE)
        self.checkout({"0.out": "log", "1.out": "NAME AGE\ntom  1m20s\n"})
        self.assertEqual(tutorial.differences(found, self.root), [])
        self.put("1.out", "NAME AGE\nrex  3s\n")
        self.assertEqual(len(tutorial.differences(found, self.root)), 1)

    def test_a_command_that_was_not_reached_is_told(self):
        self.checkout({"1.out": "NAME AGE\ntom 3s\n"})
        wrong = tutorial.differences(tutorial.commands(self.PAGE), self.root)
        self.assertEqual([fault.splitlines()[0] for fault in wrong], ["docs/tutorial.md:2: `a &` prints:"])


class Rooms(Checkout):
    LIST = ("set(APISERVER_ROOMS\n  # First.\n  base\n  # Second.\n  server later)\n"
            "set(APISERVER_LEAVES\n  server.leaf)\nset(APISERVER_COMPONENT_more server)\n")

    def house(self, **files):
        self.checkout({"cmake/ApiserverRooms.cmake": self.LIST,
                       "lib/README.md": "# A\n<!-- rooms: written by docs/rooms.py -->\n<!-- /rooms -->\nEnd.\n",
                       "lib/base/README.md": "# base: what all use\n",
                       "lib/base/CMakeLists.txt": "apiserver_module(base\n  LINKS OpenSSL::Crypto)\n",
                       "lib/server/README.md": "# server: it serves\n| `server.leaf` | a leaf |\n",
                       "lib/server/leaf/x.cc": "", "docs/design.md": "| `later` | to come |\n", **files})

    def test_what_was_written_passes_until_the_list_changes(self):
        self.house()
        self.assertEqual(self.run_tool(ROOMS_TOOL, "--write")[0], 0)
        self.assertEqual(self.run_tool(ROOMS_TOOL), (0, ""))
        for words in ("OpenSSL", "what all use", "to come", "planned", "server.leaf"):
            self.assertIn(words, self.text("docs/rooms.svg"))
        self.assertIn("| [`server`](server/README.md) | it serves | `more` |", self.text("lib/README.md"))
        self.put("cmake/ApiserverRooms.cmake", self.LIST.replace("server later", "later server"))
        self.fails(ROOMS_TOOL, "docs/rooms.svg is not what docs/rooms.py --write makes")

    def test_a_room_that_no_page_describes_fails(self):
        for path, words in (("lib/base/README.md", "does not say what the room base is"),
                            ("lib/server/README.md", "does not say what the room server is"),
                            ("docs/design.md", "does not say what the room later is")):
            self.house(**{path: "# Else\n"})
            self.fails(ROOMS_TOOL, words)


class SiteHeaders(unittest.TestCase):
    """What Doxygen reads of a header."""

    def reads(self, text, *lines):
        out = [line.rstrip() for line in headers.shown(headers.converted(text)).split("\n")]
        for line in lines:
            self.assertIn(line, out)
        return out

    def test_comments_before_and_behind_declarations_document_them(self):
        self.reads("// A pet.\nstruct Pet {\n  int age = 0;  // In years.\n  // Eats.\n  void Eat();\n};\n",
                   "/// A pet.", "  int age = 0;  ///< In years.", "  /// Eats.")

    def test_the_comment_before_the_namespace_is_about_the_header(self):
        out = self.reads("// Pets.\nnamespace a::inline v0::b {\n}\n", "/// Pets.", "namespace a::b {")
        self.assertEqual(out[:2], ["/// \\file", "/// \\file"])

    def test_comments_in_functions_and_of_tools_document_nothing(self):
        out = self.reads("struct Pet {\n  int Age() {\n    // Later.\n    return 1;  // One.\n  }\n"
                         "  int b;  // NOLINT(x)\n};  // namespace\n")
        self.assertFalse([line for line in out[1:] if "///" in line], out)

    def test_code_and_special_letters_are_what_they_look_like(self):
        self.reads("// A `<b>` of #1.\n//\n//   f(\"@x\");\nvoid F();\n",
                   "/// A <code>&lt;b&gt;</code> of #1.", "/// \\code{.cpp}", "/// f(\"@x\");", "/// \\endcode")

    def test_a_comment_covers_the_run_below_it_and_no_further(self):
        lines = ["/// Return sum and mean.", "int Sum();", "int Mean();", "", "int Other();"]
        warning = "a.h:%d: warning: Member %s() (function) of namespace a is not documented."
        kept = documented.counting([warning % (3, "Mean"), warning % (5, "Other")], lambda path: lines)
        self.assertEqual(kept, [warning % (5, "Other")])


class SitePages(Checkout):
    def page(self, text, **files):
        self.checkout({"a.md": text, **files})
        site = markdown.Site(self.root, ["a.md"])
        return headers.shown(site.make()["a.md"]), site

    def test_links_lead_to_pages_files_and_headers(self):
        self.checkout({"b.md": "# B\n", "x/y.py": "pass\n"})
        text, site = self.page("# A\n[b](b.md#two-words) [y](x/y.py) [h](include/apiserver/z.h) [w](https://w.x)\n",
                               **{"b.md": "# B\n", "x/y.py": "pass\n", "include/apiserver/z.h": ""})
        for link in ("b.html#b-two-words", "file_x_y_py.html", "header:apiserver/z.h", "https://w.x"):
            self.assertIn('<a href="%s">' % link, text)
        self.assertEqual(sorted(site.made), ["a.md", "b.md", "x/y.py"])

    def test_a_link_to_no_file_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "a.md: there is no c.md"):
            self.page("# A\n[c](c.md)\n")

    def test_headings_are_named_as_on_github(self):
        text, _ = self.page("# A\n## Two `words`\n## Two words\n# Last\n")
        for name in ("# A {#a}", "{#a-two-words}", "{#a-two-words-1}", "{#a-last}"):
            self.assertIn(name, text)


class SiteCheck(Checkout):
    def faults(self, **files):
        self.checkout({name.replace("_", "."): text for name, text in files.items()})
        return check.faults(self.root)

    def test_files_and_anchors_that_exist_pass(self):
        self.assertEqual(self.faults(a_html='<a href="b.html#x">b</a><a href="https://w.x/">w</a>',
                                     b_html='<p id="x"><img src="c.svg">', c_svg="<svg/>"), [])

    def test_links_that_lead_nowhere_fail(self):
        self.assertEqual(self.faults(a_html='<a href="b.html">b</a> <a href="#y">y</a>'),
                         ["a.html: (#y): a.html has no anchor #y", "a.html: (b.html): there is no b.html"])

    def test_loading_from_another_host_fails(self):
        for text in ('<script src="https://w.x/a.js"></script>', '<link rel="stylesheet" href="//w.x/a.css">',
                     '<img src="http://w.x/a.png">', '<p style="background: url(https://w.x/a.png)">'):
            self.assertEqual(len(self.faults(a_html=text)), 1, text)
        self.assertEqual(len(self.faults(a_css='@import "https://w.x/a.css";')), 1)
        self.assertEqual(len(self.faults(a_js='fetch("https://w.x/a.json")')), 1)


@unittest.skipUnless(shutil.which("doxygen"), "needs Doxygen")
class Site(Checkout):
    """The whole way, over a checkout with one header and two pages."""

    HEADER = ("// Pets.\nnamespace apiserver::inline v0::zoo {\n\n// A pet.\nclass Pet {\n public:\n"
              "  // Eats.\n  void Eat();\n};\n\n}  // namespace\n")
    TOOL = os.path.join(SITE, "build.py")

    def site(self, **files):
        self.checkout({"README.md": "# Zoo\n\nA `zoo::Pet`, [more](docs/a.md).\n", "docs/a.md": "# A\n",
                       "lib/README.md": "| [`zoo`](zoo/README.md) | pets | core |\n",
                       "docs/site/navigation.txt": "Start\n  README.md Overview\n  docs/a.md A\n",
                       "include/apiserver/zoo/pet.h": self.HEADER, **files})
        return self.run_tool(self.TOOL, "--out", os.path.join(self.root, "out"))

    def test_a_whole_site_is_made(self):
        code, output = self.site()
        self.assertEqual(code, 0, output)
        text = self.text("out/html/index.html")
        self.assertIn('<a class="name" href="classapiserver_1_1zoo_1_1Pet.html"><code>zoo::Pet</code></a>', text)
        self.assertIn('<a href="index.html" aria-current="page">Overview</a>', text)

    def test_faults_are_told(self):
        bare = self.HEADER.replace("  // Eats.\n", "").replace(" public:\n", " public:\n\n")
        for files, words in (({"include/apiserver/zoo/pet.h": bare}, "Member Eat() (function)"),
                             ({"docs/b.md": "# B\n"}, "navigation.txt does not have docs/b.md"),
                             ({"include/apiserver/zoo/pet.h": self.HEADER.replace("Eats.", "As Pet::Sleep().")},
                              "pet.h: nothing is called Pet::Sleep"),
                             ({"docs/a.md": "# A\n[x](#y)\n"}, "docs_a.html has no anchor #docs_a-y")):
            code, output = self.site(**files)
            self.assertEqual(code, 1, output)
            self.assertIn(words, output)


if __name__ == "__main__":
    unittest.main()
