#pragma once

#include "apiserver/base/status_macros.h"
#include "apiserver/server/install.h"

// Pets that have a species.
namespace zoo {

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example.

inline Result<runtime::KindPtr> NewPetKind() {
  const auto spec = runtime::StructBuilder("").Field("species", runtime::StringSchema()).Build();
  const auto pet = runtime::StructBuilder("")
                       .Field("metadata", runtime::ObjectMetaSchema())
                       .Field("spec", spec)
                       .Build();
  runtime::KindOptions options{.group = "zoo.example.com", .kind = "Pet", .plural = "pets"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1", .schema = pet}};
  return runtime::Kind::New(std::move(options));
}

inline Status InstallPets(server::Handler& server, const registry::StorageConfig& storage) {
  APISERVER_ASSIGN_OR_RETURN(const auto kind, NewPetKind());
  return server::InstallKinds(server, storage, {{.kind = kind}}).status();
}

}  // namespace zoo
