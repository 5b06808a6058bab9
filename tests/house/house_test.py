#!/usr/bin/env python3
"""The figures of the house over small made-up checkouts: each tells a planted fault from what is right."""

import unittest

from functions import functions

NAMESPACE = "namespace apiserver::base {\n%s\n}  // namespace apiserver::base\n"


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


if __name__ == "__main__":
    unittest.main()
