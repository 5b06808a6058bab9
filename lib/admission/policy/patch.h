#pragma once

#include <memory>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/typed.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// The two forms of a mutation's patch: k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch.
// Errors of kInvalid are up to the failure policy of the mutation, others are not.
namespace apiserver::inline v0::admission::policy {

// Merges `configuration`, the content of an Object without kind and apiVersion, into `object`:
// fields are set, none is removed or owned. Atomic lists, maps and structs must not be in it, since
// setting them would remove what the configuration does not name. `type` is that of
// ParseableType::ForObject for the object's version. Runs on any thread.
Result<std::unique_ptr<runtime::Object>> MergeConfiguration(
    const runtime::Object& object, const runtime::Value& configuration,
    const patch::apply::ParseableType& type);

// Applies a JSON Patch. Null: a test failed, which leaves the object as it is. kInternalError: the
// result is no object of its kind, or has unknown fields.
Result<std::unique_ptr<runtime::Object>> ApplyOperations(const runtime::Object& object,
                                                         std::string_view patch);

// Returns the schema of the object's version. Null: objects of the kind have none.
runtime::SchemaPtr SchemaOf(const runtime::Object& object);

}  // namespace apiserver::inline v0::admission::policy
