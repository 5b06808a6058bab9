#include "apiextensions/kind/defaults.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/apiextensions/definition.h"

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

void SetNames(Object& definition) {
  const Value names = definition["spec"]["names"];
  const std::string kind(names["kind"].AsString());
  if (names["singular"].AsString().empty() && !kind.empty()) {
    definition.Edit("spec", "names", "singular") = LowerOf(kind);
  }
  if (definition["spec"]["names"]["listKind"].AsString().empty() && !kind.empty()) {
    definition.Edit("spec", "names", "listKind") = kind + "List";
  }
}

void SetStoredVersions(Object& definition) {
  const std::string storage(StorageVersionOf(definition));
  if (definition["status"]["storedVersions"].size() == 0 && !storage.empty()) {
    const Value items[] = {Value::String(storage)};
    definition.Edit("status", "storedVersions") = Value::List(items);
  }
}

// Adds the one version of a definition from the time when its spec had the name of it.
void SetOnlyVersion(Object& definition, const Value& name) {
  runtime::MapBuilder version(definition.arena());
  version.Add("name", name);
  version.Add("served", Value::Bool(true));
  version.Add("storage", Value::Bool(true));
  const Value versions[] = {version.Build()};
  definition.Edit("spec", "versions") = Value::List(versions);
}

}  // namespace

void SetDefinitionDefaults(Object& definition) {
  SetNames(definition);
  const Value conversion = definition["spec"]["conversion"];
  if (conversion.is_null()) definition.Edit("spec", "conversion", "strategy") = "None";
  const Value service = conversion["webhook"]["clientConfig"]["service"];
  if (!service.is_null() && service["port"].is_null()) {
    definition.Edit("spec", "conversion", "webhook", "clientConfig", "service", "port") =
        kHttpsPort;
  }
  SetStoredVersions(definition);
}

void SetStoredDefaults(Object& definition) {
  const Value spec = definition["spec"];
  SetNames(definition);
  if (spec["scope"].AsString().empty()) definition.Edit("spec", "scope") = "Namespaced";
  const Value name = spec["version"];
  if (spec["versions"].size() == 0 && name.size() > 0) SetOnlyVersion(definition, name);
  const Value conversion = spec["conversion"];
  if (conversion.is_null()) definition.Edit("spec", "conversion", "strategy") = "None";
  if (conversion["strategy"].AsString() == "Webhook" &&
      conversion["conversionReviewVersions"].size() == 0) {
    const Value versions[] = {Value::String("v1beta1")};
    definition.Edit("spec", "conversion", "conversionReviewVersions") = Value::List(versions);
  }
  const Value service = conversion["webhookClientConfig"]["service"];
  if (!service.is_null() && service["port"].is_null()) {
    definition.Edit("spec", "conversion", "webhookClientConfig", "service", "port") = kHttpsPort;
  }
  if (spec["preserveUnknownFields"].is_null()) {
    definition.Edit("spec", "preserveUnknownFields") = true;
  }
  SetStoredVersions(definition);
}

}  // namespace apiserver::v0::apiextensions
