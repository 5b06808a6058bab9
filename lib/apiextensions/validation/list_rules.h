#pragma once

#include "apiextensions/validation/demands.h"
#include "apiextensions/validation/place.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// The rules of schema_rules.h about Kubernetes' extensions in a single schema.
namespace apiserver::inline v0::apiextensions {

// Checks x-kubernetes-{preserve-unknown-fields,map-type,list-type,list-map-keys}.
void CheckExtensions(const runtime::Value& schema, const Place& place, const Demands& demands,
                     field::ErrorList& errors);
// Checks the texts of the rules in x-kubernetes-validations, but for the fields that they name.
void CheckRuleTexts(const runtime::Value& rules, const Place& place, field::ErrorList& errors);

}  // namespace apiserver::inline v0::apiextensions
