#include "cel/syntax/parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "cel/tree_text.h"

namespace syntax = apiserver::cel::syntax;
using apiserver::testing::TreeText;

namespace {

// An expression and its tree. All trees are cel-go 0.26.0's, in Kubernetes 1.36's environment; many
// of the expressions are in parser/parser_test.go of cel-go.
struct ParsedText {
  std::string_view text;
  std::string_view tree;
};

std::string ParsedTree(std::string_view text, bool places,
                       const syntax::ParseOptions& options = {}) {
  const syntax::SourceText source(text);
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(source, options, issues);
  return issues.empty() ? TreeText(ast, places).Write() : issues.Display(source);
}

constexpr ParsedText kPlaces[] = {
    {"a", "(id@0 a)"},
    {"  a", "(id@2 a)"},
    {"(a)", "(id@1 a)"},
    {"a.b", "(sel@1 b (id@0 a))"},
    {"a . b", "(sel@2 b (id@0 a))"},
    {"a.?b", "(call@1 _?._ (id@0 a) (c@3 s:62))"},
    {"a[b]", "(call@1 _[_] (id@0 a) (id@2 b))"},
    {"a[?b]", "(call@1 _[?_] (id@0 a) (id@3 b))"},
    {"f(a)", "(call@1 f (id@2 a))"},
    {".f(a)", "(call@2 .f (id@3 a))"},
    {"a.f(b, c)", "(mcall@3 f (id@0 a) (id@4 b) (id@7 c))"},
    {"a + b", "(call@2 _+_ (id@0 a) (id@4 b))"},
    {"a in b", "(call@2 @in (id@0 a) (id@5 b))"},
    {"!a", "(call@0 !_ (id@1 a))"},
    {"!!!a", "(call@0 !_ (id@3 a))"},
    {"- - -a", "(call@0 -_ (id@5 a))"},
    {"!!a", "(id@2 a)"},
    {"-a.b", "(call@0 -_ (sel@2 b (id@1 a)))"},
    {"- 5", "(c@0 i:-5)"},
    {"a - 5", "(call@2 _-_ (id@0 a) (c@4 i:5))"},
    {"a ? b : c", "(call@2 _?_:_ (id@0 a) (id@4 b) (id@8 c))"},
    {"[a, ?b]", "(list@0 (id@1 a) ?(id@5 b))"},
    {"{a: b, ?c: d}", "(map@0 [@2 (id@1 a) (id@4 b)] [?@9 (id@8 c) (id@11 d)])"},
    {"T{a: b}", "(msg@1 T [@3 a (id@5 b)])"},
    {".a.b.T{?a: b,}", "(msg@6 .a.b.T [?@9 a (id@11 b)])"},
    {"a &&\n  b", "(call@2 _&&_ (id@0 a) (id@7 b))"},
    {"a && b || c && d",
     "(call@7 _||_ (call@2 _&&_ (id@0 a) (id@5 b)) (call@12 _&&_ (id@10 c) (id@15 d)))"},
    {"'世' + a", "(call@4 _+_ (c@0 s:e4b896) (id@6 a))"},
};

constexpr ParsedText kPrecedence[] = {
    {"a + b * c", "(call _+_ (id a) (call _*_ (id b) (id c)))"},
    {"a * b + c", "(call _+_ (call _*_ (id a) (id b)) (id c))"},
    {"a - b - c", "(call _-_ (call _-_ (id a) (id b)) (id c))"},
    {"a / b % c * d", "(call _*_ (call _%_ (call _/_ (id a) (id b)) (id c)) (id d))"},
    {"a < b == c", "(call _==_ (call _<_ (id a) (id b)) (id c))"},
    {"a in b in c", "(call @in (call @in (id a) (id b)) (id c))"},
    {"a + b < c - d", "(call _<_ (call _+_ (id a) (id b)) (call _-_ (id c) (id d)))"},
    {"a && b || c && d", "(call _||_ (call _&&_ (id a) (id b)) (call _&&_ (id c) (id d)))"},
    {"!a == b", "(call _==_ (call !_ (id a)) (id b))"},
    {"-a + -b", "(call _+_ (call -_ (id a)) (call -_ (id b)))"},
    {"!a.b[c]", "(call !_ (call _[_] (sel b (id a)) (id c)))"},
    {"a ? b : c ? d : e", "(call _?_:_ (id a) (id b) (call _?_:_ (id c) (id d) (id e)))"},
    {"a ? (b ? c : d) : e", "(call _?_:_ (id a) (call _?_:_ (id b) (id c) (id d)) (id e))"},
    {"a || b ? c || d : e || f",
     "(call _?_:_ (call _||_ (id a) (id b)) (call _||_ (id c) (id d)) (call _||_ (id e) (id f)))"},
    {"(a ? b : c) + d", "(call _+_ (call _?_:_ (id a) (id b) (id c)) (id d))"},
    {"a == b ? c : d", "(call _?_:_ (call _==_ (id a) (id b)) (id c) (id d))"},
    {"a.b.c(d).e[f]", "(call _[_] (sel e (mcall c (sel b (id a)) (id d))) (id f))"},
    {"[1][0]", "(call _[_] (list (c i:1)) (c i:0))"},
    {"{}.a", "(sel a (map))"},
    {"''.size()", "(mcall size (c s:))"},
    {"(a + b).c", "(sel c (call _+_ (id a) (id b)))"},
};

// A minus right before a number belongs to it, but for one that follows an operand; pairs of signs
// go.
constexpr ParsedText kSigns[] = {
    {"-(1)", "(call -_ (c i:1))"},
    {"!-1", "(call !_ (c i:-1))"},
    {"--1", "(c i:1)"},
    {"---1", "(call -_ (c i:1))"},
    {"-1u", "(call -_ (c u:1))"},
    {"-x.y", "(call -_ (sel y (id x)))"},
    {"-1.x", "(sel x (c i:-1))"},
    {"1.x", "(sel x (c i:1))"},
    {"a-1", "(call _-_ (id a) (c i:1))"},
    {"a --1", "(call _-_ (id a) (c i:-1))"},
    {"-9223372036854775808", "(c i:-9223372036854775808)"},
    {"- 5", "(c i:-5)"},
    {"!!a", "(id a)"},
    {"!!!a", "(call !_ (id a))"},
    {"!!!!a", "(id a)"},
    {"- -a", "(id a)"},
};

constexpr ParsedText kChains[] = {
    {"a && b", "(call _&&_ (id a) (id b))"},
    {"a && b && c", "(call _&&_ (call _&&_ (id a) (id b)) (id c))"},
    {"a && b && c && d", "(call _&&_ (call _&&_ (id a) (id b)) (call _&&_ (id c) (id d)))"},
    {"a || b || c || d || e",
     "(call _||_ (call _||_ (call _||_ (id a) (id b)) (id c)) (call _||_ (id d) (id e)))"},
    {"a && (b && c)", "(call _&&_ (id a) (call _&&_ (id b) (id c)))"},
    {"(a && b) && c", "(call _&&_ (call _&&_ (id a) (id b)) (id c))"},
    {"a || b && c || d || e && f && g",
     "(call _||_ (call _||_ (id a) (call _&&_ (id b) (id c))) (call _||_ (id d) (call _&&_ (call "
     "_&&_ (id e) (id f)) (id g))))"},
};

constexpr ParsedText kLiterals[] = {
    {"true", "(c true)"},
    {"false", "(c false)"},
    {"null", "(c null)"},
    {"1", "(c i:1)"},
    {"0x10", "(c i:16)"},
    {"007", "(c i:7)"},
    {"7u", "(c u:7)"},
    {"0x1Fu", "(c u:31)"},
    {"1.5", "(c d:3ff8000000000000)"},
    {"-0.0", "(c d:8000000000000000)"},
    {"1e-400", "(c d:0000000000000000)"},
    {"'a'", "(c s:61)"},
    {R"(b'\xff')", "(c b:ff)"},
    {R"(r'\n')", "(c s:5c6e)"},
    {"'''a'''", "(c s:61)"},
    {R"("\u4e16")", "(c s:e4b896)"},
};

constexpr ParsedText kCollections[] = {
    {"[]", "(list)"},
    {"[,]", "(list)"},
    {"[1,]", "(list (c i:1))"},
    {"{}", "(map)"},
    {"{,}", "(map)"},
    {"{1: 2,}", "(map [ (c i:1) (c i:2)])"},
    {"{{}: []}", "(map [ (map) (list)])"},
    {"T{}", "(msg T)"},
    {"a.T{,}", "(msg a.T)"},
    {".T{if: 1, in_: 2}", "(msg .T [ if (c i:1)] [ in_ (c i:2)])"},
    {"a.b.c", "(sel c (sel b (id a)))"},
    {"a.T{}.b", "(sel b (msg a.T))"},
};

// Reserved words name fields and methods.
constexpr ParsedText kReservedFields[] = {
    {"o.if", "(sel if (id o))"},
    {"o.namespace", "(sel namespace (id o))"},
    {"a.package()", "(mcall package (id a))"},
    {"a.as.break", "(sel break (sel as (id a)))"},
    {"o.?for", "(call _?._ (id o) (c s:666f72))"},
};

}  // namespace

