#pragma once

#include <string>

#include "apiserver/patch/apply/field_set.h"
#include "apiserver/runtime/object.h"
#include "patch/apply/structured_merge.h"

// The traces of kubectl's client-side apply, for objects that switch to server-side apply.
namespace apiserver::inline v0::patch::apply {

// Returns the fields of the last-applied annotation of `live` that still have their applied values:
// kubectl may take them over without a conflict. An error if there is no annotation that can be
// read. Upstream's lastAppliedManager.
Result<FieldSet> AllowedConflictsFromLastApplied(const StructuredMerge& merge, runtime::Value live,
                                                 runtime::Arena& arena);

bool HasLastApplied(const runtime::Object& object);
// Returns the annotation for an applied configuration, without that annotation itself.
std::string BuildLastApplied(runtime::Value applied);
// Sets the annotation, or drops it if annotations would become too large.
void SetLastApplied(runtime::Object& object, const std::string& value);

}  // namespace apiserver::inline v0::patch::apply
