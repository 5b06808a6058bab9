#include "apiserver/patch/apply/field_set.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/patch/apply/typed.h"

namespace apiserver {
namespace {

using patch::apply::DecodeFieldsV1;
using patch::apply::FieldSet;

std::string Encoded(FieldSet set) {
  std::string out;
  patch::apply::AppendFieldsV1(set, out);
  return out;
}

TEST_CASE("patch.apply: field sets come back from FieldsV1 as they went", "[patch.apply]") {
  const std::string json = R"({"f:a":{".":{},"f:b":{}},"k:{\"name\":\"x\"}":{"f:c":{}},"v:1":{}})";
  runtime::Arena arena;
  const auto set = DecodeFieldsV1(json, arena);
  REQUIRE(set.ok());
  CHECK(Encoded(*set) == json);
}

}  // namespace
}  // namespace apiserver
