#include "endpoints/handlers/owner_references.h"

#include <string>
#include <unordered_set>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "apiserver/rest/warnings.h"

namespace apiserver::inline v0::endpoints {

void DedupOwnerReferences(const Context& ctx, runtime::Object& object, bool after_admission) {
  const runtime::Value references = object.metadata()["ownerReferences"];
  if (references.size() < 2) return;
  runtime::ListBuilder kept(object.arena());
  // By their text: metadata is normalized, and there may be ten thousands of them.
  std::unordered_set<std::string> seen;
  std::string duplicates;  // UIDs, which may all be empty.
  std::size_t count = 0;
  std::string text;
  for (const runtime::Value& reference : references.items()) {
    text.clear();
    codec::AppendJson(reference, text);
    if (seen.insert(text).second) {
      kept.Add(reference);
      continue;
    }
    // No warning is longer than that.
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

}  // namespace apiserver::inline v0::endpoints
