#include "apiserver/patch/apply/scale_handler.h"

#include <optional>

#include "apiserver/patch/apply/managed_fields.h"
#include "base/status_macros.h"

namespace apiserver::v0::patch::apply {

namespace {

constexpr std::string_view kScaleVersion = "autoscaling/v1";

Path ReplicasInScale() {
  return {PathElement::FieldName("spec"), PathElement::FieldName("replicas")};
}

void Put(const std::string& manager, VersionedSet fields, const Managed& times, Managed& into) {
  into.fields.insert_or_assign(manager, std::move(fields));
  const auto time = times.times.find(manager);
  if (time != times.times.end()) into.times.insert_or_assign(manager, time->second);
}

}  // namespace

// Follows ScaleHandler.ToSubresource: a Scale shows the owners of the replicas alone.
Result<runtime::Value> ScaleHandler::ToSubresource(runtime::Arena& arena) const {
  ASSIGN_OR_RETURN(const Managed parent, DecodeManagedFields(parent_, arena));
  Managed scale;
  for (const auto& [manager, fields] : parent.fields) {
    const auto path = mappings_.find(fields.api_version);
    if (path == mappings_.end() || path->second.empty() || !fields.set.Has(path->second)) continue;
    Put(manager,
        {.set = NewFieldSet({ReplicasInScale()}, arena),
         .api_version = std::string(kScaleVersion),
         .applied = fields.applied},
        parent, scale);
  }
  return EncodeManagedFields(scale, arena);
}

// Follows ScaleHandler.ToParent: the owners that the Scale now has take the replicas in the parent,
// and all others lose them.
Result<runtime::Value> ScaleHandler::ToParent(runtime::Value scale, runtime::Arena& arena) const {
  ASSIGN_OR_RETURN(const Managed parent, DecodeManagedFields(parent_, arena));
  ASSIGN_OR_RETURN(Managed written, DecodeManagedFields(scale, arena));
  Managed result;
  for (const auto& [manager, fields] : parent.fields) {
    const auto path = mappings_.find(fields.api_version);
    // A version that is not known (any more) is dropped.
    if (path == mappings_.end()) continue;
    VersionedSet kept = fields;
    const bool owned_replicas = !path->second.empty() && fields.set.Has(path->second);
    if (owned_replicas && written.fields.erase(manager) == 0) {
      // Another manager took them through the Scale.
      kept.set = fields.set.Difference(NewFieldSet({path->second}, arena), arena);
      if (kept.set.Empty()) continue;
    }
    Put(manager, std::move(kept), parent, result);
  }
  const auto replicas = mappings_.find(api_version_);
  for (const auto& [manager, fields] : written.fields) {
    if (replicas == mappings_.end() || !fields.set.Has(ReplicasInScale())) continue;
    Put(manager,
        {.set = NewFieldSet({replicas->second}, arena),
         .api_version = api_version_,
         .applied = fields.applied},
        parent, result);
  }
  return EncodeManagedFields(result, arena);
}

}  // namespace apiserver::v0::patch::apply
