#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "require.h"

// JSON: what parses prints in a form that parses to the same, pretty or not.
namespace {

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  runtime::Arena arena;
  std::vector<std::string> duplicates;
  const auto value = codec::ParseJson(text, arena, &duplicates);
  if (!value.ok()) {
    Require(value.status().reason() == apiserver::Reason::kBadRequest);
    Require(!value.status().message().empty());
    return 0;
  }
  std::string json;
  codec::AppendJson(*value, json);
  const auto again = codec::ParseJson(json, arena);
  Require(again.ok());
  std::string json_again;
  codec::AppendJson(*again, json_again);
  // As in Go a float that underflows to -0 prints as "-0", which reads as the integer 0.
  Require(json == json_again || json.find("-0") != std::string::npos);
  const auto settled = codec::ParseJson(json_again, arena);
  Require(settled.ok());
  std::string json_settled;
  codec::AppendJson(*settled, json_settled);
  Require(json_again == json_settled);
  Require(codec::ParseJson(codec::IndentJson(json), arena).ok());
  return 0;
}
