#include "apiserver/cel/type.h"

#include <array>
#include <catch2/catch.hpp>

#include "cel/types/spell.h"

using apiserver::cel::StructType;
using apiserver::cel::Type;
using apiserver::cel::TypeKind;
namespace types = apiserver::cel::types;

TEST_CASE("cel: types print as messages show them", "[cel]") {
  CHECK(Type().ToString() == "dyn");
  CHECK(Type::Map(Type::String(), Type::List(Type::Timestamp())).ToString() ==
        "map(string, list(timestamp))");
  CHECK(Type::Wrapper(Type::Int()).ToString() == "wrapper(int)");
  CHECK(Type::Optional(Type::Null()).ToString() == "optional_type(null)");
  CHECK(Type::TypeOf(Type::Of(TypeKind::kAny)).ToString() == "type(any)");
  CHECK(Type::Struct("kubernetes.URL").ToString() == "kubernetes.URL");
  CHECK(Type::Of(TypeKind::kError).ToString() == "!error!");
}

TEST_CASE("cel: types are equal by structure, constants too", "[cel]") {
  CHECK(Type::List(Type::Int()) == Type(types::kListOf<types::kInt>));
  CHECK_FALSE(Type::List(Type::Int()) == Type::List(Type::Uint()));
  CHECK_FALSE(Type::Struct("a") == Type::Opaque("a"));
  CHECK(Type::Optional(Type::Bool()) == Type(types::kOptionalOf<types::kBool>));
}

TEST_CASE("cel: a struct type finds its fields", "[cel]") {
  const Type type = Type::Struct(StructType{
      .name = "T", .fields = {{"b", Type::Int()}, {"a", Type::String()}, {"b", Type::Bool()}}});

  REQUIRE(type.FindField("b") != nullptr);
  CHECK(*type.FindField("b") == Type::Int());
  CHECK(*type.FindField("a") == Type::String());
  CHECK(type.FindField("c") == nullptr);
  CHECK(Type::Int().FindField("a") == nullptr);
  const Type open = Type::Struct(StructType{.name = "Object", .open = true});
  REQUIRE(open.FindField("anything") != nullptr);
  CHECK(open.FindField("anything")->is_dyn());
}

TEST_CASE("cel: a deep type is compared, printed and destroyed on constant stack", "[cel]") {
  constexpr int kDepth = 200'000;
  Type a = Type::Int();
  Type b = Type::Int();
  for (int i = 0; i < kDepth; ++i) {
    a = Type::List(a);
    b = Type::List(b);
  }

  CHECK(a == b);
  CHECK(a.ToString().size() == 6 * kDepth + 3);
}
