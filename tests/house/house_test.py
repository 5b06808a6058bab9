#!/usr/bin/env python3
"""The figures of the house over small made-up checkouts: each tells a planted fault from what is right."""

import io
import os
import tempfile
import unittest

import callbacks
import figures
import language
import table
from functions import functions
from tree import INTERNAL, Tree

ROOMS = """# Bottom first.
set(APISERVER_ROOMS
  # Vocabulary (first).
  base runtime storage storage.kv
  server)
set(APISERVER_LEAVES
  storage.rocks testing.server)
"""
NAMESPACE = "namespace apiserver::base {\n%s\n}  // namespace apiserver::base\n"


class Checkout(unittest.TestCase):
    def tree(self, files):
        """A checkout with these files, path -> text."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in {"cmake/ApiserverRooms.cmake": ROOMS, **files}.items():
            where = os.path.join(folder.name, path)
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, "w", encoding="utf-8") as file:
                file.write(text)
        return Tree(folder.name)


class Functions(unittest.TestCase):
    def found(self, text):
        return [(f.name, f.name_line, f.end_line) for f in functions(NAMESPACE % text)]

    def test_a_function_goes_from_its_signature_to_its_brace(self):
        self.assertEqual(self.found("template <class T>\nvoid F(T a,\n       int b) {\n  if (a) {\n  }\n}"),
                         [("F", 3, 7)])

    def test_methods_constructors_and_operators_are_functions(self):
        self.assertEqual(self.found("class A final : public B<int(char)> {\n public:\n"
                                    "  explicit A(Options o = {}) : o_{o}, n_(2) {}\n"
                                    "  bool operator==(const A& a) const { return true; }\n"
                                    "  bool operator<(const A& a) const { return n_ < a.n_; }\n"
                                    "  void operator()() const {}\n"
                                    " private:\n  std::function<void(int)> f_{nullptr};\n  int n_{0};\n};"),
                         [("A", 4, 4), ("==", 5, 5), ("<", 6, 6), ("operator()", 7, 7)])

    def test_what_has_braces_and_is_no_function_is_left_out(self):
        self.assertEqual(self.found("constexpr Row kRows[] = {\n    {\"a\", [](int) { return 1; }},\n};\n"
                                    "enum class E { kOne };\nstruct S {\n  int a = 0;\n};\nint x{F()};\n"
                                    "const auto f = [](int) {\n};\nvoid Declared(int a);"), [])

    def test_text_in_quotes_and_comments_is_no_code(self):
        self.assertEqual(self.found('void F() {\n  // }\n  Use("}", \'}\', R"j(\n})j", 1\'000);\n#define X }\n}'),
                         [("F", 2, 7)])

    def test_functions_of_c_are_functions(self):
        self.assertEqual(self.found('extern "C" {\nvoid F() {\n}\n}\nextern "C" int G() {\n  return 1;\n}'),
                         [("F", 3, 4), ("G", 6, 8)])

    def test_a_lambda_belongs_to_its_function(self):
        self.assertEqual(self.found("int F() {\n  return Do([](int a) {\n    return a;\n  });\n}"),
                         [("F", 2, 6)])


class Includes(Checkout):
    def test_a_room_may_include_an_earlier_one(self):
        tree = self.tree({"lib/server/a.cc": '#include "apiserver/base/b.h"\n',
                          "lib/storage/a.cc": '#include "storage/own.h"\n#include <vector>\n'})
        self.assertEqual(figures.upward_includes(tree).value, 0)
        self.assertEqual(figures.cross_room_includes(tree).value, 1)

    def test_an_include_of_a_later_room_is_found(self):
        tree = self.tree({"lib/storage/a.cc": '#include "apiserver/storage/kv/b.h"\n',
                          "include/apiserver/base/c.h": '\n#include "apiserver/testing/server/d.h"\n'})
        self.assertEqual(figures.upward_includes(tree).behind,
                         ["include/apiserver/base/c.h:2: apiserver/testing/server/d.h",
                          "lib/storage/a.cc:1: apiserver/storage/kv/b.h"])

    def test_a_file_of_no_room_that_includes_one_is_found(self):
        tree = self.tree({"lib/cellar/a.cc": '#include "apiserver/base/b.h"\n'})
        self.assertEqual(figures.upward_includes(tree).value, 1)

    def test_a_private_header_of_another_room_must_be_library_internal(self):
        tree = self.tree({"lib/base/a.h": "// About a.\n" + INTERNAL + "other rooms include this header.\n",
                          "lib/base/b.h": "#pragma once\n// " + INTERNAL,
                          "lib/storage/kv/c.cc": '#include "base/a.h"\n#include "base/b.h"\n'
                                                 '#include "apiserver/base/a.h"\n'})
        self.assertEqual(figures.private_inside(tree).behind, ["lib/storage/kv/c.cc:1: base/a.h"])
        self.assertEqual(figures.private_outside(tree).behind, ["lib/storage/kv/c.cc:2: base/b.h"])
        self.assertEqual(figures.internal_headers(tree).behind, ["lib/base/a.h"])

    def test_a_library_internal_header_is_included_by_another_room(self):
        tree = self.tree({"lib/base/a.h": INTERNAL, "lib/base/a.cc": '#include "base/a.h"\n'})
        self.assertEqual(figures.internal_idle(tree).behind, ["lib/base/a.h"])

    def test_folders_that_include_each_other_are_a_knot(self):
        straight = {"lib/server/a.cc": '#include "server/filters/b.h"\n#include "server/a.h"\n',
                    "lib/server/filters/b.cc": '#include "server/debug/c.h"\n',
                    "lib/server/debug/c.cc": '#include "apiserver/server/a.h"\n'}
        self.assertEqual(figures.folder_knots(self.tree(straight)), figures.Figure(0, []))
        tied = self.tree({**straight, "lib/server/debug/c.h": '#include "server/d.h"\n',
                          "lib/base/a.cc": '#include "base/x/b.h"\n', "lib/base/x/b.h": '#include "base/b.h"\n'})
        self.assertEqual(figures.folder_knots(tied).value, 2)
        self.assertIn("knot of lib/server, lib/server/debug, lib/server/filters", figures.folder_knots(tied).behind)


class Laws(Checkout):
    def places(self, body, path="lib/server/a.cc"):
        return figures.settling_places(self.tree({path: NAMESPACE % body})).value

    def test_another_spelling_of_settle_is_found(self):
        self.assertEqual(self.places("Status F(Object& o) {\n  return runtime::Settle(o);\n}"), 0)
        self.assertEqual(self.places("Status F(Object& o) {\n  runtime::SetDefaults(o);\n"
                                     "  return runtime::Normalize(o);\n}"), 1)
        self.assertEqual(self.places("Status F(Object& o) { return Normalize(o); }\n"
                                     "void G(Object& o) { ::apiserver::runtime::Prune(o); }"), 2)

    def test_the_steps_and_names_of_a_file_s_own_are_none(self):
        self.assertEqual(self.places("Status SetDefaults(Object& o) { return Normalize(o); }",
                                     "lib/runtime/defaults.cc"), 0)
        self.assertEqual(self.places("void Prune(Task t) {}\nvoid F() {\n  Prune(task);\n  run.Prune(task);\n}"), 0)

    SERVER = "class Server {\n public:\n  virtual ~Server() = default;\n  virtual void Run() const = 0;\n};"

    def casts(self, cast, path="include/apiserver/server/s.h", base=SERVER):
        return self.tree({path: NAMESPACE % base,
                          "lib/server/real.h": NAMESPACE % "class Real final : public http::Server {\n};",
                          "lib/server/a.cc": NAMESPACE % ("Real& Of(Server& s, void* p) {\n  %s;\n}" % cast)})

    def test_a_cast_from_a_public_interface_is_found(self):
        for cast in ("return static_cast<Real&>(s)", "return *static_cast<const server::Real*>(&s)",
                     "return *std::static_pointer_cast<Real>(s)"):
            self.assertEqual(figures.unchecked_downcasts(self.casts(cast)).behind, ["lib/server/a.cc:3: Real"])

    def test_other_casts_are_counted_apart(self):
        data = self.casts("return static_cast<Real&>(s)", base="struct Server {\n  int count = 0;\n};")
        private = self.casts("return static_cast<Real&>(s)", path="lib/server/s.h")
        for tree in (data, private):
            self.assertEqual(figures.unchecked_downcasts(tree).value, 0)
            self.assertEqual(figures.all_downcasts(tree).value, 1)
        up = self.casts("static_cast<Server&>(s); static_cast<const Real*>(nullptr); static_cast<int>(s)")
        self.assertEqual(figures.all_downcasts(up).value, 0)


class Symbols(Checkout):
    BODY = "int F() {\n  return 1;\n}\nint G() {\n  return 2;\n}"

    def test_ctags_finds_functions_of_a_plain_namespace(self):
        tree = self.tree({"lib/base/a.cc": NAMESPACE % self.BODY, "lib/base/none.cc": "\n"})
        self.assertEqual(figures.open_sources(tree), figures.Figure(100.0, []))
        self.assertEqual(figures.symbols_found(tree).value, 100.0)

    def test_what_ctags_cannot_see_is_told(self):
        body = "int F() { return [] { return 1; }(); }\nint G() {\n  return 2;\n}"
        hidden = (NAMESPACE % body).replace("apiserver::base {", "apiserver::inline v0::base {")
        tree = self.tree({"lib/base/a.cc": NAMESPACE % self.BODY, "lib/base/b.cc": hidden, "lib/base/c.h": hidden})
        self.assertEqual(figures.open_sources(tree), figures.Figure(50.0, ["lib/base/b.cc: 0 of 2"]))
        self.assertEqual(figures.open_headers(tree).value, 0.0)
        self.assertAlmostEqual(figures.symbols_found(tree).value, 100 / 3)


class Lines(Checkout):
    def test_lengths_of_functions(self):
        tree = self.tree({"lib/base/a.cc": "void Long() {\n%s}\n" % ("  F();\n" * 69) + "void F() {\n}\n" * 99})
        self.assertEqual(figures.function_max(tree), figures.Figure(71, ["lib/base/a.cc:1: Long"]))
        self.assertEqual(figures.function_p95(tree), figures.Figure(2, ["lib/base/a.cc:1: Long: 71 lines"]))

    def test_benchmarks_are_no_tests(self):
        tree = self.tree({"lib/base/a.cc": "// Why.\nint a;\n\nint b;\n", "tests/base/a_test.cc": "int a;\n// b\n",
                          "tests/bench/b.cc": "\n" * 50, "tests/e2e/c.py": "pass\n"})
        self.assertEqual(figures.test_lines(tree).value, 0.5)
        self.assertEqual(figures.test_code(tree).value, 0.5)
        self.assertEqual(figures.test_lines_of_all(tree).value, 0.75)

    def test_installed_suites_are_tests(self):
        tree = self.tree({"lib/base/a.cc": "int a;\nint b;\n", "lib/testing/storage/b.cc": "int a;\n",
                          "lib/testing/server/c.cc": "int a;\nint b;\n", "tests/base/a_test.cc": "int a;\n"})
        self.assertEqual(figures.test_lines_of_all(tree), figures.Figure(0.5, ["2 / 4"]))

    def test_lines_of_a_room(self):
        tree = self.tree({"include/apiserver/storage/kv/a.h": "1\n2\n3\n", "lib/storage/kv/b.h": "1\n2\n",
                          "lib/storage/c.cc": "1\n", "tests/storage/kv/x/d_test.cc": "1\n2\n3\n4\n",
                          "tests/security/e_test.cc": "1\n", "tests/bench/f.cc": "1\n", "lib/g.cc": "1\n"})
        self.assertEqual(table.room_lines(tree),
                         {"storage": [0, 0, 1, 0], "storage.kv": [3, 2, 0, 4], "(suites of no room)": [0, 0, 0, 1],
                          "(benchmarks)": [0, 0, 0, 1], "(no room)": [0, 0, 1, 0]})


class Language(Checkout):
    def test_an_opening_without_a_head_is_found(self):
        for text in ("What a request holds.", "Whom a token must be for.", "Nobody waits.", "Of the file in use.",
                     "In which versions else it is served.", "Whether it is locked.", "How a file is read.",
                     "Where events go.", "Where it begins, from 1.", "For whoever cannot wait: calls `done`.",
                     "By address.", "For requests that are done.", "Of what is gone no part may be read.", "As sent; empty: none."):
            self.assertTrue(language.is_headless(text), text)

    def test_a_sentence_or_a_noun_is_none(self):
        for text in ("The file in use.", "Returns what a request holds.", "Null: nobody may.", "Whatsoever.",
                     "How long one attempt may take.", "Where the two differ, the client decides.",
                     "From now on the object is frozen.", "For a list, that is the revision of the list.",
                     "As rest.BeforeCreate: generation starts at 1.", "As Go's url.Parse.", "As in net/http.",
                     "For example \"a\".", "At most 63 bytes.", "Offers both."):
            self.assertFalse(language.is_headless(text), text)

    def test_behind_code_a_phrase_may_stand(self):
        self.assertFalse(language.is_headless("By address.", behind=True))
        self.assertTrue(language.is_headless("Of the file.", behind=True))
        self.assertTrue(language.is_headless("Who waits.", behind=True))

    def blocks(self, text):
        return [(line, words, behind) for _, line, words, behind in
                language.blocks(self.tree({"lib/base/a.cc": text}))]

    def test_lines_at_one_column_are_one_block(self):
        self.assertEqual(self.blocks("// One\n// block.\nint a;  // Behind\n        // it.\n  // Other.\nint b;\n"
                                     "// C.\n"),
                         [(1, "One block.", False), (3, "Behind it.", True), (5, "Other.", False), (7, "C.", False)])

    def test_what_is_no_prose_is_no_block(self):
        self.assertEqual(self.blocks("// Copyright Us.\n\nauto a = \"http://b\";\nchar c = '\"';  // D.\n"
                                     "}  // namespace e\nF();  // NOLINT(g)\nR\"(\nh  // i\n)\";\n"), [(4, "D.", True)])

    def test_the_share_of_headless_openings(self):
        tree = self.tree({"lib/base/a.cc": "// What it is.\nint a;\n\n// The other.\nint b;  // In bytes.\n",
                          "include/apiserver/base/b.h": "// A file.\n"})
        self.assertEqual(language.headless(tree), figures.Figure(25.0, ["lib/base/a.cc:1: What it is."]))

    def test_the_share_of_comment_lines(self):
        tree = self.tree({"lib/base/a.cc": "// Copyright Us.\n\n// Why.\nint a;\nint b;  // In bytes.\n\nint c;\n",
                          "lib/base/b.cc": "int a;\n" * 81, "lib/base/b.h": "int a;\n",
                          "include/apiserver/base/c.h": "// A file.\n#pragma once\n"})
        self.assertEqual(language.source_comments(tree),
                         figures.Figure(100.0 / 85, ["lib/base/b.cc: none in 81 lines"]))
        self.assertEqual(language.header_comments(tree).value, 50.0)

    def uncommented(self, body, path="include/apiserver/base/a.h"):
        figure = language.uncommented(self.tree({path: NAMESPACE % body}))
        return [line.rsplit(": ", 1)[1] for line in figure.behind]

    def test_declarations_without_a_comment_are_found(self):
        self.assertEqual(self.uncommented("class A final : public B<int(char)> {\n public:\n  explicit A(int b);\n"
                                          "  virtual Status Run(std::function<void()> f = {}) = 0;\n};\n"
                                          "enum class E : int { kOne };\n\nstruct S {\n  int F() { return 1; }\n};\n"
                                          "template <class T>\n[[nodiscard]] T G(T t);"),
                         ["A", "A", "Run", "E", "S", "F", "G"])
        self.assertEqual(self.uncommented("void F();", "lib/base/a.h"), [])

    def test_a_comment_above_behind_or_above_an_overload_counts(self):
        self.assertEqual(self.uncommented("// A.\nclass A {\n public:\n  void F();  // Why.\n};\n\n// G.\nvoid G();\n"
                                          "void G(int a,\n       int b);\nvoid G(char c);\nvoid H();\n\n"
                                          "// T.\ntemplate <class T>\nvoid T(T t);"), ["H"])

    def test_what_needs_no_comment_is_left_out(self):
        self.assertEqual(self.uncommented("class Forward;\nusing F = std::function<void()>;\nextern const int k;\n"
                                          "// A.\nclass A final {\n  void Hidden();\n\n public:\n  A();\n"
                                          "  A(const A&) = delete;\n  ~A();\n  A& operator=(A&&) = default;\n"
                                          "  bool operator==(const A& a) const;\n  void Run() const override;\n"
                                          "  A(A&& a) noexcept : b(a.b) {}\n"
                                          "  int two_words() const { return two_words_; }\n"
                                          "  const Name& name() const { return name_; }\n  friend void Swap(A& a);\n"
                                          "  int count = Count();\n\n private:\n  struct State {\n    void F();\n  };\n"
                                          "  void Own(int a);\n};"), [])


class Callbacks(Checkout):
    SAYS = "// Any thread; must not block.\n"

    def found(self, body, head=""):
        """What each contract of a header lacks, by name, in their order."""
        return [(one.name, callbacks.missing(comment)) for one, comment in callbacks.contracts(head + NAMESPACE % body)]

    def test_members_aliases_parameters_and_interfaces_are_contracts(self):
        self.assertEqual(self.found("using Done = UniqueFunction<void(int)>;\n"
                                    "void Call(int a,\n          const std::function<void()>& f);\n"
                                    "class A {\n public:\n  virtual ~A() = default;\n"
                                    "  virtual void Run() = 0;\n  std::function<int()> make = {};\n};"),
                         [(name, "its thread and blocking") for name in ("Done", "Call", "A", "make")])

    def test_what_a_host_does_not_hand_in_is_left_out(self):
        self.assertEqual(self.found("class A {\n public:\n  int zero = 0;\n  void Run() override;\n"
                                    "  // std::function<void()>\n\n private:\n  std::function<void()> f_;\n"
                                    "  struct Hidden {\n    virtual void Run() = 0;\n  };\n};\n"
                                    "template <class R>\nclass UniqueFunction<R()> {\n  UniqueFunction() {}\n};"), [])

    def test_a_comment_must_say_the_thread_and_the_blocking(self):
        for comment, lacks in (("// Any thread; must not block.", ""), ("// On the loop; must not wait.", ""),
                               ("// Called on the pool.", "blocking"), ("// May block.", "its thread"),
                               ("// A threaded rope; unblocked.", "its thread and blocking")):
            self.assertEqual(self.found(comment + "\nusing F = std::function<void()>;"), [("F", lacks)], comment)
        self.assertEqual(self.found("using F = std::function<void()>;  // Any thread; may block."), [("F", "")])

    def test_a_comment_of_the_class_or_the_header_counts(self):
        member = "struct A {\n  // A member.\n  std::function<void()> f;\n};"
        self.assertEqual(self.found(self.SAYS + member), [("f", "")])
        above = "// The header.\n//\n// Threads: any thread; must not block.\n"
        self.assertEqual(self.found(member, above), [("f", "")])
        self.assertEqual(self.found(member, self.SAYS), [("f", "its thread and blocking")])
        self.assertEqual(self.found(self.SAYS + "struct B {};\n" + member), [("f", "its thread and blocking")])

    def test_a_declaration_right_below_shares_the_comment(self):
        self.assertEqual(self.found(self.SAYS + "using F = std::function<void()>;\nusing G = std::function<void()>;\n\n"
                                    "using H = std::function<void()>;"),
                         [("F", ""), ("G", ""), ("H", "its thread and blocking")])

    def test_what_an_interfaces_functions_say_counts(self):
        self.assertEqual(self.found("class A {\n public:\n  // Any thread.\n  virtual void F() = 0;\n"
                                    "  // May block.\n  virtual void G() = 0;\n};"), [("A", "")])

    def test_the_share_of_those_that_say_both(self):
        tree = self.tree({"include/apiserver/base/a.h": NAMESPACE % (self.SAYS + "using F = std::function<void()>;\n\n"
                                                                     "using G = std::function<void()>;"),
                          "lib/base/b.h": NAMESPACE % "using H = std::function<void()>;"})
        self.assertEqual(callbacks.callbacks(tree), figures.Figure(
            50.0, ["include/apiserver/base/a.h:5: G does not say its thread and blocking"]))


class Table(Checkout):
    def said(self, *rows):
        """Whether the table refuses a checkout with these rows, and what it prints."""
        out = io.StringIO()
        code = table.main(["--root", self.tree({"lib/base/a.cc": "int a;\n"}).root], list(rows), out)
        return code, out.getvalue()

    def row(self, value, better, mark=None, today=None):
        return table.Row("planted", lambda tree: figures.Figure(value, ["a.cc:1: behind"]), better, mark, today)

    def test_a_figure_at_its_mark_is_met(self):
        for row in (self.row(1, table.LOW, 1), self.row(0.85, table.HIGH, 0.85)):
            code, text = self.said(row)
            self.assertEqual(code, 0)
            self.assertRegex(text, r"\nplanted .* met\n")
            self.assertNotIn("behind", text)

    def test_a_figure_worse_than_its_mark_is_refused_with_what_is_behind_it(self):
        for row in (self.row(2, table.LOW, 1), self.row(0.84, table.HIGH, 0.85)):
            code, text = self.said(self.row(0, table.LOW, 0), row)
            self.assertEqual(code, 1)
            self.assertRegex(text, r"\nplanted .* WORSE\n")
            self.assertIn("a.cc:1: behind", text)

    def test_a_ratchet_holds_what_is_there_today(self):
        for row in (self.row(9, table.LOW, 1, 9), self.row(0.7, table.HIGH, 0.85, 0.7)):
            code, text = self.said(row)
            self.assertEqual(code, 0)
            self.assertIn("ratchet", text)
        for row in (self.row(10, table.LOW, 1, 9), self.row(0.69, table.HIGH, 0.85, 0.7)):
            self.assertEqual(self.said(row)[0], 1)

    def test_a_figure_without_a_mark_is_printed_and_not_judged(self):
        code, text = self.said(self.row(1234, table.LOW))
        self.assertEqual(code, 0)
        self.assertRegex(text, r"\nplanted +1,234\n")

    def test_what_is_behind_a_figure_can_be_asked_for(self):
        out = io.StringIO()
        arguments = ["--root", self.tree({}).root, "--list"]
        self.assertEqual(table.main(arguments + ["plant"], [self.row(1, table.LOW)], out), 0)
        self.assertIn("a.cc:1: behind", out.getvalue())
        self.assertEqual(table.main(arguments + ["nothing"], [self.row(1, table.LOW)], out), 2)

    def test_each_ratchet_is_one_beyond_its_mark(self):
        for row in table.ROWS:
            if row.today is not None:
                self.assertTrue(table.worse(row, row.today, row.mark), row.name)

    def test_the_checkout_that_is_looked_at_is_the_whole_one(self):
        tree = Tree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
        self.assertIn("include/apiserver/base/status.h", tree.library)
        self.assertIn("tests/house/house_test.py", tree.tests)
        self.assertGreater(len(tree.library), 1000)
        self.assertGreater(sum(len(tree.functions(path)) for path in tree.library), 5000)


if __name__ == "__main__":
    unittest.main()
