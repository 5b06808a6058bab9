#pragma once

#include "apiserver/base/status_macros.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/server/install.h"

// Pets whose fields are checked, and whose keepers tell a mood.
namespace zoo {

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example.

// [schema]
inline runtime::SchemaPtr PetSchema() {
  const auto spec =
      runtime::StructBuilder("")
          .Field("species", runtime::StringSchema(), {.required = true, .one_of = {"cat", "dog"}})
          .Field("replicas", runtime::IntegerSchema(32), {.default_value = 1, .minimum = 1})
          .Build();
  const auto status = runtime::StructBuilder("").Field("mood", runtime::StringSchema()).Build();
  return runtime::StructBuilder("")
      .Field("metadata", runtime::ObjectMetaSchema())
      .Field("spec", spec, {.required = true})
      .Field("status", status)
      .Build();
}
// [/schema]

// [columns]
inline Result<runtime::KindPtr> NewPetKind() {
  runtime::KindOptions options{.group = "zoo.example.com", .kind = "Pet", .plural = "pets"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1",
                       .schema = PetSchema(),
                       .columns = {{"Species", "string", ".spec.species"},
                                   {"Mood", "string", ".status.mood"},
                                   {"Age", "date", ".metadata.creationTimestamp"}}}};
  return runtime::Kind::New(std::move(options));
}
// [/columns]

// [validate]
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
// [/validate]

}  // namespace zoo
