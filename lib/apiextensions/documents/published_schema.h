#pragma once

#include <string>
#include <string_view>

#include "apiextensions/documents/documented_version.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// Returns JSON members of a properties object: `name` as a string with a description, and
// `metadata` as a reference to the meta/v1 definition `target`.
std::string StringProperty(std::string_view name, std::string_view description);
std::string MetadataProperty(std::string_view target, std::string_view description,
                             openapi::Format form);

// The ends of a published schema.
struct SchemaEnds {
  std::string properties;  // Members for its properties, in place of its own of those names.
  std::string extensions;  // Members that follow its own. Each begins with a comma.
};

// Appends a schema as a CustomResourceDefinition has it in the form of a document, as upstream's
// structural schema prints: members that say nothing are left out, int-or-string and embedded
// resources are completed, and v2 loses what kubectl would misread. Does not recurse.
void AppendPublishedSchema(runtime::Value schema, openapi::Format form, const SchemaEnds& ends,
                           std::string& out);

}  // namespace apiserver::inline v0::apiextensions
