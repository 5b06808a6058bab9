#include "apiserver/openapi/convert.h"

#include <map>
#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/foreign.h"
#include "base/status_macros.h"
#include "openapi/merge.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::Member;
using runtime::Value;

// A JSON object, of which members are written one by one.
class JsonObject {
 public:
  // Appends the member with what `write` appends.
  template <class Write>
  void Add(std::string_view name, const Write& write) {
    if (json_.size() > 1) json_ += ',';
    codec::AppendJsonString(name, json_);
    json_ += ':';
    write(json_);
  }
  void AddText(std::string_view name, const std::string& text) {
    Add(name, [&text](std::string& json) { json += text; });
  }
  // Copies members that `from` has.
  void Copy(Value from, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const Value value = from[name];
      if (value.is_null()) continue;
      Add(name, [&value](std::string& json) { codec::AppendJson(value, json); });
    }
  }
  void CopyExtensions(Value from) {
    for (const Member& member : from.members()) {
      if (member.key.starts_with("x-")) Copy(from, {member.key});
    }
  }
  std::string Take() { return std::move(json_) + "}"; }

 private:
  std::string json_ = "{";
};

// Returns {"<media type>": {"schema": …}} for each media type.
std::string V3ContentOf(Value schema, Value media_types) {
  JsonObject content;
  for (const Value& type : media_types.items()) {
    JsonObject one;
    one.Add("schema", [&schema](std::string& json) { AppendV3Schema(schema, json); });
    content.AddText(type.AsString(), one.Take());
  }
  return content.Take();
}

std::string V3ResponseOf(Value response, Value produces) {
  JsonObject converted;
  converted.Copy(response, {"description"});
  const Value schema = response["schema"];
  if (schema.is_map() && produces.is_list()) {
    converted.AddText("content", V3ContentOf(schema, produces));
  }
  converted.CopyExtensions(response);
  return converted.Take();
}

std::string V3ParameterOf(Value parameter) {
  JsonObject converted;
  converted.Copy(parameter, {"name", "in", "description", "required", "allowEmptyValue"});
  const Value schema = parameter["schema"];
  if (schema.is_map()) {
    converted.Add("schema", [&schema](std::string& json) { AppendV3Schema(schema, json); });
  } else {
    JsonObject simple;
    simple.Copy(parameter, {"type", "format", "uniqueItems"});
    converted.AddText("schema", simple.Take());
  }
  converted.CopyExtensions(parameter);
  return converted.Take();
}

// Appends an item of a list of parameters.
void AppendItem(const std::string& item, std::string& list) {
  list += list.empty() ? "[" : ",";
  list += item;
}

// Returns what a reference to a parameter stands for.
Value Resolved(Value parameter, const V2Parts& parts) {
  constexpr std::string_view kPrefix = "#/parameters/";
  const std::string_view reference = parameter["$ref"].AsString();
  if (!reference.starts_with(kPrefix)) return parameter;
  const auto found = parts.parameters.find(reference.substr(kPrefix.size()));
  return found == parts.parameters.end() ? parameter : found->second;
}

std::string V3OperationOf(Value operation, const V2Parts& parts) {
  JsonObject converted;
  converted.Copy(operation, {"tags", "summary", "description", "externalDocs", "operationId"});
  std::string parameters;
  for (const Value& each : operation["parameters"].items()) {
    const Value parameter = Resolved(each, parts);
    const Value schema = parameter["schema"];
    if (parameter["name"].AsString() != "body" || !schema.is_map()) {
      AppendItem(V3ParameterOf(parameter), parameters);
      continue;
    }
    JsonObject body;
    const Value consumes = operation["consumes"];
    if (consumes.is_list()) body.AddText("content", V3ContentOf(schema, consumes));
    converted.AddText("requestBody", body.Take());
  }
  if (!parameters.empty()) converted.AddText("parameters", parameters + "]");
  JsonObject responses;
  for (const Member& response : operation["responses"].members()) {
    responses.AddText(response.key, V3ResponseOf(response.value, operation["produces"]));
  }
  converted.AddText("responses", responses.Take());
  converted.Copy(operation, {"deprecated"});
  converted.CopyExtensions(operation);
  return converted.Take();
}

std::string V3PathItemOf(Value item, const V2Parts& parts) {
  JsonObject converted;
  for (const char* const method : {"get", "put", "post", "delete", "options", "head", "patch"}) {
    const Value operation = item[method];
    if (operation.is_map()) converted.AddText(method, V3OperationOf(operation, parts));
  }
  std::string parameters;
  for (const Value& each : item["parameters"].items()) {
    AppendItem(V3ParameterOf(Resolved(each, parts)), parameters);
  }
  if (!parameters.empty()) converted.AddText("parameters", parameters + "]");
  converted.CopyExtensions(item);
  return converted.Take();
}

std::string V3ComponentsOf(const V2Parts& parts, Value security) {
  JsonObject components;
  if (!parts.definitions.empty()) {
    JsonObject schemas;
    for (const auto& [name, definition] : parts.definitions) {
      schemas.Add(name,
                  [&schema = definition](std::string& json) { AppendV3Schema(schema, json); });
    }
    components.AddText("schemas", schemas.Take());
  }
  if (security.is_map()) {
    JsonObject schemes;
    for (const Member& scheme : security.members()) {
      JsonObject one;
      one.Copy(scheme.value, {"type", "description", "name", "in"});
      one.CopyExtensions(scheme.value);
      schemes.AddText(scheme.key, one.Take());
    }
    components.AddText("securitySchemes", schemes.Take());
  }
  return components.Take();
}

}  // namespace

Result<Document> ConvertV2ToV3(std::string_view json, const runtime::GroupVersion& version) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value v2,
                   codec::ParseJson(json, arena, nullptr, {.depth_max = kForeignDepthMax}));
  if (!IsV2(v2)) return Status(Reason::kInvalid, "the document is no OpenAPI v2");
  V2Parts parts(v2);
  KeepVersion(version, parts);
  JsonObject v3;
  v3.AddText("openapi", "\"3.0.0\"");
  v3.Copy(v2, {"info", "externalDocs"});
  if (v2["paths"].is_map()) {
    JsonObject paths;
    for (const Member& path : parts.paths) {
      paths.AddText(path.key, V3PathItemOf(path.value, parts));
    }
    v3.AddText("paths", paths.Take());
  }
  v3.AddText("components", V3ComponentsOf(parts, v2["securityDefinitions"]));
  Document document{.json = v3.Take(), .protobuf = "", .etag = ""};
  document.etag = HexDigestOf(document.json);
  return document;
}

}  // namespace apiserver::v0::openapi
