// Follows buildKubeNative and buildListSchema of apiextensions-apiserver's openapi builder.

#include "apiextensions/documents/definitions.h"

#include "apiextensions/documents/published_schema.h"
#include "apiserver/codec/json.h"
#include "openapi/meta_texts.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

using openapi::kApiVersionText;
using openapi::kKindText;
using openapi::kListMetaText;
using openapi::kObjectMetaText;

std::string Quoted(std::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

// Returns the extensions that tell which kind a definition is, and by what it is selected.
std::string ExtensionsOf(const DocumentedVersion& documented, std::string_view kind) {
  std::string text =
      ",\"x-kubernetes-group-version-kind\":[{\"group\":" + Quoted(documented.group) +
      ",\"kind\":" + Quoted(kind) + ",\"version\":" + Quoted(documented.version) + "}]";
  if (documented.selectable_fields.size() == 0) return text;
  text += ",\"x-kubernetes-selectable-fields\":[";
  for (const Value& field : documented.selectable_fields.items()) {
    std::string_view path = field["jsonPath"].AsString();
    if (path.starts_with('.')) path.remove_prefix(1);
    text += (text.back() == '[' ? "{\"fieldPath\":" : ",{\"fieldPath\":") + Quoted(path) + "}";
  }
  return text + "]";
}

std::string TypeMetaProperties() {
  return StringProperty("apiVersion", kApiVersionText) + "," + StringProperty("kind", kKindText);
}

// In v2 a definition with properties forbids all others, so one that keeps unknown ones has none.
bool IsBare(const DocumentedVersion& documented, openapi::Format form) {
  return !documented.schema.is_map() ||
         (form == openapi::Format::kV2 &&
          (documented.preserve_unknown_fields ||
           documented.schema["x-kubernetes-preserve-unknown-fields"].AsBool()));
}

void AppendKind(const DocumentedVersion& documented, openapi::Format form, std::string& out) {
  const std::string extensions = ExtensionsOf(documented, documented.kind);
  if (IsBare(documented, form)) {
    out += "{\"type\":\"object\"" + extensions + "}";
    return;
  }
  AppendPublishedSchema(documented.schema, form,
                        {.properties = TypeMetaProperties() + "," +
                                       MetadataProperty("ObjectMeta", kObjectMetaText, form),
                         .extensions = extensions},
                        out);
}

void AppendList(const DocumentedVersion& documented, openapi::Format form, std::string& out) {
  out += "{\"description\":" + Quoted(documented.list_kind + " is a list of " + documented.kind) +
         ",\"type\":\"object\",\"required\":[\"items\"],\"properties\":{" + TypeMetaProperties() +
         ",\"items\":{\"description\":" +
         Quoted("List of " + documented.plural +
                ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
                "api-conventions.md") +
         ",\"type\":\"array\",\"items\":{\"$ref\":" +
         Quoted(std::string(RefPrefix(form)) +
                DefinitionNameOf(documented.group, documented.version, documented.kind)) +
         "}}," + MetadataProperty("ListMeta", kListMetaText, form) + "}" +
         ExtensionsOf(documented, documented.list_kind) + "}";
}

}  // namespace

void AppendDefinitions(const DocumentedVersion& documented, openapi::Format form,
                       std::string& out) {
  const auto name = [&documented](std::string_view kind) {
    return Quoted(DefinitionNameOf(documented.group, documented.version, kind)) + ":";
  };
  out += name(documented.kind);
  AppendKind(documented, form, out);
  out += "," + name(documented.list_kind);
  AppendList(documented, form, out);
}

}  // namespace apiserver::v0::apiextensions
