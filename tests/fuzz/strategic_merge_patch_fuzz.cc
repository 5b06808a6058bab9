#include "apiserver/patch/strategic_merge_patch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "patch/merge_item.h"
#include "require_json.h"

// Strategic merge patches: the input is a document, a newline, and a patch. What comes out is JSON,
// nothing that came in is changed, and the work is bounded.
namespace {

namespace codec = apiserver::codec;
namespace patch = apiserver::patch;
namespace runtime = apiserver::runtime;
using apiserver::codec::testing::Json;
using apiserver_fuzz::Require;
using apiserver_fuzz::RequireJson;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const runtime::SchemaPtr schema = patch::MergeItemSchema();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = input.find('\n');
  if (newline == std::string_view::npos) return 0;
  runtime::Arena arena;
  const auto document = codec::ParseJson(input.substr(0, newline), arena);
  const auto patch = codec::ParseJson(input.substr(newline + 1), arena);
  if (!document.ok() || !patch.ok() || !document->is_map() || !patch->is_map()) return 0;
  const std::string before = Json(*document) + Json(*patch);
  const auto merged =
      patch::ApplyStrategicMergePatch(*document, *patch, *schema, arena, {.visits_max = 100'000});
  Require(Json(*document) + Json(*patch) == before);
  if (!merged.ok()) return 0;
  RequireJson(merged->object);
  RequireJson(merged->patch);
  return 0;
}
