#include "cel/syntax/parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "cel/tree_text.h"

namespace syntax = apiserver::cel::syntax;
using apiserver::testing::TreeText;

namespace {

struct ExpandedText {
  std::string_view text;
  std::string_view outcome;
};

// The tree without places, or the issues of one line each: "1:5 message".
std::string Expanded(std::string_view text, const syntax::MacroOptions& macros = {}) {
  const syntax::SourceText source(text);
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(source, {.macros = macros}, issues);
  if (issues.empty()) return TreeText(ast, false).Write();
  std::string out;
  for (const syntax::Issue& issue : issues.all()) {
    const syntax::Location at = source.LocationOf(issue.offset);
    if (!out.empty()) out += '\n';
    out += std::to_string(at.line) + ':' + std::to_string(at.column + 1) + ' ' + issue.message;
  }
  return out;
}

// As cel-go 0.26.0 expands them in Kubernetes 1.36's environment.
constexpr ExpandedText kExpansions[] = {
    {"has(a.b)", "(has b (id a))"},
    {"has(a.b.c)", "(has c (sel b (id a)))"},
    {"has(has(a.b))", "(has b (id a))"},
    {"e.all(x, p)",
     "(loop x - @result (id e) (c true) (call @not_strictly_false (id @result)) (call _&&_ (id "
     "@result) (id p)) (id @result))"},
    {"e.exists(x, p)",
     "(loop x - @result (id e) (c false) (call @not_strictly_false (call !_ (id @result))) (call "
     "_||_ (id @result) (id p)) (id @result))"},
    {"e.exists_one(x, p)",
     "(loop x - @result (id e) (c i:0) (c true) (call _?_:_ (id p) (call _+_ (id @result) (c i:1)) "
     "(id @result)) (call _==_ (id @result) (c i:1)))"},
    {"e.map(x, t)",
     "(loop x - @result (id e) (list) (c true) (call _+_ (id @result) (list (id t))) (id "
     "@result))"},
    {"e.map(x, p, t)",
     "(loop x - @result (id e) (list) (c true) (call _?_:_ (id p) (call _+_ (id @result) (list (id "
     "t))) (id @result)) (id @result))"},
    {"e.filter(x, p)",
     "(loop x - @result (id e) (list) (c true) (call _?_:_ (id p) (call _+_ (id @result) (list (id "
     "x))) (id @result)) (id @result))"},
    {"e.all(k, v, p)",
     "(loop k v @result (id e) (c true) (call @not_strictly_false (id @result)) (call _&&_ (id "
     "@result) (id p)) (id @result))"},
    {"e.exists(k, v, p)",
     "(loop k v @result (id e) (c false) (call @not_strictly_false (call !_ (id @result))) (call "
     "_||_ (id @result) (id p)) (id @result))"},
    {"e.exists_one(k, v, p)",
     "(loop k v @result (id e) (c i:0) (c true) (call _?_:_ (id p) (call _+_ (id @result) (c i:1)) "
     "(id @result)) (call _==_ (id @result) (c i:1)))"},
    {"e.existsOne(k, v, p)",
     "(loop k v @result (id e) (c i:0) (c true) (call _?_:_ (id p) (call _+_ (id @result) (c i:1)) "
     "(id @result)) (call _==_ (id @result) (c i:1)))"},
    {"e.transformList(k, v, t)",
     "(loop k v @result (id e) (list) (c true) (call _+_ (id @result) (list (id t))) (id "
     "@result))"},
    {"e.transformList(k, v, p, t)",
     "(loop k v @result (id e) (list) (c true) (call _?_:_ (id p) (call _+_ (id @result) (list (id "
     "t))) (id @result)) (id @result))"},
    {"e.transformMap(k, v, t)",
     "(loop k v @result (id e) (map) (c true) (call cel.@mapInsert (id @result) (id k) (id t)) (id "
     "@result))"},
    {"e.transformMap(k, v, p, t)",
     "(loop k v @result (id e) (map) (c true) (call _?_:_ (id p) (call cel.@mapInsert (id @result) "
     "(id k) (id t)) (id @result)) (id @result))"},
    {"e.transformMapEntry(k, v, {v: k})",
     "(loop k v @result (id e) (map) (c true) (call cel.@mapInsert (id @result) (map [ (id v) (id "
     "k)])) (id @result))"},
    {"e.transformMapEntry(k, v, p, {v: k})",
     "(loop k v @result (id e) (map) (c true) (call _?_:_ (id p) (call cel.@mapInsert (id @result) "
     "(map [ (id v) (id k)])) (id @result)) (id @result))"},
    {"o.optMap(x, t)",
     "(call _?_:_ (mcall hasValue (id o)) (call optional.of (loop #unused - x (list) (mcall value "
     "(id o)) (c false) (id x) (id t))) (call optional.none))"},
    {"o.optFlatMap(x, t)",
     "(call _?_:_ (mcall hasValue (id o)) (loop #unused - x (list) (mcall value (id o)) (c false) "
     "(id x) (id t)) (call optional.none))"},
    {"l.sortBy(x, k)",
     "(loop #unused - @__sortBy_input__ (list) (id l) (c false) (id @__sortBy_input__) (mcall "
     "@sortByAssociatedKeys (id @__sortBy_input__) (loop x - @result (id @__sortBy_input__) (list) "
     "(c true) (call _+_ (id @result) (list (id k))) (id @result))))"},
};

constexpr ExpandedText kOrdinaryCalls[] = {
    {"has()", "(call has)"},
    {"has(a, b)", "(call has (id a) (id b))"},
    {"a.has(b.c)", "(mcall has (id a) (sel c (id b)))"},
    {".has(a.b)", "(call .has (sel b (id a)))"},
    {"all(x, p)", "(call all (id x) (id p))"},
    {"e.all(x)", "(mcall all (id e) (id x))"},
    {"e.all(k, v, w, p)", "(mcall all (id e) (id k) (id v) (id w) (id p))"},
    {"e.existsOne(x, p)", "(mcall existsOne (id e) (id x) (id p))"},
    {"e.map(x)", "(mcall map (id e) (id x))"},
    {"sortBy(x, k)", "(call sortBy (id x) (id k))"},
    {"o.optMap(x)", "(mcall optMap (id o) (id x))"},
    {"cel.bind(x, v, t)", "(mcall bind (id cel) (id x) (id v) (id t))"},
};

constexpr ExpandedText kWrongArguments[] = {
    {"has(a)", "1:5 invalid argument to has() macro"},
    {"has(a())", "1:6 invalid argument to has() macro"},
    {"has(a.?b)", "1:6 invalid argument to has() macro"},
    {"has(1)", "1:5 invalid argument to has() macro"},
    {"e.all(1, p)", "1:7 argument must be a simple name"},
    {"e.all(a.b, p)", "1:8 argument must be a simple name"},
    {"e.exists(x(), p)", "1:11 argument must be a simple name"},
    {"e.exists_one('x', p)", "1:14 argument must be a simple name"},
    {"e.map(a.b, t)", "1:8 argument is not an identifier"},
    {"e.filter(1, p)", "1:10 argument is not an identifier"},
    {"e.all(__result__, p)", "1:7 iteration variable overwrites accumulator variable"},
    {"e.map(__result__, t)", "1:7 iteration variable overwrites accumulator variable"},
    {"e.filter(__result__, t)", "1:10 iteration variable overwrites accumulator variable"},
    {"e.all(1, v, p)", "1:7 argument must be a simple name"},
    {"e.all(k, 1, p)", "1:10 argument must be a simple name"},
    {"e.all(k, k, p)", "1:10 duplicate variable name: k"},
    {"e.exists(__result__, v, p)", "1:10 iteration variable overwrites accumulator variable"},
    {"e.transformMap(k, __result__, p)", "1:19 iteration variable overwrites accumulator variable"},
    {"o.optMap(1, t)", "1:10 optMap() variable name must be a simple identifier"},
    {"o.optFlatMap(a.b, t)", "1:15 optFlatMap() variable name must be a simple identifier"},
    {"1.sortBy(x, k)",
     "1:1 sortBy can only be applied to a list, identifier, comprehension, call or select "
     "expression"},
    {"{}.sortBy(x, k)",
     "1:1 sortBy can only be applied to a list, identifier, comprehension, call or select "
     "expression"},
    {"T{}.sortBy(x, k)",
     "1:2 sortBy can only be applied to a list, identifier, comprehension, call or select "
     "expression"},
    {"l.sortBy(1, k)", "1:10 argument is not an identifier"},
    {"l.sortBy(__result__, k)", "1:10 iteration variable overwrites accumulator variable"},
    {"e.map(x, e.all(1, p))", "1:16 argument must be a simple name"},
    {"has(if)", "1:5 reserved identifier: if\n1:5 invalid argument to has() macro"},
    {"has(e.all(1, p))",
     "1:11 argument must be a simple name\n1:11 invalid argument to has() macro"},
};

}  // namespace

