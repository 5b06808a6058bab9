#include <memory>
#include <string>

#include "apiserver/codec/codec.h"
#include "apiserver/storage/interface.h"

namespace apiserver::v0::storage {

bool SelectionPredicate::Matches(const runtime::Object& object) const {
  if (!label.empty()) {
    runtime::Arena arena;
    if (!label.Matches(codec::LabelsOf(object, arena))) return false;
  }
  if (field.empty()) return true;
  // What is only looked at in passing is not kept parsed.
  const auto passing = object.loaded() ? nullptr : object.Clone();
  const runtime::Object& looked_at = passing != nullptr ? *passing : object;
  std::string kept;  // What the view given to the selector points into.
  return field.Matches([&](std::string_view name) -> std::string_view {
    if (field_value) {
      kept = field_value(looked_at, name);
      return kept;
    }
    if (name == "metadata.name") return looked_at.name();
    if (name == "metadata.namespace") return looked_at.namespace_();
    return {};
  });
}

}  // namespace apiserver::v0::storage
