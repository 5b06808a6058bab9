#pragma once

#include <string>
#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/server/install.h"

// Pets in two versions: what v1beta1 calls a size, v1 calls replicas.
namespace zoo {

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example.

// [versions]
inline runtime::SchemaPtr PetSchema(const std::string& replicas) {
  const auto spec =
      runtime::StructBuilder("")
          .Field("species", runtime::StringSchema(), {.required = true, .one_of = {"cat", "dog"}})
          .Field(replicas, runtime::IntegerSchema(32), {.default_value = 1, .minimum = 1})
          .Build();
  const auto status = runtime::StructBuilder("").Field("mood", runtime::StringSchema()).Build();
  return runtime::StructBuilder("")
      .Field("metadata", runtime::ObjectMetaSchema())
      .Field("spec", spec, {.required = true})
      .Field("status", status)
      .Build();
}

inline Result<runtime::KindPtr> NewPetKind() {
  const std::vector<runtime::PrinterColumn> columns = {
      {"Species", "string", ".spec.species"},
      {"Mood", "string", ".status.mood"},
      {"Age", "date", ".metadata.creationTimestamp"}};
  runtime::KindOptions options{.group = "zoo.example.com", .kind = "Pet", .plural = "pets"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1", .schema = PetSchema("replicas"), .columns = columns},
                      {.version = "v1beta1",
                       .schema = PetSchema("size"),
                       .deprecation_warning = "zoo.example.com/v1beta1 Pet is deprecated; use v1",
                       .conversions = {runtime::RenameField("spec.size", "spec.replicas")},
                       .columns = columns}};
  return runtime::Kind::New(std::move(options));
}
// [/versions]

inline field::ErrorList ValidatePet(const Context&, const runtime::Object& pet) {
  field::ErrorList errors;
  if (pet.name() == "nobody") errors.Forbidden(field::Path("metadata.name"), "pets are somebody");
  return errors;
}

inline Status InstallPets(server::Handler& server, const registry::StorageConfig& storage) {
  APISERVER_ASSIGN_OR_RETURN(const auto kind, NewPetKind());
  const auto strategy = rest::NewKindStrategy(kind, {.validate = ValidatePet});
  return server::InstallKinds(server, storage, {{kind, strategy}}).status();
}

}  // namespace zoo