TEST_CASE("cel: macros are expanded as cel-go does it", "[cel]") {
  for (const auto& [text, tree] : kExpansions) {
    CAPTURE(text);
    CHECK(Expanded(text) == tree);
  }
}

TEST_CASE("cel: other calls with the names of macros are ordinary ones", "[cel]") {
  for (const auto& [text, tree] : kOrdinaryCalls) {
    CAPTURE(text);
    CHECK(Expanded(text) == tree);
  }
}

TEST_CASE("cel: macros tell which argument is wrong", "[cel]") {
  for (const auto& [text, issues] : kWrongArguments) {
    CAPTURE(text);
    CHECK(Expanded(text) == issues);
  }
}

TEST_CASE("cel: older environments have fewer macros", "[cel]") {
  const syntax::MacroOptions none = {false, false, false, false};

  CHECK(Expanded("o.optMap(x, t)", none) == "(mcall optMap (id o) (id x) (id t))");
  CHECK(Expanded("e.all(k, v, p)", none) == "(mcall all (id e) (id k) (id v) (id p))");
  CHECK(Expanded("l.sortBy(x, k)", none) == "(mcall sortBy (id l) (id x) (id k))");
  CHECK(Expanded("e.exists_one(x, p)", none) == Expanded("e.exists_one(x, p)"));
}

