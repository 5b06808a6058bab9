#pragma once

#include <string>

#include "apiextensions/validation/hoist.h"
#include "apiserver/runtime/value.h"

// Values as Kubernetes prints them in errors: JSON of its internal types, with Go's field names and
// with all fields. The text ends soon after field::kTextBytesMax, since errors show no more.
namespace apiserver::inline v0::apiextensions {

// Prints spec.versions without the parts that are hoisted.
std::string PrintedVersions(const InternalSpec& spec);
// Prints a normalized schema.
std::string PrintedSchema(const runtime::Value& schema);
// Prints the member `items` of a normalized schema.
std::string PrintedItems(const runtime::Value& items);
// Prints a list of strings.
std::string PrintedTexts(const runtime::Value& texts);

}  // namespace apiserver::inline v0::apiextensions
