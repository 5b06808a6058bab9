#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "cel/check/checker.h"

using apiserver::cel::Environment;
using apiserver::cel::Mode;
using apiserver::cel::Type;
using apiserver::cel::check::CheckedAst;
using apiserver::cel::check::Reference;
namespace check = apiserver::cel::check;
namespace syntax = apiserver::cel::syntax;
using syntax::Ast;
using syntax::NodeId;

namespace {

Environment WithVariables() {
  return Environment::Kubernetes({1, 36}, Mode::kStored)
      .With({{"x", Type::Dyn()}, {"a.b", Type::Int()}});
}

}  // namespace

TEST_CASE("cel: a checked call has the overloads that its arguments match", "[cel]") {
  Ast ast;
  const NodeId x = ast.AddIdentifier(0, "x");
  const NodeId a = ast.AddIdentifier(4, "a");
  const NodeId path = ast.AddSelect(5, a, "b");
  const NodeId one = ast.AddConstant(10, std::int64_t{1});
  const NodeId exact = ast.AddCall(8, "_+_", std::array{path, one});
  const NodeId equal = ast.AddCall(2, "_==_", std::array{x, exact});
  const NodeId argument = ast.AddIdentifier(18, "x");
  const NodeId size = ast.AddCall(17, "size", std::array{argument});
  const NodeId list = ast.AddList(13, std::array{size});
  ast.set_root(ast.AddMap(0, std::array{equal, list}, std::array{syntax::Entry{}}));

  syntax::Issues issues;
  const std::optional<CheckedAst> checked = check::Check(WithVariables(), std::move(ast), issues);

  REQUIRE(checked.has_value());
  CHECK(checked->result_type == Type::Map(Type::Bool(), Type::List(Type::Int())));
  REQUIRE(checked->OverloadOf(exact) != nullptr);
  CHECK(checked->OverloadOf(exact)->id == "add_int64");
  CHECK(checked->OverloadOf(size) == nullptr);
  CHECK(checked->MatchesOf(size).size() == 4);
  CHECK(checked->references[x].kind == Reference::Kind::kVariable);
  CHECK(checked->references[x].index == 0);
  CHECK(checked->references[path].index == 1);
  CHECK(checked->ast.node(path).kind == syntax::NodeKind::kIdentifier);
  CHECK(checked->ast.name_of(path) == "a.b");
  CHECK(checked->types[path] == Type::Int());
}

TEST_CASE("cel: the checker reports every issue at its node", "[cel]") {
  Ast ast;
  const NodeId missing = ast.AddIdentifier(0, "missing");
  const NodeId one = ast.AddConstant(10, std::int64_t{1});
  const NodeId text = ast.AddConstant(14, std::string("a"));
  const NodeId sum = ast.AddCall(12, "_+_", std::array{one, text});
  ast.set_root(ast.AddCall(8, "_==_", std::array{missing, sum}));

  syntax::Issues issues;
  CHECK_FALSE(check::Check(WithVariables(), std::move(ast), issues).has_value());
  REQUIRE(issues.all().size() == 2);
  CHECK(issues.all()[0].offset == 0);
  CHECK(issues.all()[0].message == "undeclared reference to 'missing' (in container '')");
  CHECK(issues.all()[1].offset == 12);
  CHECK(issues.all()[1].message ==
        "found no matching overload for '_+_' applied to '(int, string)'");
}

TEST_CASE("cel: an optional element of type dyn is a dyn", "[cel]") {
  // cel-go panics on [?x, x].
  Ast ast;
  const NodeId x = ast.AddIdentifier(2, "x");
  const NodeId y = ast.AddIdentifier(5, "x");
  ast.set_root(ast.AddList(0, std::array{x, y},
                           std::array{syntax::Entry{.optional = true}, syntax::Entry{}}));

  syntax::Issues issues;
  const std::optional<CheckedAst> checked = check::Check(WithVariables(), std::move(ast), issues);
  REQUIRE(checked.has_value());
  CHECK(checked->result_type == Type::List(Type::Dyn()));
}

TEST_CASE("cel: an expression whose types double is refused", "[cel]") {
  // [x].map(a, {a: a}).map(a, {a: a})…, as the macro expands it.
  Ast ast;
  NodeId range = ast.AddList(0, std::array{ast.AddIdentifier(0, "x")});
  for (int i = 0; i < 40; ++i) {
    const std::array pair = {ast.AddIdentifier(0, "a"), ast.AddIdentifier(0, "a")};
    const NodeId map = ast.AddMap(0, pair, std::array{syntax::Entry{}});
    const std::array sum = {ast.AddIdentifier(0, "@result"), ast.AddList(0, std::array{map})};
    const NodeId init = ast.AddList(0, {});
    const NodeId more = ast.AddConstant(0, true);
    const NodeId step = ast.AddCall(0, "_+_", sum);
    const NodeId result = ast.AddIdentifier(0, "@result");
    range = ast.AddComprehension(0, {.variable = ast.AddName("a"),
                                     .accumulator = ast.AddName("@result"),
                                     .range = range,
                                     .init = init,
                                     .condition = more,
                                     .step = step,
                                     .result = result});
  }
  ast.set_root(range);

  syntax::Issues issues;
  CHECK_FALSE(check::Check(WithVariables(), std::move(ast), issues).has_value());
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].message == "the types of the expression are too complex");
}
