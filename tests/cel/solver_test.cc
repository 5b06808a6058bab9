#include "cel/check/solver.h"

#include <array>
#include <catch2/catch.hpp>

#include "cel/types/spell.h"

using apiserver::cel::Free;
using apiserver::cel::Type;
using apiserver::cel::TypeNode;
using apiserver::cel::check::IsExact;
using apiserver::cel::check::Print;
using apiserver::cel::check::Solver;
namespace types = apiserver::cel::types;

TEST_CASE("cel: a variable stands for the less specific of the types that it meets", "[cel]") {
  Solver solver;
  const TypeNode& variable = solver.NewVariable();
  const TypeNode& ints = solver.List(types::kInt);
  const TypeNode& dyns = solver.List(types::kDyn);

  CHECK(solver.Assign(ints, variable));
  CHECK(Print(solver.Resolve(variable)) == "list(int)");
  CHECK_FALSE(solver.Assign(types::kString, variable));
  CHECK(solver.Assign(dyns, variable));
  CHECK(Print(solver.Resolve(variable)) == "list(dyn)");
}

TEST_CASE("cel: a failed assignment leaves no bindings behind", "[cel]") {
  Solver solver;
  const TypeNode& a = solver.NewVariable();
  const TypeNode& b = solver.NewVariable();
  const std::array<const TypeNode*, 2> given = {&types::kInt, &types::kInt};
  const std::array<const TypeNode*, 2> wanted = {&a, &types::kString};
  const std::array<const TypeNode*, 2> linked = {&a, &b};

  CHECK_FALSE(solver.AssignAll(given, wanted));
  CHECK(Print(solver.Resolve(a)) == "_var0");
  CHECK(solver.AssignAll(given, linked));
  CHECK(solver.Export(solver.Map(a, b)) == Type::Map(Type::Int(), Type::Int()));
}

TEST_CASE("cel: a variable does not stand for a type that contains it", "[cel]") {
  Solver solver;
  const TypeNode& a = solver.NewVariable();
  const TypeNode& b = solver.NewVariable();

  CHECK_FALSE(solver.Assign(solver.List(a), a));
  CHECK(solver.Assign(b, solver.List(a)));
  CHECK_FALSE(solver.Assign(solver.Optional(b), a));
  CHECK(solver.Export(b) == Type::List(Type::Dyn()));
}

TEST_CASE("cel: null is a value of types that may be absent", "[cel]") {
  Solver solver;
  constexpr TypeNode kIp = types::Opaque("net.IP");

  CHECK(solver.Assign(types::kNull, kIp));
  CHECK(solver.Assign(types::kTimestamp, types::kNull));
  CHECK(solver.Assign(types::kNull, types::kWrapperOf<types::kInt>));
  CHECK_FALSE(solver.Assign(types::kNull, types::kInt));
  CHECK_FALSE(solver.Assign(solver.List(types::kInt), types::kNull));
  CHECK(IsExact(types::kWrapperOf<types::kInt>, types::kInt));
}

TEST_CASE("cel: an overload is instantiated with variables of its own", "[cel]") {
  Solver solver;
  const auto signature = Free(types::kB, types::kMapOf<types::kA, types::kB>, types::kA);
  const Solver::Instance first = solver.Instantiate(signature);
  const Solver::Instance second = solver.Instantiate(signature);
  solver.SkipVariablesOf(signature);

  CHECK(Print(*first.arguments[0]) == "map(_var1, _var0)");
  CHECK(Print(*first.arguments[1]) == "_var1");
  CHECK(Print(*second.result) == "_var2");
  CHECK(Print(solver.NewVariable()) == "_var6");
}

TEST_CASE("cel: a type that doubles with every step exhausts the solver", "[cel]") {
  Solver solver;
  const TypeNode* type = &solver.NewVariable();
  for (int i = 0; i < 100 && !solver.exhausted(); ++i) type = &solver.Map(*type, *type);

  CHECK(solver.exhausted());
  CHECK_FALSE(solver.Assign(*type, *type));
}

TEST_CASE("cel: a type that grows behind variables exhausts the solver", "[cel]") {
  Solver solver;
  const TypeNode* last = &types::kInt;
  for (int i = 0; i < 100 && !solver.exhausted(); ++i) {
    const TypeNode& variable = solver.NewVariable();
    solver.Assign(solver.Map(*last, *last), variable);
    last = &variable;
  }

  CHECK(solver.exhausted());
}
