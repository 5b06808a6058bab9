#include "apiserver/apiextensions/definition.h"

#include <utility>

#include "apiextensions/apiextensions_api.h"
#include "apiextensions/kind/defaults.h"
#include "apiextensions/kind/stored_form.h"
#include "apiextensions/kind/strategy.h"
#include "apiserver/codec/proto_schema.h"
#include "base/status_macros.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

Result<runtime::KindPtr> MakeKind() {
  ASSIGN_OR_RETURN(const codec::ProtoSchemas schemas,
                   codec::ProtoSchemas::Load(apiextensions_api::Descriptors()));
  runtime::KindVersion v1{.version = "v1", .schema = nullptr};
  ASSIGN_OR_RETURN(
      v1.schema,
      schemas.Find(
          "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"));
  v1.set_defaults = &SetDefinitionDefaults;
  runtime::KindVersion stored{.version = std::string(kStoredFormVersion),
                              .schema = runtime::AnySchema(),
                              .served = false,
                              .set_defaults = &SetStoredDefaults,
                              .to_hub = &FromStoredForm,
                              .from_hub = &ToStoredForm};
  return runtime::Kind::New({.group = "apiextensions.k8s.io",
                             .kind = "CustomResourceDefinition",
                             .plural = "customresourcedefinitions",
                             .short_names = {"crd", "crds"},
                             .categories = {"api-extensions"},
                             .namespaced = false,
                             .versions = {std::move(v1), std::move(stored)},
                             .storage_version = std::string(kStoredFormVersion)});
}

}  // namespace

runtime::KindPtr DefinitionKind() {
  // The descriptors are part of the program, so making the kind does not fail.
  static const runtime::KindPtr kind = MakeKind().value();
  return kind;
}

server::Resource DefinitionResource() {
  server::Resource resource{.kind = DefinitionKind()};
  resource.strategy = NewDefinitionStrategy();
  resource.status_strategy = NewDefinitionStatusStrategy();
  resource.configure = [](registry::StoreOptions& options) {
    options.table_convertor = NewDefinitionColumns();
    options.functions_inline = true;
    options.validate_schema = false;
  };
  return resource;
}

Value FindVersion(const Object& definition, std::string_view name) {
  for (const Value& version : definition["spec"]["versions"].items()) {
    if (version["name"].AsString() == name) return version;
  }
  return {};
}

std::string_view StorageVersionOf(const Object& definition) {
  for (const Value& version : definition["spec"]["versions"].items()) {
    if (version["storage"].AsBool()) return version["name"].AsString();
  }
  return {};
}

Value SchemaOf(const Value& version) { return version["schema"]["openAPIV3Schema"]; }

}  // namespace apiserver::v0::apiextensions
