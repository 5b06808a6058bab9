#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "groups/core/checks.h"
#include "groups/core/pod_validation.h"
#include "groups/core/profile_validation.h"
#include "groups/core/scheduling_validation.h"
#include "groups/map_edit.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr const char* kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
// Upstream shows the difference on further lines, of types that only it has.
constexpr const char* kFixed =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)";

// Returns false if no more is to be checked.
bool CheckContainerUpdates(Value now, Value before, const char* list, ErrorList& errors) {
  const Path path = Path("spec").Child(list);
  if (now[list].items().size() != before[list].items().size()) {
    errors.Forbidden(path, "pod updates may not add or remove containers");
    return false;
  }
  std::size_t i = 0;
  for (const Value& container : now[list].items()) {
    const Path at = path.Index(i++).Child("image");
    const std::string_view image = container["image"].AsString();
    if (image.empty()) {
      errors.Required(at);
    } else if (TrimSpace(image).size() != image.size()) {
      errors.Invalid(at, image, "must not have leading or trailing whitespace");
    }
  }
  return true;
}

// Returns false if no more is to be checked.
bool CheckDeadline(Value now, Value before, ErrorList& errors) {
  const Value deadline = now["activeDeadlineSeconds"];
  const Value old = before["activeDeadlineSeconds"];
  const Path path("spec.activeDeadlineSeconds");
  if (deadline.is_null()) {
    if (!old.is_null()) {
      errors.InvalidPrinted(path, "null", "must not update from a positive integer to nil value");
    }
    return true;
  }
  const std::size_t findings = errors.size();
  CheckRange(errors, path, deadline.AsInt(), 0, kInt32Max);
  if (errors.size() == findings && !old.is_null() && old.AsInt() < deadline.AsInt()) {
    InvalidNumber(errors, path, deadline.AsInt(), "must be less than or equal to previous value");
  }
  return errors.size() == findings;
}

// A toleration without its seconds, which may change.
std::string TolerationKey(Value toleration) {
  std::string key;
  for (const char* const member : {"key", "operator", "value", "effect"}) {
    key += Printed(toleration[member]);
  }
  return key;
}

void CheckOnlyAddedTolerations(Value now, Value before, ErrorList& errors) {
  const Path path("spec.tolerations");
  std::set<std::string> present;
  for (const Value& toleration : now["tolerations"].items()) {
    present.insert(TolerationKey(toleration));
  }
  for (const Value& toleration : before["tolerations"].items()) {
    if (present.contains(TolerationKey(toleration))) continue;
    return errors.Forbidden(path,
                            "existing toleration can not be modified except its tolerationSeconds");
  }
  CheckTolerations(now["tolerations"], path, errors);
}

void CheckOnlyDeletedGates(Value now, Value before, ErrorList& errors) {
  std::set<std::string_view> known;
  for (const Value& gate : before["schedulingGates"].items()) {
    known.insert(gate["name"].AsString());
  }
  std::size_t i = 0;
  for (const Value& gate : now["schedulingGates"].items()) {
    const Path at = Path("spec.schedulingGates").Index(i++).Child("name");
    const std::string_view name = gate["name"].AsString();
    if (known.contains(name)) continue;
    errors.Forbidden(at, "only deletion is allowed, but found new scheduling gate '" +
                             field::Shorten(name) + "'");
  }
}

// Reports whether a list begins with all of another.
bool BeginsWith(Value list, Value front) {
  if (list.items().size() < front.items().size()) return false;
  for (std::size_t i = 0; i < front.items().size(); ++i) {
    if (!(list.at(i) == front.at(i))) return false;
  }
  return true;
}

bool OnlyAdds(Value now, Value before) {
  const bool empty = before["matchExpressions"].size() == 0 && before["matchFields"].size() == 0;
  const bool stays_empty = now["matchExpressions"].size() == 0 && now["matchFields"].size() == 0;
  if (empty && !stays_empty) return false;
  return BeginsWith(now["matchExpressions"], before["matchExpressions"]) &&
         BeginsWith(now["matchFields"], before["matchFields"]);
}

