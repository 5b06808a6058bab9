#include <string>

#include "apiserver/storage/interface.h"

namespace apiserver::inline v0::storage {

bool SelectionPredicate::Matches(const runtime::Object& object) const {
  if (!label.empty() && !label.Matches(object.labels())) return false;
  if (field.empty()) return true;
  std::string kept;  // What the view given to the selector points into.
  return field.Matches([&](std::string_view name) -> std::string_view {
    if (field_value) {
      kept = field_value(object, name);
      return kept;
    }
    if (name == "metadata.name") return object.name();
    if (name == "metadata.namespace") return object.namespace_();
    return {};
  });
}

}  // namespace apiserver::inline v0::storage
