#include "apiserver/cel/environment.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cel/environment_state.h"
#include "cel/functions/libraries.h"

using apiserver::cel::Environment;
using apiserver::cel::EnvironmentState;
using apiserver::cel::FunctionEntry;
using apiserver::cel::Mode;
using apiserver::cel::Type;

namespace {

// The overload ids of a function, in order.
std::vector<std::string> OverloadsOf(const Environment& environment, std::string_view name) {
  const FunctionEntry* const function = environment.state().functions->Find(name);
  if (function == nullptr) return {};
  std::vector<std::string> ids;
  for (const auto* overload : function->overloads) ids.emplace_back(overload->id);
  return ids;
}

}  // namespace

TEST_CASE("cel: an environment has the functions that its version knows", "[cel]") {
  const Environment older = Environment::Kubernetes({1, 27}, Mode::kNew);
  const Environment newer = Environment::Kubernetes({1, 28}, Mode::kNew);
  const Environment stored = Environment::Kubernetes({1, 27}, Mode::kStored);

  CHECK(OverloadsOf(older, "_[_]") == std::vector<std::string>{"index_list", "index_map"});
  CHECK(OverloadsOf(newer, "_[_]").size() == 4);
  CHECK(OverloadsOf(stored, "_[_]").size() == 4);
  CHECK(OverloadsOf(older, "_?._").empty());
  CHECK_FALSE(older.state().features.optionals);
  CHECK(stored.state().features.two_variable_macros);
  CHECK(Environment::Kubernetes({1, 99}, Mode::kNew).state().version == stored.state().version);
}

TEST_CASE("cel: each overload knows the row that runs it", "[cel]") {
  const Environment environment = Environment::Kubernetes({1, 36}, Mode::kStored);
  const FunctionEntry* const string = environment.state().functions->Find("string");

  REQUIRE(string != nullptr);
  REQUIRE(string->row_of.size() == string->overloads.size());
  for (std::size_t i = 0; i < string->overloads.size(); ++i) {
    const auto& row = *string->rows[string->row_of[i]];
    INFO(string->overloads[i]->id);
    CHECK(row.name == "string");
    CHECK(string->overloads[i] >= row.overloads.data());
    CHECK(string->overloads[i] < row.overloads.data() + row.overloads.size());
  }
  CHECK(environment.state().functions->Find("no such function") == nullptr);
}

TEST_CASE("cel: an extended environment shares functions and adds variables", "[cel]") {
  const Environment base = Environment::Kubernetes({1, 36}, Mode::kStored);
  const Environment more = base.With({{"self", Type::Int()}, {"a.b", Type::Bool()}});
  const Environment again = more.With({{"self", Type::String()}});

  CHECK(base.variable_count() == 0);
  CHECK(again.state().functions == base.state().functions);
  REQUIRE(again.variable_count() == 3);
  CHECK(again.variable(0).type == Type::Int());
  CHECK(again.state().FindVariable("self") == 2);
  CHECK(again.state().FindVariable("a.b") == 1);
  CHECK_FALSE(more.state().FindVariable("a").has_value());
}
