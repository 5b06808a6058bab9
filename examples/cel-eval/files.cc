#include "files.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "apiserver/base/status_macros.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a program.

namespace cel_eval {
namespace {

Status Problem(const std::string& path, std::string_view what) {
  return {Reason::kInvalid, path + ": " + std::string(what)};
}

// Takes the next name off a path.
std::string_view TakeName(std::string_view& path) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view name = path.substr(0, dot);
  path.remove_prefix(std::min(dot + 1, path.size()));
  return name;
}

std::optional<std::size_t> IndexOf(std::string_view name) {
  std::size_t index = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool whole = failure == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(index) : std::nullopt;
}

// Finds the version whose schema counts.
Result<runtime::Value> SchemaOfVersion(const runtime::Value& crd, const std::string& path,
                                       const std::string& version) {
  std::string names;
  for (const runtime::Value& each : crd["spec"]["versions"].items()) {
    const std::string_view name = each["name"].AsString();
    if (version.empty() ? each["storage"].AsBool() : name == version) {
      return each["schema"]["openAPIV3Schema"];
    }
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  if (version.empty()) return Problem(path, "the CustomResourceDefinition stores no version");
  return Problem(path, "there is no version " + version + " (there are " + names + ")");
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  static bool standard_input_was_read = false;
  if (path == "-") {
    if (standard_input_was_read) return Problem("-", "standard input can be read only once");
    standard_input_was_read = true;
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) return Problem(path, "cannot be read");
  return text;
}

Result<runtime::Value> ParseData(const std::string& name, std::string_view text,
                                 runtime::Arena& arena) {
  const Result<runtime::Value> value = codec::ParseYaml(text, arena);
  if (!value.ok()) return Problem(name, value.status().message());
  return *value;
}

Result<runtime::SchemaPtr> ReadSchema(const std::string& path, const std::string& version) {
  APISERVER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  runtime::Arena arena;
  runtime::Value root;
  bool is_resource = false;
  for (const std::string_view document : codec::SplitYamlDocuments(text)) {
    APISERVER_ASSIGN_OR_RETURN(const runtime::Value value, ParseData(path, document, arena));
    is_resource = value["kind"].AsString() == "CustomResourceDefinition";
    if (root.is_null() || is_resource) root = value;
    if (is_resource) break;
  }
  if (is_resource) {
    APISERVER_ASSIGN_OR_RETURN(root, SchemaOfVersion(root, path, version));
  } else if (!version.empty()) {
    return Problem(path, "--crd-version needs a CustomResourceDefinition");
  }
  if (!root.is_map()) return Problem(path, "there is no schema");
  const Result<runtime::SchemaPtr> schema = codec::SchemaFromOpenApi(root);
  if (!schema.ok()) return Problem(path, schema.status().message());
  return cel::WithTypeAndObjectMeta(*schema, is_resource);
}

Result<runtime::SchemaPtr> PartOf(const runtime::SchemaPtr& schema, std::string_view path) {
  runtime::SchemaPtr part = schema;
  while (!path.empty()) {
    const std::string_view name = TakeName(path);
    runtime::SchemaPtr next = part->items();  // Of a list or map.
    for (const runtime::Field& field : part->fields()) {
      if (field.name() == name) next = field.schema;
    }
    if (!next) return Problem("--at", "the schema has no \"" + std::string(name) + "\"");
    part = std::move(next);
  }
  return part;
}

const runtime::Value* PartOf(const runtime::Value& data, std::string_view path) {
  const runtime::Value* part = &data;
  while (!path.empty()) {
    const std::string_view name = TakeName(path);
    if (part->is_list()) {
      const std::optional<std::size_t> index = IndexOf(name);
      if (!index.has_value() || *index >= part->size()) return nullptr;
      part = &part->items()[*index];
    } else {
      part = part->Find(name);
      if (part == nullptr) return nullptr;
    }
  }
  return part;
}

}  // namespace cel_eval
