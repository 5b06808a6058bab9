#include "cel/run/lookup.h"

#include <string>

#include "cel/run/lossless.h"
#include "cel/run/map.h"
#include "cel/run/print.h"
#include "cel/run/views.h"

namespace apiserver::v0::cel {
namespace {

using Kind = Value::Kind;

// Returns the whole number that an index is. An error value otherwise.
Value ToIndex(const Value& index, Arena& arena) {
  switch (index.kind()) {
    case Kind::kInt:
      return index;
    case Kind::kUint:
      if (index.AsUint() >> 63U == 0) return Value::Int(index.AsInt());
      break;
    case Kind::kDouble:
      if (const auto integer = LosslessInt(index.AsDouble())) return Value::Int(*integer);
      break;
    default:
      return Value::Error(
          arena.Copy("unsupported index type '" + PrintTypeOf(index) + "' in list"));
  }
  return Value::Error(
      arena.Copy("unsupported index value " + PrintValue(index, arena) + " in list"));
}

// Finds an item. nullopt: the index is out of bounds.
std::optional<Value> FindItem(const Value& list, const Value& index, Arena& arena) {
  const Value at = ToIndex(index, arena);
  if (at.is_error()) return at;
  if (at.AsInt() < 0 || at.AsInt() >= list.size()) return std::nullopt;
  if (list.schema() != nullptr && !index.Is(Kind::kInt)) {
    return Value::Error(arena.Copy("unsupported index: " + PrintValue(index, arena)));
  }
  return list.Item(static_cast<std::size_t>(at.AsInt()), arena);
}

}  // namespace

bool IsIndex(const Value& index) {
  return index.is_bool() || index.is_number() || index.is_string() || index.is_error();
}

Value NotAnIndex(const Value& index, bool native, Arena& arena) {
  const std::string_view type = native ? GoTypeOfData(index) : GoTypeOf(index);
  return Value::Error(arena.Copy("invalid qualifier type: " + std::string(type)));
}

std::optional<Value> FindField(const Value& object, const FieldName& name, Arena& arena) {
  if (object.is_map()) {
    if (!object.is_data()) return FindInMap(object, Value::String(name.name), arena);
    if (!IsStructView(object)) return FindProperty(object, name.name, arena);
    return name.unescapes ? FindProperty(object, name.property, arena) : std::nullopt;
  }
  if (object.is_list()) return FindItem(object, Value::String(name.name), arena);
  if (!object.Is(Kind::kStruct)) return std::nullopt;
  const Value* const field = FindExactly(object.built_map(), Value::String(name.name));
  return field == nullptr ? std::nullopt : std::optional(*field);
}

std::optional<Value> FindIndex(const Value& object, const Value& index, Arena& arena) {
  if (index.is_error()) return index;
  if (!IsIndex(index)) return NotAnIndex(index, true, arena);
  if (object.is_map()) return FindInMap(object, index, arena);
  if (object.is_list()) return FindItem(object, index, arena);
  if (!object.Is(Kind::kStruct)) return std::nullopt;
  const Value* const field = FindExactly(object.built_map(), index);
  return field == nullptr ? std::nullopt : std::optional(*field);
}

Value SelectField(const Value& object, const FieldName& name, Arena& arena) {
  if (const std::optional<Value> found = FindField(object, name, arena)) return *found;
  // A type with declared fields has them all: the unset strings of a JSONPatch are empty.
  if (object.Is(Kind::kStruct) && !object.struct_type().open) {
    const Type type(object.struct_type());
    const Type* const field = type.FindField(name.name);
    if (field != nullptr) return field->kind() == TypeKind::kString ? Value::String("") : Value();
  }
  return NoSuchKey(Value::String(name.name), arena);
}

Value SelectTypedField(const Value& object, const FieldName& name, Arena& arena) {
  if (!object.Is(Kind::kStruct) || !object.struct_type().open) {
    return SelectField(object, name, arena);
  }
  return FindField(object, name, arena).value_or(Value());
}

Value ApplyIndex(const Value& object, const Value& index, Arena& arena) {
  if (const std::optional<Value> found = FindIndex(object, index, arena)) return *found;
  return object.is_list() ? IndexOutOfBounds(index, arena) : NoSuchKey(index, arena);
}

}  // namespace apiserver::v0::cel
