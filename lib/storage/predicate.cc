#include <algorithm>
#include <memory>
#include <string>

#include "apiserver/codec/codec.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/storage/interface.h"
#include "base/status_macros.h"
#include "storage/look_into.h"

namespace apiserver::v0::storage {

bool SelectionPredicate::SelectsContent() const {
  // An object's name and namespace are the same in all versions.
  return std::any_of(field.requirements().begin(), field.requirements().end(), [](const auto& one) {
    return one.field != "metadata.name" && one.field != "metadata.namespace";
  });
}

bool SelectionPredicate::Matches(const runtime::Object& object) const {
  if (!label.empty()) {
    runtime::Arena arena;
    if (!label.Matches(codec::LabelsOf(object, arena))) return false;
  }
  if (field.empty()) return true;
  // An object that is looked at only once is parsed into a copy, so that it is not kept parsed.
  const auto passing = object.loaded() ? nullptr : object.Clone();
  const runtime::Object& looked_at = passing != nullptr ? *passing : object;
  std::string kept;  // The view given to the selector points into this.
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

Status LookInto(const Context& ctx, const SelectionPredicate& predicate,
                std::span<const runtime::ObjectPtr> objects, const runtime::Visit& look) {
  if (!predicate.version.empty() && predicate.SelectsContent()) {
    return runtime::VisitConverted(ctx, objects, predicate.version, look);
  }
  for (std::size_t i = 0; i < objects.size(); ++i) look(i, *objects[i]);
  return {};
}

Result<bool> MatchesOne(const Context& ctx, const SelectionPredicate& predicate,
                        const runtime::ObjectPtr& object) {
  if (!predicate.WantsConverted(*object)) return predicate.Matches(*object);
  bool matches = false;
  RETURN_IF_ERROR(LookInto(ctx, predicate, {&object, 1}, [&](std::size_t, const auto& seen) {
    matches = predicate.Matches(seen);
  }));
  return matches;
}

bool LooksTogether(const runtime::Kind& kind, const SelectionPredicate& predicate) {
  return !predicate.field.empty() && kind.converter().may_wait() && predicate.SelectsContent();
}

Result<std::vector<bool>> MatchAll(const Context& ctx, const SelectionPredicate& predicate,
                                   std::span<const runtime::ObjectPtr> objects) {
  std::vector<bool> matches(objects.size());
  RETURN_IF_ERROR(LookInto(ctx, predicate, objects, [&](std::size_t i, const auto& object) {
    matches[i] = predicate.Matches(object);
  }));
  return matches;
}

}  // namespace apiserver::v0::storage
