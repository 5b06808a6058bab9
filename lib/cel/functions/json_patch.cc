#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/types/spell.h"

// k8s.io/apiserver/pkg/cel/library/jsonpatch.go.
namespace apiserver::v0::cel::functions {
namespace json_patch_rows {
namespace {

using types::kString;

// Escapes a key for a JSON pointer: "~" and "/".
Value EscapeKey(CallContext& call, std::span<const Value> arguments) {
  const std::string_view key = arguments[0].AsText();
  if (!call.CanBuild(key.size() * 2)) return call.OverLimit();
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return MakeString(call, escaped);
}

constexpr Overload kEscapeKey[] = {
    {.id = "string_jsonpatch_escapeKey_string",
     .signature = Free(kString, kString),
     .handler = EscapeKey},
};

constexpr Function kFunctions[] = {
    {.name = "jsonpatch.escapeKey",
     .overloads = kEscapeKey,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversalAndCopy},
};

}  // namespace
}  // namespace json_patch_rows

std::span<const Function> JsonPatch() { return json_patch_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
