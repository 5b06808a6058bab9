#include "endpoints/handlers/owner_references.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "apiserver/base/field_path.h"
#include "apiserver/rest/warnings.h"

namespace apiserver::v0::endpoints {

namespace {

// Hashes a struct without lists and maps. Metadata is normalized, so equal references have their
// members in the same order; and there may be tens of thousands of them.
struct HashOfMembers {
  std::size_t operator()(const runtime::Value& value) const {
    std::size_t hash = 0;
    for (const runtime::Member& member : value.members()) {
      constexpr std::size_t kPrime = 1'099'511'628'211;
      hash = hash * kPrime + std::hash<std::string_view>()(member.value.AsString());
    }
    return hash;
  }
};

}  // namespace

// Follows dedupOwnerReferencesAndAddWarning of endpoints/handlers, in linear time.
void DedupOwnerReferences(const Context& ctx, runtime::Object& object, bool after_admission) {
  const runtime::Value references = object.metadata()["ownerReferences"];
  if (references.size() < 2) return;
  runtime::ListBuilder kept(object.arena());
  std::unordered_set<runtime::Value, HashOfMembers> seen;
  std::string duplicates;  // UIDs, which may all be empty.
  std::size_t count = 0;
  for (const runtime::Value& reference : references.items()) {
    if (seen.insert(reference).second) {
      kept.Add(reference);
      continue;
    }
    // Longer warnings are cut anyway.
    if (duplicates.size() < field::kTextBytesMax) {
      if (count > 0) duplicates += ", ";
      duplicates += field::Shorten(reference["uid"].AsString());
    }
    ++count;
  }
  if (count == 0) return;
  object.SetPath({"metadata", "ownerReferences"}, kept.Build());
  rest::AddWarning(
      ctx, std::string(".metadata.ownerReferences contains duplicate entries") +
               (after_admission ? " after mutating admission happens;" : ";") +
               " API server dedups owner references in 1.20+, and may reject such requests as "
               "early as 1.24; please fix your requests; duplicate UID(s) observed: " +
               duplicates);
}

}  // namespace apiserver::v0::endpoints
