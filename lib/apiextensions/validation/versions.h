#pragma once

#include "apiextensions/validation/demands.h"
#include "apiextensions/validation/hoist.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

// Requires schemas where there must be some.
void RequireSchemas(const InternalSpec& spec, const Demands& demands, field::ErrorList& errors);
// Validates the name and the deprecation of an entry of spec.versions.
void ValidateVersionName(const runtime::Value& version, const field::Path& path,
                         field::ErrorList& errors);
void ValidateDeprecation(const runtime::Value& version, const field::Path& path,
                         field::ErrorList& errors);
// Validates spec.versions as a whole: names are unique, and one is the storage version.
void ValidateVersionSet(const InternalSpec& spec, field::ErrorList& errors);
// Validates status.storedVersions.
void ValidateStoredVersions(const runtime::Object& definition, field::ErrorList& errors);
// Refuses changes of what must not change.
void ValidateImmutables(const runtime::Object& definition, const runtime::Object& old,
                        const Demands& demands, field::ErrorList& errors);
// Requires the annotation about approval. `old`: the stored object; null: a create.
void ValidateApiApproval(const runtime::Object& definition, const runtime::Object* old,
                         field::ErrorList& errors);

}  // namespace apiserver::inline v0::apiextensions
