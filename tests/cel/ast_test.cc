#include "cel/syntax/ast.h"

#include <array>
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace syntax = apiserver::cel::syntax;
using syntax::Ast;
using syntax::NodeId;
using syntax::NodeKind;

TEST_CASE("cel: a tree gives back what was added to it", "[cel]") {
  Ast ast;
  const NodeId self = ast.AddIdentifier(0, "self");
  const NodeId name = ast.AddSelect(4, self, "name");
  const NodeId text = ast.AddConstant(21, std::string("a"));
  const NodeId call = ast.AddMemberCall(20, "startsWith", name, std::array{text});
  ast.set_root(call);

  const Ast moved = std::move(ast);

  CHECK(moved.root() == call);
  CHECK(moved.name_of(call) == "startsWith");
  CHECK(moved.target(call) == name);
  REQUIRE(moved.arguments(call).size() == 1);
  CHECK(moved.arguments(call)[0] == text);
  CHECK(moved.children(call).size() == 2);
  CHECK(std::get<std::string>(moved.constant(text)) == "a");
  CHECK(moved.node(name).offset == 4);
  CHECK(moved.FindName("self") == moved.node(self).name);
  CHECK(moved.FindName("oldSelf") == syntax::kNoName);
}

TEST_CASE("cel: a tree keeps names and flags of entries", "[cel]") {
  Ast ast;
  const NodeId one = ast.AddConstant(1, std::int64_t{1});
  const NodeId two = ast.AddConstant(4, std::int64_t{2});
  const NodeId plain = ast.AddList(0, std::array{one, two});
  const NodeId list = ast.AddList(0, std::array{one, two},
                                  std::array{syntax::Entry{}, syntax::Entry{.optional = true}});
  const NodeId map = ast.AddMap(0, std::array{one, two}, std::array{syntax::Entry{.offset = 2}});
  const NodeId message =
      ast.AddMessage(0, "google.protobuf.Value", std::array{one},
                     std::array{syntax::Entry{.offset = 2, .field = ast.AddName("number")}});

  CHECK_FALSE(ast.entry(plain, 1).optional);
  CHECK_FALSE(ast.entry(list, 0).optional);
  CHECK(ast.entry(list, 1).optional);
  CHECK(ast.entry_count(list) == 2);
  CHECK(ast.entry_count(map) == 1);
  CHECK(ast.entry(map, 0).offset == 2);
  CHECK(ast.name_of(message) == "google.protobuf.Value");
  CHECK(ast.name(ast.entry(message, 0).field) == "number");
}

TEST_CASE("cel: a copied tree keeps kinds, loops and places", "[cel]") {
  Ast ast;
  const NodeId range = ast.AddIdentifier(0, "list");
  const NodeId init = ast.AddConstant(5, true);
  const NodeId more = ast.AddConstant(5, true);
  const NodeId step = ast.AddIdentifier(9, "x");
  const NodeId result = ast.AddIdentifier(5, "@result");
  const NodeId loop = ast.AddComprehension(5, {.variable = ast.AddName("x"),
                                               .accumulator = ast.AddName("@result"),
                                               .range = range,
                                               .init = init,
                                               .condition = more,
                                               .step = step,
                                               .result = result});
  const NodeId map =
      ast.AddMap(11, std::array{loop, loop}, std::array{syntax::Entry{.offset = 13}});

  const NodeId copy = ast.AddCopy(map, 40);

  CHECK(copy > map);
  CHECK(ast.node(copy).kind == NodeKind::kMap);
  CHECK(ast.node(copy).offset == 11);
  CHECK(ast.entry(copy, 0).offset == 40);
  CHECK(ast.entry(map, 0).offset == 13);
  const NodeId copied_loop = ast.children(copy)[0];
  CHECK(copied_loop != loop);
  CHECK(copied_loop < copy);
  const syntax::Comprehension parts = ast.comprehension(copied_loop);
  CHECK(ast.name(parts.variable) == "x");
  CHECK(parts.second_variable == syntax::kNoName);
  CHECK(ast.name(parts.accumulator) == "@result");
  CHECK(parts.step != step);
  CHECK(ast.name_of(parts.step) == "x");
  CHECK(ast.node(parts.step).offset == 9);
}

TEST_CASE("cel: a checker may turn a path into a name", "[cel]") {
  Ast ast;
  const NodeId authorizer = ast.AddIdentifier(0, "authorizer");
  const NodeId resource = ast.AddSelect(10, authorizer, "requestResource");
  const NodeId sets = ast.AddIdentifier(30, "sets");
  const NodeId call = ast.AddMemberCall(42, "contains", sets, std::array{resource});

  ast.RewriteAsIdentifier(resource, "authorizer.requestResource");
  ast.RewriteAsFreeCall(call, "sets.contains");

  CHECK(ast.node(resource).kind == NodeKind::kIdentifier);
  CHECK(ast.node(resource).offset == 10);
  CHECK(ast.children(resource).empty());
  CHECK(ast.name_of(resource) == "authorizer.requestResource");
  CHECK(ast.target(call) == syntax::kNoNode);
  REQUIRE(ast.arguments(call).size() == 1);
  CHECK(ast.arguments(call)[0] == resource);
  CHECK(ast.name_of(call) == "sets.contains");
}
