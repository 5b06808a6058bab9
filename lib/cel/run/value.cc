#include "apiserver/cel/value.h"

#include "cel/run/map.h"
#include "cel/types/spell.h"

namespace apiserver::inline v0::cel {

Value Value::Timestamp(Time time) {
  Value made(Kind::kTimestamp);
  made.payload_.integer = time.seconds;
  made.size_ = time.nanoseconds;
  made.extra_.offset_seconds = time.offset_seconds;
  return made;
}

Value Value::Duration(std::int64_t nanoseconds) {
  Value made(Kind::kDuration);
  made.payload_.integer = nanoseconds;
  return made;
}

Value Value::List(std::span<const Value> items, const runtime::Schema* schema) {
  Value made(Kind::kList);
  made.size_ = static_cast<std::uint32_t>(items.size());
  made.payload_.items = items.data();
  made.extra_.schema = schema;
  return made;
}

Value Value::Map(const MapContent& content, const runtime::Schema* schema) {
  Value made(Kind::kMap);
  made.size_ = content.count;
  made.payload_.map = &content;
  made.extra_.schema = schema;
  return made;
}

Value Value::Struct(const MapContent& fields, const TypeNode& type) {
  Value made(Kind::kStruct);
  made.size_ = fields.count;
  made.payload_.map = &fields;
  made.extra_.type = &type;
  return made;
}

Value Value::OfType(const TypeNode& type) {
  Value made(Kind::kType);
  made.payload_.type = &type;
  return made;
}

Value Value::None() {
  Value made(Kind::kOptional);
  made.payload_.value = nullptr;
  return made;
}

Value Value::Optional(const Value& value, Arena& arena) {
  Value made(Kind::kOptional);
  made.payload_.value = &arena.Make(value);
  return made;
}

Value Value::Opaque(const OpaqueKind& kind, const void* object) {
  Value made(Kind::kOpaque);
  made.payload_.object = object;
  made.extra_.opaque = &kind;
  return made;
}

Time Value::AsTime() const {
  return {payload_.integer, size_, static_cast<std::int32_t>(extra_.offset_seconds)};
}

const TypeNode& Value::RuntimeType() const {
  // In the order of Kind up to kMap.
  static constexpr const TypeNode* kTypes[] = {
      &types::kNull,     &types::kBool,     &types::kInt,    &types::kUint,
      &types::kDouble,   &types::kString,   &types::kBytes,  &types::kTimestamp,
      &types::kDuration, &types::kBareList, &types::kBareMap};
  switch (kind_) {
    case Kind::kStruct:
      return *extra_.type;
    case Kind::kType:
      return types::kType;
    case Kind::kOptional:
      return types::kBareOptional;
    case Kind::kOpaque:
      return *extra_.opaque->type;
    case Kind::kError:
    case Kind::kUnknown:
      return types::kError;
    default:
      return *kTypes[static_cast<std::size_t>(kind_)];
  }
}

}  // namespace apiserver::inline v0::cel
