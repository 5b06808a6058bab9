#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/documents/definitions.h"
#include "apiextensions/documents/documented_version.h"
#include "apiextensions/documents/operations.h"
#include "apiserver/codec/json.h"
#include "require.h"

// The schema of a CustomResourceDefinition as OpenAPI: whatever it is, the document is JSON that
// has the kind and its list, and v2 says nothing that its readers misread.
namespace {

namespace published_fuzz {

using apiserver_fuzz::Require;
namespace extensions = apiserver::apiextensions;
namespace openapi = apiserver::openapi;
using apiserver::runtime::Arena;
using apiserver::runtime::Value;

// Names of properties are the definition's own: what is below "properties" is no schema.
void CheckLoss(Value schema) {
  std::vector<Value> open{schema};
  while (!open.empty()) {
    const Value each = open.back();
    open.pop_back();
    for (const char* name : {"allOf", "anyOf", "oneOf", "not", "nullable", "default"}) {
      Require(each.Find(name) == nullptr);
    }
    Require(each["type"].AsString() != "array" || each["items"].is_map());
    if (each["items"].is_map()) open.push_back(each["items"]);
    if (each["additionalProperties"].is_map()) open.push_back(each["additionalProperties"]);
    for (const auto& member : each["properties"].members()) open.push_back(member.value);
  }
}

void CheckForm(const extensions::DocumentedVersion& documented, openapi::Format format) {
  std::map<std::string, std::string> parameters;
  std::string json = "{\"definitions\":{";
  extensions::AppendDefinitions(documented, format, json);
  json += "},\"paths\":{";
  extensions::AppendPaths(documented, format, json, parameters);
  json += "}}";
  Arena arena;
  const auto parsed = apiserver::codec::ParseJson(json, arena);
  Require(parsed.ok());
  const Value definitions = (*parsed)["definitions"];
  Require(definitions.size() == 2);
  const Value kind = definitions["com.example.v1.Foo"];
  Require(kind["x-kubernetes-group-version-kind"].at(0)["kind"].AsString() == "Foo");
  Require((*parsed)["paths"].size() == 3);
  if (format == openapi::Format::kV2) CheckLoss(kind);
}

}  // namespace published_fuzz

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  apiserver::runtime::Arena arena;
  const auto schema = apiserver::codec::ParseJson(text, arena);
  if (!schema.ok()) return 0;
  const apiserver::apiextensions::DocumentedVersion documented{.group = "example.com",
                                                               .version = "v1",
                                                               .plural = "foos",
                                                               .kind = "Foo",
                                                               .list_kind = "FooList",
                                                               .namespaced = true,
                                                               .schema = *schema};
  published_fuzz::CheckForm(documented, apiserver::openapi::Format::kV2);
  published_fuzz::CheckForm(documented, apiserver::openapi::Format::kV3);
  return 0;
}
