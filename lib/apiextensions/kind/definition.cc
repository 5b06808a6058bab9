#include "apiserver/apiextensions/definition.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apiextensions/apiextensions_api.h"
#include "apiextensions/kind/strategy.h"
#include "apiextensions/schema/json_schema.h"
#include "apiserver/codec/proto_schema.h"
#include "base/status_macros.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

constexpr std::int64_t kHttpsPort = 443;

std::string LowerOf(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// Normalizes the schemas of all versions: the schema of the kind calls them any value.
// One that does not fit stays as it is; validation refuses it.
void NormalizeSchemas(Object& definition) {
  const Value versions = definition["spec"]["versions"];
  if (versions.size() == 0) return;
  runtime::Arena& arena = definition.arena();
  runtime::ListBuilder shaped(arena);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Value version = versions.at(i);
    const Value validation = version["schema"];
    Value schema = validation["openAPIV3Schema"];
    if (schema.is_null()) {
      shaped.Add(version);
      continue;
    }
    const std::string path = "spec.versions[" + std::to_string(i) + "].schema.openAPIV3Schema";
    if (!NormalizeJsonSchema(schema, path, arena, nullptr).ok()) {
      shaped.Add(version);
      continue;
    }
    const Value with = runtime::With(validation, "openAPIV3Schema", schema, arena);
    shaped.Add(runtime::With(version, "schema", with, arena));
  }
  const Value spec = runtime::With(definition["spec"], "versions", shaped.Build(), arena);
  definition.SetRoot(runtime::With(definition.root(), "spec", spec, arena));
}

// Follows pkg/apis/apiextensions/v1/defaults.go.
void SetDefinitionDefaults(Object& definition) {
  NormalizeSchemas(definition);
  const Value names = definition["spec"]["names"];
  const std::string kind(names["kind"].AsString());
  if (names["singular"].AsString().empty() && !kind.empty()) {
    definition.Edit("spec", "names", "singular") = LowerOf(kind);
  }
  if (definition["spec"]["names"]["listKind"].AsString().empty() && !kind.empty()) {
    definition.Edit("spec", "names", "listKind") = kind + "List";
  }
  const Value conversion = definition["spec"]["conversion"];
  if (conversion.is_null()) definition.Edit("spec", "conversion", "strategy") = "None";
  const Value service = conversion["webhook"]["clientConfig"]["service"];
  if (!service.is_null() && service["port"].is_null()) {
    definition.Edit("spec", "conversion", "webhook", "clientConfig", "service", "port") =
        kHttpsPort;
  }
  const std::string storage(StorageVersionOf(definition));
  if (definition["status"]["storedVersions"].size() == 0 && !storage.empty()) {
    const Value items[] = {Value::String(storage)};
    definition.Edit("status", "storedVersions") = Value::List(items);
  }
}

Result<runtime::KindPtr> MakeKind() {
  ASSIGN_OR_RETURN(const codec::ProtoSchemas schemas,
                   codec::ProtoSchemas::Load(apiextensions_api::Descriptors()));
  runtime::KindVersion v1{.version = "v1", .schema = nullptr};
  ASSIGN_OR_RETURN(
      v1.schema,
      schemas.Find(
          "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"));
  v1.set_defaults = &SetDefinitionDefaults;
  return runtime::Kind::New({.group = "apiextensions.k8s.io",
                             .kind = "CustomResourceDefinition",
                             .plural = "customresourcedefinitions",
                             .short_names = {"crd", "crds"},
                             .categories = {"api-extensions"},
                             .namespaced = false,
                             .versions = {std::move(v1)}});
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