TEST_CASE("cel: nodes have the places that cel-go gives them", "[cel]") {
  for (const auto& [text, tree] : kPlaces) {
    CAPTURE(text);
    CHECK(ParsedTree(text, true) == tree);
  }
}

TEST_CASE("cel: operators bind as the grammar says", "[cel]") {
  for (const auto& [text, tree] : kPrecedence) {
    CAPTURE(text);
    CHECK(ParsedTree(text, false) == tree);
  }
  for (const auto& [text, tree] : kSigns) {
    CAPTURE(text);
    CHECK(ParsedTree(text, false) == tree);
  }
}

TEST_CASE("cel: chains of && and || become balanced trees", "[cel]") {
  for (const auto& [text, tree] : kChains) {
    CAPTURE(text);
    CHECK(ParsedTree(text, false) == tree);
  }
}

TEST_CASE("cel: literals, collections and fields are parsed", "[cel]") {
  for (const auto& [text, tree] : kLiterals) {
    CAPTURE(text);
    CHECK(ParsedTree(text, false) == tree);
  }
  for (const auto& [text, tree] : kCollections) {
    CAPTURE(text);
    CHECK(ParsedTree(text, false) == tree);
  }
  for (const auto& [text, tree] : kReservedFields) {
    CAPTURE(text);
    CHECK(ParsedTree(text, false) == tree);
  }
}

TEST_CASE("cel: fields between backticks are parsed where they are enabled", "[cel]") {
  const syntax::ParseOptions options = {.quoted_fields = true};

  CHECK(ParsedTree("a.`b-c`", true, options) == "(sel@1 b-c (id@0 a))");
  CHECK(ParsedTree("a.?`in`", true, options) == "(call@1 _?._ (id@0 a) (c@3 s:696e))");
  CHECK(ParsedTree("T{`a.b`: 1}", true, options) == "(msg@1 T [@7 a.b (c@9 i:1)])");
}

TEST_CASE("cel: a child's number is less than its parent's", "[cel]") {
  const syntax::SourceText source(
      "has(a.b) && [1].map(x, x > 0, {x: x}).all(k, v, v.?c.optMap(y, -y)[?0] == T{d: !k})");
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(source, {}, issues);

  REQUIRE(issues.empty());
  for (syntax::NodeId id = 0; id < ast.size(); ++id) {
    for (const syntax::NodeId child : ast.children(id)) CHECK(child < id);
  }
}
