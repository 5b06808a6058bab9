#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/openapi/fragment.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// Holds what the documents say of one version of a CustomResourceDefinition. Values are those of
// the definition, which must outlive it.
struct DocumentedVersion {
  std::string group;
  std::string version;
  std::string plural;
  std::string kind;
  std::string list_kind;
  bool namespaced = false;
  bool status = false;
  bool scale = false;
  // spec.preserveUnknownFields, which only definitions of v1beta1 had.
  bool preserve_unknown_fields = false;
  runtime::Value schema;             // openAPIV3Schema. Null: none is to be published.
  runtime::Value selectable_fields;  // The list of {jsonPath}.
};

// Reads a definition (apiextensions.k8s.io/v1). nullopt: it has no such version. Call it with
// `structural` false if the schema breaks the rules of structural schemas: then it is not
// published.
std::optional<DocumentedVersion> DocumentedVersionOf(runtime::Value definition,
                                                     std::string_view version,
                                                     bool structural = true);

// Returns the name of a kind's definition, "com.example.v1.Foo" for example.com/v1 Foo.
std::string DefinitionNameOf(std::string_view group, std::string_view version,
                             std::string_view kind);

// Returns what a reference to a definition begins with.
constexpr std::string_view RefPrefix(openapi::Format form) {
  return form == openapi::Format::kV2 ? "#/definitions/" : "#/components/schemas/";
}

}  // namespace apiserver::inline v0::apiextensions
