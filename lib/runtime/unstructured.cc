#include "runtime/unstructured.h"

#include <string_view>

#include "runtime/scalar.h"
#include "runtime/unknown_paths.h"
#include "runtime/walk.h"

namespace apiserver::v0::runtime {

namespace {

// reflect.Kind of what JSON is decoded into.
std::string_view KindOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
      return "int64";
    case Value::Type::kDouble:
      return "float64";
    case Value::Type::kList:
      return "slice";
    case Value::Type::kMap:
    case Value::Type::kRaw:
      return "map";
    default:
      return "string";
  }
}

// Go has a conversion from one basic type to the other, though not one for JSON.
std::string CannotConvert(const Schema& schema, const Value& value) {
  const std::string type = GoType(schema);
  const bool number = value.is_number();
  const bool convertible = schema.type == SchemaType::kString
                               ? value.type() == Value::Type::kInt
                               : number && schema.type != SchemaType::kBoolean;
  if (!convertible) return "unrecognized type: " + type;
  return "cannot convert " + std::string(KindOf(value)) + " to " + type;
}

// Returns the error of a type that decodes itself.
std::string DecoderError(const Schema& schema, const Value& value) {
  const Misfit misfit = WhyUnfit(schema, value);
  if (!misfit.message.empty()) return misfit.message;
  return "json: cannot unmarshal " + misfit.found + " into Go value of type " + misfit.type;
}

std::string ScalarError(const Schema& schema, const Value& value) {
  Arena scratch;
  Value copy = value;
  bool changed = false;
  if (NormalizeScalar(schema, copy, scratch, changed)) return "";
  switch (schema.type) {
    case SchemaType::kBoolean:
    case SchemaType::kInteger:
    case SchemaType::kNumber:
    case SchemaType::kString:
      return CannotConvert(schema, value);
    case SchemaType::kBytes:
      if (value.is_string()) return "error decoding from json: " + DecoderError(schema, value);
      return "cannot restore slice from " + std::string(KindOf(value));
    default:
      return DecoderError(schema, value);
  }
}

std::string ErrorOf(const Schema& schema, const Value& value) {
  const std::string kind(KindOf(value));
  switch (schema.type) {
    case SchemaType::kStruct:
      return value.is_map() ? "" : "cannot restore struct from: " + kind;
    case SchemaType::kMap:
      return value.is_map() ? "" : "cannot restore map from " + kind;
    case SchemaType::kList:
      return value.is_list() ? "" : "cannot restore slice from " + kind;
    default:
      return ScalarError(schema, value);
  }
}

}  // namespace

std::string FromUnstructuredError(const Schema& schema, const Value& root) {
  std::string error;
  Walk walk;
  walk.Run(schema, root,
           [&](const Schema& parent, std::string_view key, const Value& child) -> const Schema* {
             bool known = false;
             const Schema* const member = MemberSchema(parent, key, known);
             if (member == nullptr || child.is_null() || !error.empty()) return nullptr;
             error = ErrorOf(*member, child);
             return error.empty() && IsContainer(member->type) ? member : nullptr;
           });
  return error;
}

}  // namespace apiserver::v0::runtime
