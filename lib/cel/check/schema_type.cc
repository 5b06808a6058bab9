#include "apiserver/cel/schema_type.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/cel/names.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::cel {
namespace {

using runtime::Field;
using runtime::FieldParts;
using runtime::Schema;
using runtime::SchemaParts;
using runtime::SchemaPtr;
using runtime::SchemaType;

// An object whose additional properties may be anything: no property of it is declared.
bool IsFreeForm(const Schema& schema) {
  return schema.type == SchemaType::kMap && schema.items()->type == SchemaType::kAny &&
         !schema.items()->preserve_unknown_fields;
}

// Completes resources in a schema, each node after those below it. Nodes that several parents share
// are visited once.
class Completer {
 public:
  SchemaPtr Complete(const SchemaPtr& root, bool resource);

 private:
  static std::vector<SchemaPtr> Below(const Schema& schema);
  SchemaPtr Rebuilt(const SchemaPtr& schema) const;
  static bool HasTypeAndObjectMeta(const Schema& schema);
  static SchemaPtr AddTypeAndObjectMeta(const SchemaPtr& schema);

  std::unordered_map<const Schema*, SchemaPtr> done_;
};

std::vector<SchemaPtr> Completer::Below(const Schema& schema) {
  std::vector<SchemaPtr> below;
  if (schema.items()) below.push_back(schema.items());
  for (const Field& field : schema.fields()) below.push_back(field.schema);
  return below;
}

SchemaPtr Completer::Complete(const SchemaPtr& root, bool resource) {
  std::vector<SchemaPtr> open = {root};
  while (!open.empty()) {
    const SchemaPtr schema = open.back();
    const std::size_t size = open.size();
    if (!done_.contains(schema.get())) {
      for (SchemaPtr& each : Below(*schema)) {
        if (!done_.contains(each.get())) open.push_back(std::move(each));
      }
    }
    if (open.size() > size) continue;
    open.pop_back();
    if (done_.contains(schema.get())) continue;
    const SchemaPtr rebuilt = Rebuilt(schema);
    done_.emplace(schema.get(),
                  schema->embedded_resource ? AddTypeAndObjectMeta(rebuilt) : rebuilt);
  }
  const SchemaPtr& completed = done_.find(root.get())->second;
  return resource ? AddTypeAndObjectMeta(completed) : completed;
}

// Returns the schema with the completed schemas below it.
SchemaPtr Completer::Rebuilt(const SchemaPtr& schema) const {
  const std::vector<SchemaPtr> below = Below(*schema);
  const auto replacement = [this](const SchemaPtr& each) { return done_.find(each.get())->second; };
  const bool same = std::all_of(below.begin(), below.end(),
                                [&](const SchemaPtr& each) { return replacement(each) == each; });
  if (same) return schema;
  SchemaParts parts(*schema);
  if (parts.items) parts.items = replacement(parts.items);
  for (FieldParts& field : parts.fields) field.schema = replacement(field.schema);
  return runtime::MakeSchema(parts);
}

bool IsStringField(const Schema& schema, std::string_view name) {
  const Field* const field = schema.FindField(name);
  return field != nullptr && runtime::OpenApiType(*field->schema) == "string";
}

bool Completer::HasTypeAndObjectMeta(const Schema& schema) {
  if (schema.type != SchemaType::kStruct) return false;
  const Field* const metadata = schema.FindField("metadata");
  return IsStringField(schema, "kind") && IsStringField(schema, "apiVersion") &&
         metadata != nullptr && metadata->schema->type == SchemaType::kStruct &&
         IsStringField(*metadata->schema, "name") &&
         IsStringField(*metadata->schema, "generateName");
}

SchemaPtr Completer::AddTypeAndObjectMeta(const SchemaPtr& schema) {
  const bool object = schema->type == SchemaType::kStruct || IsFreeForm(*schema);
  if (!object || HasTypeAndObjectMeta(*schema)) return schema;
  SchemaParts parts(*schema);
  if (parts.type == SchemaType::kMap) {
    parts.type = SchemaType::kStruct;
    parts.items = nullptr;
    parts.preserve_unknown_fields = true;
  }
  SchemaParts metadata;
  metadata.type = SchemaType::kStruct;
  metadata.fields = {{.name = "name", .schema = runtime::StringSchema()},
                     {.name = "generateName", .schema = runtime::StringSchema()}};
  const std::array<FieldParts, 3> added = {{
      {.name = "kind", .schema = runtime::StringSchema()},
      {.name = "apiVersion", .schema = runtime::StringSchema()},
      {.name = "metadata", .schema = runtime::MakeSchema(metadata)},
  }};
  for (const FieldParts& field : added) {
    const auto place =
        std::find_if(parts.fields.begin(), parts.fields.end(),
                     [&](const FieldParts& each) { return each.name == field.name; });
    if (place == parts.fields.end()) {
      parts.fields.push_back(field);
    } else {
      place->schema = field.schema;
      place->default_value.reset();
    }
  }
  return runtime::MakeSchema(parts);
}

// Returns the type of a string of that format.
Type TypeOfText(std::string_view format) {
  if (format == "byte") return Type::Bytes();
  if (format == "duration") return Type::Duration();
  if (format == "date" || format == "date-time") return Type::Timestamp();
  return Type::String();
}

// Returns the type of a schema that is neither a list nor an object.
std::optional<Type> TypeOfScalar(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kAny:
    case SchemaType::kRaw:
      return std::nullopt;
    case SchemaType::kBoolean:
      return Type::Bool();
    case SchemaType::kInteger:
      return Type::Int();
    case SchemaType::kNumber:
      return Type::Double();
    case SchemaType::kBytes:
      return Type::Bytes();
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
      return Type::Timestamp();
    case SchemaType::kIntOrString:
      return Type::Dyn();
    case SchemaType::kString:
      return TypeOfText(schema.constraints().format());
    default:
      return Type::String();
  }
}

