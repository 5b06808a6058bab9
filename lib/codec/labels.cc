#include <optional>
#include <string_view>

#include "apiserver/codec/codec.h"
#include "codec/skimmer.h"

namespace apiserver::v0::codec {
runtime::Value LabelsOf(const runtime::Object& object, runtime::Arena& arena) {
  const bool json = object.stored_bytes() != nullptr && object.stored_bytes()->starts_with('{');
  if (object.loaded() || !json) return object.labels();
  Skimmer skimmer(*object.stored_bytes());
  if (skimmer.Enter("metadata") != true) return object.labels();
  const std::optional<bool> some = skimmer.Enter("labels");
  if (some == false) return {};
  const auto labels = some ? skimmer.Value() : std::nullopt;
  if (!labels) return object.labels();
  auto parsed = ParseJson(*labels, arena);
  return parsed.ok() ? *parsed : object.labels();
}

}  // namespace apiserver::v0::codec