void CheckNodeAffinityChange(Value now, Value before, ErrorList& errors) {
  const Path path =
      Path("spec.affinity.nodeAffinity").Child(kRequiredTerms).Child("nodeSelectorTerms");
  const Value old_terms = before[kRequiredTerms]["nodeSelectorTerms"];
  const Value new_terms = now[kRequiredTerms]["nodeSelectorTerms"];
  if (old_terms.size() == 0) return;
  if (old_terms.items().size() != new_terms.items().size()) {
    return errors.InvalidPrinted(
        path, Printed(new_terms),
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  for (std::size_t i = 0; i < old_terms.items().size(); ++i) {
    if (OnlyAdds(new_terms.at(i), old_terms.at(i))) continue;
    errors.InvalidPrinted(path.Index(i), Printed(new_terms.at(i)),
                          "only additions are allowed (no mutations or deletions)");
  }
}

// A pod that no scheduler looks at yet may get stricter wishes for its node.
void AllowGatedChanges(MapEdit& now, Value before, ErrorList& errors) {
  const Value selector = now["nodeSelector"];
  for (const runtime::Member& member : before["nodeSelector"].members()) {
    const Value* const value = selector.Find(member.key);
    if (value != nullptr && *value == member.value) continue;
    errors.InvalidPrinted(
        Path("spec.nodeSelector"), Printed(selector),
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    break;
  }
  if (!(selector == before["nodeSelector"])) now.Set("nodeSelector", before["nodeSelector"]);
  const Value old_affinity = before["affinity"]["nodeAffinity"];
  const Value affinity = now["affinity"];
  if (affinity["nodeAffinity"] == old_affinity) return;
  CheckNodeAffinityChange(affinity["nodeAffinity"], old_affinity, errors);
  const bool only_of_nodes =
      affinity["podAffinity"].is_null() && affinity["podAntiAffinity"].is_null();
  if (before["affinity"].is_null() && only_of_nodes) return now.Set("affinity", Value());
  MapEdit edit(affinity, now.arena());
  if (old_affinity.is_null()) {
    edit.Erase("nodeAffinity");
  } else {
    edit.Set("nodeAffinity", old_affinity);
  }
  now.Set("affinity", edit.Build());
}

// Puts the images of `before` into a list of containers of the same length.
void RestoreImages(MapEdit& spec, const char* list, Value before) {
  std::size_t i = 0;
  spec.Items(list, [&](MapEdit& container) {
    const Value image = before[list].at(i++)["image"];
    if (!(container["image"] == image)) container.Set("image", image);
  });
}

// Null members count as missing ones.
Value WithoutNulls(Value map, runtime::Arena& arena) {
  runtime::MapBuilder builder(arena);
  for (const runtime::Member& member : map.members()) {
    if (!member.value.is_null()) builder.Add(member.key, member.value);
  }
  return builder.Build();
}

// Checks that nothing else has changed, by undoing what may change.
void CheckFixedFields(Value now, Value before, ErrorList& errors) {
  if (now == before) return;
  runtime::Arena arena;
  MapEdit spec(now, arena);
  RestoreImages(spec, "containers", before);
  RestoreImages(spec, "initContainers", before);
  for (const char* const key : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) {
    if (!(spec[key] == before[key])) spec.Set(key, before[key]);
  }
  const Value old_grace = before["terminationGracePeriodSeconds"];
  if (old_grace.AsInt() < 0 && spec["terminationGracePeriodSeconds"].AsInt() == 1) {
    spec.Set("terminationGracePeriodSeconds", old_grace);
  }
  if (before["schedulingGates"].size() != 0) AllowGatedChanges(spec, before, errors);
  if (WithoutNulls(spec.Build(), arena) == WithoutNulls(before, arena)) return;
  errors.Forbidden(Path("spec"), kFixed);
}

}  // namespace

ErrorList ValidatePodAnnotationUpdate(const Object& now, const Object& before) {
  ErrorList errors;
  const Path path("metadata.annotations");
  const Value annotations = now.annotations();
  const Value old = before.annotations();
  const auto guarded = [](std::string_view key) {
    return key.starts_with(kAppArmorPrefix) || key == kMirrorPod;
  };
  for (const runtime::Member& member : old.members()) {
    if (!guarded(member.key)) continue;
    const Value* const value = annotations.Find(member.key);
    if (value != nullptr && *value == member.value) continue;
    errors.Forbidden(path.Key(member.key), member.key == kMirrorPod
                                               ? "may not remove or update mirror pod annotation"
                                               : "may not remove or update AppArmor annotations");
  }
  for (const runtime::Member& member : annotations.members()) {
    if (!guarded(member.key) || old.Find(member.key) != nullptr) continue;
    errors.Forbidden(path.Key(member.key), member.key == kMirrorPod
                                               ? "may not add mirror pod annotation"
                                               : "may not add AppArmor annotations");
  }
  return errors;
}

ErrorList ValidatePodUpdate(const Object& now, const Object& before) {
  ErrorList errors = ValidateCoreMetaUpdate(now.metadata(), before.metadata());
  errors.Append(ValidatePodMetadataAndSpec(now, &before));
  errors.Append(ValidatePodAnnotationUpdate(now, before));
  const Value spec = now["spec"];
  const Value old = before["spec"];
  for (const char* const list : {"containers", "initContainers"}) {
    if (!CheckContainerUpdates(spec, old, list, errors)) return errors;
  }
  if (!CheckDeadline(spec, old, errors)) return errors;
  CheckOnlyAddedTolerations(spec, old, errors);
  CheckOnlyDeletedGates(spec, old, errors);
  CheckFixedFields(spec, old, errors);
  return errors;
}

}  // namespace apiserver::v0::groups::core