// Makes the types of a schema, those of parts first, without recursion.
class TypeBuilder {
 public:
  std::optional<Type> Build(const Schema& schema, std::string_view name);

 private:
  // A list or object whose parts are being made.
  struct Frame {
    const Schema* schema;
    std::string name;
    std::vector<const Field*> fields = {};
    std::size_t next = 0;
    std::vector<StructField> made = {};
  };

  static Frame Open(const Schema& schema, std::string name);
  // Does the next part; returns its frame. nullopt: all are done.
  std::optional<Frame> Next(Frame& frame);
  void Close(Frame& frame);

  std::optional<Type> last_;  // The type made last.
};

TypeBuilder::Frame TypeBuilder::Open(const Schema& schema, std::string name) {
  Frame frame{.schema = &schema, .name = std::move(name)};
  std::vector<const Schema*> structs;
  if (schema.type == SchemaType::kStruct) structs.push_back(&schema);
  // Members of inlined structs are members of the object itself; its own come first.
  for (std::size_t i = 0; i < structs.size(); ++i) {
    for (const Field& field : structs[i]->fields()) {
      if (field.inlined) {
        structs.push_back(field.schema.get());
      } else {
        frame.fields.push_back(&field);
      }
    }
  }
  return frame;
}

std::optional<Type> TypeBuilder::Build(const Schema& schema, std::string_view name) {
  std::vector<Frame> open;
  open.push_back(Open(schema, std::string(name)));
  while (!open.empty()) {
    if (std::optional<Frame> part = Next(open.back()); part.has_value()) {
      open.push_back(std::move(*part));
    } else {
      Close(open.back());
      open.pop_back();
    }
  }
  return last_;
}

std::optional<TypeBuilder::Frame> TypeBuilder::Next(Frame& frame) {
  const Schema& schema = *frame.schema;
  if (schema.type == SchemaType::kList ||
      (schema.type == SchemaType::kMap && !IsFreeForm(schema))) {
    if (frame.next++ > 0) return std::nullopt;
    const std::string_view suffix = schema.type == SchemaType::kList ? ".@idx" : ".@elem";
    return Open(*schema.items(), std::string(frame.name).append(suffix));
  }
  // The part before this one is made, and last_ has its type.
  if (frame.next > 0) {
    const std::optional<std::string> name = Escape(frame.fields[frame.next - 1]->name());
    if (name.has_value() && last_.has_value()) frame.made.push_back({*name, *last_});
  }
  if (frame.next == frame.fields.size()) return std::nullopt;
  const Field& field = *frame.fields[frame.next++];
  const std::string name = Escape(field.name()).value_or(std::string(field.name()));
  return Open(*field.schema, std::string(frame.name).append(1, '.').append(name));
}

void TypeBuilder::Close(Frame& frame) {
  const Schema& schema = *frame.schema;
  const bool container = schema.type == SchemaType::kList || schema.type == SchemaType::kMap;
  if (schema.type == SchemaType::kStruct || IsFreeForm(schema)) {
    last_ = Type::Struct({.name = std::move(frame.name), .fields = std::move(frame.made)});
  } else if (!container) {
    last_ = TypeOfScalar(schema);
  } else if (last_.has_value()) {
    last_ =
        schema.type == SchemaType::kList ? Type::List(*last_) : Type::Map(Type::String(), *last_);
  }
}

}  // namespace

SchemaPtr WithTypeAndObjectMeta(const SchemaPtr& schema, bool resource) {
  return Completer().Complete(schema, resource);
}

std::optional<Type> TypeOfSchema(const Schema& schema, std::string_view name) {
  return TypeBuilder().Build(schema, name);
}

}  // namespace apiserver::inline v0::cel