TEST_CASE("cel: cel.bind is a macro where it is enabled", "[cel]") {
  const syntax::MacroOptions bind = {.bind = true};

  CHECK(Expanded("cel.bind(x, v, t)", bind) ==
        "(loop #unused - x (list) (id v) (c false) (id x) (id t))");
  CHECK(Expanded("a.bind(x, v, t)", bind) == "(mcall bind (id a) (id x) (id v) (id t))");
  CHECK(Expanded("cel.bind(1, v, t)", bind) ==
        "1:10 cel.bind() variable names must be simple identifiers");
}

TEST_CASE("cel: an expansion has the place of the call and copies its target", "[cel]") {
  const syntax::SourceText source("{a.b: 1}.optMap(x, x)");
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(source, {}, issues);

  CHECK(TreeText(ast).Write() ==
        "(call@15 _?_:_ (mcall@15 hasValue (map@0 [@4 (sel@2 b (id@1 a)) (c@6 i:1)])) (call@15 "
        "optional.of (loop@15 #unused - x (list@15) (mcall@15 value (map@0 [@15 (sel@2 b (id@1 a)) "
        "(c@6 i:1)])) (c@15 false) (id@15 x) (id@19 x))) (call@15 optional.none))");
}

TEST_CASE("cel: a tree remembers a macro as it was called", "[cel]") {
  const syntax::SourceText source("e.all(x, has(x.y))");
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(source, {}, issues);

  const syntax::NodeId call = ast.macro_call(ast.root());
  REQUIRE(call != syntax::kNoNode);
  CHECK(ast.name_of(call) == "all");
  CHECK(ast.name_of(ast.target(call)) == "e");
  REQUIRE(ast.arguments(call).size() == 2);
  const syntax::NodeId has = ast.arguments(call)[1];
  CHECK(ast.node(has).test_only);
  CHECK(ast.name_of(ast.macro_call(has)) == "has");
  CHECK(ast.macro_call(ast.children(ast.root())[0]) == syntax::kNoNode);
}

TEST_CASE("cel: macros that double their target stop at the limit of nodes", "[cel]") {
  std::string text = "a";
  for (int i = 0; i < 40; ++i) text += ".optMap(x, x)";
  const syntax::SourceText source(text);
  syntax::Issues issues;

  const syntax::Ast ast = syntax::Parse(source, {}, issues);

  REQUIRE(issues.count() == 1);
  CHECK(issues.all()[0].message == "expression has more than 500000 parts after macro expansion");
  CHECK(ast.size() <= syntax::kNodesMax + 1000);
}
