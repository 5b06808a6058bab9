#include "apiserver/runtime/schema_path.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::runtime {
namespace {

// The most names that a message lists, so that it stays readable for structs like a Pod's.
constexpr std::size_t kNamesToldMax = 12;

// Appends the names of a struct's fields, those of inlined structs included.
void AppendNames(const Schema& schema, std::string& names, std::size_t& count) {
  for (const Field& field : schema.fields()) {
    if (field.inlined && field.schema != nullptr) {
      AppendNames(*field.schema, names, count);
      continue;
    }
    if (++count > kNamesToldMax) continue;
    names.append(names.empty() ? "" : ", ").append(field.name());
  }
}

Status NoField(const Schema& schema, std::string_view name) {
  std::string names;
  std::size_t count = 0;
  AppendNames(schema, names, count);
  if (count > kNamesToldMax) names += ", …";
  return {Reason::kInvalid, "there is no field " + field::Quote(name) +
                                (names.empty() ? "" : " (there are " + names + ")")};
}

bool TakesAnything(const Schema& schema) {
  return schema.type == SchemaType::kAny || schema.type == SchemaType::kRaw;
}

Status WrongType(const Schema& schema, std::string_view has_none) {
  const std::string_view type = OpenApiType(schema);
  std::string text(type.empty() ? "a value" : type);
  return {Reason::kInvalid, "a value of type " + text.append(" has no ").append(has_none)};
}

// The members that every embedded resource has besides its fields.
bool IsOfEveryResource(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

}  // namespace

Result<const Schema*> MemberSchema(const Schema& schema, std::string_view name) {
  if (TakesAnything(schema)) return nullptr;
  if (schema.type == SchemaType::kMap) return schema.items().get();
  if (schema.type != SchemaType::kStruct) return WrongType(schema, "members");
  if (const Field* const field = schema.FindField(name)) return field->schema.get();
  if (schema.preserve_unknown_fields) return nullptr;
  if (schema.embedded_resource && IsOfEveryResource(name)) return nullptr;
  return NoField(schema, name);
}

Result<const Schema*> ItemSchema(const Schema& schema) {
  if (TakesAnything(schema)) return nullptr;
  if (schema.type != SchemaType::kList) return WrongType(schema, "items");
  return schema.items().get();
}

Result<const Schema*> SchemaAt(const Schema& schema, std::string_view path) {
  const Schema* at = &schema;
  std::size_t begin = path.starts_with('.') ? 1 : 0;
  while (begin <= path.size() && at != nullptr) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    auto below = MemberSchema(*at, path.substr(begin, end - begin));
    if (!below.ok()) {
      std::string text(path);
      return Status(Reason::kInvalid, text.append(": ").append(below.status().message()));
    }
    at = *below;
    begin = end + 1;
  }
  return at;
}

}  // namespace apiserver::v0::runtime
