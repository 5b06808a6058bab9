#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/patch/json_patch.h"
#include "require_json.h"

// JSON patches: the input is a document, a newline, and a patch. What comes out is JSON.
namespace {

namespace codec = apiserver::codec;
namespace patch = apiserver::patch;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;
using apiserver_fuzz::RequireJson;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = input.find('\n');
  if (newline == std::string_view::npos) return 0;
  const std::string_view text = input.substr(newline + 1);
  runtime::Arena arena;
  const auto document = codec::ParseJson(input.substr(0, newline), arena);
  if (!document.ok() || !document->is_map()) return 0;
  (void)patch::JsonPatchStrictErrors(text);
  if (const auto result = patch::ApplyJsonPatch(*document, text, arena); result.ok()) {
    RequireJson(*result);
  }
  return 0;
}
