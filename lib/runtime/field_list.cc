#include "runtime/field_list.h"

#include <algorithm>

namespace apiserver::v0::runtime {

// Flattens inlined structs depth first, with a stack of its own: schemas of a host may be deep. A
// field that one of an outer struct hides is left out, as by encoding/json.
FieldList::FieldList(const Schema& schema) : direct_(schema.fields()) {
  const auto inlined = [](const Field& field) { return field.inlined; };
  if (std::none_of(direct_.begin(), direct_.end(), inlined)) return;
  std::vector<std::span<const Field>> rest = {direct_};
  while (!rest.empty()) {
    if (rest.back().empty()) {
      rest.pop_back();
      continue;
    }
    const Field& field = rest.back().front();
    rest.back() = rest.back().subspan(1);
    if (field.inlined) {
      rest.emplace_back(field.schema->fields());
    } else if (schema.FindField(field.name()) == &field) {
      flat_.push_back(&field);
    }
  }
}

}  // namespace apiserver::v0::runtime
