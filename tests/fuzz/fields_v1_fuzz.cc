#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/field_set.h"
#include "require.h"

// The fieldsV1 of managedFields, which clients may write. What is read is written as JSON that
// reads back as the same set; sets of operations with itself are what they must be.
namespace {

namespace codec = apiserver::codec;
namespace apply = apiserver::patch::apply;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  runtime::Arena arena;
  const auto set = apply::DecodeFieldsV1(input, arena);
  if (!set.ok()) return 0;
  std::string json;
  apply::AppendFieldsV1(*set, json);
  const auto parsed = codec::ParseJson(json, arena);
  Require(parsed.ok());
  // A parsed object has replaced what is no UTF-8, so that its own text is what to compare with.
  std::string own;
  codec::AppendJson(*parsed, own);
  const auto of_text = apply::DecodeFieldsV1(own, arena);
  const auto of_value = apply::DecodeFieldsV1(*parsed, arena);
  Require(of_text.ok() && of_value.ok() && *of_value == *of_text);
  const auto back = apply::DecodeFieldsV1(json, arena);
  Require(back.ok() && *back == *set);
  std::string again;
  apply::AppendFieldsV1(*back, again);
  Require(again == json);
  Require(back->Difference(*set, arena).Empty());
  Require(back->Union(*set, arena) == *set);
  Require(back->Intersection(*set, arena) == *set);
  const apply::FieldSet leaves = set->Leaves(arena);
  Require(set->Difference(leaves, arena).Union(leaves, arena) == *set);
  (void)set->ToString();
  return 0;
}
